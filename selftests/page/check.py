#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Open pages of `klin report' in Chromium, use them, and compare what they say with klin's JSON.

Usage: check.py BROWSER DIRECTORY

The directory has pages NAME.html and results NAME.json, made by ../cli/page.sh.  Each test is a
line "ok NAME" or "not ok NAME: REASON".
"""

import json
import os
import re
import sys

from browser import Browser

TESTS = []


def test(name):
    """Register a test of the page NAME.html."""
    def add(f):
        TESTS.append((name, f))
        return f
    return add


def said(b, selector):
    """The texts of all elements that a selector finds."""
    return b.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


def same(found, wanted):
    assert found == wanted, f"found {found!r}, expected {wanted!r}"


def stories(result):
    return [p["story"] for p in result["partitions"] if "story" in p]


def text_of(op):
    return op.get("text") or op["operation"]


def thread_of(op):
    return op["thread"] if isinstance(op["thread"], str) else f"t{op['thread']}"


@test("queue")
def the_page_tells_the_story_of_the_json(b, result):
    story = stories(result)[0]
    same(said(b, ".verdict"), [result["verdict"]])
    foot = said(b, "footer")[0]
    for text in (result["klin"]["build"]["id"], result["klin"]["build"]["compiler"],
                 *(f"{n} {v}" for n, v in result["klin"]["libraries"].items())):
        assert text in foot, (text, foot)
    same(said(b, ".headline"), [story["headline"] + "."])
    same(said(b, ".cast tbody td:nth-child(1)"), [thread_of(o) for o in story["cast"]])
    same(said(b, ".cast tbody td:nth-child(2)"), [text_of(o) for o in story["cast"]])
    same([t.strip() for t in said(b, ".cast tbody td:nth-child(3)")],
         [o["role"] for o in story["cast"]])
    same(said(b, ".cast tbody td:nth-child(4)"),
         [f"{o['call']}\u2013{o['return']}" for o in story["cast"]])
    same([t for t in said(b, ".story li")], [f + "." for f in story["facts"]])


@test("queue")
def a_click_on_the_lanes_shows_all_of_an_operation(b, result):
    op = stories(result)[0]["cast"][0]
    x, y = b.run("""(() => { const a = klin.app, p = a.p, i = p.failing;
        const at = Math.max(a.lanes.axis.from[i], p.from);
        const r = a.lanes.canvas.getBoundingClientRect();
        a.lanes.canvas.scrollIntoView();
        const s = a.lanes.canvas.getBoundingClientRect();
        return [s.left + p.gutter + (at - p.from) / (p.to - p.from) * (p.width - p.gutter) + 4,
            s.top + 22 + p.rows.row[i] * 24 - p.top + 12]; })()""")
    b.click(x, y)
    same(said(b, ".detail h3"), [text_of(op)])
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same(facts["thread"], thread_of(op))
    same(facts["called"], str(op["call"]))
    same(facts["returned"], str(op["return"]))
    same(facts["role"], op["role"])


@test("queue")
def keys_zoom_pan_and_move_from_operation_to_operation(b, result):
    b.run("klin.app.lanes.canvas.focus()")
    width = "klin.app.p.to - klin.app.p.from"
    before = b.run(width)
    b.key("+")
    assert b.run(width) < before, "+ does not zoom in"
    left = b.run("klin.app.p.from")
    b.key("ArrowRight")
    assert b.run("klin.app.p.from") > left, "ArrowRight does not pan"
    b.key("v")
    b.key("ArrowDown")
    first = b.run("klin.app.p.selected")
    b.key("ArrowDown")
    same(b.run("klin.app.p.selected"), first + 1)
    b.key("Escape")
    same(b.run("klin.app.p.selected"), -1)
    b.run("klin.app.lanes.canvas.scrollIntoView()")
    x, y = b.run("(() => { const r = klin.app.lanes.canvas.getBoundingClientRect();"
                 "return [r.left + 300, r.top + 40]; })()")
    before = b.run(width)
    b.wheel(x, y, -200)
    b.run("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
    assert b.run(width) < before, "the wheel does not zoom in"


@test("queue")
def a_search_finds_what_the_history_has(b, result):
    for query, count in result["expected"]["searches"].items():
        b.run("klin.app.search.field.focus(); klin.app.search.field.select()")
        b.type(query)
        found = b.run("klin.app.hitList.length")
        assert found == count, f"{query}: {found} operations, expected {count}"
    b.run("klin.app.search.field.value = ''; klin.app.search.run()")


@test("queue")
def the_table_has_each_operation(b, result):
    b.run("document.querySelector('details.table').open = true; klin.app.table.fill()")
    rows = b.run("[...document.querySelectorAll('.table tbody tr')].map(r =>"
                 "[...r.children].slice(0, 4).map(c => c.textContent))")
    same(rows, [[f"t{t}", what, call, ret] for t, what, call, ret in
                result["expected"]["operations"]])


def a_word_is_found_where_it_is_shown(b, result):
    shown = b.run("[...Array(klin.app.h.n).keys()].map(i => [klin.describe(i)[0],"
                  "klin.app.h.threads[klin.app.h.thread[i]]])")
    # Words across a method, its arguments and its results, too, where quotes keep blanks.
    for query in ("e", "1", "deq", "a", "(", "->", "t1", "t", ",", "<", "un", "-", "?", "x", "...",
                  "()", "q(", "(1", "1)", "1) -", "deq() -> 1", ") -> 1", ", ", ") ->  "):
        typed = f'"{query}"' if " " in query else query
        b.run(f"klin.app.search.field.value = {json.dumps(typed)}; klin.app.search.run()")
        same((query, b.run("klin.app.hitList")),
             (query, [i for i, (text, thread) in enumerate(shown)
                      if query in text.lower() or query == thread]))
    b.run("klin.app.search.field.value = ''; klin.app.search.run()")


for page in "queue", "hostile", "kernel_alone", "kv":
    test(page)(a_word_is_found_where_it_is_shown)


@test("kv")
def a_string_that_is_no_symbol_names_no_object(b, result):
    text = b.run("document.body.innerText")
    assert '("")' not in text, text
    # Only what the text of an operation shows is compared and coloured, and not its key.
    b.run("klin.app.select(1)")
    heads = said(b, ".detail h4")
    assert 'Operations with "x 2 0 y"' in heads, heads
    same(b.run("[...document.querySelectorAll('.cast tbody tr')].map(r =>"
               "r.querySelectorAll('.chip').length > 1)").count(True), 0)


@test("queue")
def nothing_is_fetched_and_the_picture_is_saved_as_svg(b, result):
    same(b.run("performance.getEntriesByType('resource').length"), 0)
    svg = b.run("klin.app.lanes.svg()")
    assert svg.startswith("<svg") and "deq() -&gt; 1" in svg, svg[:300]
    assert b.run(f"new DOMParser().parseFromString({json.dumps(svg)}, 'image/svg+xml')"
                 ".querySelector('parsererror') === null"), "the SVG is not well-formed"


LETTER = 6.6  # width of a letter of the picture


def labels_of_the_axis_do_not_overlap(b, result):
    many = 0
    # A story of many operations, which are far from one another.
    b.run("""(() => { const { lanes, h } = klin.app, n = Math.min(h.n, 30);
        lanes.axis.setStory(Array.from({ length: n }, (_, i) => Math.floor(h.n / n) * i)); })()""")
    for axis in "time", "events", "story":
        for zoom in 1, 0.3, 0.1:
            labels = b.run(f"""(() => {{ const lanes = klin.app.lanes;
                lanes.choose("{axis}"); lanes.fit([]); lanes.zoom({zoom}); lanes.draw();
                const svg = new DOMParser().parseFromString(lanes.svg(), "image/svg+xml");
                return [...svg.querySelectorAll("text[y='15']")].map(
                    e => [Number(e.getAttribute("x")), e.textContent]); }})()""")
            labels.sort()
            many = max(many, len(labels))
            for (x, text), (other, _) in zip(labels, labels[1:]):
                assert x + LETTER * len(text) <= other, f"labels on the axis of {axis}: {labels}"
    assert many > 3, "no labels"
    b.run("klin.app.lanes.chooseFor([...klin.app.p.cast.keys()])")


for page in "queue", "large":
    test(page)(labels_of_the_axis_do_not_overlap)


@test("queue")
def all_that_can_be_used_has_a_name(b, result):
    nameless = b.run("""[...document.querySelectorAll("button, input, select, canvas, summary, "
        + "[tabindex='0']")].filter(e => e.getAttribute("aria-hidden") !== "true" &&
        !(e.getAttribute("aria-label") || e.textContent.trim() || e.title ||
        e.closest("label"))).map(e => e.outerHTML)""")
    same(nameless, [])
    roles = {n["role"]["value"] for n in b.call("Accessibility.getFullAXTree")["nodes"]
             if "role" in n}
    for role in "main", "search", "application", "table", "button", "heading":
        assert role in roles, f"no {role} in the accessibility tree"


@test("seqlock")
def a_torn_read_has_the_colours_of_both_writes(b, result):
    story = stories(result)[0]
    same(said(b, ".headline"), [story["headline"] + "."])
    same(b.run("[...document.querySelectorAll('.cast tbody tr')].map(r =>"
               "r.querySelectorAll('.chip').length)")[0], 2)


def choose_order(b, name):
    chosen = b.run("""(() => { const list = document.querySelector('.orders select');
        list.selectedIndex = [...list.options].findIndex(o => o.text.startsWith('%s'));
        list.dispatchEvent(new Event('change')); return list.value; })()""" % name)
    assert chosen.startswith(name), chosen


@test("mutex")
def orders_are_stepped_with_the_arrow_keys(b, result):
    orders = stories(result)[0]["orders"]
    assert orders, "no orders in the JSON"
    choose_order(b, "order 1 of the proof")
    b.run("document.querySelector('.orders').focus()")
    steps = orders[0]["operations"]
    names = b.run("klin.app.orders.order.steps.map(s => klin.app.h.id[s.op])")
    same(names, steps)
    assert orders[0]["state"] in said(b, ".state")[0], said(b, ".state")
    b.key("Home")
    assert said(b, ".state")[0].startswith("Before all steps: "), said(b, ".state")
    same(b.run("klin.app.p.steps.length"), 0)
    for k in range(len(steps)):
        b.key("ArrowRight")
        same(b.run("klin.app.p.steps.length"), k + 1)
        same(b.run("[...document.querySelectorAll('.steps li')].findIndex(e =>"
                   "e.getAttribute('aria-current'))"), k)
    same(b.run("klin.app.h.id[klin.app.orders.order.stop]"), orders[0]["stopped_by"])


@test("mutex")
def the_picture_has_the_order_and_what_does_not_fit(b, result):
    b.run("document.querySelector('.orders').focus()")
    b.key("End")
    marks = b.run("klin.app.p.misfits.map(m => m.op)")
    assert marks and marks[0] == b.run("klin.app.orders.order.stop"), marks
    svg = b.run("klin.app.lanes.draw(); klin.app.lanes.svg()")
    same(svg.count(">\u2717</text>"), len(marks))
    b.key("ArrowLeft")
    same(b.run("klin.app.p.misfits.length"), 0)
    # Each state that is known stands beside its step.
    states = b.run("klin.app.orders.order.states")
    same([s.split(" \u2192 ")[1] for s in said(b, ".steps li") if " \u2192 " in s],
         [s for s in states if s])


def replay_mutex(operations):
    """Return the states of a mutex before all operations and after each, as klin prints them."""
    held, states = False, ["held = false"]
    for text in operations:
        before = {"lock()": False, "trylock() -> 1": False, "unlock()": True,
                  "trylock() -> 0": True, "trylock()": held}[text]
        assert before == held, (text, states)
        held = text != "unlock()"
        states.append(f"held = {str(held).lower()}")
    return states


@test("mutex")
def an_order_has_all_operations_before_the_violation(b, result):
    choose_order(b, "all that goes well")
    order = b.run("klin.app.orders.order")
    times = b.run("[...klin.app.h.call].map((t, i) =>"
                  "[t, klin.app.h.ret[i] === Infinity ? 1e300 : klin.app.h.ret[i]])")
    steps = [s["op"] for s in order["steps"]]
    end = times[order["stop"]][1]
    same(sorted(s["op"] for s in order["steps"] if not s["open"]),
         [i for i, t in enumerate(times) if t[1] < end])
    for k, i in enumerate(steps):
        same([j for j in steps[k + 1:] if times[j][1] < times[i][0]], [])
    # The results of those that did not return before the violation are open.
    names = [b.run(f"klin.describe({s['op']})")[0].split(" -> ")[slice(1 if s["open"] else 2)]
             for s in order["steps"]]
    assert not order["steps"][-1]["open"], "the last step changes nothing that was seen"
    states = replay_mutex(" -> ".join(n) for n in names)
    same([order["before"]] + order["states"], states)
    for k in (0, len(steps) // 2, len(steps) - 1):
        b.run(f"klin.app.select({steps[k]})")
        choose_order(b, "all that goes well")
        facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
        same([facts[n] for n in ("in the order", "state before", "state after")],
             [f"step {k + 1}", states[k], states[k + 1]])
    b.run(f"klin.app.select({order['stop']})")
    choose_order(b, "all that goes well")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same([facts[n] for n in ("in the order", "state before")],
         ["does not fit after the last step", states[-1]])


@test("queue")
def what_overlaps_an_operation_is_listed(b, result):
    b.run("klin.app.select(0)")
    same(said(b, ".detail h4")[:2], ["In the file", "Overlaps 1 operation"])
    same(said(b, ".detail ul")[0].split(" ")[0:2], ["t2's", "enq(2)"])
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same(facts["took"], "10 ns")
    b.run("klin.app.select(2)")
    same(said(b, ".detail h4")[1], "Overlaps no operation")


def shown(text):
    """A text as a page shows it: control characters are seen."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f]", lambda m: f"\\u{{{ord(m[0]):x}}}", text)


