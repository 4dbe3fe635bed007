/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The run of a litmus test's story: a column for each thread, a row for each step.  A bar beside a
 * store says how long it was in the buffer; arrows are the cycle, as herd draws it.
 */

const COLUMN = { width: 370, box: 250, row: 44, height: 26, top: 30, left: 60 };

function litmusRun(story) {
	const steps = array(story.run).map(object), cycle = array(story.cycle).map(object);

	if (!steps.length)
		return null;
	return [
		make("h3", {}, "The run"),
		make("div", { class: "wide" }, litmusPicture(steps, cycle)),
		cycle.length ?
			[
				make("p", { class: "quiet" },
					"Without store buffers, each of these steps would come " +
						"before the next one:"),
				make("ul", { class: "cycle" },
					cycle.map((e) => make("li", {},
						     e.from + " \u2192 " + e.to + " (" + e.edge +
							     "): " + string(e.sentence))))
			] :
			null
	];
}

function litmusPicture(steps, cycle) {
	const threads = [...new Set(steps.map((s) => s.thread)) ].sort((a, b) => a - b);
	const c = COLUMN, rows = new Map(steps.map((s, k) => [s.step, k]));
	const x = (s) => c.left + threads.indexOf(s.thread) * c.width;
	const y = (s) => c.top + rows.get(s.step) * c.row;
	const width = c.left + threads.length * c.width, height = c.top + steps.length * c.row + 6;
	const svg = makeSvg("svg", {
		viewBox: "0 0 " + width + " " + height,
		width: width,
		height: height,
		role: "img",
		class: "litmus-run",
		"aria-label": "The run: " + steps.map(stepText).join("; ")
	});

	svg.append(makeSvg("defs", {},
		makeSvg("marker", {
			id: "tip-cycle",
			viewBox: "0 0 8 8",
			refX: 7,
			refY: 4,
			markerWidth: 7,
			markerHeight: 7,
			orient: "auto"
		},
			makeSvg("path", { d: "M0 0 L8 4 L0 8 z", fill: theme.wrong }))));
	for (const t of threads)
		svg.append(svgText(x({ thread: t }), 18, "P" + t, theme.quiet, true));
	steps.forEach((s, k) => {
		drawStep(svg, s, x(s), y(s));
		drawBuffered(svg, s, steps.find((o) => o.step === s.left),
			steps.slice(0, k).filter((o) => o.thread === s.thread && o.kind === "store")
				.length,
			x(s), y);
	});
	for (const e of cycle) {
		const from = steps.find((s) => s.step === e.from),
		      to = steps.find((s) => s.step === e.to);

		if (from && to)
			drawCycle(svg, e, from, to, x, y);
	}
	return svg;
}

function stepText(s) { return s.step + ", P" + s.thread + ": " + string(s.what); }

function drawStep(svg, s, x, y) {
	const c = COLUMN, inBuffer = s.kind === "flush";

	svg.append(makeSvg("rect", {
		x: x,
		y: y,
		width: c.box,
		height: c.height,
		rx: inBuffer ? c.height / 2 : 3,
		fill: inBuffer ? theme.paper : theme.bar,
		stroke: theme["bar-line"]
	}));
	const what = string(s.what).replace(/ \[.*\]$/, "");
	const short = what.length > 30 ? what.slice(0, 29) + "\u2026" : what;

	svg.append(svgText(x + 8, y + 17, s.step + "  " + short, theme.ink, false,
		what + (s.instruction ? ": " + s.instruction + ", line " + s.line : "")));
}

/* Draw how long a store was in the buffer.  @k: the number of the thread's stores before it. */
function drawBuffered(svg, s, left, k, x, y) {
	const right = x + COLUMN.box, half = COLUMN.height / 2;

	if (!left || s.kind !== "store")
		return;
	svg.append(makeSvg("path", {
		d: "M" + right + " " + (y(s) + half) + " h" + (10 + k % 4 * 9) + " V" +
			(y(left) + half) + " H" + right,
		fill: "none",
		stroke: VALUE_COLORS[k % VALUE_COLORS.length],
		"stroke-width": 4,
		"stroke-opacity": 0.8
	},
		makeSvg("title", {},
			string(s.place) + " = " + string(s.stored) + " is in the buffer of P" +
				s.thread + " from step " + s.step + " to step " + left.step)));
}

/* An edge of the cycle: bent at the left of a thread's column, or from column to column. */
function drawCycle(svg, e, from, to, x, y) {
	const c = COLUMN, half = c.height / 2, y1 = y(from) + half, y2 = y(to) + half;
	const inside = from.thread === to.thread, right = x(to) > x(from);
	const x1 = inside || !right ? x(from) : x(from) + c.box;
	const x2 = inside || right ? x(to) : x(to) + c.box;
	const bend = inside ? x1 - 34 : (x1 + x2) / 2;
	/* Names stand near the beginnings, where arrows rarely cross. */
	const at = inside ? [ x1 - 46, (y1 + y2) / 2 + 4 ] :
			    [ x1 + (x2 - x1) * 0.35, y1 + (y2 - y1) * 0.28 - 6 ];

	svg.append(makeSvg("path", {
		d: "M" + [ x1, y1 ].join(" ") + " C" + [ bend, y1, bend, y2, x2, y2 ].join(" "),
		fill: "none",
		stroke: theme.wrong,
		"stroke-width": 1.5,
		"marker-end": "url(#tip-cycle)"
	},
		makeSvg("title", {}, string(e.sentence))));
	svg.append(svgText(at[0], at[1], string(e.edge), theme.wrong, true));
}
