/* SPDX-License-Identifier: GPL-2.0 */
/* The operations as a table, a page of rows at a time, for reading without the picture. */

const TABLE_ROWS = 100;

class OpTable {
	constructor(app) {
		this.app = app;
		this.first = 0;
		/* Columns that only some histories have. */
		this.more = [
			app.h.parts.some((p) => p.key !== undefined) &&
				{ name: "key", text: (h, i) => (partOf(h, i) || {}).key },
			app.h.comms.some(Boolean) && { name: "comm", text: commText },
			app.h.cpu && { name: "CPU", text: cpuText },
			app.h.extra.size > 0 &&
				{ name: "role", text: (h, i) => (h.extra.get(i) || {}).role }
		].filter(Boolean);
		this.body = make("tbody", {});
		this.said = make("span", { class: "said", "aria-live": "polite" });
		this.box = make("details", { class: "table", ontoggle: () => this.fill() },
			make("summary", {}, "The operations as a table"),
			make("div", { class: "bar" },
				make("button", { type: "button", onclick: () => this.turn(-1) },
					"\u2190 back"),
				make("button", { type: "button", onclick: () => this.turn(1) },
					"on \u2192"),
				this.said),
			make("div", { class: "wide" },
				make("table", {},
					make("caption", {},
						"By time of call; those that match the search, if any"),
					make("thead", {},
						make("tr", {},
							[
								"thread", "operation", "called",
								"returned", "took", "object",
								...this.more.map((one) => one.name)
							].map((t) => make("th", { scope: "col" },
								      t)))),
					this.body)));
	}

	count() { return this.app.p.hits ? this.app.hitList.length : this.app.h.n; }

	turn(by) {
		const next = this.first + by * TABLE_ROWS;

		if (next >= 0 && next < this.count())
			this.first = next;
		this.fill();
	}

	reset() {
		this.first = 0;
		this.fill();
	}

	fill() {
		const h = this.app.h, all = this.count(),
		      end = Math.min(this.first + TABLE_ROWS, all);

		if (!this.box.open)
			return;
		empty(this.body);
		for (let k = this.first; k < end; k++) {
			const i = this.app.p.hits ? this.app.hitList[k] : k;

			put(this.body,
				make("tr", {
					"aria-selected": i === this.app.p.selected ? "true" : null,
					class: i === this.app.p.failing ? "failing" : null
				},
					make("td", {}, threadText(h, i)),
					make("td", {}, opButton(this.app, i, opText(h, i))),
					make("td", { class: "number" }, callText(h, i)),
					make("td", { class: "number" },
						isPending(h, i) ? "not seen" : retText(h, i)),
					make("td", { class: "number" }, tookText(h, i)),
					make("td", {}, objectText(h, h.object[i])),
					this.more.map((one) => make("td", {}, one.text(h, i)))));
		}
		this.said.textContent = all ?
			count(this.first + 1) + "\u2013" + count(end) + " of " + count(all) :
			"none";
	}
}
