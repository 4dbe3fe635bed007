/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The horizontal axis.  On the axis of times, distances are times.  On the axis of events each call
 * and return takes one unit, so that operations of very different lengths can be read.  On the axis
 * of the story only the calls and returns of the cast do, and what is between them is squeezed, so
 * that operations that are far from one another can be seen together.
 */

const AXES = [ "time", "events", "story" ];

class Axis {
	constructor(h) {
		this.h = h;
		this.knots = [];
		this.last = 0; /* the latest time that is known */
		for (let i = 0; i < h.n; i++)
			this.last = Math.max(this.last, h.call[i], isPending(h, i) ? 0 : h.ret[i]);
		for (const g of h.gaps)
			this.last = Math.max(this.last, g.from);
		this.choose("time");
	}

	/* Set the operations of the story. */
	setStory(ops) {
		const times = new Set([ 0 ]);

		for (const i of ops) {
			times.add(this.h.call[i]);
			times.add(Math.min(this.h.ret[i], this.last));
		}
		this.knots = [...times ].sort((a, b) => a - b);
	}

	/* Choose the axis by its name in AXES. */
	choose(kind) {
		this.kind = kind;
		this.scaled = kind === "time";
		if (kind === "events" && !this.rets)
			this.rank();
		if (kind === "story") {
			this.from = this.h.call.map((t) => this.knot(t));
			this.to = this.h.ret.map((t) => t === Infinity ? t : this.knot(t));
		} else {
			this.from = this.scaled ? this.h.call : this.callRank;
			this.to = this.scaled ? this.h.ret : this.retRank;
		}
		this.begin = 0;
		this.end = this.scaled	 ? this.last :
			kind === "story" ? this.knots.length :
					   this.events;
		/* The latest end of the operations up to each one, to find those in view. */
		this.reach = new Float64Array(this.h.n);
		for (let i = 0, most = 0; i < this.h.n; i++)
			this.reach[i] = most = Math.max(most, this.to[i]);
	}

	rank() {
		const h = this.h, n = h.n;

		this.rets = h.ret.filter((t) => t !== Infinity).sort();
		this.events = n + this.rets.length;
		this.callRank = new Float64Array(n);
		this.retRank = new Float64Array(n);
		for (let i = 0, k = 0; i < n; i++) {
			while (k < this.rets.length && this.rets[k] < h.call[i])
				k++;
			this.callRank[i] = i + k;
		}
		for (let i = 0; i < n; i++)
			this.retRank[i] = isPending(h, i) ? Infinity : this.rankOf(h.ret[i], true);
	}

	/* Return: the place of a time among the events. */
	rankOf(time, ret) {
		const calls = firstIndex(this.h.n, (k) => this.h.call[k] > time);
		const before = firstIndex(this.rets.length, (k) => this.rets[k] >= time);

		return calls + before - (ret ? 0 : 0.5);
	}

	/* Return: the place of a time. */
	place(time) {
		if (this.scaled || time === Infinity)
			return time;
		return this.kind === "story" ? this.knot(time) : this.rankOf(time, false);
	}

	/* Return: the place of a time between the events of the story. */
	knot(time) {
		const k = firstIndex(this.knots.length, (m) => this.knots[m] > time);
		const from = k ? this.knots[k - 1] : 0,
		      to = k < this.knots.length ? this.knots[k] : Math.max(this.last, from + 1);

		return Math.max(k - 1, 0) + Math.max(Math.min((time - from) / (to - from), 1), 0);
	}

	/* Return: the text of a mark of the axis. */
	label(at) {
		if (this.scaled)
			return String(this.h.base + BigInt(Math.round(at)));
		if (this.kind === "events")
			return "event " + Math.round(at);
		return this.knots[at] === undefined ?
			"" :
			this.label.call({ scaled: true, h: this.h }, this.knots[at]);
	}

	/* Return: the longest text of a mark. */
	longestLabel() {
		const last = this.kind === "story" ? this.knots.length - 1 : Math.floor(this.end);

		return this.label(Math.max(last, 0));
	}

	/* Return: places for marks between @from and @to, about @n, at round times. */
	marks(from, to, n) {
		const rough = (to - from) / n, power = Math.pow(10, Math.floor(Math.log10(rough)));
		const step = Math.max(1,
			power *
				(rough / power > 5		  ? 10 :
						rough / power > 2 ? 5 :
						rough / power > 1 ? 2 :
								    1));
		const off = this.scaled ? Number(this.h.base % BigInt(Math.round(step))) : 0,
		      all = [];

		for (let at = Math.ceil((from + off) / step) * step - off;
			at <= to && all.length < 100; at += step)
			if (at >= this.begin || this.scaled)
				all.push(at);
		return all;
	}

	/* Return: the operations [first, end) that may overlap a part of the axis. */
	range(from, to) {
		return [
			firstIndex(this.h.n, (k) => this.reach[k] >= from),
			firstIndex(this.h.n, (k) => this.from[k] > to)
		];
	}
}