def an_operation_has_its_entries_in_the_file(b, result):
    for op in stories(result)[0]["cast"]:
        b.run(f"klin.app.select([...klin.app.h.id].indexOf({op['id']}))")
        source = op["source"]
        same(said(b, ".detail pre"), [shown(source[n]) for n in ("text", "return_text")])
        facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
        assert "took by :time" in facts, facts
        # JavaScript rounds large numbers of a result.
        if b.run("klin.app.h.entries.size"):
            same([facts[f":time of the {n}"].replace("\u202f", "") for n in ("call", "end")],
                 [f"{source[n]} ns" for n in ("time", "return_time")])
    b.run("klin.app.select(-1)")


for page in "entries", "entries_alone":
    test(page)(an_operation_has_its_entries_in_the_file)


@test("entries")
def what_an_entry_says_is_found_and_timed(b, result):
    for query, count in {"text:timed-out": 1, "text:</SCRIPT>": 1, "text::node": 1,
                         "text:jepsen": 1, "text:none": 0}.items():
        b.run(f"klin.app.search.field.value = {json.dumps(query)}; klin.app.search.run()")
        same((query, b.run("klin.app.hitList.length")), (query, count))
    b.run("klin.app.search.field.value = ''; klin.app.search.run(); klin.app.select(1)")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same([facts[n] for n in ("took by :time", ":index")], ["2.50 ms", "3"])
    b.run("klin.app.select(3)")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same(facts["took by :time"], "7 ns")
    b.run("klin.app.select(2)")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same(facts["line of its unknown end"], "5")
    assert "not by their :time" in said(b, "#keys")[0], said(b, "#keys")


