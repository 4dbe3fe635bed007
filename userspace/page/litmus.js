/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Litmus tests: a table of all, and of the selected one its story, its text and its final states.
 */

class Litmus {
	constructor(result) {
		this.result = result;
		this.tests = result.tests;
		this.rows = this.tests.map((t, k) => this.row(t, k));
		this.body = make("tbody", {}, this.rows);
		this.said = make("section",
			{ "aria-live": "polite", "aria-label": "The selected test" });
		this.box = make("section", { "aria-label": "Litmus tests" },
			this.tests.length > 1 ? this.table() : null, this.said);
		/* The first that is not as it should be is most likely of interest. */
		this.go(Math.max(this.tests.findIndex((t) => t.verdict !== "Ok"), 0));
	}

	table() {
		const verdicts = [...new Set(this.tests.map((t) => string(t.verdict))) ];
		const only = make("select", {
			"aria-label": "Only tests with this verdict",
			onchange: () => this.filter(only.value)
		},
			make("option", { value: "" }, "any verdict"),
			verdicts.map((v) => make("option", { value: v }, v)));

		return [
			make("h2", {}, plural(this.tests.length, "test")),
			make("div", { class: "bar" }, verdicts.length > 1 ? only : null,
				make("button", { type: "button", onclick: () => this.move(-1) },
					"\u2191 previous"),
				make("button", { type: "button", onclick: () => this.move(1) },
					"next \u2193"),
				make("span", { class: "quiet" }, "or the keys \u2191 \u2193")),
			make("div", { class: "wide tests" },
				make("table", {
					class: "litmus",
					tabindex: 0,
					role: "grid",
					"aria-label": "Tests; up and down select one",
					onkeydown: (e) => this.key(e),
				},
					make("thead", {},
						make("tr", {},
							[
								"test", "verdict", "condition holds",
								"states with", "without", "condition"
							].map((t) => make("th", { scope: "col" },
								      t)))),
					this.body))
		];
	}

	row(t, k) {
		return make("tr", { onclick: () => this.go(k) },
			make("td", {}, string(t.name) || string(t.file)),
			make("td", {}, verdictMark(string(t.verdict))),
			make("td", {}, string(t.observation).toLowerCase()),
			make("td", { class: "number" }, string(t.positive)),
			make("td", { class: "number" }, string(t.negative)),
			make("td", { class: "number" }, string(t.condition) || string(t.reason)));
	}

	filter(verdict) {
		this.rows.forEach((tr, k) => {
			tr.hidden = verdict !== "" && this.tests[k].verdict !== verdict;
		});
		if (this.rows[this.at].hidden)
			this.move(1);
	}

	/* Select the next or previous test of those that are shown. */
	move(by) {
		const n = this.rows.length;

		for (let k = this.at + by; k >= 0 && k < n; k += by)
			if (!this.rows[k].hidden) {
				this.go(k);
				return;
			}
		if (this.rows[this.at].hidden)
			this.go(this.rows.findIndex((tr) => !tr.hidden));
	}

	go(at) {
		const t = object(this.tests[at]);

		this.at = at;
		this.rows.forEach((tr, k) => {
			if (k === at)
				tr.setAttribute("aria-selected", "true");
			else
				tr.removeAttribute("aria-selected");
		});
		empty(this.said);
		put(this.said, make("h2", {}, string(t.name) || string(t.file)),
			make("p", {}, sentence(saidOf(t))),
			factsOf(object(t.story)), litmusRun(object(t.story)), this.text(t),
			statesOf(t));
	}

	/* The text of the test; lines where a fence or lock makes a difference are marked. */
	text(t) {
		const text = this.result.sources[string(t.file)], story = object(t.story);
		const lines = array(story.forbidden_by)
				      .concat(array(story.needed))
				      .map((place) => object(place).line);
		const marked = (line, k) => make("span", {
			"aria-current": lines.includes(k + 1) ? "true" : null
		},
			line);

		return text ? [
			make("h3", {}, "The test, " + string(t.file)),
			make("pre", { class: "source", tabindex: 0 },
				text.trimEnd().split("\n").map(marked))
		] :
			      null;
	}

