/* SPDX-License-Identifier: GPL-2.0 */
/* The lanes on the page: zoom, pan, keys, and the minimap. */

const MAP = 38; /* height of the minimap */

class Lanes {
	constructor(app) {
		this.app = app;
		this.axis = new Axis(app.h);
		this.p = {
			h: app.h,
			axis: this.axis,
			rows: layRows(app.h, app.castOps, "thread"),
			from: 0,
			to: 1,
			top: 0,
			width: 1000,
			gutter: 84,
			height: 200,
			colors: new Map(),
			cast: new Map(),
			proof: new Set(),
			hits: null,
			selected: NONE,
			other: NONE,
			hover: NONE,
			failing: NONE,
			steps: [],
			misfits: [],
		};
		this.canvas = make("canvas", {
			class: "lanes",
			tabindex: 0,
			role: "application",
			"aria-describedby": "keys",
			"aria-label":
				"Operations in lanes by thread. The table has the same content.",
		});
		this.map = make("canvas", { class: "map", "aria-hidden": "true" });
		this.tip = make("div", { class: "tip", hidden: true, role: "presentation" });
		this.box = make("div", { class: "picture" }, this.canvas, this.map, this.tip);
		this.listen();
	}

	/* ---- the part of the axis that is in view ---- */

	show(from, to) {
		const least = this.axis.scaled	   ? 4 :
			this.axis.kind === "story" ? 0.01 :
						     3,
		      all = this.axis.end - this.axis.begin || 1;
		const margin = all * 0.03;
		let wide = Math.min(Math.max(to - from, least), all + 2 * margin);

		from = wide < all + 2 * margin ?
			Math.max(Math.min(from + (to - from - wide) / 2,
					 this.axis.end + margin - wide),
				this.axis.begin - margin) :
			this.axis.begin - margin;
		this.p.from = from;
		this.p.to = from + wide;
		this.later();
	}

	zoom(by, at) {
		const p = this.p, mid = at === undefined ? (p.from + p.to) / 2 : at;

		this.show(mid - (mid - p.from) * by, mid + (p.to - mid) * by);
	}

	pan(part) {
		const by = (this.p.to - this.p.from) * part;

		this.show(this.p.from + by, this.p.to + by);
	}

	/* Show these operations, with some room around them. */
	fit(ops) {
		let from = Infinity, to = -Infinity;

		for (const i of ops) {
			if (i === NONE)
				continue;
			from = Math.min(from, this.axis.from[i]);
			/* The end of a pending operation may be far away. */
			to = Math.max(
				to, isPending(this.app.h, i) ? this.axis.from[i] : this.axis.to[i]);
		}
		if (from > to)
			/* show() leaves a margin, in which marks at the ends can be seen. */
			this.show(-Infinity, Infinity);
		else
			this.show(from - (to - from) * 0.12 - 1e-3, to + (to - from) * 0.12 + 1e-3);
	}

	/* Is a bar of the cast too narrow on the axis of times to be read? */
	isCramped(ops) {
		const known = ops.filter((i) => i !== NONE);
		const from = Math.min(...known.map((i) => this.app.h.call[i]));
		const to =
			Math.max(...known.map((i) => Math.min(this.app.h.ret[i], this.axis.last)));

		return known.some(
			(i) => (Math.min(this.app.h.ret[i], this.axis.last) - this.app.h.call[i]) *
					150 <
				to - from);
	}

	choose(kind) {
		this.axis.choose(kind);
		this.fit([...this.p.cast.keys() ]);
		tell("axis");
	}

	/* Draw a lane for each thread, CPU, object or key, see lanesBy(). */
	group(by) {
		this.p.rows = layRows(this.app.h, this.app.castOps, by);
		this.scroll(0);
		if (this.app.violation)
			this.app.showViolation();
	}

	/* Choose the first axis on which the story can be read. */
	chooseFor(ops) {
		this.axis.setStory(ops);
		this.choose(!this.isCramped(ops)    ? "time" :
				this.isCrowded(ops) ? "story" :
						      "events");
	}

	/* The next axis. */
	turn() { this.choose(AXES[(AXES.indexOf(this.axis.kind) + 1) % AXES.length]); }

	/* Are there too many operations between those of the story to show all of them? */
	isCrowded(ops) { return Math.max(...ops) - Math.min(...ops) > 40; }

	/* Bring an operation into view. */
	reveal(i) {
		this.revealPlace(this.p.rows.row[i], this.axis.from[i], this.axis.to[i]);
	}

