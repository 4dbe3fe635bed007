/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The horizontal axis.  On the axis of times, distances are times.  On the axis of events each call
 * and return takes one unit, so that operations of very different lengths can be read.
 */

class Axis {
	constructor(h) {
		this.h = h;
		this.scaled = true;
		this.last = 0;	/* the latest time that is known */
		for (let i = 0; i < h.n; i++)
			this.last = Math.max(this.last, h.call[i], isPending(h, i) ? 0 : h.ret[i]);
		for (const g of h.gaps)
			this.last = Math.max(this.last, g.from);
		this.setScaled(true);
	}

	/* Choose the axis of times, or that of events. */
	setScaled(scaled) {
		this.scaled = scaled;
		if (!scaled && !this.rets)
			this.rank();
		this.from = scaled ? this.h.call : this.callRank;
		this.to = scaled ? this.h.ret : this.retRank;
		this.begin = 0;
		this.end = scaled ? this.last : this.events;
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
		return this.rankOf(time, false);
	}

	/* Return: the operations [first, end) that may overlap a part of the axis. */
	range(from, to) {
		return [firstIndex(this.h.n, (k) => this.reach[k] >= from),
			firstIndex(this.h.n, (k) => this.from[k] > to)];
	}
}

/* Return: marks of an axis: about @n round numbers between @from and @to. */
function ticks(from, to, n) {
	const rough = (to - from) / n, power = Math.pow(10, Math.floor(Math.log10(rough)));
	const step = Math.max(power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 :
		rough / power > 1 ? 2 : 1), 1e-9);
	const all = [];

	for (let at = Math.ceil(from / step) * step; at <= to && all.length < 100; at += step)
		all.push(at);
	return all;
}
