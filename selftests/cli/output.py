#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Read one result as JSON, as KTAP and as JUnit:  output.py JSON KTAP JUNIT CONDITION

KTAP and JUnit must have the same tests with the same ends and texts.  Then the condition must hold.
"""
import json
import re
import sys
import xml.etree.ElementTree

ENDS = {"failure": "fail", "error": "error", "skipped": "skip"}


def read_json(path):
    """The result; the last object of several."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text.splitlines()[-1])


def read_ktap(path):
    """The tests: ends ("ok", "not ok", "skip"), names, and the lines before each."""
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    assert lines.pop(0) == "KTAP version 1"
    assert lines.pop() == "", "the last line has no end"
    plan = re.fullmatch(r"1\.\.(\d+)", lines.pop(0))
    tests, said = [], []
    for line in lines:
        if line.startswith("# "):
            said.append(line[2:])
            continue
        match = re.fullmatch(r"(ok|not ok) (\d+) ((?:[^#\\]|\\#|\\(?!#))*?)(?: # SKIP (.*))?", line)
        assert match, f"not KTAP: {line!r}"
        assert int(match[2]) == len(tests) + 1, line
        end = "skip" if match[4] is not None else match[1]
        tests.append((end, match[3].replace("\\#", "#"), match[4], said))
        said = []
    assert not said and int(plan[1]) == len(tests) > 0, "the plan"
    return tests


def read_junit(path):
    """The tests: ends, names, reasons, codes, texts."""
    root = xml.etree.ElementTree.parse(path).getroot()
    suite = root.find("testsuite")
    tests = []
    for case in suite.iter("testcase"):
        one = [child for child in case if child.tag in ENDS]
        out = case.find("system-out")
        assert len(one) <= 1 and (out is None or not one)
        if one:
            tests.append((ENDS[one[0].tag], case.get("name"), one[0].get("message"),
                          one[0].get("type"), one[0].text or ""))
        else:
            tests.append(("pass", case.get("name"), None, None, "" if out is None else out.text))
    for attribute, end in ("failures", "fail"), ("errors", "error"), ("skipped", "skip"):
        assert int(suite.get(attribute)) == sum(t[0] == end for t in tests), attribute
    assert int(suite.get("tests")) == len(tests)
    return tests


def plain(text):
    """
    A text without characters that a form cannot express.  Each form is of a run of its own, which
    comes to a bound of memory at another operation.
    """
    text = re.sub(r"(memory limit .* operation) [0-9]+", r"\1 N", text)
    return re.sub(r"[\x00-\x1f\ufffd\uffff ]+", " ", text).strip()


def main():
    """Return: the exit status."""
    v = read_json(sys.argv[1])
    ktap, junit = read_ktap(sys.argv[2]), read_junit(sys.argv[3])
    assert len(ktap) == len(junit), (len(ktap), len(junit))
    for (result, name, skip, said), (end, title, why, _, text) in zip(ktap, junit):
        assert result == {"pass": "ok", "skip": "skip"}.get(end, "not ok"), (name, result, end)
        assert plain(name) == plain(title), (name, title)
        if end == "skip":
            assert plain(skip) == plain(why), (skip, why)
        elif why:
            assert plain(said.pop(0)) == plain(why), why
        assert plain("\n".join(said)) == plain(text), (said, text)
    names = {"v": v, "plain": plain, "ends": [t[0] for t in junit], "names": [t[1] for t in junit],
             "whys": [t[2] for t in junit], "codes": [t[3] for t in junit],
             "lines": [t[4] for t in junit]}
    holds = eval(sys.argv[4].strip().replace("\n", " "), names)  # the test's own condition
    if not holds:
        print("not so:", sys.argv[4], names, file=sys.stderr)
    return not holds


if __name__ == "__main__":
    sys.exit(main())