@test("entries_part")
def a_page_says_which_entries_it_leaves_out(b, result):
    # Those of the story have room first.
    same(b.run("[...klin.app.h.id].filter(i => klin.app.h.entries.has(i))"), [3])
    notes = " ".join(said(b, ".note"))
    assert "For 2 operations the text in the file is left out" in notes, notes
    b.run("klin.app.select(2)")
    assert "no room" in said(b, ".detail")[0], said(b, ".detail")


@test("mixed")
def an_operation_has_the_words_of_its_lines(b, result):
    cast = stories(result)[0]["cast"]
    same([o["text"] for o in cast], ["read() -> 16", "write(16)", "cas(0x10, 1) -> :ok"])
    same(said(b, ".cast tbody td:nth-child(2)"), [o["text"] for o in cast])
    same(b.run("[...klin.app.h.id].map((id, i) => [id, klin.describe(i)[0]])"),
         [[0, "write(nil)"]] + [[o["id"], o["text"]] for o in sorted(cast, key=lambda o: o["id"])])
    for query, ids in {"0x10": [2], "16": [1, 3], "value:0x10": [1, 2, 3], "cas(0x": [2],
                       ":ok": [2], "value::ok": [2], "value:1": [2],
                       "value:16": [1, 3]}.items():
        b.run(f"klin.app.search.field.value = {json.dumps(query)}; klin.app.search.run()")
        same((query, b.run("klin.app.hitList.map(i => klin.app.h.id[i])")), (query, ids))
    b.run("klin.app.search.field.value = ''; klin.app.search.run()")
    # Both spellings are the same value, with the same colour; the result is none of the values.
    same(b.run("""[...document.querySelectorAll('.cast tbody tr')].map(r =>
        [...r.querySelectorAll('.chip')].map(e => e.style.background))""")[0],
         b.run("[...document.querySelectorAll('.cast tbody tr:nth-child(2) .chip')]"
               ".map(e => e.style.background)"))


