/* SPDX-License-Identifier: GPL-2.0 */
/* The story of a violation: what is wrong, who took part, why, and what was allowed. */

function storyOf(app, v) {
	const box = make("section", { class: "story", "aria-label": "What is wrong" });

	put(box, v.partition.suspected === true ?
			make("p", { class: "note", role: "note" },
				"Suspected only: a violation, if all calls were seen and no store " +
				"waited in a store buffer.") :
			null,
		v.headline ? make("h2", { class: "headline" }, sentence(v.headline)) : null,
		castTable(app, v), factList(v), allowedOf(v), proofOf(app, v), trustOf(app, v),
		v.when ? make("p", { class: "quiet" }, v.when) : null);
	return box;
}

/* A button that selects an operation. */
function opButton(app, i, text) {
	return i === NONE ?
		make("span", { class: "op" }, text) :
		make("button",
			{ type: "button", class: "op", onclick: () => app.select(i, true) },
			text);
}

function castTable(app, v) {
	const colors = valueColors(app.h, v), cells = (one) => {
		const own = one.op === NONE ? [] : opColors(app.h, colors, one.op);

		return [
			own.map((color) => {
				const chip = make("span", { class: "chip" });

				chip.style.background = color;
				return chip;
			}),
			" ", one.role
		];
	};
	/* Columns that only some histories have. */
	const more = [ "line", "comm", "cpu" ].filter((name) => v.cast.some((one) => one[name]));

	if (!v.cast.length)
		return null;
	return make("div", { class: "wide" },
		make("table", { class: "cast" },
			make("caption", {}, "The operations that took part"),
			make("thead", {},
				make("tr", {},
					[
						"thread", "operation", "role", "time",
						...more.map((name) => name === "cpu" ? "CPU" : name)
					]
						.map((t) => make("th", { scope: "col" }, t)))),
			make("tbody", {},
				v.cast.map(
					(one, k) => make("tr", { class: k ? null : "failing" },
						make("td", {}, one.thread),
						make("td", {}, opButton(app, one.op, one.text)),
						make("td", {}, cells(one)),
						make("td", { class: "number" }, one.when),
						more.map((name) => make("td",
								 { class: "number" },
								 one[name])))))));
}

function factList(v) {
	return v.facts.length ?
		[
			make("h3", {}, "Why no order works"),
			make("ul", {}, v.facts.map((f) => make("li", {}, sentence(f))))
		] :
		null;
}

function allowedOf(v) {
	const a = v.allowed, results = array(a.results), states = array(a.states);
	const say = (x) => typeof x === "object" ? JSON.stringify(x) : string(x);

	if (!a.sentence && !results.length && !states.length)
		return null;
	return [
		make("h3", {}, "What was allowed"),
		a.sentence ?
			make("p", {}, sentence(string(a.sentence))) :
			make("p", {},
				results.length ? "Results: " + results.map(say).join("; ") + "." :
						 null),
		/* The sentence may have them all. */
		states.length && !states.map(say).every((s) => string(a.sentence).includes(s)) ?
			make("p", {},
				states.length > 1 ? "States before it: " : "The state before it: ",
				make("code", {}, states.map(say).join("; "))) :
			null
	];
}

/* The proof stands apart from the story. */
function proofOf(app, v) {
	if (!v.proof.length)
		return null;
	return make("p", { class: "proof" }, "Proof: ",
		v.proof.length === 1 ?
			"this operation has no order by itself: " :
			"these " + v.proof.length + " operations have no order by themselves: ",
		v.proof.slice(0, 12).map(
			(i, k) => [k ? ", " : "", opButton(app, i, opName(app.h, i))]),
		v.proof.length > 12 ? " and " + plural(v.proof.length - 12, "other") : null, ".");
}

function trustOf(app, v) {
	const p = v.partition, t = v.trust, parts = [];
	const engine = string(t.engine || p.engine);
	const agrees = t.oracle_agrees === undefined ? p.oracle_agrees : t.oracle_agrees;
	const n = t.operations || v.proof.length;

	if (engine)
		parts.push("Decided by the engine " + engine +
			(p.operations ? " over " + plural(p.operations, "operation") : "") + ".");
	if (agrees === true)
		parts.push("An independent oracle that tries all orders agrees on the proof" +
			(n ? " of " + plural(n, "operation") : "") + ".");
	else if (agrees === false && v.proof.length)
		parts.push("The proof is too large for the oracle that tries all orders.");
	if (!parts.length && !t.replay)
		return null;
	return make("p", { class: "trust" }, parts.join(" "),
		t.replay ? [ " Check it again: ", make("code", {}, string(t.replay)), "." ] : null);
}
