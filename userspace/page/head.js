/* SPDX-License-Identifier: GPL-2.0 */
/* The head of the page: the verdict, what it is about, and what the page leaves out. */

function headOf(data, r) {
	const raw = r.raw, about = [];
	const add = (name, text) => {
		if (text !== "" && text !== undefined && text !== null)
			about.push([ make("dt", {}, name), make("dd", {}, string(text)) ]);
	};

	add("input", data.title);
	add("specification", raw.spec);
	add("operations", raw.operations === undefined ? "" : count(raw.operations));
	add("partitions",
		raw.linearizable === undefined ?
			"" :
			count(raw.linearizable) + " linearizable, " + count(raw.violations || 0) +
				" violated, " + count(raw.unknown || 0) + " unknown");
	add("memory model", raw.memory);
	add("kernel", raw.kernel);
	add("host", raw.host);
	add("klin", typeof raw.klin === "string" ? raw.klin : object(raw.klin).version);
	return make("header", {},
		make("h1", {},
			make("span", {
				class: "verdict " +
					(raw.verdict === "VIOLATION" ||
								raw.verdict === "NOT PROVED" ?
							"bad" :
							raw.verdict === "UNKNOWN" ? "open" :
										    "good"),
			},
				string(raw.verdict) || "klin"),
			" ", string(raw.history || raw.file || data.title)),
		make("dl", { class: "about" }, about),
		raw.reason ? make("p", {}, sentence(string(raw.reason))) : null,
		notes(data, r).map((t) => make("p", { class: "note", role: "note" }, t)),
		data.command ? make("p", { class: "quiet" },
				       "Made by: ", make("code", {}, data.command)) :
			       null);
}

/* What the page does not show, and what may have been missed. */
function notes(data, r) {
	const h = r.history, all = [];
	const any = r.raw.any_first_state;

	if (data.note)
		all.push(data.note);
	if (h.total > h.n)
		all.push("This page holds " + count(h.n) + " of " + plural(h.total, "operation") +
			"; " + plural(h.total - h.n, "operation") + " are left out: " + leftOut(h) +
			". `klin report --operations=0' makes a page with all.");
	if (h.gaps.length)
		all.push(plural(h.gaps.length, "gap") + ": operations may have been lost there.");
	if (h.error)
		all.push("Times of different CPUs may differ by up to " + h.errorText + ".");
	if (any)
		all.push("The state before the first operation is not known.");
	return all;
}

function leftOut(h) {
	const before = h.n ? h.id[0] : 0, after = h.n ? h.total - 1 - h.id[h.n - 1] : 0;
	const between = h.total - h.n - before - after, all = [];

	if (before)
		all.push(count(before) + " before the first one shown");
	if (between)
		all.push(count(between) + " between those shown");
	if (after)
		all.push(count(after) + " after the last one shown");
	return all.join(", ");
}
