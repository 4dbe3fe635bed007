/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The history: typed arrays with an element for each operation, in order of calls.  Times are
 * numbers from @base on; exact times are made from integers where the numbers are not exact.
 */

function bytesOf(base64) {
	const text = atob(base64), bytes = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

/* Call @f(i, v) for each LEB128 number of a column. */
function eachNumber(base64, f) {
	const bytes = bytesOf(base64);

	for (let at = 0, i = 0; at < bytes.length; i++) {
		let v = bytes[at] & 127, m = 128;

		while (bytes[at++] > 127) {
			v += (bytes[at] & 127) * m;
			m *= 128;
		}
		f(i, v);
	}
}

function eachBig(base64, f) {
	const bytes = bytesOf(base64);

	for (let at = 0, i = 0; at < bytes.length; i++) {
		let v = BigInt(bytes[at] & 127), m = 7n;

		while (bytes[at++] > 127) {
			v |= BigInt(bytes[at] & 127) << m;
			m += 7n;
		}
		f(i, v);
	}
}

function column(base64, n, type) {
	const a = new type(n);

	if (typeof base64 === "string")
		eachNumber(base64, (i, v) => { a[i] = v; });
	return a;
}

function readTimes(h, c) {
	let last = 0;

	h.call = new Float64Array(h.n);
	h.ret = new Float64Array(h.n);
	eachNumber(c.call, (i, v) => { h.call[i] = last += v; });
	eachNumber(c.took, (i, v) => { h.ret[i] = v ? h.call[i] + v - 1 : Infinity; });
	h.wide = last > Number.MAX_SAFE_INTEGER;
	if (h.wide)
		readWide(h, c);
}

/* Times that a number cannot hold exactly. */
function readWide(h, c) {
	let last = 0n;

	h.bigCall = new BigUint64Array(h.n);
	h.bigRet = new BigUint64Array(h.n);
	eachBig(c.call, (i, v) => { h.bigCall[i] = last += v; });
	eachBig(c.took, (i, v) => { h.bigRet[i] = v ? h.bigCall[i] + v - 1n : 0n; });
}

function readSigs(h, c) {
	const n = c.sigs;
	let sig = 0, field = 0, left = 0, at = 0;

	h.sigMethod = new Uint32Array(n);
	h.sigArgs = new Uint8Array(n);
	h.sigResults = new Uint8Array(n);
	h.sigFirst = new Uint32Array(n + 1);
	h.sigVals = [];
	eachNumber(c.signatures, (i, v) => {
		if (field === 0) {
			h.sigMethod[sig] = v;
			field = 1;
		} else if (field === 1) {
			h.sigArgs[sig] = v;
			field = 2;
		} else if (field === 2) {
			h.sigResults[sig] = v;
			h.sigFirst[sig] = at;
			left = h.sigArgs[sig] + v;
			field = 3;
		} else {
			h.sigVals.push(v);
			at++;
			left--;
		}
		if (field === 3 && !left) {
			field = 0;
			sig++;
		}
	});
	h.sigFirst[n] = at;
}

function readHistory(c) {
	const h = {
		n: c.kept,
		numbered: true,
		total: c.total,
		base: BigInt(c.base),
		clock: c.clock,
		error: Number(c.error),
		errorText: c.error,
		methods: c.methods,
		values: c.values,
		threads: c.threads,
		objects: c.objects,
		comms: array(c.comms).map(string),
		symbols: array(c.symbols).map(string),
		slabs: array(c.slabs).map(string),
		stacks: array(c.stacks),
		parts: c.parts,
		file: c.file,
		texts: [],
		extra: new Map(),
	};
	let last = 0;

	readTimes(h, c);
	readSigs(h, c);
	h.id = new Uint32Array(h.n);
	if (c.id)
		eachNumber(c.id, (i, v) => { h.id[i] = last += v; });
	else
		for (let i = 0; i < h.n; i++)
			h.id[i] = i;
	h.thread = column(c.thread, h.n, Uint32Array);
	h.object = column(c.object, h.n, Uint32Array);
	h.sig = column(c.sig, h.n, Uint32Array);
	h.part = column(c.part, h.n, Int32Array);
	h.flags = column(c.flags, h.n, Uint8Array);
	h.cpu = c.cpu ? column(c.cpu, h.n, Int32Array) : null;
	h.stack = c.stack ? column(c.stack, h.n, Uint32Array) : null;
	h.point = c.point ? column(c.point, h.n, Float64Array) : null;
	h.drain = c.drain ? column(c.drain, h.n, Float64Array) : null;
	last = 0;
	h.line = c.line ? new Uint32Array(h.n) : null;
	if (c.line)
		eachNumber(c.line, (i, v) => { h.line[i] = last += v % 2 ? -(v + 1) / 2 : v / 2; });
	readEntries(h, c);
	readOwn(h, c);
	readOthers(h, c);
	h.gaps = array(c.gaps).map((g) => ({
		from: offset(h, g.from),
		to: offset(h, g.to),
		text: gapText(h, g),
		object: g.object === undefined ? NONE : g.object,
	}));
	return h;
}

/* The page's texts from the file, by the operations' numbers in the history. */
function readEntries(h, c) {
	const texts = object(c.texts);

	h.entries = new Map(array(texts.list).map((one) => [one.id, object(one)]));
	h.entriesLeft = texts.left || 0;
	h.timed = array(texts.list).some((one) => one.time !== undefined);
}

/* Texts of operations that spell a value in their own way, which another operation has, too. */
function readOwn(h, c) {
	const own = new Map();

	for (const [i, at, text] of array(c.own).map(array)) {
		if (!own.has(i))
			own.set(i, new Map());
		own.get(i).set(at, string(text));
	}
	h.own = new Map();
	h.ownValues = own;
	for (const [i, texts] of own) {
		const s = h.sig[i];

		let text = "";

		eachPiece(h, s, h.methods, h.values, (piece) => { text += piece; }, texts);
		h.own.set(i, text);
	}
}

/* The entries of an operation in the file. */
function entryOf(h, i) {
	return h.entries.get(h.id[i]) ||
		object(object(object(h.extra.get(i)).extra).source);
}

/* A time as a number from the base on. */
function offset(h, time) { return Number(BigInt(time) - h.base); }

function gapText(h, g) {
	const to = BigInt(g.to) === 0xffffffffffffffffn ? "the end" : g.to;

	return "gap from " + g.from + " to " + to + ": " +
		(g.reason === "cut" ?
				"operations were left out" :
				(g.lost || "unknown numbers of") + " operations " + g.reason) +
		(g.object === undefined ? "" : " of " + h.objects[g.object]) +
		(g.cpu === undefined ? "" : " on CPU " + g.cpu);
}

/*
 * The operations of a result without its history: those that it lists.
 * @numbered: their numbers are those of the history
 */
function listedHistory(ops, numbered) {
	const numbers = new Map();
	const c = {
		n: 0,
		total: NONE,
		numbered: numbered,
		base: 0n,
		clock: "",
		error: 0,
		errorText: "0",
		methods: [],
		values: [],
		threads: [],
		objects: [],
		comms: [],
		symbols: [],
		slabs: [],
		stacks: [],
		parts: [],
		gaps: [],
		texts: [],
		extra: new Map(),
		entries: new Map(),
		entriesLeft: 0,
		own: new Map(),
		ownValues: new Map(),
		others: [],
		sigVals: [],
		cpu: null,
		point: null,
		drain: null,
		line: null,
	};
	const seen = new Set(), all = [];
	const index = (table, text) => {
		const key = table + "\u0000" + text;

		if (!numbers.has(key)) {
			numbers.set(key, c[table].length);
			c[table].push(text);
		}
		return numbers.get(key);
	};

	/* The proof may have an operation as pending that has returned in the cast. */
	for (const o of [...ops ].sort((a, b) => isNull(a.return ) - isNull(b.return ))) {
		const key = Number.isInteger(o.id) ?
			o.id :
			[ threadOf(o), textOf(o), o.call, o.return ].join("\u0000");

		if (seen.has(key) || o.call === undefined)
			continue;
		seen.add(key);
		all.push(o);
	}
	const big = (t) => BigInt(t);

	all.sort((a, b) => big(a.call) < big(b.call) ? -1 : big(a.call) > big(b.call) ? 1 : 0);
	c.n = all.length;
	c.base = all.length ? big(all[0].call) : 0n;
	for (const t of ["thread", "object", "sig", "id"])
		c[t] = new Uint32Array(c.n);
	c.part = new Int32Array(c.n);
	c.flags = new Uint8Array(c.n);
	c.call = new Float64Array(c.n);
	c.ret = new Float64Array(c.n);
	c.sigMethod = new Uint32Array(c.n);
	c.sigArgs = new Uint8Array(c.n);
	c.sigResults = new Uint8Array(c.n);
	c.sigFirst = new Uint32Array(c.n + 1);
	all.forEach((o, i) => {
		const text = textOf(o), parts = valuesOf(o);

		c.thread[i] = index("threads", threadOf(o));
		c.comms[c.thread[i]] = string(o.comm) || c.comms[c.thread[i]] || "";
		if (o.object !== undefined) {
			c.object[i] = index("objects", string(o.object));
			c.symbols[c.object[i]] = string(o.symbol);
			c.slabs[c.object[i]] = string(o.slab);
		}
		if (Number.isInteger(o.cpu)) {
			c.cpu = c.cpu || new Int32Array(c.n);
			c.cpu[i] = o.cpu + 1;
		}
		c.id[i] = Number.isInteger(o.id) ? o.id : 0xffffffff;
		c.sig[i] = i;
		c.sigMethod[i] = index("methods", o.method || text.split("(")[0]);
		c.sigArgs[i] = parts.args.length;
		c.sigResults[i] = parts.results.length;
		c.sigFirst[i] = c.sigVals.length;
		for (const v of parts.args.concat(parts.results))
			c.sigVals.push(index("values", v));
		c.call[i] = Number(big(o.call) - c.base);
		c.ret[i] = o.return === null || o.return === undefined ?
			Infinity :
			Number(big(o.return ) - c.base);
		c.texts[i] = text;
	});
	c.sigFirst[c.n] = c.sigVals.length;
	c.wide = c.n > 0 && c.call[c.n - 1] > Number.MAX_SAFE_INTEGER;
	if (c.wide) {
		c.bigCall = BigUint64Array.from(all, (o) => big(o.call) - c.base);
		c.bigRet = BigUint64Array.from(all,
			(o) => o.return === null || o.return === undefined ?
				0n :
				big(o.return ) - c.base);
	}
	return c;
}

function isNull(v) { return v === null || v === undefined; }

function threadOf(o) {
	return o.thread === null ? "no thread" :
		typeof o.thread === "number" ? "t" + o.thread : string(o.thread);
}

function textOf(o) { return string(o.text || o.operation); }

/* Arguments and results of an operation of a result, which older ones have only as text. */
function valuesOf(o) {
	const m = /^[^(]*\((.*?)\)(?: -> (.*))?$/.exec(textOf(o));
	const split = (t) => t ? t.replace(/^\((.*)\)$/, "$1").split(", ") : [];

	/* A value that is not known is null. */
	const shown = (v) => v === null ? "?" : string(v);

	if (Array.isArray(o.arguments))
		return { args: o.arguments.map(shown), results: array(o.results).map(shown) };
	return m ? { args: split(m[1]), results: split(m[2]) } : { args: [], results: [] };
}

/* ---- what is known of an operation ------------------------------------------------------- */

function isPending(h, i) { return h.ret[i] === Infinity; }

function callText(h, i) { return String(h.base + (h.wide ? h.bigCall[i] : BigInt(h.call[i]))); }

function retText(h, i) {
	return isPending(h, i) ? "" : String(h.base + (h.wide ? h.bigRet[i] : BigInt(h.ret[i])));
}

function whenText(h, i) {
	return isPending(h, i) ? "from " + callText(h, i) :
				 callText(h, i) + "\u2013" + retText(h, i);
}

/* Operations of a method, arguments and results, as klin prints them. */
function sigText(h, s) {
	if (h.texts[s] === undefined)
		h.texts[s] = makeText(h, s);
	return h.texts[s];
}

function makeText(h, s) {
	let text = "";

	eachPiece(h, s, h.methods, h.values, (piece) => { text += piece; });
	return text;
}

/*
 * Call @f(piece) for the pieces of a signature's text, spelt as @methods and @values have them, or
 * as @own has the value of that index.
 */
function eachPiece(h, s, methods, values, f, own) {
	const from = h.sigFirst[s], mid = from + h.sigArgs[s], to = mid + h.sigResults[s];
	const m = h.sigMethod[s], bytes = mid > from + 1 && h.methods[m].startsWith("append") &&
		h.values[h.sigVals[mid - 1]].startsWith("...\"");
	const spelt = (at) => own && own.has(at - from) ? own.get(at - from) : values[h.sigVals[at]];
	let unknown = true;

	f(bytes ? "append" : methods[m]);
	f("(");
	for (let at = from; at < mid; at++) {
		const value = spelt(at);

		/* The values between the first and the bytes are not shown. */
		if (bytes && at > from && at < mid - 1)
			continue;
		if (at > from)
			f(", ");
		f(bytes && at > from ? value.slice(3) : value);
	}
	f(")");
	for (let at = mid; at < to && unknown; at++)
		unknown = h.values[h.sigVals[at]] === "?";
	if (unknown)
		return;
	f(to > mid + 1 ? " -> (" : " -> ");
	for (let at = mid; at < to; at++) {
		if (at > mid)
			f(", ");
		f(spelt(at));
	}
	if (to > mid + 1)
		f(")");
}

function opText(h, i) { return h.own.get(i) || sigText(h, h.sig[i]); }

function threadText(h, i) { return h.threads[h.thread[i]]; }

/* The name of a thread's command, or "". */
function commText(h, i) { return h.comms[h.thread[i]] || ""; }

/* The CPU of an operation, or "". */
function cpuText(h, i) { return h.cpu && h.cpu[i] ? String(h.cpu[i] - 1) : ""; }

/* An object by its index, with its symbol if it has one. */
function objectText(h, object) {
	const symbol = h.symbols[object];

	return (h.objects[object] || "") + (symbol ? " (" + symbol + ")" : "");
}

const UNITS = [ [ 1e9, "s" ], [ 1e6, "ms" ], [ 1e3, "\u00b5s" ] ];

/* How long an operation took, or "": in seconds where the clock counts nanoseconds. */
function tookText(h, i) {
	const took = h.ret[i] - h.call[i];
	const unit = h.clock === "mono" && UNITS.find(([ size ]) => took >= size);

	if (isPending(h, i) || h.wide)
		return "";
	return unit ? (took / unit[0]).toPrecision(3) + " " + unit[1] :
		      took + (h.clock === "mono" ? " ns" : "");
}

/* A time of the file in nanoseconds, or "". */
function nanoseconds(time) {
	return isNull(time) ? "" : string(time).replace(/\B(?=(\d{3})+$)/g, "\u202f") + " ns";
}

/* How long an operation took by the times of its entries, or "". */
function tookByEntries(entry) {
	if (isNull(entry.time) || isNull(entry.return_time))
		return "";
	const took = Number(BigInt(entry.return_time) - BigInt(entry.time));
	const unit = UNITS.find(([ size ]) => took >= size);

	return unit ? (took / unit[0]).toPrecision(3) + " " + unit[1] : took + " ns";
}

/* Where an operation ran, and where it is in the input. */
function whereText(h, i) {
	return [
		commText(h, i), cpuText(h, i) && "CPU " + cpuText(h, i),
		h.line && h.line[i] ? "line " + h.line[i] : ""
	].filter(Boolean)
		.join(", ");
}

/* "t1's deq(), not returned yet" */
function openName(h, i) {
	return threadText(h, i) + "'s " + opText(h, i).split(" -> ")[0] + ", not returned yet";
}

/* "t1's deq() -> 1" */
function opName(h, i) { return threadText(h, i) + "'s " + opText(h, i); }

function methodText(h, i) { return h.methods[h.sigMethod[h.sig[i]]]; }

/* The partition of an operation, or null. */
function partOf(h, i) { return h.part[i] ? h.parts[h.part[i] - 1] : null; }

/* Indices of an operation's arguments and results in h.values, each once. */
function valuesAt(h, i) {
	const s = h.sig[i], all = new Set();

	for (let at = h.sigFirst[s]; at < h.sigFirst[s + 1]; at++)
		all.add(h.sigVals[at]);
	return [...all ];
}

/* Values that are worth comparing: those that its text shows, but no mark and not its key. */
function ownValues(h, i) {
	const key = object(partOf(h, i)).key, text = sigText(h, h.sig[i]);

	return valuesAt(h, i).filter((v) => !/^(\?|empty|full|absent|nil)$/.test(h.values[v]) &&
			h.values[v] !== key && text.includes(h.values[v]));
}

/* Return: the index in the page of the history's operation @id, or NONE. */
function findId(h, id) {
	const i = firstIndex(h.n, (k) => h.id[k] >= id);

	if (i < h.n && h.id[i] === id)
		return i;
	return h.total === NONE ? Array.prototype.indexOf.call(h.id, id) : NONE;
}

/* Find the operation that a result describes.  Return: its index, or NONE. */
function findOp(h, o) {
	if (Number.isInteger(o))
		return findId(h, o);
	if (Number.isInteger(o.id) && findId(h, o.id) !== NONE)
		return findId(h, o.id);
	if (o.call === undefined)
		return NONE;
	const call = Number(BigInt(o.call) - h.base);

	for (let i = firstIndex(h.n, (k) => h.call[k] >= call); i < h.n && h.call[i] === call; i++)
		if (threadText(h, i) === threadOf(o) && opText(h, i) === textOf(o))
			return i;
	return NONE;
}
