#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the history in a page with the text form that it was made from.

Usage: columns.py PAGE.html HISTORY.txt

The numbers of a page are decoded here without any code of klin's.  Exits with 1 and a message if
an operation differs.
"""

import base64
import json
import re
import sys


def numbers(text):
    """The unsigned LEB128 numbers of a column."""
    all_, v, shift = [], 0, 0
    for byte in base64.b64decode(text + "=" * (-len(text) % 4)):
        v |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            all_.append(v)
            v = shift = 0
    return all_


def sums(deltas, start=0):
    all_ = []
    for d in deltas:
        start += d
        all_.append(start)
    return all_


def page_ops(h):
    """The operations of a page, as the words of the text form."""
    n, ops = h["kept"], []
    calls = sums(numbers(h["call"]), int(h["base"]))
    took = numbers(h["took"])
    sigs, at, flat = [], 0, numbers(h["signatures"])
    while at < len(flat):
        method, nargs, nres = flat[at:at + 3]
        vals = [h["values"][v] for v in flat[at + 3:at + 3 + nargs + nres]]
        sigs.append((h["methods"][method], vals[:nargs], vals[nargs:]))
        at += 3 + nargs + nres
    assert len(sigs) == h["sigs"]
    column = {name: numbers(h[name]) if name in h else [0] * n
              for name in ("thread", "object", "sig", "cpu", "point", "drain", "line")}
    lines = sums(v // 2 if v % 2 == 0 else -(v + 1) // 2 for v in column["line"])
    for i in range(n):
        method, args, res = sigs[column["sig"][i]]
        ret = str(calls[i] + took[i] - 1) if took[i] else "-"
        words = [h["threads"][column["thread"][i]],
                 "@" + h["objects"][column["object"][i]], str(calls[i]), ret,
                 method, *args] + (["->", *res] if res and ret != "-" else [])
        for name in "point", "drain":
            if column[name][i]:
                words.append(f"{name}={calls[i] + column[name][i] - 1}")
        if column["cpu"][i]:
            words.append(f"cpu={column['cpu'][i] - 1}")
        ops.append((lines[i], sorted(words[5:]), words[:5]))
    return ops


def text_ops(path):
    """The same of a file in the text form, by the numbers of lines."""
    ops = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if not line.startswith("#"):
                words = line.split()
                if words[3] == "-" and "->" in words:
                    results = words.index("->")
                    words[results:] = [w for w in words[results:] if "=" in w]
                words[1] = "@0x%x" % int(words[1][1:], 0)
                ops[number] = (sorted(words[5:]), words[:5])
    return ops


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>',
                         f.read(), re.S).group(1)
    h = json.loads(data)["history"]
    wanted = text_ops(sys.argv[2])
    found = page_ops(h)
    if len(found) != len(wanted):
        sys.exit(f"{len(found)} operations, expected {len(wanted)}")
    for line, values, words in found:
        if wanted.get(line) != (values, words):
            sys.exit(f"line {line}: {words} {values}, expected {wanted.get(line)}")


main()
