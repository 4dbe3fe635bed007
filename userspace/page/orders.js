/* SPDX-License-Identifier: GPL-2.0 */
/* The longest orders, stepped with the arrow keys: the steps so far, and the state after them. */

/*
 * Give each step a time: the earliest that the order allows.  A store leaves its buffer when the
 * order says so, and not before its operation took effect.
 */
function placeSteps(h, steps) {
	let now = -Infinity;

	return steps.map((s, k) => {
		if (s.op !== NONE && !s.flush)
			now = Math.max(now, h.call[s.op]);
		return {
			op: s.op,
			at: now === -Infinity ? 0 : now,
			flush: s.flush,
			number: k + 1
		};
	});
}

/* The state after a step, beside it, so that all states can be seen at once. */
function stateAfter(order, k) {
	const state = order.states[k];

	if (!state)
		return null;
	return make("span", { class: "after", title: state },
		" \u2192 " + (state.length > 60 ? state.slice(0, 59) + "\u2026" : state));
}

/*
 * The operations of the proof that a longest order could go on with by their times.  None of them
 * fits, or the order would not be a longest one.
 */
function misfits(h, proof, order) {
	const taken = new Set(order.steps.map((s) => s.op));
	const rest = proof.filter((i) => !taken.has(i));
	const until = Math.min(...rest.map((i) => h.ret[i]));

	/* With stores in buffers, the order may also wait for one to leave. */
	if (order.stop === NONE)
		return [];
	if (!order.longest || order.steps.some((s) => s.flush || s.buffered))
		return [ order.stop ];
	return [...new Set([
		order.stop, ...rest.filter((i) => h.call[i] <= until)
	]) ];
}

class Orders {
	constructor(app) {
		this.app = app;
		this.at = 0; /* number of steps that are taken */
		this.order = null;
		this.list = make("ol", { class: "steps" });
		this.state = make("p", { class: "state", "aria-live": "polite" });
		this.choice = make("select", {
			"aria-label": "Which order",
			onchange: () => {
				this.choose(this.shown[this.choice.selectedIndex]);
				this.app.detail.show(this.app.p.selected);
			}
		});
		this.box = make("section", {
			class: "orders",
			tabindex: 0,
			hidden: true,
			"aria-label": "Orders, step by step",
			onkeydown: (e) => this.key(e),
		},
			make("h2", {}, "Orders, step by step"),
			make("div", { class: "bar" }, this.choice,
				make("button", { type: "button", onclick: () => this.step(-1) },
					"\u2190 back"),
				make("button", { type: "button", onclick: () => this.step(1) },
					"step \u2192"),
				make("span", { class: "quiet" },
					"or the keys \u2190 \u2192 Home End")),
			this.list, this.state);
	}

	/* Offer these orders; those that contain the operation @op come first. */
	offer(orders, op) {
		const has = (o) =>
			op !== NONE && (o.stop === op || o.steps.some((s) => s.op === op));

		this.shown = orders.slice().sort((a, b) => has(b) - has(a));
		this.box.hidden = !orders.length;
		empty(this.choice);
		for (const o of this.shown)
			put(this.choice,
				make("option", {},
					o.name + ": " + plural(o.steps.length, "step") +
						(has(o) ? ", with the selected operation" : "")));
		this.choice.hidden = orders.length < 2;
		if (orders.length && !(op !== NONE && this.order && has(this.order)))
			this.choose(this.shown[0]);
		else if (orders.length)
			this.choice.selectedIndex = this.shown.indexOf(this.order);
		else
			this.order = null;
	}

	choose(order) {
		this.order = order;
		this.placed = placeSteps(this.app.h, order.steps);
		empty(this.list);
		order.steps.forEach((s, k) => put(this.list,
					    make("li", {},
						    make("button", {
							    type: "button",
							    class: "op",
							    onclick: () => this.go(k + 1)
						    },
							    this.textOf(s)),
						    stateAfter(order, k))));
		if (order.stop !== NONE)
			put(this.list,
				make("li", { class: "stop" },
					opButton(this.app, order.stop,
						opName(this.app.h, order.stop)),
					" does not fit"));
		this.go(order.steps.length);
	}

	/*
	 * Where the operation @i comes in the order that is shown.  Return: an object with the
	 * number of its step, the states before and after it, and whether it fits; or null.
	 */
	placeOf(i) {
		const o = this.order, k = o ? o.steps.findIndex((s) => s.op === i && !s.flush) : -1;

		if (o && o.stop === i)
			return { before: o.steps.length ? o.states[o.steps.length - 1] : o.before };
		return k < 0 ? null : {
			step: k + 1,
			before: k ? o.states[k - 1] : o.before,
			after: o.states[k]
		};
	}

	textOf(s) {
		const name = s.op === NONE ? s.text :
			s.open		   ? openName(this.app.h, s.op) :
					     opName(this.app.h, s.op);

		return s.flush ? "the store of " + name + " leaves the buffer" :
				 name + (s.buffered ? ", stays in the buffer" : "");
	}

	step(by) { this.go(this.at + by); }

	go(at) {
		const o = this.order;
		let state;

		if (!o)
			return;
		this.at = Math.max(0, Math.min(at, o.steps.length));
		[...this.list.children].forEach((li, k) => {
			li.className = k >= o.steps.length ? "stop" : k < this.at ? "taken" : "";
			if (k === this.at - 1)
				li.setAttribute("aria-current", "step");
			else
				li.removeAttribute("aria-current");
		});
		state = this.at ? o.states[this.at - 1] : o.before;
		empty(this.state);
		put(this.state,
			make("div", {},
				this.at ? "After step " + this.at + ": " : "Before all steps: ",
				state || "the state is not known"),
			this.buffers(),
			this.at === o.steps.length && o.sentence ?
				make("div", {}, sentence(o.sentence)) :
				null);
		this.placed.forEach((s, k) => { s.current = k === this.at - 1; });
		this.app.setSteps(this.placed.slice(0, this.at),
			this.at === o.steps.length ? this.notNext() : []);
	}

	/* Where the operations that do not fit would have to come: after the last step. */
	notNext() {
		const h = this.app.h, last = this.placed.length ? this.placed.at(-1).at : 0;

		return misfits(h, this.app.violation ? this.app.violation.returned : [], this.order)
			.map((i) => ({ op: i, at: Math.max(h.call[i], last) }));
	}

	/* The stores that wait in buffers after the steps so far. */
	buffers() {
		const waiting = [];

		for (const s of this.order.steps.slice(0, this.at)) {
			if (s.buffered)
				waiting.push(s.op);
			if (s.flush)
				waiting.splice(waiting.indexOf(s.op), 1);
		}
		if (!this.order.steps.some((s) => s.buffered))
			return null;
		return make("div", {},
			"In store buffers: " +
				(waiting.map((i) => opName(this.app.h, i)).join(", ") ||
					"nothing"));
	}

	key(e) {
		if (e.target === this.choice)
			return;
		act(e, {
			ArrowLeft: () => this.step(-1),
			ArrowRight: () => this.step(1),
			Home: () => this.go(0),
			End: () => this.go(Infinity),
		});
	}
}
