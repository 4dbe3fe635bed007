/* SPDX-License-Identifier: GPL-2.0 */
/* Draws the lanes with a pen. */

const TOP = 22; /* height of the axis */

/*
 * What is drawn: the part [from, to] of the axis, rows from @top on, and marks of operations.
 * @p: { h, axis, rows, from, to, top, width, height, gutter, colors, cast: Map, proof: Set, hits,
 *	selected, hover, steps: [{op, at, flush, number}], misfits: [{op, at}] }
 */
function drawPicture(pen, p) {
	const x = (at) => p.gutter + (at - p.from) / (p.to - p.from) * (p.width - p.gutter);
	const y = (row) => TOP + row * ROW - p.top;

	pen.rect(0, 0, p.width, p.height, theme.paper);
	drawAxis(pen, p, x);
	pen.begin(0, TOP, p.width, p.height - TOP);
	drawLanes(pen, p, y);
	pen.begin(p.gutter, TOP, p.width - p.gutter, p.height - TOP);
	drawGaps(pen, p, x, y);
	drawOthers(pen, p, x, y);
	drawOps(pen, p, x, y);
	drawSteps(pen, p, x, y);
	pen.end();
	pen.end();
}

function drawAxis(pen, p, x) {
	/* A label takes as much room as the longest one, with a space. */
	const room = LETTER * (p.axis.longestLabel().length + 3) + 8;

	pen.begin(p.gutter, 0, p.width - p.gutter, p.height);
	for (const at of p.axis.marks(p.from, p.to, Math.max((p.width - p.gutter) / room, 1))) {
		pen.line(x(at), TOP - 5, x(at), p.height, theme.line);
		pen.text(x(at) + 3, TOP / 2, p.axis.label(at), theme.quiet);
	}
	pen.end();
	pen.text(4, TOP / 2, p.axis.scaled ? p.h.clock || "time" : "no scale", theme.quiet);
}

/* The width of the names of lanes: what the longest one needs, if there is room for it. */
function gutterOf(p) {
	const most = p.width < 700 ? 84 : 190;
	const longest = p.rows.lanes.reduce((n, lane) => Math.max(n, lane.name.length), 0);

	return Math.max(84, Math.min(Math.ceil(longest * LETTER) + 10, most));
}

function drawLanes(pen, p, y) {
	for (const lane of p.rows.lanes) {
		const at = y(lane.first);

		if (at > p.height || at + lane.rows * ROW < TOP)
			continue;
		pen.line(0, at, p.width, at, theme.line);
		pen.text(6, at + ROW / 2, lane.name.slice(0, (p.gutter - 8) / LETTER), theme.ink);
	}
}

/* Draw periods in which operations may be missing. */
function drawGaps(pen, p, x, y) {
	for (const g of p.h.gaps) {
		const from = Math.max(x(p.axis.place(g.from)), p.gutter);
		const to = Math.min(x(Math.min(p.axis.place(g.to), p.axis.end + 1)), p.width);

		if (to < p.gutter || from > p.width)
			continue;
		pen.rect(from, TOP, Math.max(to - from, 2), p.height - TOP, theme.gap);
		pen.hatch(from, TOP, Math.max(to - from, 2), p.height - TOP, theme.line);
	}
}

/* Operations that must be seen are drawn after the others, and never narrower than this. */
const NARROWEST = 3;

function drawOps(pen, p, x, y) {
	const [first, end] = p.axis.range(p.from, p.to),
		      last = new Float64Array(p.rows.rows).fill(-1);
	const rows = p.rows.row, scale = (p.width - p.gutter) / (p.to - p.from);
	const special = [];

	for (let i = first; i < end; i++) {
		const at = TOP + rows[i] * ROW - p.top;

		if (at > p.height || at + ROW < TOP)
			continue;
		if (p.cast.has(i) || p.proof.has(i) || p.selected === i || p.hits && p.hits[i] ||
			p.hover === i) {
			special.push(i);
			continue;
		}
		const from = p.gutter + (p.axis.from[i] - p.from) * scale;
		const to = Math.min(p.gutter + (p.axis.to[i] - p.from) * scale, p.width);

		/* Operations that share a pixel with the one before add nothing to the picture. */
		if (to <= last[rows[i]] + 0.5)
			continue;
		last[rows[i]] = Math.max(to, from + 1);
		drawOp(pen, p, i, Math.max(from, p.gutter - 2), Math.max(to, from + 1), at, false);
	}
	special.sort((a, b) => rank(p, a) - rank(p, b));
	for (const i of special) {
		const from = Math.max(x(p.axis.from[i]), p.gutter - 2);
		const to = Math.min(x(p.axis.to[i]), p.width);

		drawOp(pen, p, i, from, Math.max(to, from + NARROWEST), y(rows[i]), true);
	}
}

function rank(p, i) {
	return (p.selected === i) * 8 + p.cast.has(i) * 4 + (p.hits && p.hits[i] ? 2 : 0) +
		p.proof.has(i);
}

