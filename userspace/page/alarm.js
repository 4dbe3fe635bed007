/* SPDX-License-Identifier: GPL-2.0 */
/* A verifier's alarm: the heap of the model and that of the reference as graphs, step by step. */

const NODE_WIDTH = 150, NODE_HEIGHT = 44, NODE_SPACE = 58, HEAP_HEIGHT = 178;

class Alarm {
	constructor(result) {
		const raw = result.raw;

		this.steps = readTrail(result.trail);
		this.at = 0;
		this.graph = make("div", {
			class: "heaps",
			tabindex: 0,
			role: "img",
			onkeydown: (e) => this.key(e)
		});
		this.list = make("ol", { class: "steps", start: 0 },
			this.steps.map((s, k) => make("li", {},
					       make("button", {
						       type: "button",
						       class: "op",
						       onclick: () => this.go(k)
					       },
						       s.what))));
		this.lines = make("pre", { "aria-live": "polite" });
		this.box = make("section", { "aria-label": "The abstract run to the alarm" },
			raw.message ?
				make("p", { class: "headline" }, sentence(string(raw.message))) :
				null,
			make("h2", {}, "The abstract run, step by step"),
			make("div", { class: "bar" },
				make("button",
					{ type: "button", onclick: () => this.go(this.at - 1) },
					"\u2190 back"),
				make("button",
					{ type: "button", onclick: () => this.go(this.at + 1) },
					"step \u2192"),
				make("span", { class: "quiet" },
					"or the keys \u2190 \u2192 in the picture"),
				make("button", {
					type: "button",
					onclick: () => download("klin.svg", "image/svg+xml",
						new XMLSerializer().serializeToString(
							this.graph.firstChild))
				},
					"save as SVG")),
			this.list, this.graph,
			make("p", { class: "quiet" },
				"Filled: in both heaps alike. Double frame: any number of nodes. " +
				"Numbers of nodes " +
					"hold in one state only."),
			this.lines);
		this.go(this.steps.length - 1);
		on("theme", () => this.go(this.at));
	}

	go(at) {
		const step = this.steps[this.at = Math.max(0, Math.min(at, this.steps.length - 1))];

		[...this.list.children].forEach((li, k) => {
			li.className = k <= this.at ? "taken" : "";
			if (k === this.at)
				li.setAttribute("aria-current", "step");
			else
				li.removeAttribute("aria-current");
		});
		empty(this.graph);
		empty(this.lines);
		if (!step)
			return;
		put(this.graph, drawHeaps(step));
		this.graph.setAttribute(
			"aria-label", "State " + step.number + ": " + step.lines.join("; "));
		put(this.lines, step.lines.join("\n"));
	}

	key(e) {
		act(e, {
			ArrowLeft: () => this.go(this.at - 1),
			ArrowRight: () => this.go(this.at + 1),
			Home: () => this.go(0),
			End: () => this.go(this.steps.length),
		});
	}
}

function drawHeaps(step) {
	const own = chain(step, "own"), reference = chain(step, "reference");
	const most = Math.max(own.length, reference.length, 2);
	const width = 130 + (most + 1) * (NODE_WIDTH + NODE_SPACE);
	const svg = makeSvg("svg", {
		xmlns: "http://www.w3.org/2000/svg",
		viewBox: "0 0 " + width + " " + 2 * HEAP_HEIGHT,
		width: width,
		height: 2 * HEAP_HEIGHT,
	},
		makeSvg("rect", { width: width, height: 2 * HEAP_HEIGHT, fill: theme.paper }));

	for (const [id, color] of [[ "own", theme.ink ], [ "reference", theme.link ]])
		svg.append(makeSvg("marker", {
			id: "tip-" + id,
			markerWidth: 9,
			markerHeight: 9,
			refX: 8,
			refY: 4.5,
			orient: "auto"
		},
			makeSvg("path", { d: "M0 0 L9 4.5 L0 9 z", fill: color })));
	drawHeap(svg, step, own, "own", 0, "the model's heap", width);
	drawHeap(svg, step, reference, "reference", HEAP_HEIGHT, "the reference's heap", width);
	return svg;
}