def entries_of_no_operation_are_bars(b, result):
    lines = open("others.edn", encoding="utf-8").read().split("\n")
    found = result["other_entries"] + result["failed_operations"]
    for e in found:
        same(e["text"], lines[e["line"] - 1])
    same([e["line"] for e in found], [2, 3, 6, 7, 9, 11, 12, 13, 5])
    same(result["failed_operations"][0]["return_text"], lines[7])
    # Two entries of the nemesis are one deed, and what it starts lasts until it has stopped.
    bars = b.run("klin.app.h.others.map(o => [o.lane, o.text, String(klin.app.h.base) * 1 + o.from,"
                 "o.to === Infinity ? null : String(klin.app.h.base) * 1 + o.to])")
    same(bars, [[":nemesis", ':start-partition, :start-partition "</script>cut n1", '
                 ":stop-partition, :stop-partition :healed", 1.5, 4.5],
                [":nemesis", ':bump :clocks, :bump {"n1" 5}', 3.5, 3.5],
                [":nemesis", ":start-partition :again", 4.5, None],
                ["t5", ":log :hello", 3.5, 3.5],
                ["failed", "t3 :cas [7 8]", 3, 3.5]])
    svg = b.run("klin.app.lanes.fit([]), klin.app.lanes.draw(), klin.app.lanes.svg()")
    assert ">:nemesis<" in svg and ">failed<" in svg, svg[:300]


for page in "others", "others_alone":
    test(page)(entries_of_no_operation_are_bars)


@test("others")
def a_bar_shows_its_entries(b, result):
    x, y = b.run("""(() => { const a = klin.app, p = a.p, o = a.h.others[0];
        a.lanes.fit([]); a.lanes.draw(); a.lanes.canvas.scrollIntoView();
        const s = a.lanes.canvas.getBoundingClientRect(), at = a.lanes.axis.place(o.from);
        return [s.left + p.gutter + (at - p.from) / (p.to - p.from) * (p.width - p.gutter) + 4,
            s.top + 22 + o.row * 24 - p.top + 12]; })()""")
    b.click(x, y)
    lines = open("others.edn", encoding="utf-8").read().split("\n")
    same(said(b, ".detail pre"), [lines[k] for k in (1, 2, 10, 11)])
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same([facts["lines"], facts["after event"], facts["until after event"]],
         ["2, 3, 11, 12", "1", "4"])
    # The list has the same for keys.
    same(len(said(b, ".others li")), 5)
    b.run("document.querySelector('details.others').open = true;"
          "[...document.querySelectorAll('.others button')].at(-1).click()")
    same(said(b, ".detail pre"), [lines[4], lines[7]])
    same(b.run("klin.app.p.other"), 4)
    b.run("klin.app.select(0)")
    same(b.run("klin.app.p.other"), -1)


@test("skipped")
def entries_that_are_no_operations_are_counted(b, result):
    notes = " ".join(said(b, ".note"))
    assert f"no operations: {result['skipped']} (" in notes, notes


@test("stale")
def the_state_after_each_step_is_shown(b, result):
    choose_order(b, "order 1 of the proof")
    b.run("document.querySelector('.orders').focus()")
    b.key("Home")
    found = [said(b, ".state div")[0]]
    for _ in range(b.run("klin.app.orders.order.steps.length")):
        b.key("ArrowRight")
        found.append(said(b, ".state div")[0])
    # Earlier operations are left out of the proof, so any state may come before.
    same(found, ["Before all steps: the state is not known", "After step 1: x1 = 2, x2 = 2"])


