# SPDX-License-Identifier: GPL-2.0
"""Check the stories of litmus tests, on a machine of their own.

usage: litmus_story.py KLIN RESULT.json

The steps are made again on a small x86-TSO machine: each load must see the value that is told, each
store must leave its buffer when it is told, and memory and registers must end as the outcome says.
Edges of the cycle are derived anew.  What forbids an outcome is written into the test, and klin
must then not find the outcome, but must find it again without any one of the changes.
"""

import json
import re
import subprocess
import sys

KLIN = sys.argv[1]


def number(text):
    """Return the value of a number, or the text of a location."""
    try:
        return int(text, 0)
    except ValueError:
        return text


class Test:
    """A litmus test: its first state and its program, as lines and columns."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        plain = re.sub(r"\(\*.*?\*\)", lambda m: re.sub(r"[^\n]", " ", m.group()), self.text,
                       flags=re.S)
        self.lines = plain.split("\n")
        self.memory, self.registers = {}, {}
        for one in re.search(r"\{(.*?)\}", plain, re.S).group(1).split(";"):
            found = re.match(r"\s*(?:\w+\s+)?\*?\[?(\w+)\]?(\[\d+\])?\s*=\s*(\S+)\s*$", one)
            if found and not found.group(2):
                self.memory[found.group(1)] = number(found.group(3))
            found = re.match(r"\s*(\d):%?(\w+)\s*=\s*(\S+)\s*$", one)
            if found:
                self.registers[int(found.group(1)), found.group(2).lower()] = number(found.group(3))
        # Arrays, and locations that registers point to, are left to klin's own tests.
        self.simple = "[" not in re.search(r"\{(.*?)\}", plain, re.S).group(1)

    def cell(self, line, thread):
        """Return the instruction in a line and column."""
        return self.lines[line - 1].split(";")[0].split("|")[thread].strip()

    def change(self, places, weaken):
        """Return the text of the test with fences and locks, or without those."""
        lines = self.lines.copy()
        for place in sorted(places, key=lambda p: (p["line"], p["kind"]), reverse=True):
            at, thread = place["line"] - 1, place["thread"]
            cells = lines[at].split(";")[0].split("|")
            if place["kind"] == "fence" and not weaken:
                row = ["MFENCE" if i == thread else " " for i in range(len(cells))]
                lines.insert(at, " | ".join(row) + " ;")
                continue
            cell = cells[thread].strip()
            if place["kind"] == "fence":
                cell = ""
                # The lock prefix of a fence may stand in the row before.
                if self.cell(place["line"] - 1, 0).lower() == "lock" and not thread:
                    lines[at - 1] = lines[at - 1].replace("lock", "    ")
            elif not weaken:
                cell = "LOCK " + cell
            elif re.match(r"lock\b", cell, re.I):
                cell = cell[4:].strip()
            else:
                cell = re.sub(r"^xchg", "uxch", cell, flags=re.I)
            cells[thread] = " " + cell + " "
            lines[at] = "|".join(cells) + ";"
        return "\n".join(lines)


    def swapped(self, pair):
        """Return the text of the test with two instructions swapped."""
        lines = self.lines.copy()
        for place, other in (pair, pair[::-1]):
            cells = lines[place["line"] - 1].split(";")[0].split("|")
            cells[place["thread"]] = f" {other['instruction']} "
            lines[place["line"] - 1] = "|".join(cells) + ";"
        return "\n".join(lines)


    def alone(self, thread):
        """Return the text of the test in which only one thread has instructions."""
        lines = self.lines.copy()
        first = next(i for i, line in enumerate(lines) if re.match(r"\s*P0\b", line)) + 1
        for at in range(first, len(lines)):
            if not lines[at].rstrip().endswith(";"):
                break
            cells = lines[at].rstrip()[:-1].split("|")
            lines[at] = "|".join(c if i == thread else " " for i, c in enumerate(cells)) + ";"
        return "\n".join(lines)


def registers_of(test, run, thread, wide):
    """Return the registers of a thread that has only moves and fences, or None."""
    regs = {r: v for (t, r), v in test.registers.items() if t == thread}
    for step in run:
        if step["thread"] != thread or step["kind"] in ("flush", "fence"):
            continue
        if step["kind"] == "load":
            pattern = r"mov[lq]? \((\w+)\),\s*%(\w+)" if wide else r"mov (\w+),\s*\[(\w+)\]"
            found = re.fullmatch(pattern, step["instruction"], re.I)
            if not found:
                return None
            place, reg = found.groups() if wide else found.groups()[::-1]
            assert place == step["place"], step
            reg = "r" + reg[1:] if wide and reg[0] == "e" else reg
            regs[reg.lower()] = step["loaded"]
        elif step["kind"] == "store":
            found = re.fullmatch(r"mov[lq]? \$(\d+),\s*\((\w+)\)" if wide else
                                 r"mov \[(\w+)\],\s*\$(\d+)", step["instruction"], re.I)
            if not found:
                return None
            pair = found.groups()[::-1] if wide else found.groups()
            assert pair == (step["place"], step["stored"]), step
        else:
            return None
    return regs


def replay(test, story):
    """Make the steps on a machine.  Return the final memory."""
    memory, writer = {k: str(v) for k, v in test.memory.items()}, {}
    buffers, left, last = {}, {}, {}
    for number_, step in enumerate(story["run"], 1):
        assert step["step"] == number_
        thread, place = step["thread"], step.get("place")
        buffer = buffers.setdefault(thread, [])
        if step["kind"] != "flush":
            assert test.cell(step["line"], thread) == step["instruction"], step
            jumps = any(re.search(r":|\bJ", line) for line in test.lines)
            assert jumps or last.get(thread, 0) <= step["line"], step
            last[thread] = step["line"]
        if step["kind"] in ("fence", "locked"):
            assert not buffer, f"step {number_}: the buffer has stores"
        if step["kind"] in ("load", "locked"):
            own = [s for s in buffer if s["place"] == place]
            source = own[-1]["step"] if own else writer.get(place, 0)
            value = own[-1]["stored"] if own else memory.get(place, "0")
            assert step["own"] == bool(own) and step["from"] == source, step
            if test.simple or source:
                assert step["loaded"] == value, step
        if step["kind"] == "store" and story["memory"] == "tso":
            buffer.append(step)
        elif step["kind"] == "store" or (step["kind"] == "locked" and "stored" in step):
            memory[place], writer[place], left[number_] = step["stored"], number_, number_
        if step["kind"] == "flush":
            store = buffer.pop(0)
            assert store["step"] == step["from"] and store["place"] == place, step
            assert store["stored"] == step["stored"], step
            memory[place], writer[place], left[step["from"]] = step["stored"], step["from"], number_
    assert not any(buffers.values())
    for step in story["run"]:
        if step["kind"] == "store" or (step["kind"] == "locked" and "stored" in step):
            assert step["left"] == left[step["step"]], step
    return memory


def check_outcome(test, story, memory, wide):
    """Compare memory and registers with the outcome."""
    for name, value in story["outcome"].items():
        found = re.fullmatch(r"\[(\w+)\]", name)
        if found and test.simple:
            assert memory.get(found.group(1), "0") == value, (name, memory)
        found = re.fullmatch(r"(\d):(\w+)", name)
        if found and test.simple:
            regs = registers_of(test, story["run"], int(found.group(1)), wide)
            if regs is not None:
                assert str(regs.get(found.group(2).lower(), "0")) == value, (name, regs)


def check_cycle(story):
    """Derive each edge of the cycle anew, and the stores that waited."""
    run = {step["step"]: step for step in story["run"]}
    for i, link in enumerate(story["cycle"]):
        a, b = run[link["from"]], run[link["to"]]
        assert link["to"] == story["cycle"][(i + 1) % len(story["cycle"])]["from"]
        if link["edge"] == "po":
            assert a["thread"] == b["thread"] and a["step"] < b["step"]
            continue
        assert a["place"] == b["place"]
        if link["edge"] == "rf":
            assert b["from"] == a["step"]
        elif link["edge"] == "co":
            assert a["left"] < b["left"]
        else:
            source = run[a["from"]]["left"] if a["from"] else 0
            assert source < b["left"]
    for one in story["cast"]:
        store, load = run[one["stored"]], run[one["loaded"]]
        assert store["kind"] == "store" and load["kind"] == "load"
        assert store["thread"] == load["thread"] == one["thread"]
        assert one["stored"] < one["loaded"] < one["left"] == store["left"]
        assert (store["place"], store["stored"]) == (one["place"], one["value"])
    reordered = {(one["stored"], one["loaded"]) for one in story["cast"]}
    assert reordered == {(k["from"], k["to"]) for k in story["cycle"] if k["edge"] == "po" and
                         run[k["from"]]["kind"] == "store" and run[k["to"]]["kind"] == "load" and
                         run[k["from"]]["left"] > k["to"]}


def finds(text, story, *options):
    """Return whether klin finds the outcome in a test."""
    with open("changed.litmus", "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([KLIN, "litmus", "--json", *options, f"--explain={story['condition']}",
                           "changed.litmus"], capture_output=True, check=True)
    found = json.loads(done.stdout)["tests"][0]["story"]
    return found["outcome"] is not None


def final_states(text):
    with open("changed.litmus", "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([KLIN, "litmus", "--json", "changed.litmus"], capture_output=True)
    return [s["values"] for s in json.loads(done.stdout)["tests"][0]["states"]]


def check_alone(test, one):
    """Check that each thread has the same registers when it runs alone."""
    whole, = final_states(test.text)
    assert whole == one["states"][0]["values"] and not one["story"]["outcome"]
    for thread in {int(name.split(":")[0]) for name in whole if ":" in name}:
        part, = final_states(test.alone(thread))
        for name, value in whole.items():
            assert not name.startswith(f"{thread}:") or part[name] == value, (name, part)


def check_claims(test, one):
    """Check what forbids the outcome, and that it needs store buffers if that is told."""
    story = one["story"]
    # What cannot be otherwise has a reason.
    assert story["outcome"] or story["needed"] or story["orders"] or story["alone"], test.text
    if story["alone"]:
        check_alone(test, one)
    if not story["holds"]:
        return
    for pair in story["orders"]:
        assert pair[0]["thread"] == pair[1]["thread"] and not story["outcome"]
        assert finds(test.swapped(pair), story), pair
    assert (story["outcome"] is not None) == finds(test.text, story)
    if story["outcome"]:
        assert finds(test.text, story, "--memory-model=sc") == (story["memory"] == "sc")
    places = story["forbidden_by"]
    if places:
        assert not finds(test.change(places, False), story), places
        for i in range(len(places)):
            assert finds(test.change(places[:i] + places[i + 1:], False), story), places
    for place in story["needed"]:
        assert finds(test.change([place], True), story), place


def main():
    """Check all stories of a result."""
    with open(sys.argv[2], encoding="utf-8") as file:
        result = json.load(file)
    reached = buffered = forbidden = needed = ordered = alone = 0
    for one in result["tests"]:
        story, test = one["story"], Test(one["file"])
        wide = test.lines[0].startswith("X86_64")
        if story["outcome"]:
            check_outcome(test, story, replay(test, story), wide)
            check_cycle(story)
            assert bool(story["cycle"]) == bool(story["cast"]) == (story["memory"] == "tso")
            reached += 1
            buffered += story["memory"] == "tso"
        else:
            assert not story["run"] and not story["cycle"]
        check_claims(test, one)
        forbidden += bool(story["forbidden_by"])
        needed += bool(story["needed"])
        ordered += bool(story["orders"])
        alone += story["alone"]
    print(len(result["tests"]), reached, buffered, forbidden, needed, ordered, alone)


main()
