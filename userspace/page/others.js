/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the file has besides the history's operations: entries of Jepsen's nemesis and of other
 * processes, and operations that failed.  Each is a bar in a lane of its own, at the place that it
 * has among the events.
 *
 * A nemesis says twice what it does: when it begins, and when it has done so.  What it starts lasts
 * until it has stopped it.
 */

const MOST_OTHER_ROWS = 4; /* rows of such a lane; further bars share the last one */

/* Return: the time of an entry after this event. */
function otherTime(h, after) { return Number(BigInt(after) - h.base) + 0.5; }

function otherName(e) {
	return [ string(e.f), string(e.value) ].filter((t) => t && t !== "nil").join(" ");
}

/* "start" or "stop", and what: of `:start-partition' "-partition". */
function phaseOf(e) { return /^:?(start|stop)(.*)$/.exec(string(e.f)); }

/* Return: the bars of the entries of a process, in their order. */
function barsOf(h, process, entries) {
	const bars = [], open = new Map();

	for (const e of entries) {
		const at = otherTime(h, e.after), phase = phaseOf(e), last = bars.at(-1);
		let bar = null;

		if (phase && phase[1] === "stop")
			bar = open.get(phase[2]);
		else if (phase && open.has(phase[2]) && !open.get(phase[2]).stopped)
			bar = open.get(phase[2]);
		else if (!phase && last && last.f === e.f && last.entries.length === 1)
			bar = last;
		if (!bar) {
			bar = {
				lane: process,
				f: phase ? "" : e.f,
				from: at,
				to: at,
				entries: [],
				failed: false,
			};
			bars.push(bar);
			if (phase && phase[1] === "start") {
				bar.to = Infinity;
				open.set(phase[2], bar);
			}
		}
		bar.entries.push(e);
		bar.stopped = bar.stopped || Boolean(phase) && phase[1] === "stop";
		if (bar.stopped || !phase)
			bar.to = at;
	}
	return bars;
}

/* Read the lists that results and pages have. */
function readOthers(h, c) {
	const of = new Map();

	h.others = [];
	for (const e of array(c.other_entries).map(object)) {
		const process = (string(e.process) || "other entries").replace(/^(?=\d+$)/, "t");

		of.set(process, [...(of.get(process) || []), e]);
	}
	for (const [process, entries] of of)
		h.others.push(...barsOf(h, process, entries));
	for (const e of array(c.failed_operations).map(object))
		h.others.push({
			lane: "failed",
			thread: threadOf(e),
			from: Number(BigInt(e.call) - h.base),
			to: otherTime(h, e.after),
			entries: [ e ],
			failed: true,
		});
	for (const bar of h.others)
		bar.text = (bar.thread ? bar.thread + " " : "") +
			[...new Set(bar.entries.map(otherName)) ].join(", ");
	h.othersLeft = (c.other_entries_not_listed || 0) + (c.failed_operations_not_listed || 0);
}

/* Add lanes of such bars to @lanes, from row @rows on.  Return: the number of rows then. */
function layOthers(h, lanes, rows) {
	for (const name of new Set(h.others.map((bar) => bar.lane))) {
		const ends = [], lane = { name: name, first: rows, rows: 1 };

		for (const bar of h.others.filter((one) => one.lane === name)) {
			let r = 0;

			while (r < ends.length && ends[r] >= bar.from && r < MOST_OTHER_ROWS - 1)
				r++;
			ends[r] = Math.max(ends[r] || 0, bar.to);
			bar.row = rows + r;
			lane.rows = Math.max(lane.rows, r + 1);
		}
		lanes.push(lane);
		rows += lane.rows;
	}
	return rows;
}

/* The part of the axis that a bar takes. */
function otherPlaces(axis, bar) {
	return [ axis.place(bar.from), Math.max(axis.place(bar.to), axis.place(bar.from)) ];
}

function drawOthers(pen, p, x, y) {
	p.h.others.forEach((bar, k) => {
		const [from, to] = otherPlaces(p.axis, bar), at = y(bar.row);
		const left = Math.max(x(from), p.gutter - 2);
		const wide = Math.max(Math.min(x(to), p.width) - left, 4);

		if (at > p.height || at + ROW < TOP || x(to) < p.gutter - 2 || left > p.width)
			return;
		pen.rect(left, at + 4, wide, ROW - 9, bar.failed ? theme.paper : theme.gap,
			theme["bar-line"]);
		if (bar.failed)
			pen.line(left, at + ROW / 2, left + wide, at + ROW / 2, theme.line);
		if (p.other === k)
			pen.rect(left - 1, at + 3, wide + 2, ROW - 7, null, theme.ink, 2);
		const room = Math.floor((wide - 6) / LETTER);

		if (room > 3)
			pen.text(left + 4, at + ROW / 2,
				bar.text.length > room ? bar.text.slice(0, room - 1) + "\u2026" :
							 bar.text,
				bar.failed ? theme.quiet : theme.ink);
	});
}

/* Where a bar is in the file. */
function otherLines(bar) {
	return bar.entries.flatMap((e) => [e.line, e.return_line]).filter(Boolean);
}

/* The facts about a bar, as elements. */
function otherDetail(bar) {
	const pre = (text, cut) => typeof text === "string" ?
		make("pre", { class: "entry" }, text + (cut ? "\u2026 (the entry is longer)" : "")) :
		null;
	const times = bar.entries.flatMap((e) => [e.time, e.return_time]).filter((t) => !isNull(t));
	const facts = [
		[ bar.failed ? "took no effect" : "of no operation", bar.lane ],
		[ "after event", bar.entries[0].after ],
		[ "until after event", bar.to === Infinity ? "the end" : bar.entries.at(-1).after ],
		[ "lines", otherLines(bar).join(", ") ],
		[ ":time", times.map(nanoseconds).join(", ") ],
	];

	return [
		make("h3", {}, bar.text),
		make("dl", {}, facts.filter(([ , text ]) => text !== "")
				       .map(([ name, text ]) => [make("dt", {}, name),
						    make("dd", {}, string(text))])),
		make("h4", {}, "In the file"),
		bar.entries.map((e) => [pre(e.text, e.text_cut),
					pre(e.return_text, e.return_text_cut)])
	];
}

/* The bars as a list, for keys and screen readers. */
function othersList(app) {
	const h = app.h;

	if (!h.others.length)
		return null;
	return make("details", { class: "others" },
		make("summary", {}, "Entries of the file that are no operations of the history: " +
				count(h.others.length) + (h.othersLeft ? " shown" : "")),
		h.othersLeft ?
			make("p", { class: "note" }, count(h.othersLeft) + " more are left out.") :
			null,
		make("ul", {}, h.others.map((bar, k) => make("li", {},
				       make("button", {
					       type: "button",
					       class: "op",
					       onclick: () => app.selectOther(k)
				       },
					       bar.text || "entry"),
				       " " + bar.lane + ", line " + otherLines(bar).join(", ")))));
}