@test("seqlock")
def the_state_before_all_steps_is_shown(b, result):
    b.run("klin.app.orders.go(0)")
    same(said(b, ".state div")[0], "Before all steps: x1 = 0, x2 = 0")


@test("tso")
def buffers_gaps_and_the_error_of_the_clock_are_drawn(b, result):
    same(b.run("klin.app.h.gaps.length"), 2)
    notes = " ".join(said(b, ".note"))
    assert "2 gaps" in notes and "differ by up to 3" in notes, notes
    b.run("klin.app.lanes.fit([0, 1, 2, 3])")
    svg = b.run("klin.app.lanes.svg()")
    assert "<circle" in svg and "clipPath" in svg, "no points, or no hatched gaps"
    b.run("klin.app.select(klin.app.h.n - 1)")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same([facts[k] for k in ("called", "returned", "CPU", "clock error")],
         ["18446744073709551000", "18446744073709551001", "1", "up to 3"])
    b.run("klin.app.select(0)")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same([facts[k] for k in ("took effect", "store buffer empty by")], ["20", "90"])


@test("buffer")
def an_order_shows_when_stores_leave_their_buffers(b, result):
    same(said(b, ".verdict"), [result["verdict"]])
    texts = said(b, ".steps li")
    entered = [t.split(",  ")[0].split(", stays")[0] for t in texts if "stays in the buffer" in t]
    left = [t for t in texts if "leaves the buffer" in t]
    assert any(e in t for e in entered for t in left), texts
    # The second thread reads the pair before the first one's store has left.
    read = texts.index("t2's read() -> (0, 0)")
    assert read < texts.index(left[0]), texts
    b.run("document.querySelector('.orders').focus()")
    b.key("Home")
    b.key("ArrowRight")
    assert "In store buffers: " + entered[0] in said(b, ".state")[0], said(b, ".state")


@test("buffer")
def a_store_that_had_to_wait_is_named(b, result):
    same(said(b, ".waited"), [p["waited"]["sentence"] + "." for p in result["partitions"]])


@test("explore")
def a_run_shows_a_step_a_row_and_only_what_changes(b, result):
    same(b.run("document.querySelectorAll('.run tbody tr').length"), len(result["run"]))
    same(said(b, ".run thead th:first-child ~ th"),
         ["thread %d" % t for t in sorted({s["thread"] for s in result["run"] if "thread" in s})]
         + ["changes"])
    b.run("document.querySelector('.run').focus()")
    b.key("Home")
    same(said(b, ".detail h3"), ["At first"])
    b.key("ArrowDown")
    same(b.run("[...document.querySelectorAll('.run tbody tr')].findIndex(r =>"
               "r.getAttribute('aria-selected'))"), 1)
    cells = [t for t in said(b, ".detail .memory span")]
    for word in re.findall(r"[^\s:;]+=[^\s;]+", result["run"][1]["state"]):
        assert word in cells, f"{word} is not in {cells}"


@test("verify")
def an_alarm_shows_both_heaps_step_by_step(b, result):
    steps = [t for t in result["trail"] if re.match(r" {0,6}\d+  \S", t)]
    same([s.split("  ")[-1].strip() for s in steps], said(b, ".steps li"))
    b.run("document.querySelector('.heaps').focus()")
    b.key("Home")
    for k in range(len(steps)):
        at = result["trail"].index(steps[k])
        end = result["trail"].index(steps[k + 1]) if k + 1 < len(steps) else len(result["trail"])
        lines = [t.strip() for t in result["trail"][at + 1:end]]
        same(said(b, "section pre")[0], "\n".join(lines))
        nodes = {m.group(1) for t in lines if (m := re.match(r"([ns]\d+)[ :]", t))}
        drawn = set(re.findall(r"\b[ns]\d+\b", " ".join(said(b, ".heaps text[font-weight=bold]"))))
        same(drawn, nodes)
        b.key("ArrowRight")


def facts_of_head(b):
    return dict(zip(said(b, ".about dt"), said(b, ".about dd")))


@test("litmus")
def litmus_tests_have_their_text_and_final_states(b, result):
    same(said(b, ".litmus tbody td:nth-child(2)"), [t["verdict"] for t in result["tests"]])
    same(facts_of_head(b)["tests"], "1 Ok, 1 No, 0 unknown, 1 not run")
    b.run("document.querySelector('.litmus').focus()")
    # The first that is not Ok is selected at first.
    b.key("ArrowUp")
    for k, t in enumerate(result["tests"]):
        same(b.run("[...document.querySelectorAll('.litmus tbody tr')].findIndex(r =>"
                   "r.getAttribute('aria-selected'))"), k)
        text = " ".join(said(b, "[aria-label='The selected test'] p"))
        story = t.get("story", {"run": [], "cycle": [], "headline": ""})
        assert story["headline"] in text, text
        drawn = said(b, ".litmus-run text")
        for s in story["run"]:
            assert any(d.startswith(f"{s['step']}  {s['what'].split(' [')[0]}"[:25])
                       for d in drawn), (s, drawn)
        same([d for d in drawn if d in ("po", "rf", "co", "fr")],
             [e["edge"] for e in story["cycle"]])
        same(len(said(b, ".cycle li")), len(story["cycle"]))
        if "reason" in t:
            assert t["reason"] in text, text
        else:
            same(said(b, ".values tbody tr.marked td:last-child"),
                 ["holds"] * t["positive"])
            same(b.run("document.querySelectorAll('.values tbody tr').length"),
                 t["positive"] + t["negative"])
            names = said(b, ".values thead th")
            shown = b.run("[...document.querySelectorAll('.values tbody tr')].map(r =>"
                          "[...r.children].map(c => c.textContent))")
            wanted = [[s["values"].get(n, "holds" if s["holds"] else "") for n in names]
                      for s in t["states"]]
            same(sorted(shown), sorted(wanted))
            with open(os.path.join(sys.argv[2], t["file"]), encoding="utf-8") as f:
                same("\n".join(said(b, "pre.source span")), f.read().rstrip())
        b.key("ArrowDown")
    b.run("(() => { const s = document.querySelector('[aria-label^=Only]');"
          "s.value = 'ERROR'; s.dispatchEvent(new Event('change')); })()")
    same(b.run("[...document.querySelectorAll('.litmus tbody tr')].map(r => r.hidden)"),
         [True, True, False])


