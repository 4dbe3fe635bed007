/* SPDX-License-Identifier: GPL-2.0 */
/* All that is known of the selected operation. */

const SIMILAR = 20; /* other operations of a value that are listed */

class Detail {
	constructor(app) {
		this.app = app;
		this.box = make("section", {
			class: "detail",
			tabindex: -1,
			"aria-live": "polite",
			"aria-label": "The selected operation",
		});
		this.show(NONE);
	}

	focus() { this.box.focus(); }

	show(i) {
		empty(this.box);
		this.box.classList.toggle("nothing", i === NONE);
		if (i === NONE) {
			put(this.box,
				make("p", { class: "quiet" },
					"Select an operation to see all of it."));
			return;
		}
		put(this.box, make("h3", {}, opText(this.app.h, i)),
			make("dl", {}, this.facts(i).map(([ name,
				text ]) => [make("dt", {}, name), make("dd", {}, text)])),
			this.entries(i), this.stack(i), this.overlapping(i), this.similar(i));
	}

	/* Show a bar of no operation. */
	showOther(bar) {
		empty(this.box);
		this.box.classList.remove("nothing");
		put(this.box, otherDetail(bar));
	}

	facts(i) {
		const h = this.app.h, facts = [], part = partOf(h, i);
		const extra = object((h.extra.get(i) || {}).extra), place = object(extra.source);
		const source = entryOf(h, i);
		const add = (name, text) => {
			if (text !== "" && text !== undefined && text !== null)
				facts.push([ name, string(text) ]);
		};

		add("role", (h.extra.get(i) || {}).role);
		add("thread", threadText(h, i));
		add("comm", commText(h, i));
		add("CPU", cpuText(h, i));
		add("object", h.objects[h.object[i]]);
		add("symbol", h.symbols[h.object[i]]);
		add("slab cache", h.slabs[h.object[i]]);
		add("key", part ? part.key : "");
		add("called", callText(h, i));
		add("returned", isPending(h, i) ? "not seen" : retText(h, i));
		add("took", tookText(h, i));
		if (h.flags[i] & 2)
			add("call", "not seen: the time is the earliest possible");
		if (h.point && h.point[i])
			add("took effect", h.base + BigInt(h.call[i] + h.point[i] - 1));
		if (h.drain && h.drain[i])
			add("store buffer empty by", h.base + BigInt(h.call[i] + h.drain[i] - 1));
		if (h.error)
			add("clock error", "up to " + h.errorText);
		if (h.line && h.line[i])
			add("line", h.line[i] + (h.file ? " of " + h.file : ""));
		else
			add("line", place.line);
		add("line of the return", source.return_line);
		add("line of its unknown end", source.end_line);
		add(":time of the call", nanoseconds(source.time));
		add(":time of the end", nanoseconds(source.return_time));
		add("took by :time", tookByEntries(source));
		add(":index", source.index);
		add(":index of the return", source.return_index);
		if (h.numbered && h.id[i] !== 0xffffffff)
			add("number in the history", h.id[i]);
		if (part)
			add("partition",
				part.verdict + ", " + plural(part.operations, "operation"));
		if (this.app.p && this.app.p.proof.has(i))
			add("proof", "is one of its operations");
		this.addPlace(i, add);
		return facts;
	}

	/* Say where the shown order has the operation. */
	addPlace(i, add) {
		const place = this.app.orders ? this.app.orders.placeOf(i) : null;

		if (!place)
			return;
		add("in the order",
			place.step ? "step " + place.step : "does not fit after the last step");
		add("state before", place.before);
		add("state after", place.after);
	}

	/* The entries of the operation in the file itself. */
	entries(i) {
		const h = this.app.h, e = entryOf(h, i);
		const one = (text, cut) => typeof text === "string" ?
			make("pre", { class: "entry" },
				text + (cut ? "\u2026 (the entry is longer)" : "")) :
			null;

		if (typeof e.text !== "string" && typeof e.return_text !== "string")
			return h.entriesLeft ?
				make("p", { class: "quiet" },
					"The page has no room for its text in the file.") :
				null;
		return [
			make("h4", {}, "In the file"), one(e.text, e.text_cut),
			one(e.return_text, e.return_text_cut)
		];
	}

	stack(i) {
		const h = this.app.h, at = h.stack ? h.stack[i] : 0;
		const stack = at ?
			array(h.stacks[at - 1]) :
			array(object((h.extra.get(i) || {}).extra).stack);

		return stack.length ?
			[
				make("h4", {}, "Kernel stack at the call"),
				make("pre", {}, stack.map(string).join("\n"))
			] :
			null;
	}

	/* Operations of the same partition between which and this one the times give no order. */
	overlapping(i) {
		const h = this.app.h, found = [];

		for (let k = 0; k < h.n && h.call[k] <= h.ret[i] + h.error; k++)
			if (k !== i && h.part[k] === h.part[i] && h.object[k] === h.object[i] &&
				h.thread[k] !== h.thread[i] && h.ret[k] + h.error >= h.call[i])
				found.push(k);
		return [
			make("h4", {},
				found.length ? "Overlaps " + plural(found.length, "operation") :
					       "Overlaps no operation"),
			this.list(found)
		];
	}

	/* The first of these operations, each with its times. */
	list(found) {
		const h = this.app.h;

		return make("ul", { class: "similar" },
			found.slice(0, SIMILAR)
				.map((k) => make("li", {}, opButton(this.app, k, opName(h, k)),
					     " " + whenText(h, k))));
	}

	/* Other operations of the same partition with one of the operation's values. */
	similar(i) {
		const h = this.app.h, own = ownValues(h, i), found = [];

		if (!own.length)
			return null;
		for (let k = 0; k < h.n && found.length <= SIMILAR; k++) {
			if (k === i || h.part[k] !== h.part[i] || h.object[k] !== h.object[i])
				continue;
			for (let at = h.sigFirst[h.sig[k]]; at < h.sigFirst[h.sig[k] + 1]; at++)
				if (own.includes(h.sigVals[at])) {
					found.push(k);
					break;
				}
		}
		return found.length ?
			[
				make("h4", {},
					found.length > SIMILAR ? "First operations" : "Operations",
					" with " + own.map((v) => h.values[v]).join(" or ")),
				this.list(found)
			] :
			null;
	}
}