	key(e) {
		if (act(e, {
			ArrowUp: () => this.move(-1),
			ArrowDown: () => this.move(1),
		}))
			this.rows[this.at].scrollIntoView({ block: "nearest" });
	}
}

function verdictMark(verdict) {
	return make("span", {
		class: "verdict small " +
			(verdict === "Ok"	   ? "good" :
					verdict === "No" ? "bad" :
							   "open")
	},
		verdict);
}

/* The result of a test in a sentence. */
function saidOf(t) {
	const when = { Never: "in no final state", Always: "in each final state" };
	const all = (Number(t.positive) || 0) + (Number(t.negative) || 0);
	const asked = { exists: "in one", "~exists": "in none", forall: "in each" };
	const m = /^(~?exists|forall) /.exec(string(t.condition));

	if (!t.observation)
		return string(t.verdict) + ": " + string(t.reason);
	return "The condition holds " +
		(when[t.observation] || "in " + count(t.positive) + " of " + count(all) +
				" final states") +
		(m ? "; the test asks whether it does " + asked[m[1]] : "") + ": " +
		string(t.verdict);
}

/* Why the test can end so, or cannot. */
function factsOf(story) {
	const stores = array(story.cast).map((one) => object(one).sentence);
	const facts = stores.concat(array(story.facts));

	return [
		story.headline ?
			make("p", { class: "headline" }, sentence(string(story.headline))) :
			null,
		facts.length ?
			make("ul", {}, facts.map((f) => make("li", {}, sentence(string(f))))) :
			null
	];
}

const MOST_STATES = 500; /* final states that the page shows */

/* The final states, those first in which the condition holds. */
function statesOf(t) {
	const states = array(t.states).map(object);

	return states.length ? [
		make("h3", {}, "Final states"),
		valuesTable(states.slice().sort((a, b) => (b.holds === true) - (a.holds === true)),
			(s) => object(s.values), [ [ "condition", (s) => s.holds ? "holds" : "" ] ],
			(s) => s.holds === true)
	] :
			       null;
}

/*
 * A table of states: a column for each name of a value, and more columns.
 * @values: the values of a state; @more: names of columns, and their texts; @marked: is it marked?
 */
function valuesTable(states, values, more, marked) {
	const names = [...new Set(states.flatMap((s) => Object.keys(values(s)))) ];
	const rows = states.slice(0, MOST_STATES).map(
		(s) => make("tr", { class: marked(s) ? "marked" : null },
			names.map((n) => make("td", { class: "number" }, string(values(s)[n]))),
			more.map(([ name, text ]) => make("td", {}, text(s)))));

	return make("div", { class: "wide" },
		make("table", { class: "values" },
			make("thead", {},
				make("tr", {},
					names.concat(more.map(([ name ]) => name))
						.map((n) => make("th", { scope: "col" }, n)))),
			make("tbody", {}, rows)),
		states.length > MOST_STATES ?
			make("p", { class: "quiet" },
				count(states.length - MOST_STATES) + " more are not shown.") :
			null);
}

/* The outcomes of `klin explore --outcomes'. */
function outcomesOf(outcomes) {
	const mark = (name) => (o) => o[name] === true ? "yes" : "no";

	return make("section", { "aria-label": "Outcomes" }, make("h2", {}, "Outcomes"),
		make("p", { class: "quiet" },
			"Final values that the client's threads can see. Marked: the " +
				"implementation has it, and the specification in its " +
				"place has not."),
		valuesTable(outcomes, (o) => object(o.variables),
			[
				[ "implementation", mark("implementation") ],
				[ "specification", mark("specification") ],
				[ "specification without store buffers", mark("sc") ]
			],
			(o) => o.implementation === true && o.specification !== true));
}
