# SPDX-License-Identifier: GPL-2.0
"""Check the story of an explorer's run against the run's steps.

usage: run_story.py RESULT.json

The store that "store_buffer" names must be in the writer's buffer in each state from the store up to
the load, must leave at the step that is named, and the load must see another value.  Operations of
the cast must have their call and their return in the steps that are named.

The story of a run that ends badly is held against the accesses in the text of the steps, from which
memory and buffers are made again: what each load read, who stored it, and what was in a buffer then.
"""

import json
import re
import sys


def buffer_of(state, thread):
    """Return the stores in a thread's buffer, as "PLACE=VALUE"."""
    found = re.search(rf"T{thread}'s buffer: ([^;]*)", state)
    return found.group(1).split() if found else []


def check_buffer(run, told):
    """Check the store that was in a buffer."""
    store = f"{told['place']}={told['value']}"
    for step in run[told["stored"]:told["loaded"] + 1]:
        assert store in buffer_of(step["state"], told["writer"]), f"step {step['step']}: no {store}"
    before = run[told["stored"]]["what"]
    assert f"{told['place']} = {told['value']} to the buffer" in before, before
    load = run[told["loaded"]]["what"]
    seen = re.findall(rf"(?:^|[ ;]){re.escape(told['place'])} is (\S+) \(stale: "
                      rf"T{told['writer']}'s buffer has {re.escape(told['value'])}\)", load)
    assert seen and seen[-1] != told["value"], load
    for step in run[told["loaded"]:]:
        if step["step"] == told["left"]:
            assert f"{told['place']} = {told['value']} reaches memory" in step["what"]
            break
        assert store in buffer_of(step["state"], told["writer"]), f"left by {step['step']}"
    else:
        assert told["left"] is None
    assert f"at step {told['stored']} " in told["sentence"]
    assert f"at step {told['loaded']};" in told["sentence"]


def named(what, thread, step, event):
    """Return whether the text of a step has the event of the thread."""
    at = what.find(event)
    while at >= 0:
        if step.get("thread") == thread or what[:at].endswith(f"T{thread}: "):
            return True
        at = what.find(event, at + 1)
    return False


def check_cast(run, cast):
    """Check times of operations."""
    for one in cast:
        thread, name = int(one["thread"]), one["method"]
        call = run[int(one["call"])]
        assert named(call["what"], thread, call, f"call {name}("), one["text"]
        if one["results"] is not None:
            ret = run[int(one["return"])]
            assert named(ret["what"], thread, ret, f"{name} returns"), one["text"]


ACCESS = re.compile(r"(?:T(?P<other>\d)(?P<flush>'s buffer)?: )?(?P<place>[\w#][\w\[\]>-]*) "
                    r"(?P<verb>is|=) (?P<value>[^\s,;]+)(?P<to> to the buffer)?"
                    r"(?P<reaches> reaches memory)?(?P<own> \(own buffer\))?"
                    r"(?: \(stale: [^)]*\))?(?: \[(?P<line>\d+)\])?")


def accesses(run):
    """Return the accesses of a run: each load with its store and with stores in buffers."""
    found, writer, buffers = [], {}, {}
    for step in run[1:]:
        for match in ACCESS.finditer(step["what"]):
            one = match.groupdict()
            one["thread"] = int(one["other"]) if one["other"] else step["thread"]
            one["step"], place, buffer = step["step"], one["place"], None
            buffer = buffers.setdefault(one["thread"], [])
            if one["verb"] == "is":
                own = [store for store in buffer if store["place"] == place]
                one["from"] = own[-1] if own else writer.get(place)
                one["missed"] = [store for thread, stores in buffers.items() for store in stores
                                 if thread != one["thread"] and store["place"] == place]
            elif one["flush"]:
                writer[place] = buffer.pop(0)
                assert writer[place]["place"] == place, step
                writer[place]["left"] = step["step"]
            elif one["to"]:
                one["left"] = None
                buffer.append(one)
            else:
                one["left"] = step["step"]
                writer[place] = one
            found.append(one)
    return found, writer