	/* Bring the part [from, to] of a row into view. */
	revealPlace(row, from, to) {
		const p = this.p, y = row * ROW, inside = p.height - TOP;

		if (y < p.top || y + ROW > p.top + inside)
			this.scroll(y - inside / 2);
		if (to < p.from || from > p.to) {
			const wide = p.to - p.from;

			this.show(from - wide / 2, from + wide / 2);
		}
		this.later();
	}

	/* Take the size that the window gives. */
	measure() {
		const p = this.p;

		p.width = Math.max(this.box.clientWidth, 200);
		p.gutter = gutterOf(p);
		p.height = TOP +
			Math.min(p.rows.rows * ROW + 4,
				Math.max(Math.round(window.innerHeight * 0.55), 200));
	}

	scroll(top) {
		this.measure();
		this.p.top = Math.max(
			0, Math.min(top, this.p.rows.rows * ROW + 4 - (this.p.height - TOP)));
		this.later();
	}

	/* ---- drawing ---- */

	later() {
		if (this.waiting)
			return;
		this.waiting = true;
		requestAnimationFrame(() => {
			this.waiting = false;
			this.draw();
		});
	}

	draw() {
		const p = this.p;

		this.measure();
		drawPicture(new CanvasPen(this.canvas, p.width, p.height), p);
		this.drawMap();
	}

	drawMap() {
		const p = this.p, width = p.width - this.p.gutter,
		      pen = new CanvasPen(this.map, p.width, MAP);
		const all = this.axis.end - this.axis.begin || 1;
		const x = (at) => this.p.gutter + (at - this.axis.begin) / all * width;
		const most = Math.max(...this.counts(width));

		pen.rect(0, 0, p.width, MAP, theme.paper);
		this.counted.forEach((n, k) => {
			if (n)
				pen.rect(this.p.gutter + k, MAP - 2 - n / most * (MAP - 10), 1,
					n / most * (MAP - 10), theme["bar-line"]);
		});
		for (const g of p.h.gaps)
			pen.rect(x(this.axis.place(g.from)), 0,
				Math.max(x(Math.min(this.axis.place(g.to), this.axis.end)) -
						x(this.axis.place(g.from)),
					1),
				MAP, theme.gap);
		if (p.hits)
			this.app.hitList.slice(0, 5000).forEach(
				(i) => pen.rect(x(this.axis.from[i]), MAP - 8, 1.5, 8, theme.hit));
		for (const i of p.cast.keys())
			pen.rect(x(this.axis.from[i]) - 1, 0, 2.5, MAP,
				i === p.failing ? theme.wrong : theme.ink);
		const left = Math.max(x(p.from), p.gutter);

		pen.rect(left, 1, Math.max(Math.min(x(p.to), p.width) - left, 3), MAP - 2, null,
			theme.ink, 2);
		pen.text(6, MAP / 2, "all", theme.quiet);
	}

	/* Return: the number of calls at each pixel of the minimap. */
	counts(width) {
		const all = this.axis.end - this.axis.begin || 1;

		if (this.counted && this.counted.length === width &&
			this.countedAxis === this.axis.kind)
			return this.counted;
		this.counted = new Uint32Array(width);
		this.countedAxis = this.axis.kind;
		for (let i = 0; i < this.app.h.n; i++)
			this.counted[Math.min(
				Math.floor((this.axis.from[i] - this.axis.begin) / all * width),
				width - 1)]++;
		return this.counted;
	}

	svg() {
		const pen = new SvgPen(this.p.width, this.p.height, theme.paper);

		drawPicture(pen, this.p);
		return pen.textOf();
	}

	/* ---- mouse, wheel, fingers and keys ---- */

	at(e) {
		const p = this.p;

		return p.from + (e.offsetX - p.gutter) / (p.width - p.gutter) * (p.to - p.from);
	}

	/* Return: the operation at a point of the canvas, or NONE. */
	find(e) {
		const p = this.p, row = Math.floor((e.offsetY - TOP + p.top) / ROW),
		      at = this.at(e);
		const slack = (p.to - p.from) / (p.width - this.p.gutter) * 3;
		const [first, end] = this.axis.range(at - slack, at + slack);
		let best = NONE, far = Infinity;

		if (e.offsetX < this.p.gutter || e.offsetY < TOP)
			return NONE;
		for (let i = first; i < end; i++) {
			if (p.rows.row[i] !== row || this.axis.to[i] < at - slack)
				continue;
			const off = Math.max(this.axis.from[i] - at, at - this.axis.to[i], 0) -
				(p.cast.has(i) ? 1e-6 : 0);

			if (off < far) {
				far = off;
				best = i;
			}
		}
		return best;
	}