function drawHeap(svg, step, nodes, heap, top, title, width) {
	const color = heap === "own" ? theme.ink : theme.link, y = top + 92;
	const x = (k) => 130 + k * (NODE_WIDTH + NODE_SPACE), places = new Map();

	nodes.forEach((n, k) => places.set(n.name, k));
	places.set("null", nodes.length);
	svg.append(svgText(10, top + 18, title, theme.quiet));
	svg.append(makeSvg("line", {
		x1: 0,
		y1: top + HEAP_HEIGHT - 0.5,
		x2: width,
		y2: top + HEAP_HEIGHT - 0.5,
		stroke: theme.line
	}));
	svg.append(svgText(x(nodes.length) + 8, y + NODE_HEIGHT / 2 + 4, "null", theme.quiet));
	for (const n of nodes) {
		const at = x(places.get(n.name));

		svg.append(makeSvg("rect", {
			x: at,
			y: y,
			width: NODE_WIDTH,
			height: NODE_HEIGHT,
			rx: 5,
			fill: n.both ? theme.bar : theme.paper,
			stroke: color,
			"stroke-width": 1.5
		}));
		if (n.many)
			svg.append(makeSvg("rect", {
				x: at + 3,
				y: y + 3,
				width: NODE_WIDTH - 6,
				height: NODE_HEIGHT - 6,
				rx: 3,
				fill: "none",
				stroke: color
			}));
		svg.append(svgText(
			at + 8, y + 18, n.name + (n.many ? " (any number)" : ""), theme.ink, true));
		svg.append(svgText(at + 8, y + 34,
			n.fields.length > 19 ? n.fields.slice(0, 18) + "\u2026" : n.fields,
			theme.quiet, false, n.fields));
		for (const to of n[heap])
			drawEdge(svg, places, x, y, n.name, to, color, heap, n[heap].length > 1);
	}
	drawNames(svg, step.names.filter((one) => one.heap === heap), places, x, y, color, heap);
}

/* Arrows to the next node are straight; others are bent below the nodes. */
function drawEdge(svg, places, x, y, from, to, color, heap, maybe) {
	const a = places.get(from), b = places.has(to) ? places.get(to) : places.get("null");
	const x1 = x(a) + NODE_WIDTH, x2 = x(b), mid = y + NODE_HEIGHT / 2,
	      low = y + NODE_HEIGHT + 26;

	svg.append(makeSvg("path", {
		d: b === a + 1 ? "M" + x1 + " " + mid + " L" + (x2 - 1) + " " + mid :
				  "M" + (x1 - 14) + " " + (y + NODE_HEIGHT) + " Q" + (x1 - 14) +
				" " + low + " " + (x1 + x2) / 2 + " " + low + " Q" + (x2 + 14) +
				" " + low + " " + (x2 + 14) + " " +
				(y + NODE_HEIGHT + (to === "null" ? -8 : 1)),
		fill: "none",
		stroke: color,
		"stroke-width": 1.5,
		"stroke-dasharray": maybe ? "5 4" : "none",
		"marker-end": "url(#tip-" + heap + ")",
	}));
}

/* Names of variables stand above what they point to. */
function drawNames(svg, names, places, x, y, color, heap) {
	const above = new Map();

	for (const one of names) {
		const k = places.get(one.to), level = above.get(one.to) || 0;

		if (k === undefined)
			continue;
		above.set(one.to, level + 1);
		svg.append(svgText(
			x(k) + 8 + level * 62, y - 34 - (level % 2) * 14, one.name, color, true));
		svg.append(makeSvg("line", {
			x1: x(k) + 14 + level * 62,
			y1: y - 29,
			x2: x(k) + 14 + Math.min(level * 20, 60),
			y2: y - (one.to === "null" ? -10 : 2),
			stroke: color,
			"marker-end": "url(#tip-" + heap + ")"
		}));
	}
}

function svgText(x, y, text, color, bold, title) {
	return makeSvg("text", {
		x: x,
		y: y,
		fill: color,
		"font-family": "monospace",
		"font-size": 12,
		"font-weight": bold ? "bold" : "normal"
	},
		text, title ? makeSvg("title", {}, title) : null);
}

function alarmOf(result) { return new Alarm(result).box; }
