# SPDX-License-Identifier: GPL-2.0
"""Check the story of an explorer's run against the run's steps.

usage: run_story.py RESULT.json

The store that "store_buffer" names must be in the writer's buffer in each state from the store up to
the load, must leave at the step that is named, and the load must see another value.  Operations of
the cast must have their call and their return in the steps that are named.
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


def main():
    """Check one result."""
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    result = result.get("concrete", result)
    run = result["run"]
    assert [step["step"] for step in run] == list(range(len(run)))
    if "store_buffer" in result:
        check_buffer(run, result["store_buffer"])
    if "story" in result:
        check_cast(run, result["story"]["cast"])
    print("story" in result, "store_buffer" in result)


main()
