/* SPDX-License-Identifier: GPL-2.0 */
/* The head of the page: the verdict, what it is about, and what the page leaves out. */

const BAD = [ "VIOLATION", "NOT PROVED", "No" ];
const OPEN = [ "UNKNOWN", "ERROR" ];

function partsText(raw) {
	const p = object(raw.partitions);

	if (raw.linearizable !== undefined)
		return count(raw.linearizable) + " linearizable, " + count(raw.violations || 0) +
			" violated, " + count(raw.unknown || 0) + " unknown";
	return p.linearizable === undefined ?
		"" :
		count(p.linearizable) + " linearizable, " + count(p.violated) + " violated, " +
			count(p.unknown) + " unknown";
}

function testsText(raw) {
	return count(raw.ok || 0) + " Ok, " + count(raw.no || 0) + " No, " +
		count(raw.unknown || 0) + " unknown, " + count(raw.not_read || 0) + " not run";
}

/* The build of the klin that made the result; its ID is short enough to be read. */
function buildOf(raw) {
	const build = object(object(raw.klin).build);

	return { id: string(build.id).slice(0, 12), compiler: string(build.compiler) };
}

/* The versions that a report of a fault in klin needs, at the end of the page. */
function footOf(r) {
	const klin = object(r.raw.klin), libraries = object(klin.libraries);
	const names = Object.keys(libraries);

	return names.length ?
		make("footer", { class: "quiet" },
			make("p", {},
				"Made by klin " + string(klin.version) + ", build " +
					string(object(klin.build).id) + " by " + buildOf(r.raw).compiler +
					", with " +
					names.map((n) => n + " " + string(libraries[n])).join(", ") +
					".")) :
		null;
}

/* Add the counts of a check that ran along. */
function addRunning(raw, add) {
	if (raw.kind !== "summary")
		return;
	add("violations",
		count(raw.violations) +
			(raw.suspected ? ", of which suspected: " + count(raw.suspected) : "") +
			(raw.told < raw.violations ? ", of which shown: " + count(raw.told) : ""));
	add("checked up to", raw.followed_to);
	add("too late to be checked", raw.late || "");
	add("operations per second", count(Math.round(raw.operations_per_second)));
	add("history", raw.whole ? "" : "did not come to its end");
}

/* Add the moment in which klind wrote a report, and why. */
function addIncident(incident, add) {
	const shown = incident.shown_by_history;

	add("structure", incident.name);
	add("cause", incident.cause);
	add("written", incident.written);
	add("found at", incident.time);
	add("found after", incident.events === undefined ?
			"" :
			count(string(incident.events)) + " calls and returns");
	add("shown by the report's history",
		shown === true	 ? "yes" :
			shown === false ? "no: it also depends on operations that are forgotten" :
				 "");
	add("missing", array(incident.missing)
			       .map(object)
			       .map((m) => string(m.file) + " (" + string(m.reason) + ")")
			       .join(", "));
}

/* Why partitions are UNKNOWN, and what may settle it. */
function whyUnknown(raw) {
	const why = array(raw.why_unknown).map(object);

	if (raw.advice && !why.length)
		return make("p", {}, "Advice: " + sentence(string(raw.advice)));
	return why.length ? make("ul", {}, why.map((w) => make("li", {},
				plural(w.partitions, "partition") + " UNKNOWN: " +
					sentence(string(w.why)) + " " +
					sentence(string(w.progress)) + " Advice: " +
					sentence(string(w.advice))))) :
			    null;
}

/* The stores that must have waited in their buffers, or there would be no order. */
function waitedOf(raw) {
	const found = array(raw.partitions).map(object).filter((p) => object(p.waited).sentence);
	const named = (p) => found.length > 1 ? partitionName(p) + ": " : "";

	return found.map((p) => make("p", { class: "note waited", role: "note" },
				 named(p) + sentence(string(p.waited.sentence))));
}

function headOf(data, r) {
	const raw = r.raw, about = [];
	const add = (name, text) => {
		if (text !== "" && text !== undefined && text !== null)
			about.push(make("div", {}, make("dt", {}, name), make("dd", {}, string(text))));
	};

	add("input", data.title);
	add("specification", raw.spec);
	add("operations", raw.operations === undefined ? "" : count(raw.operations));
	add("partitions", partsText(raw));
	add("tests", raw.tests ? testsText(raw) : "");
	add("memory model", raw.memory);
	addRunning(raw, add);
	addIncident(r.incident, add);
	add("kernel", raw.kernel);
	add("host", raw.host);
	add("klin",
		typeof raw.klin === "string" ?
			raw.klin :
			[ object(raw.klin).version, buildOf(raw).id ].filter(Boolean).join(" build "));
	return make("header", {},
		make("h1", {},
			make("span", {
				class: "verdict " +
					(BAD.includes(raw.verdict)		? "bad" :
						OPEN.includes(raw.verdict) ? "open" :
									     "good"),
			},
				string(raw.verdict) || "klin"),
			" ", raw.history && raw.history !== "-" ? string(raw.history) :
				string(raw.file || data.title)),
		make("dl", { class: "about" }, about),
		raw.reason && !r.found.length ? make("p", {}, sentence(string(raw.reason))) : null,
		whyUnknown(raw), waitedOf(raw),
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
	if (h.entriesLeft)
		all.push("For " + plural(h.entriesLeft, "operation") +
			" the text in the file is left out; `klin report --texts=0' makes a page " +
			"with all.");
	if (r.raw.skipped)
		all.push("Entries of the file that are no operations: " + count(r.raw.skipped) +
			" (" + string(r.raw.skipped_reason) + ").");
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