@test("outcomes")
def outcomes_have_a_row_each(b, result):
    names = said(b, ".values thead th")
    rows = b.run("[...document.querySelectorAll('.values tbody tr')].map(r =>"
                 "[...r.children].map(c => c.textContent))")
    yes = {True: "yes", False: "no"}
    same(rows, [[o["variables"][n] for n in names[:-3]] +
                [yes[o[n]] for n in ("implementation", "specification", "sc")]
                for o in result["outcomes"]])


def found_by_a_check_that_ran_along(b, result, whole):
    violations = [o for o in result["objects"] if o["kind"] == "violation"]
    same(b.run("klin.result.violations.length"), len(violations))
    told = {v["story"]["headline"]: v for v in violations if "story" in v}
    for k in range(len(violations)):
        if len(violations) > 1:
            b.run(f"(() => {{ const s = document.querySelector('p label select');"
                  f"s.selectedIndex = {k}; s.dispatchEvent(new Event('change')); }})()")
        headline = said(b, ".headline")[0].rstrip(".")
        v = told.pop(headline, None)
        if not v:
            assert headline in [v["reason"] for v in violations if "story" not in v], headline
            continue
        same(said(b, ".cast tbody td:nth-child(2)"), [text_of(o) for o in v["story"]["cast"]])
        same(said(b, ".cast tbody td:nth-child(4)"),
             [f"{o['call']}\u2013{o['return']}" for o in v["story"]["cast"]])
        # Each is found in the history that the page has, and is its own.
        ops = v["counterexample"] + v["story"]["cast"]
        found = b.run("klin.app.violation.proof.concat(klin.app.violation.cast.map(o => o.op))"
                      ".map(i => klin.describe(i))")
        same(found, [[text_of(o), str(o["call"])] for o in ops])
        text = said(b, ".story")[0]
        assert f"at time {v['time']}, after {v['events']} calls" in text, text
    same(told, {})
    same(b.run("klin.app.h.total > 0"), whole)


@test("found")
def violations_found_along_the_way_are_shown(b, result):
    found_by_a_check_that_ran_along(b, result, False)
    same(facts_of_head(b)["violations"], str(result["objects"][-1]["violations"]))


@test("found_whole")
def violations_found_along_the_way_are_shown_in_their_history(b, result):
    found_by_a_check_that_ran_along(b, result, True)


@test("found_part")
def violations_found_along_the_way_stay_when_others_are_left_out(b, result):
    assert b.run("klin.app.h.n < klin.app.h.total"), "nothing is left out"
    found_by_a_check_that_ran_along(b, result, True)


@test("found_cut")
def a_stream_without_its_end_is_shown_as_far_as_it_goes(b, result):
    found_by_a_check_that_ran_along(b, result, False)
    same(said(b, ".verdict"), ["VIOLATION"])
    assert "ends before the summary" in " ".join(said(b, ".note")), said(b, ".note")


@test("incident")
def a_report_of_klind_says_when_and_why_it_was_written(b, result):
    facts = facts_of_head(b)
    same([facts[k] for k in ("structure", "cause", "written", "found at")],
         [result["name"], result["cause"], result["written"], str(result["time"])])
    same(facts["found after"], f"{result['events']} calls and returns")
    same(facts["found after"], f"{result['events']} calls and returns")
    same(said(b, ".headline"), [stories(result["check"])[0]["headline"] + "."])


@test("unknown")
def an_unknown_verdict_has_reasons_and_advice(b, result):
    text = " ".join(said(b, "header li"))
    for w in result["why_unknown"]:
        assert w["why"] in text and w["advice"] in text, text


@test("hostile")
def no_value_of_a_hostile_history_runs(b, result):
    same(b.run("window.hacked"), None)
    same(b.run("document.querySelectorAll('img, iframe, object, embed, link, base').length"), 0)
    same(b.run("document.scripts.length"), 2)
    b.run("document.querySelector('details.table').open = true; klin.app.table.fill()")
    table = " ".join(said(b, ".table tbody"))
    for text in "</script><script>hacked=1</script>", "<img src=x onerror=hacked=1>", "\\u{202e}":
        assert text in table, f"{text} is not shown as it is"