SOURCE = (r", (?:(?P<first>as in the first state|to which no step had stored)|as T(?P<writer>\d)"
          r"(?P<itself> itself)?(?P<ended>, which has ended,)? had stored it at step "
          r"(?P<stored>\d+)(?: \(line (?P<line>\d+)\))?)")
LOADED = re.compile(r"(?P<place>\S+), which T(?P<reader>\d) loaded as (?P<value>\S+) at step "
                    r"(?P<loaded>\d+)(?: \(line \d+\))?" + SOURCE +
                    r"(?:, while T(?P<owner>\d)'s store (?P<missed>\S+) = (?P<other>\S+) of step "
                    r"(?P<when>\d+) was still in T\d's buffer)?")
NOW = re.compile(r"(?:T(?P<reader>\d) (?:waits|goes on for ever)[^:]*: |and )?(?P<place>\S+?),?"
                 r"(?: which)? is (?P<value>[^\s,]+)" + SOURCE)


def check_source(told, store, reader):
    """Check who stored a value."""
    if told["first"]:
        assert store is None, told
        return
    assert store and store["value"] == told["value"], (told, store)
    assert (store["thread"], store["step"]) == (int(told["writer"]), int(told["stored"])), told
    assert not told["line"] or told["line"] == store["line"]
    assert reader is None or bool(told["itself"]) == (reader == store["thread"])


def check_run_story(run, story, message):
    """Check the story of a run that ends badly.  Return the number of values in its headline."""
    found, writer = accesses(run)
    headline, n = story["headline"], 0
    for match in LOADED.finditer(headline):
        told = match.groupdict()
        loads = [a for a in found if a["verb"] == "is" and a["place"] == told["place"] and
                 a["step"] == int(told["loaded"]) and a["thread"] == int(told["reader"]) and
                 a["value"] == told["value"]]
        assert loads, told
        check_source(told, loads[-1]["from"], int(told["reader"]))
        if told["owner"]:
            assert any(s["thread"] == int(told["owner"]) and s["step"] == int(told["when"]) and
                       s["value"] == told["other"] != told["value"] for s in loads[-1]["missed"])
        n += 1
    for match in NOW.finditer(headline):
        told = match.groupdict()
        assert f" {told['place']}={told['value']} " in run[-1]["state"].replace(";", " ") + " "
        check_source(told, writer.get(told["place"]), None)
        if told["ended"]:
            assert f"thread {told['writer']}" not in message
        n += 1
    for one in story["cast"]:
        verb = "=" if one["kind"] == "store" else "is"
        same = [a for a in found if not a["flush"] and a["verb"] == verb and
                a["place"] == one["place"] and a["value"] == one["value"] and
                a["step"] == one["step"] and a["thread"] == one["thread"]]
        assert same, one
        assert verb == "is" or one["left"] in [a["left"] for a in same], one
    return n


def check_alarm(result):
    """Check the story of an alarm against the abstract run."""
    story, steps = result["run_story"], []
    for line in result["trail"]:
        if re.match(r" *\d+  ", line) and not line.startswith("       "):
            steps.append([])
        steps[-1].append(line.strip())
    told = story["headline"].split(", if a run has a state such as this: ")
    assert told[0] == result["message"] and told[0] in steps[-1][0]
    bad = "; ".join(steps[-1][1:])
    for part in told[1].split("; "):
        assert part.removeprefix("in the reference ") in bad, (part, bad)
    merged = [i for i, step in enumerate(steps) if any("(any number)" in line for line in step)]
    assert (f"step {merged[0]} is" if merged else "every node stands for one") in story["facts"][1]
    print("alarm", merged[:1])


def main():
    """Check one result."""
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    if "run" not in result and "concrete" not in result:
        check_alarm(result)
        return
    result = result.get("concrete", result)
    run = result["run"]
    assert [step["step"] for step in run] == list(range(len(run)))
    if "store_buffer" in result:
        check_buffer(run, result["store_buffer"])
    if "story" in result:
        check_cast(run, result["story"]["cast"])
    if "run_story" in result:
        print(check_run_story(run, result["run_story"], result["message"]), end=" ")
    print("story" in result, "store_buffer" in result)


main()
