/* SPDX-License-Identifier: GPL-2.0 */
/* A history on the page: story, lanes, orders, details and table, and what is selected in them. */

class App {
	constructor(result, root) {
		this.result = result;
		this.h = result.history;
		this.castOps = result.violations.flatMap((v) => v.cast.map((one) => one.op))
				       .filter((i) => i !== NONE);
		this.hitList = [];
		this.lanes = new Lanes(this);
		this.p = this.lanes.p;
		this.search = new SearchBar(this);
		this.detail = new Detail(this);
		this.orders = new Orders(this);
		this.table = new OpTable(this);
		this.story = make("div", {});
		put(root, this.choice(), this.story, this.picture(), othersList(this),
			this.table.box);
		if (result.violations.length)
			this.showStory(result.violations[0]);
		else
			this.showNone();
	}

	/* A list of the violations, if there are several. */
	choice() {
		const all = this.result.violations;

		if (all.length < 2)
			return null;
		const options = all.map((v, k) => make("option", {}, (k + 1) + ": " + v.name +
			(v.headline ? ": " + v.headline.slice(0, 90) : "")));
		const list = make("select", {
			onchange: () => this.showStory(all[list.selectedIndex]),
		}, options);

		return make("p", {},
			make("label", {}, plural(all.length, "violation") + " shown: ", list));
	}

	picture() {
		const axis = make("select", {
			"aria-label": "Axis",
			onchange: () => this.lanes.choose(axis.value),
		},
			make("option", { value: "time" }, "time, to scale"),
			make("option", { value: "events" }, "each event alike"),
			this.result.violations.length ?
				make("option", { value: "story" }, "the story's events alike") :
				null);

		const lanes = [ "thread", "CPU", "object", "key" ]
				      .filter((by) => lanesBy(this.h, by));
		const group = lanes.length > 1 &&
			make("select", {
				"aria-label": "Lanes",
				onchange: () => this.lanes.group(group.value)
			},
				lanes.map((by) => make("option", { value: by }, "lanes by " + by)));

		on("axis", () => { axis.value = this.lanes.axis.kind; });
		return make("section", { "aria-label": "Operations", class: "operations" },
			make("h2", {}, "Operations"), this.search.bar,
			make("div", { class: "split" },
				make("div", { class: "main" },
					make("div", { class: "bar" },
						this.result.violations.length ?
							make("button", {
								type: "button",
								onclick: () => this.showViolation()
							},
								"the violation") :
							null,
						make("button", {
							type: "button",
							onclick: () => this.lanes.fit([])
						},
							"all"),
						make("button", {
							type: "button",
							title: "Zoom in (+)",
							onclick: () => this.lanes.zoom(0.6)
						},
							"+"),
						make("button", {
							type: "button",
							title: "Zoom out (-)",
							onclick: () => this.lanes.zoom(1 / 0.6)
						},
							"\u2212"),
						axis, group,
						make("button", {
							type: "button",
							onclick: () => download("klin.svg",
								"image/svg+xml", this.lanes.svg())
						},
							"save as SVG")),
					this.lanes.box, this.legend(), this.orders.box),
				this.detail.box));
	}

	legend() {
		const h = this.h, wrong = this.result.violations.length > 0, keys = [
			"Wheel or + \u2212: zoom.", "Drag or \u2190 \u2192: move.",
			"\u2191 \u2193: previous and next operation.", "Enter: its details.",
			wrong ? "v: the violation." : "", "t: the next axis.", "0: all.",
			wrong ? "Thick frame: the failing operation; frame: others that took " +
					"part; coloured edge: same value." :
				"",
			h.others.length ? "Lanes at the top: what is no operation of the history." : "",
			h.gaps.length ? "Hatched: events were lost." : "",
			h.error ? "Whiskers: the clock's error." : "",
			h.drain ? "Upright line: the store buffer was empty." : "",
			h.point ? "Dot: took effect." : "",
			h.timed ? "The lanes go by the order of the events, not by their :time." : "",
			this.result.violations.some((v) => v.orders.length) ?
				"Numbers: the steps of the order; \u2717: does not fit after them." :
				"",
		];

		return make("p", { id: "keys", class: "quiet" }, keys.filter(Boolean).join(" "));
	}

	showStory(v) {
		const p = this.p;

		this.violation = v;
		empty(this.story);
		put(this.story, storyOf(this, v));
		p.cast = new Map(
			v.cast.filter((one) => one.op !== NONE).map((one) => [one.op, one]));
		p.proof = new Set(v.proof);
		p.failing = v.failing;
		p.colors = valueColors(this.h, v);
		this.orders.offer(v.orders, NONE);
		this.lanes.chooseFor(p.cast.size ? [...p.cast.keys() ] : v.proof);
		this.showViolation();
	}

	showNone() {
		this.lanes.fit([]);
		this.orders.offer(this.h.n ? this.witness(0) : [], NONE);
	}

	/* Bring the violation into view. */
	showViolation() {
		const ops = [...this.p.cast.keys(), ...this.p.proof, this.p.failing ];
		const first = ops.find((i) => i !== NONE);

		this.lanes.fit(ops);
		if (first !== undefined)
			this.lanes.scroll((Math.min(...ops.filter((i) => i !== NONE)
							    .map((i) => this.p.rows.row[i])) -
						  1) *
				ROW);
	}

	select(i, reveal) {
		this.p.selected = i;
		this.p.other = NONE;
		this.orders.offer(
			(this.violation ? this.violation.orders : []).concat(this.witness(i)), i);
		this.detail.show(i);
		if (i !== NONE && reveal)
			this.lanes.reveal(i);
		this.table.fill();
		this.lanes.later();
	}

	/* Select a bar of no operation by its index. */
	selectOther(k) {
		const bar = this.h.others[k];

		this.select(NONE);
		this.p.other = k;
		this.detail.showOther(bar);
		this.lanes.revealPlace(bar.row, ...otherPlaces(this.lanes.axis, bar));
	}

	/* The order that explains the partition of an operation, if the page has it. */
	witness(i) {
		const part = i === NONE ? null : partOf(this.h, i);

		if (!part || !part.witness)
			return [];
		part.order =
			part.order || readOrder(this.h, part.witness, "an order that explains all");
		return [ part.order ];
	}

	/* Select the next or previous operation, of those that match the search. */
	move(by) {
		const list = this.p.hits ? this.hitList : null, n = list ? list.length : this.h.n;
		const at = this.p.selected, of = (k) => list ? list[k] : k;
		let k;

		if (!n)
			return;
		k = at === NONE ? firstIndex(n, (m) => this.lanes.axis.from[of(m)] >= this.p.from) :
			by > 0	? firstIndex(n, (m) => of(m) > at) :
				  firstIndex(n, (m) => of(m) >= at) - 1;
		this.select(of((k + n) % n), true);
	}

	setHits(hits) {
		this.p.hits = hits;
		this.hitList = [];
		for (let i = 0; hits && i < hits.length; i++)
			if (hits[i])
				this.hitList.push(i);
		this.table.reset();
		this.lanes.later();
	}

	setSteps(steps, misfits) {
		this.p.steps = steps;
		this.p.misfits = misfits;
		this.lanes.later();
	}
}