@test("wide")
def threads_of_the_story_come_first_of_many(b, result):
    same(b.run("klin.app.p.rows.lanes.length"), 300)
    cast = {thread_of(o) for s in stories(result) for o in s["cast"]}
    first = b.run(f"klin.app.p.rows.lanes.slice(0, {len(cast)}).map(l => l.name)")
    same(set(first), cast)
    assert len(result["partitions"]) > 1
    b.run("klin.app.lanes.canvas.focus()")
    b.key("PageDown")
    assert b.run("klin.app.p.top") > 0, "PageDown does not scroll"
    # Each violation can be chosen.
    violations = b.run("klin.result.violations.length")
    for k in range(violations):
        if violations > 1:
            b.run(f"(() => {{ const s = document.querySelector('p label select');"
                  f"s.selectedIndex = {k}; s.dispatchEvent(new Event('change')); }})()")
        assert said(b, ".headline")[0].rstrip(".") in [s["headline"] for s in stories(result)]


def lanes(b):
    """The names of the lanes, as the saved picture has them."""
    svg = b.run("klin.app.lanes.draw(); klin.app.lanes.svg()")
    names = b.run("klin.app.p.rows.lanes.map(l => l.name)")
    for name in names:
        assert f">{name}</text>" in svg, f"the picture has no lane {name}"
    return names


def where_operations_ran(b, result):
    story = stories(result)[0]
    head = said(b, ".cast thead th")
    for name, column in ("comm", "comm"), ("cpu", "CPU"):
        same(said(b, f".cast tbody td:nth-child({head.index(column) + 1})"),
             [str(o.get(name, "")) for o in story["cast"]])
    b.run("klin.app.select(klin.app.p.failing)")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    part = [p for p in result["partitions"] if "story" in p][0]
    same([facts[k] for k in ("comm", "CPU", "object", "symbol")],
         [story["cast"][0]["comm"], str(story["cast"][0]["cpu"]), part["object"], part["symbol"]])
    same(said(b, ".detail pre:not(.entry)"), ["\n".join(story["cast"][0]["stack"])])
    b.run("document.querySelector('details.table').open = true; klin.app.table.fill()")
    row = b.run("[...document.querySelectorAll('.table tbody tr.failing td')].map(c =>"
                "c.textContent)")
    same(row[5:8], [f"{part['object']} ({part['symbol']})", story["cast"][0]["comm"],
                    str(story["cast"][0]["cpu"])])


@test("kernel")
def a_recording_shows_where_operations_ran(b, result):
    where_operations_ran(b, result)
    same(lanes(b), ["t301 kworker/2:1", "t302 ip netns", "t303"])
    b.run("klin.app.select(0)")
    same(said(b, ".detail pre:not(.entry)"), ["worker+0x10 [queue]\nkthread+0xd7"])
    b.run("klin.app.select(klin.app.h.n - 1)")
    facts = dict(zip(said(b, ".detail dt"), said(b, ".detail dd")))
    same([facts["slab cache"], said(b, ".detail pre:not(.entry)")], ["kmalloc-64", []])
    for query, count in {"comm:kworker/2:1": 2, 'comm:"ip netns"': 2, "cpu:0": 2,
                         "stack:worker": 1, "stack:take+0x4": 2,
                         "object:init_net_queue": 5, "kworker/2:1": 2}.items():
        b.run(f"klin.app.search.field.value = {json.dumps(query)}; klin.app.search.run()")
        found = b.run("klin.app.hitList.length")
        assert found == count, f"{query}: {found} operations, expected {count}"
    choose = "(() => { const s = document.querySelector('[aria-label=Lanes]');" \
             "s.value = '%s'; s.dispatchEvent(new Event('change')); })()"
    b.run(choose % "CPU")
    same(lanes(b), ["CPU 0", "CPU 1", "CPU 2", "CPU 3"])
    b.run(choose % "object")
    same(lanes(b), ["0xffff888012345600", "init_net_queue"])


@test("kernel_alone")
def a_result_alone_shows_where_operations_ran(b, result):
    where_operations_ran(b, result)