	/* Return: the bar of no operation at a point of the canvas, or NONE. */
	findOther(e) {
		const p = this.p, row = Math.floor((e.offsetY - TOP + p.top) / ROW);
		const slack = (p.to - p.from) / (p.width - p.gutter) * 4, at = this.at(e);

		if (e.offsetX < p.gutter || e.offsetY < TOP)
			return NONE;
		return p.h.others.findIndex((bar) => {
			const [from, to] = otherPlaces(this.axis, bar);

			return bar.row === row && at >= from - slack && at <= to + slack;
		});
	}

	listen() {
		const c = this.canvas;
		let drag = null;

		c.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
		c.addEventListener("pointerdown", (e) => {
			drag = {
				x: e.clientX,
				y: e.clientY,
				from: this.p.from,
				to: this.p.to,
				top: this.p.top,
				moved: false
			};
			c.setPointerCapture(e.pointerId);
		});
		c.addEventListener("pointermove", (e) => {
			if (!drag) {
				this.hover(e);
				return;
			}
			const by = (e.clientX - drag.x) / (this.p.width - this.p.gutter) *
				(drag.to - drag.from);

			drag.moved = drag.moved ||
				Math.abs(e.clientX - drag.x) + Math.abs(e.clientY - drag.y) > 4;
			if (!drag.moved)
				return;
			this.show(drag.from - by, drag.to - by);
			this.scroll(drag.top - (e.clientY - drag.y));
		});
		c.addEventListener("pointerup", (e) => {
			if (drag && !drag.moved && this.findOther(e) !== NONE)
				this.app.selectOther(this.findOther(e));
			else if (drag && !drag.moved)
				this.app.select(this.find(e));
			drag = null;
		});
		c.addEventListener("pointercancel", () => { drag = null; });
		c.addEventListener("pointerleave", () => this.hover(null));
		c.addEventListener("keydown", (e) => this.key(e));
		this.listenMap();
		new ResizeObserver(() => this.later()).observe(this.box);
		/* Printing does not wait for a frame. */
		on("theme", () => this.draw());
	}

	listenMap() {
		let down = false;
		const go = (e) => {
			const all = this.axis.end - this.axis.begin || 1,
			      wide = this.p.to - this.p.from;
			const at = this.axis.begin +
				(e.offsetX - this.p.gutter) / (this.p.width - this.p.gutter) * all;

			this.show(at - wide / 2, at + wide / 2);
		};

		this.map.addEventListener("pointerdown", (e) => {
			down = true;
			this.map.setPointerCapture(e.pointerId);
			go(e);
		});
		this.map.addEventListener("pointermove", (e) => down && go(e));
		this.map.addEventListener("pointerup", () => { down = false; });
	}

	wheel(e) {
		const whole = this.axis.end - this.axis.begin <= this.p.to - this.p.from;

		/* Where there is nothing more to see, the wheel scrolls the page. */
		if (e.deltaY > 0 && whole && !e.shiftKey && !e.deltaX)
			return;
		e.preventDefault();
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			this.pan((e.deltaX || e.deltaY) / this.p.width);
		else
			this.zoom(Math.exp(e.deltaY / 300), this.at(e));
	}

	hover(e) {
		const i = e ? this.find(e) : NONE;

		if (i !== this.p.hover) {
			this.p.hover = i;
			this.later();
		}
		const other = e && i === NONE ? this.findOther(e) : NONE;

		this.tip.hidden = i === NONE && other === NONE;
		if (this.tip.hidden)
			return;
		empty(this.tip);
		if (other !== NONE)
			put(this.tip, this.app.h.others[other].text);
		else
			put(this.tip, opName(this.app.h, i), make("br"), whenText(this.app.h, i),
			tookText(this.app.h, i) ? ", " + tookText(this.app.h, i) : "",
			whereText(this.app.h, i) ? [ make("br"), whereText(this.app.h, i) ] : null);
		this.tip.style.left =
			Math.min(e.offsetX + 12, Math.max(this.p.width - 260, 0)) + "px";
		this.tip.style.top = e.offsetY + 16 + "px";
	}

	key(e) {
		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		act(e, {
			ArrowLeft: () => this.pan(-0.2),
			ArrowRight: () => this.pan(0.2),
			ArrowUp: () => this.app.move(-1),
			ArrowDown: () => this.app.move(1),
			PageUp: () => this.scroll(this.p.top - this.p.height / 2),
			PageDown: () => this.scroll(this.p.top + this.p.height / 2),
			"+": () => this.zoom(0.6),
			"=": () => this.zoom(0.6),
			"-": () => this.zoom(1 / 0.6),
			"0": () => this.fit([]),
			Home: () => this.fit([]),
			v: () => this.app.showViolation(),
			t: () => this.turn(),
			Enter: () => this.app.detail.focus(),
			Escape: () => this.app.select(NONE),
		});
	}
}
