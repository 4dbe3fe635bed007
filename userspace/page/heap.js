/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The abstract states of a verifier's alarm, which klin prints as lines:
 *
 *	top = n1; reference: s: from n1
 *	T0 push at line 32, not yet linearized, t = n1, x = n2
 *	n1: val its operation's argument, next null; in the reference next s2
 *	s2 (any number): val its operation's argument, in both heaps, next in both null
 */

function readTrail(lines) {
	const steps = [];

	for (const line of lines.map(string)) {
		const m = /^ {0,6}(\d+) {2}(\S.*)$/.exec(line), step = steps[steps.length - 1];

		if (m)
			steps.push({
				number: Number(m[1]),
				what: m[2],
				lines: [],
				nodes: [],
				names: []
			});
		else if (step)
			readTrailLine(step, line.trim());
	}
	return steps;
}

function readTrailLine(step, line) {
	const node = /^([ns]\d+)( \(any number\))?:(.*)$/.exec(line);

	step.lines.push(line);
	if (node) {
		readNode(step, node[1], Boolean(node[2]), node[3]);
	} else if (/^T\d+ /.test(line)) {
		for (const m of line.matchAll(/, ([A-Za-z_]\w*) = ([ns]\d+|null)/g))
			step.names.push({
				name: /^T\d+/.exec(line)[0] + "." + m[1],
				to: m[2],
				heap: "own"
			});
	} else {
		readGlobals(step, line);
	}
}

function readGlobals(step, line) {
	const at = line.indexOf("; reference: ");
	const own = at < 0 ? line : line.slice(0, at),
	      reference = at < 0 ? "" : line.slice(at + 13);

	for (const m of own.matchAll(/(?:^|, )([\w[\]]+) = ([ns]\d+|null)/g))
		step.names.push({ name: m[1], to: m[2], heap: "own" });
	for (const m of reference.matchAll(/(?:^|, )(\w+): from ([ns]\d+|null)/g))
		step.names.push({ name: m[1], to: m[2], heap: "reference" });
	for (const m of reference.matchAll(
		     /(?:^|, )(\w+): behind ([ns]\d+|null) to ([ns]\d+|null)/g)) {
		step.names.push({ name: m[1] + " behind", to: m[2], heap: "reference" });
		step.names.push({ name: m[1] + " to", to: m[3], heap: "reference" });
	}
}

/* Targets of a pointer: "n1 or null". */
function targets(text) { return text ? text.split(" or ") : []; }

function readNode(step, name, many, text) {
	const both = /in both heaps, next in both ((?:[ns]\d+|null)(?: or (?:[ns]\d+|null))*)/.exec(
		text);
	const only = /in the reference only, next ((?:[ns]\d+|null)(?: or (?:[ns]\d+|null))*)/.exec(
		text);
	const own = /(?:^|[ ,])next ((?:[ns]\d+|null)(?: or (?:[ns]\d+|null))*)/.exec(text);
	const ref = /in the reference next ((?:[ns]\d+|null)(?: or (?:[ns]\d+|null))*)/.exec(text);
	const fields = text.split(/ in both heaps| in the reference| next /)[0].trim().replace(
		/[,;]$/, "");

	step.nodes.push({
		name: name,
		many: many,
		fields: fields,
		text: text.trim(),
		both: Boolean(both),
		own: both   ? targets(both[1]) :
			only ? null :
			own  ? targets(own[1]) :
			       null,
		reference: both ? targets(both[1]) :
			only	 ? targets(only[1]) :
			ref	 ? targets(ref[1]) :
				   null,
	});
}

/* Return: the nodes of one heap, each after those that point to it if possible. */
function chain(step, heap) {
	const here = step.nodes.filter((n) => n[heap]), seen = new Set(), order = [];
	const visit = (name) => {
		const n = here.find((one) => one.name === name);

		if (!n || seen.has(name))
			return;
		seen.add(name);
		order.push(n);
		n[heap].forEach(visit);
	};
	const pointed = new Set(here.flatMap((n) => n[heap].filter((t) => t !== n.name)));

	here.filter((n) => !pointed.has(n.name)).forEach((n) => visit(n.name));
	here.forEach((n) => visit(n.name));
	return order;
}