def luminance(color):
    n = [int(color[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in n)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    """The ratio of two colours as WCAG 2 defines it."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def long_color(color):
    return "#" + "".join(2 * c for c in color[1:]) if len(color) == 4 else color


@test("queue")
def colours_have_contrast_in_both_schemes(b, result):
    for is_dark in False, True:
        b.dark(is_dark)
        color = {n: long_color(b.run("getComputedStyle(document.documentElement)"
                                     f".getPropertyValue('--{n}').trim()"))
                 for n in ("paper", "ink", "quiet", "bar", "link", "wrong", "box", "bar-line")}
        for text in "ink", "quiet", "link", "wrong":
            for ground in "paper", "box", "bar":
                ratio = contrast(color[text], color[ground])
                assert ratio >= 4.5, f"{text} on {ground}, dark {is_dark}: {ratio:.2f}"
        ratio = contrast(color["bar-line"], color["paper"])
        assert ratio >= 3, f"frames, dark {is_dark}: {ratio:.2f}"
    b.dark(False)


def a_narrow_window_shows_the_whole_width(b, result):
    try:
        # A window of 1280 at four times its size has 320.
        for width in 400, 320:
            b.size(width, 800)
            b.run("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
            same(b.run("Math.max(document.documentElement.scrollWidth - innerWidth, 0)"), 0)
            # What sticks out to the left cannot be scrolled to.
            same(b.run("[...document.querySelectorAll('main *')].filter(e =>"
                       "e.getBoundingClientRect().left < 0 && e.getBoundingClientRect().width > 0"
                       "&& !e.closest('.wide, canvas, svg, pre'))"
                       ".map(e => e.outerHTML.slice(0, 80))"), [])
    finally:
        b.size(1280, 900)


def headings_have_no_gap(b, result):
    levels = b.run("[...document.querySelectorAll('h1, h2, h3, h4, h5')]"
                   ".map(e => Number(e.tagName[1]))")
    same(levels[:1], [1])
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels


def what_scrolls_can_be_focused(b, result):
    same(b.run("""[...document.querySelectorAll("pre, .tests, .source, .detail")].filter(e =>
        /auto|scroll/.test(getComputedStyle(e).overflowY) && !e.hasAttribute("tabindex") &&
        !e.querySelector("[tabindex]")).map(e => e.outerHTML.slice(0, 80))"""), [])


for page in ("queue", "mutex", "explore", "verify", "litmus", "outcomes", "unknown", "incident",
             "found_whole", "kernel", "hostile", "others"):
    for one in (a_narrow_window_shows_the_whole_width, headings_have_no_gap,
                what_scrolls_can_be_focused):
        test(page)(one)


@test("verify")
def the_printed_page_is_dark_on_white(b, result):
    def fill():
        # The page hears of a change at the next frame.
        b.run("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")
        return long_color(b.run("document.querySelector('.heaps svg rect').getAttribute('fill')"))
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    b.call("Emulation.setEmulatedMedia", features=[dark])
    assert luminance(fill()) < 0.1, fill()
    b.call("Emulation.setEmulatedMedia", media="print", features=[dark])
    same(fill(), "#ffffff")
    same(b.run("getComputedStyle(document.querySelector('.verdict')).color"), "rgb(0, 0, 0)")
    same(b.run("getComputedStyle(document.querySelector('.detail.nothing')).display"), "none")
    b.call("Emulation.setEmulatedMedia", media="", features=[])


@test("queue")
def forced_colours_keep_those_of_values_and_the_cursor(b, result):
    b.run("klin.app.select(0); document.querySelector('details.table').open = true;"
          "klin.app.table.fill()")
    b.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    chip = b.run("getComputedStyle(document.querySelector('.chip')).backgroundColor")
    width = b.run("getComputedStyle(document.querySelector('tr[aria-selected] td'))"
                  ".borderBottomWidth")
    b.call("Emulation.setEmulatedMedia", features=[])
    same([chip, width], ["rgb(0, 114, 178)", "2px"])


@test("buffer")
def the_legend_has_what_the_page_has(b, result):
    text = said(b, "#keys")[0]
    assert "violation" not in text and "failing" not in text, text


@test("skipped")
def store_buffers_are_not_named_without_them(b, result):
    assert "store buffer" not in said(b, "#keys")[0], said(b, "#keys")


@test("large")
def a_page_of_many_operations_opens_and_searches_at_once(b, result):
    same(b.run("klin.app.h.n"), result["operations"])
    # No test measures time: the numbers are remarks.
    times = {"ready": b.run("Math.round(klin.ready)"),
             "loaded": b.run("Math.round(performance.timing.domContentLoadedEventEnd -"
                             "performance.timing.navigationStart)")}
    for query in "value:77", "thread:t3 deq", "7", "deq() -> 1":
        times[query] = b.run(f"""(() => {{ const s = klin.app.search;
            s.field.value = {json.dumps(query)}; s.run(); return Math.round(s.took); }})()""")
    b.run("klin.app.lanes.fit([])")
    times["draw all"] = b.run("(() => { const t = performance.now(); klin.app.lanes.draw();"
                              "return Math.round(performance.now() - t); })()")
    print("# milliseconds:", json.dumps(times))
    same(b.run("klin.app.hitList.length > 0"), True)


@test("part")
def a_page_says_what_it_leaves_out(b, result):
    n, total = b.run("[klin.app.h.n, klin.app.h.total]")
    same(total, result["operations"])
    assert n < total, f"{n} of {total}"
    notes = " ".join(said(b, ".note")).replace("\u202f", "")
    assert f"{n} of {total} operations" in notes and f"{total - n} operations are left out" in \
        notes, notes
    same([k for k in b.run("klin.result.violations.map(v => v.cast.some(o => o.op < 0))") if k],
         [])


def main():
    browser, directory = sys.argv[1:3]
    b = Browser(browser)
    opened = None
    failed = 0
    try:
        for name, f in TESTS:
            title = f.__name__.replace("_", " ")
            path = os.path.join(directory, name)
            if not os.path.exists(path + ".html"):
                continue
            try:
                if opened != name:
                    b.open(path + ".html")
                    opened = name
                with open(path + ".json", encoding="utf-8") as j:
                    f(b, json.load(j))
                assert not b.faults, f"the page failed: {b.faults}"
                print("ok", title)
            except Exception as e:
                failed += 1
                print("not ok", title + ":", str(e).replace("\n", " ")[:1500])
    finally:
        b.close()
    sys.exit(failed > 0)


main()