function drawOp(pen, p, i, from, to, y, special) {
	const h = p.h, wrong = p.failing === i, cast = p.cast.has(i);
	const wide = to - from;
	/* Equal values of other partitions have nothing to do with one another. */
	const alike = p.failing === NONE || h.part[i] === h.part[p.failing];
	const own = alike ? opColors(h, p.colors, i) : [];
	const strong = cast || wrong || p.selected === i;
	const dim = p.hits && !p.hits[i] && !strong;
	const full = (strong || p.proof.has(i)) && own.length > 0;
	/* A torn read has several colours; below its text, so that both can be read. */
	const torn = full && own.length > 1;
	let fill = full && !torn ? own[0] : theme.bar;
	let line = theme["bar-line"];

	if (p.hits && p.hits[i] && !cast)
		fill = theme.hit;
	if (wide < 3 && !special) {
		pen.rect(from, y + 4, wide, ROW - 8, dim ? theme.line : theme["bar-line"]);
		return;
	}
	if (dim)
		fill = theme.paper;
	drawError(pen, p, i, from, to, y);
	pen.rect(from, y + 3, wide, ROW - 7, fill, dim ? theme.line : line);
	/* Each value has a part of the lower edge. */
	own.forEach((color, k) => {
		if (fill === theme.bar)
			pen.rect(from + wide * k / own.length, y + ROW - (torn ? 9 : 7),
				wide / own.length, torn ? 5 : 3, color);
	});
	if (isPending(h, i))
		pen.hatch(Math.max(from, to - 24), y + 3, Math.min(24, wide), ROW - 7, theme.quiet);
	if (wrong)
		pen.rect(from - 1.5, y + 1.5, wide + 3, ROW - 4, null, theme.wrong, 3);
	else if (cast)
		pen.rect(from - 1, y + 2, wide + 2, ROW - 5, null, theme.ink, 1.5);
	else if (p.proof.has(i))
		pen.rect(from, y + 3, wide, ROW - 7, null, theme.ink, 1);
	if (p.selected === i || p.hover === i)
		pen.line(from, y + ROW - 1, to, y + ROW - 1, theme.ink, 3);
	drawBuffer(pen, p, i, y);
	if (wide > 4 * LETTER) {
		/* The mark of a step at the call covers the first letter. */
		const shift = p.steps.concat(p.misfits).some((s) => s.op === i &&
							      s.at === h.call[i]) ?
			9 :
			0;
		const room = Math.floor((wide - 6 - shift) / LETTER), text = opText(h, i);

		const ink = dim ? theme.quiet : fill === theme.bar ? theme.ink : inkOn(fill);

		pen.text(from + 4 + shift, y + ROW / 2 - (torn ? 2.5 : 0.5),
			text.length > room ? text.slice(0, room - 1) + "\u2026" : text, ink, "left",
			strong);
	} else if (wrong) {
		pen.text(to + 5, y + ROW / 2, opText(h, i), theme.ink, "left", true);
	}
}

/* Draw how far an operation may have reached by the clock's error. */
function drawError(pen, p, i, from, to, y) {
	const by = p.axis.scaled ? p.h.error * (p.width - p.gutter) / (p.to - p.from) : 0;

	if (by < 1.5)
		return;
	pen.line(from - by / 2, y + ROW / 2, from, y + ROW / 2, theme.quiet, 1);
	pen.line(from - by / 2, y + 7, from - by / 2, y + ROW - 7, theme.quiet, 1);
	if (isPending(p.h, i))
		return;
	pen.line(to, y + ROW / 2, to + by / 2, y + ROW / 2, theme.quiet, 1);
	pen.line(to + by / 2, y + 7, to + by / 2, y + ROW - 7, theme.quiet, 1);
}

/* Draw when an operation took effect, and when the store buffer was empty after it. */
function drawBuffer(pen, p, i, y) {
	const h = p.h;
	const x = (time) =>
		p.gutter + (p.axis.place(time) - p.from) / (p.to - p.from) * (p.width - p.gutter);

	if (h.point && h.point[i])
		pen.dot(x(h.call[i] + h.point[i] - 1), y + ROW - 6, 2.5, theme.ink, theme.paper);
	if (!h.drain || !h.drain[i])
		return;
	const drained = h.call[i] + h.drain[i] - 1;

	if (drained > h.ret[i])
		pen.line(x(h.ret[i]), y + ROW - 6, x(drained), y + ROW - 6, theme.quiet, 2,
			[ 3, 2 ]);
	pen.line(x(drained), y + 1, x(drained), y + ROW - 2, theme.ink, 1.5);
}

/* Draw the steps of an order: numbers where operations took effect, and bars up to their stores. */
function drawSteps(pen, p, x, y) {
	const begun = new Map();
	const place = (s) => ({ x: x(p.axis.place(s.at)), y: y(p.rows.row[s.op]) + ROW / 2 });
	const known = p.steps.filter((s) => s.op !== NONE);

	/* A line through the steps, and from the last one to what does not fit. */
	known.forEach((s, k) => {
		const a = place(known[Math.max(k - 1, 0)]), b = place(s);

		pen.line(a.x, a.y, b.x, b.y, theme.ink, 1);
	});
	for (const m of p.misfits) {
		const a = place(known.length ? known.at(-1) : m), b = place(m);

		pen.line(a.x, a.y, b.x, b.y, theme.wrong, 1, [ 3, 3 ]);
		pen.dot(b.x, b.y, 8, theme.paper, theme.wrong);
		pen.text(b.x, b.y, "\u2717", theme.wrong, "center", true);
	}
	for (const s of known) {
		const at = x(p.axis.place(s.at)), mid = y(p.rows.row[s.op]) + ROW / 2;

		if (s.flush) {
			if (begun.has(s.op))
				pen.line(begun.get(s.op), mid + ROW / 2 - 3, at, mid + ROW / 2 - 3,
					theme.ink, 2, [ 4, 2 ]);
			pen.rect(at - 7, mid - 7, 14, 14, theme.paper, theme.ink);
		} else {
			begun.set(s.op, at);
			pen.dot(at, mid, 8, s.current ? theme.ink : theme.paper, theme.ink);
		}
		pen.text(at, mid, String(s.number), s.current && !s.flush ? theme.paper : theme.ink,
			"center", s.current);
	}
}
