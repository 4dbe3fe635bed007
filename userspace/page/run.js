/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An explorer's run: a column for each thread, a row for each step, and in the last column only
 * what the step changed.  Beside it are the memory, the buffers and the model's text at the cursor.
 */

class Run {
	constructor(steps, result, title) {
		this.steps = steps;
		this.source = result.source.split("\n");
		this.states = steps.map((s) => readState(string(s.state)));
		this.threads = [
			...new Set(steps.filter((s) => s.thread !== undefined)
					   .map((s) => string(s.thread)))
		].sort((a, b) => a - b);
		this.at = 0;
		this.rows = steps.map((s, k) => this.row(s, k));
		this.side = make("section", {
			class: "detail",
			tabindex: 0,
			"aria-live": "polite",
			"aria-label": "Memory and buffers at the cursor"
		});
		this.text = this.source.length > 1 ?
			make("pre", {
				class: "source",
				role: "region",
				tabindex: 0,
				"aria-label": "The model",
			},
				this.source.map(
					(line, k) => make("span", {}, (k + 1) + "  " + line))) :
			null;
		this.box = make("section", { "aria-label": title }, make("h2", {}, title),
			this.said(result),
			make("div", { class: "bar" },
				make("button",
					{ type: "button", onclick: () => this.go(this.at - 1) },
					"\u2191 back"),
				make("button",
					{ type: "button", onclick: () => this.go(this.at + 1) },
					"step \u2193"),
				make("span", { class: "quiet" },
					"or the keys \u2191 \u2193 Home End")),
			make("div", { class: "split" },
				make("div", { class: "main wide" }, this.table()),
				make("div", {}, this.side, this.text)));
		this.go(steps.length - 1);
		/* The text can be scrolled once it is laid out. */
		requestAnimationFrame(() => this.markSource());
	}

	said(result) {
		const raw = result.raw, of = result.run === this.steps ? raw : result.concrete;

		return [
			of.message ?
				make("p", { class: "headline" }, sentence(string(of.message))) :
				null,
			of.order_without_buffers ?
				make("p", {}, "Only with store buffers: " +
					sentence(string(of.order_without_buffers))) :
				null,
			of.store_buffer ?
				make("p", {}, sentence(string(of.store_buffer.sentence))) :
				null,
			of.hint ? make("p", {}, "Hint: " + sentence(string(of.hint))) : null,
			of.on_sc ?
				make("p", {},
					of.on_sc === "LINEARIZABLE" ?
						"On sequential consistency the client is right: " +
						"the violation needs store " +
							"buffers." :
						"On sequential consistency: " + string(of.on_sc) +
							".") :
				null
		];
	}

	table() {
		return make("table", {
			class: "run",
			tabindex: 0,
			onkeydown: (e) => this.key(e),
			role: "grid",
			"aria-label": "Steps; up and down move the cursor",
		},
			make("thead", {},
				make("tr", {}, make("th", { scope: "col" }, "step"),
					this.threads.map((t) => make("th", { scope: "col" },
								 "thread " + t)),
					make("th", { scope: "col" }, "changes"))),
			make("tbody", {}, this.rows));
	}

	/* The parts of a step are lines: "c is 0 [16], c = 1 to the buffer [16]; write returns". */
	row(s, k) {
		const lines = splitOutside(string(s.what),
			"; ").flatMap((t) => t.split(/(?<=\]), |, (?=T\d+: )/));
		const diff = k ? changes(this.states[k - 1], this.states[k]).join("\n") :
				 string(s.state);

		return make("tr", { onclick: () => this.go(k) },
			make("td", { class: "number" }, string(s.step)),
			s.thread === undefined ?
				make("td", { colspan: this.threads.length || 1 },
					lines.join(" ")) :
				this.threads.map((t) => make("td", { class: "cell" },
							 this.cell(s, lines, t))),
			make("td", { class: "cell number" }, diff));
	}

	/* The lines of what a thread does in a step: its own, or those that name it. */
	cell(s, lines, thread) {
		const own = thread === string(s.thread), name = "T" + thread + ": ";
		const mine = lines.filter((t) => t.startsWith(name) || own && !/^T\d+: /.test(t))
				     .map((t) => t.startsWith(name) ? t.slice(name.length) : t)
				     .join("\n");

		return own && s.flush ?
			[
				make("span", { class: "flush" }, "store leaves the buffer"), "\n",
				mine
			] :
			mine;
	}

	go(at) {
		this.at = Math.max(0, Math.min(at, this.steps.length - 1));
		this.rows.forEach((tr, k) => {
			if (k === this.at)
				tr.setAttribute("aria-selected", "true");
			else
				tr.removeAttribute("aria-selected");
		});
		empty(this.side);
		put(this.side,
			make("h3", {},
				this.at ? "After step " + string(this.steps[this.at].step) :
					  "At first"),
			showState(this.states[this.at], this.at ? this.states[this.at - 1] : null));
		this.markSource();
	}

	/* Mark the lines of the model that the step names as [n]. */
	markSource() {
		const lines = (string(this.steps[this.at].what).match(/\[\d+\]/g) ||
			[]).map((t) => Number(t.slice(1, -1)));

		if (!this.text)
			return;
		[...this.text.children].forEach((span, k) => {
			if (lines.includes(k + 1))
				span.setAttribute("aria-current", "true");
			else
				span.removeAttribute("aria-current");
		});
		if (lines.length && this.text.children[lines[0] - 1])
			this.text.scrollTop = this.text.children[lines[0] - 1].offsetTop -
				this.text.offsetTop - 60;
	}

	key(e) {
		if (act(e, {
			ArrowUp: () => this.go(this.at - 1),
			ArrowDown: () => this.go(this.at + 1),
			Home: () => this.go(0),
			End: () => this.go(this.steps.length),
		}))
			this.rows[this.at].scrollIntoView({ block: "nearest" });
	}
}

function runOf(steps, result, title) { return new Run(steps, result, title).box; }
