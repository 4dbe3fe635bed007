/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The result as the page uses it.  Every part of a result may be missing, since results of several
 * commands and versions are shown, and a result may come from anywhere.
 */

/* All operations that a result lists, each with the object of its partition. */
function listedOps(parts) {
	const ops = [];

	for (const p of parts) {
		for (const o of array(p.counterexample).concat(array(object(p.story).cast)))
			ops.push({ ...object(o), object: p.object, symbol: p.symbol, slab: p.slab });
	}
	return ops;
}

function partitionsOf(result) {
	const list = array(result.partitions).map(object);

	for (const one of [result, object(result.concrete)])
		if (one.story || one.counterexample)
			list.push(one);
	return list;
}

/*
 * A check that runs along numbers the operations of each violation anew.  Give them the numbers
 * that they have in the history, or, without one, numbers of their own.
 */
function renumber(found, h) {
	const all = new Map();

	for (const v of found) {
		const story = object(v.story), own = new Map();
		const of = (id) => own.has(id) ? own.get(id) : id;

		for (const o of array(v.counterexample).concat(array(story.cast)).map(object)) {
			const key = JSON.stringify(
				[ v.object, o.thread, o.call, o.method, o.arguments ]);
			const at = h ? findOp(h, { ...o, id: undefined }) : NONE;

			if (!all.has(key))
				all.set(key, at !== NONE ? h.id[at] : (h ? h.total : 0) + all.size);
			own.set(o.id, all.get(key));
			o.id = all.get(key);
		}
		for (const order of array(story.orders).map(object)) {
			order.operations = array(order.operations).map(of);
			order.stopped_by = of(order.stopped_by);
		}
	}
}

/* An order: its steps, the state after each, and the operation that stops it. */
function readOrder(h, o, name) {
	const steps = array(o.operations).map((one) => readStep(h, one));
	let states = array(o.states).map(string), before = "";

	/* One state more than steps: the first is the state before all steps. */
	if (states.length > steps.length)
		before = states.shift();
	/* Perhaps only the state after all steps is known. */
	if (steps.length && !states[steps.length - 1])
		states[steps.length - 1] = string(o.state);
	return {
		name: name,
		steps: steps,
		before: before,
		states: states,
		stop: o.stopped_by === undefined || o.stopped_by === null ?
			NONE :
			findOp(h,
				Number.isInteger(o.stopped_by) ? o.stopped_by :
								 object(o.stopped_by)),
		longest: string(o.state) !== "",
		sentence: string(o.sentence),
	};
}

/* A step is an operation: an object, or the text of orders.h. */
function readStep(h, one) {
	const text = string(one), m = /^(~?)(\d+)(!?)([?]?)$/.exec(text);

	if (m)
		return {
			op: findId(h, Number(m[2])),
			flush: m[1] !== "",
			buffered: m[3] !== "",
			open: m[4] !== "",
			text: text
		};
	if (text)
		return { op: NONE, text: text };
	return {
		op: findOp(h, object(one)),
		flush: object(one).flush === true,
		buffered: object(one).buffered === true,
		text: textOf(object(one))
	};
}

function readCast(h, o) {
	const op = findOp(h, o), source = object(o.source);

	return {
		op: op,
		role: string(o.role),
		thread: threadOf(o),
		text: textOf(o),
		when: op !== NONE ? whenText(h, op) :
				     string(o.call) +
				(o.return === null || o.return === undefined ?
						"" :
						"\u2013" + string(o.return )),
		line: string(source.line),
		comm: string(o.comm),
		cpu: string(o.cpu),
		file: string(source.file),
		extra: o,
	};
}

function readViolation(h, p) {
	const story = object(p.story), v = { partition: p };
	const proof = array(p.counterexample).map((o) => findOp(h, object(o)));

	v.headline = string(story.headline) || string(p.reason);
	v.cast = array(story.cast).map((o) => readCast(h, object(o)));
	v.facts = array(story.facts).map(string);
	v.allowed = object(story.allowed);
	v.trust = object(story.trust);
	v.proof = proof.filter((i) => i !== NONE);
	/* The operations whose returns the proof has seen. */
	v.returned = proof.filter((i, k) => i !== NONE && !isNull(p.counterexample[k].return));
	v.orders = ordersOf(h, v.proof, story);
	v.when = p.kind === "violation" ? foundText(p) : "";
	v.failing = v.cast.length ? v.cast[0].op : v.orders.length ? v.orders[0].stop : NONE;
	v.name = partitionName(p);
	for (const one of v.cast)
		if (one.op !== NONE)
			h.extra.set(one.op, one);
	return v;
}

const MOST_FIRST = 300; /* steps of an order of all operations that comes first */

/*
 * The order of all that goes well, and the longest ones of the proof.  The page's own have the state
 * after each step; those of a result only the last one.
 */
function ordersOf(h, proof, story) {
	const part = object(proof.length ? partOf(h, proof[0]) : null), own = array(part.orders);
	const all = (own.length ? own : array(story.orders))
			    .map((o, i) => readOrder(h, object(o), "order " + (i + 1) +
							    " of the proof"));

	if (!part.prefix)
		return all;
	const prefix = readOrder(h, part.prefix, "all that goes well");

	prefix.sentence = "This order has all operations that returned before " +
		retText(h, prefix.stop) + ". No order also has the return of " +
		opName(h, prefix.stop);
	return prefix.steps.length > MOST_FIRST ? [...all, prefix ] : [ prefix, ...all ];
}

/* When a check that ran along found a violation. */
function foundText(p) {
	const when = isNull(p.time) ? "at the end" : "at time " + string(p.time);

	return "Found " + when + ", after " + count(string(p.events)) + " calls and returns.";
}

function partitionName(p) {
	return (p.object !== undefined ? "object " + string(p.object) : "") +
		(p.symbol !== undefined ? " (" + string(p.symbol) + ")" : "") +
		(p.key !== undefined ?
				(p.object !== undefined ? ", " : "") + "key " + string(p.key) :
				"");
}

function readResult(data) {
	const found = array(data.found).map(object);
	/* The check of the history in a report of klind, or the last result of a check that ran along. */
	const result = data.result && data.result.kind === "incident" && data.result.check ?
		{ ...object(data.result.check), incident: data.result } :
		object(data.result || found[0]);
	const r = {
		raw: result,
		found: found,
		incident: object(result.incident),
		tests: array(result.tests).map(object),
		outcomes: array(result.outcomes).map(object),
		sources: object(data.sources),
		verdict: string(result.verdict),
		kind: string(result.kind) ||
			(result.trail		   ? "verify" :
					result.run ? "explore" :
						     "check"),
		run: array(result.run).map(object),
		trail: array(result.trail),
		concrete: object(result.concrete),
		source: string(data.source),
	};

	const parts = found.length ? found : partitionsOf(result);

	if (data.history)
		r.history = readHistory(data.history);
	renumber(found, r.history);
	if (!r.history) {
		r.history = listedHistory(listedOps(parts), !found.length);
		if (r.history.n)
			readOthers(r.history, result);
	}
	r.violations =
		parts.filter((p) => p.story || p.counterexample || p.verdict === "VIOLATION")
			.map((p) => readViolation(r.history, p));
	/* Those with a story come first. */
	r.violations.sort((a, b) => (b.cast.length > 0) - (a.cast.length > 0));
	return r;
}
