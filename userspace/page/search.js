/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Search.  A query is words, all of which must match.  NAME:WORD looks in one place: thread,
 * comm, stack, method, value, key, object, cpu, line or id, or text for that in the file.
 * Other words are looked for in the operation as text.
 */

const PLACE = /^(thread|comm|stack|method|value|key|object|cpu|line|id|text):(.*)$/;
const CHOICES = [ "thread", "comm", "cpu", "method", "key", "object" ]; /* of the lists */

function bare(text) { return text.replace(/^"([^"]*)"$/, "$1"); }

/* Return: the words of a query; quotes keep blanks. */
function words(query) {
	return (query.match(/(?:[^\s"]|"[^"]*"?)+/g) || [])
		.map((w) => {
			const m = PLACE.exec(w);

			const place = m ? m[1] : "", text = m ? m[2] : w;

			/* A value that is a string has quotes itself, see matcher(). */
			return { place: place, text: place === "value" ? text : bare(text) };
		})
		.filter((w) => w.text);
}

/* Mark the entries of a table that @test is true for. */
function marks(table, test) {
	const m = new Uint8Array(table.length);

	for (let k = 0; k < m.length; k++)
		m[k] = test(table[k], k) ? 1 : 0;
	return m;
}

/*
 * A word without these characters can only be found in a method's name or in a value; "?" is not
 * shown where all results are.
 */
const BETWEEN = /[\s(),>?-]/;
const LOOK = 2; /* the text has to be looked at */

/* The methods and values in lower case, which are kept. */
function lowerWords(h) {
	const lower = (table) => table.map((t) => t.toLowerCase());

	h.lower = h.lower || { methods: lower(h.methods), values: lower(h.values) };
	return h.lower;
}

/*
 * Looks for a text in pieces, in lower case.  To join the pieces of 100,000 operations takes
 * longer than to look through them as they are: this is the algorithm of Knuth, Morris and
 * Pratt, which never goes back in a text.
 */
class Finder {
	constructor(h, text) {
		const n = text.length;

		this.h = h;
		this.word = new Uint16Array(n);
		this.shorter = new Uint32Array(n + 1); /* after k characters, without the first */
		for (let i = 0; i < n; i++)
			this.word[i] = text.charCodeAt(i);
		for (let i = 1; i < n; i++)
			this.shorter[i + 1] = this.step(this.shorter[i], this.word[i]);
		this.feed = (piece) => this.read(piece);
	}

	/* Return: how many characters of the word match once @c follows @k that do. */
	step(k, c) {
		while (k && this.word[k] !== c)
			k = this.shorter[k];
		return this.word[k] === c ? k + 1 : 0;
	}

	read(piece) {
		const n = this.word.length;
		let k = this.at;

		for (let i = 0; i < piece.length && k < n; i++)
			k = this.step(k, piece.charCodeAt(i));
		this.at = k;
	}

	/* Return: whether the text is in that of signature @s. */
	in(s) {
		const h = this.h, lower = lowerWords(h);

		this.at = 0;
		/* A result without its history gives texts, but not their parts. */
		if (h.total === NONE)
			this.read(sigText(h, s).toLowerCase());
		else
			eachPiece(h, s, lower.methods, lower.values, this.feed);
		return this.at === this.word.length;
	}
}

/* Return: a function that tells whether operation i matches a word. */
function matcher(h, word) {
	const text = word.text.toLowerCase(), same = (t) => String(t).toLowerCase() === text;

	switch (word.place) {
	case "thread": {
		const m = marks(h.threads, (t) => same(t) || same(t.replace(/^t/, "")));

		return (i) => m[h.thread[i]];
	}
	case "comm": {
		const m = marks(h.threads, (t, k) => same(h.comms[k] || ""));

		return (i) => m[h.thread[i]];
	}
	case "stack": {
		/* A part of a frame is enough: frames have offsets. */
		const m = marks(h.stacks,
			(frames) => array(frames).join("\n").toLowerCase().includes(text));

		return (i) => h.stack && h.stack[i] && m[h.stack[i] - 1];
	}
	case "method": {
		const m = marks(h.methods, same);

		return (i) => m[h.sigMethod[h.sig[i]]];
	}
	case "value": {
		const is = (t) => same(t) || t === "\"" + word.text + "\"";
		const m = marks(h.values, is);
		const sigs = new Uint8Array(h.sigMethod.length);

		for (let s = 0; s < sigs.length; s++)
			for (let at = h.sigFirst[s]; at < h.sigFirst[s + 1]; at++)
				sigs[s] |= m[h.sigVals[at]];
		return (i) => sigs[h.sig[i]] ||
			h.ownValues.has(i) && [...h.ownValues.get(i).values() ].some(is);
	}
	case "key": {
		const m = marks(h.parts,
			(p) => p.key !== undefined && same(p.key) ||
				p.key === undefined && same(p.object));

		return (i) => h.part[i] && m[h.part[i] - 1];
	}
	case "object": {
		const m = marks(h.objects, (t, k) => same(t) || same(h.symbols[k] || ""));

		return (i) => m[h.object[i]];
	}
	case "cpu":
		return (i) => h.cpu && same(h.cpu[i] - 1) && h.cpu[i];
	case "line":
		return (i) => h.line && same(h.line[i]);
	case "text":
		return (i) => {
			const e = entryOf(h, i);

			return (string(e.text) + "\n" + string(e.return_text))
				.toLowerCase()
				.includes(text);
		};
	case "id":
		return (i) => same(h.id[i]);
	default: {
		const m = new Uint8Array(h.sigMethod.length);
		const threads = marks(
			h.threads, (t, k) => same(t) || h.comms[k] && same(h.comms[k]));

		const finder = new Finder(h, text), lower = lowerWords(h);
		const inside = (t) => t.includes(text);
		const methods = marks(lower.methods, inside), values = marks(lower.values, inside);
		/* Texts that were given, and those of appends, have other parts. */
		const whole = h.total === NONE || BETWEEN.test(text) ?
			methods.map(() => 1) :
			marks(h.methods, (t) => t.startsWith("append"));

		for (let s = 0; s < m.length; s++) {
			m[s] = whole[h.sigMethod[s]] ? LOOK : methods[h.sigMethod[s]];
			for (let at = h.sigFirst[s]; m[s] !== LOOK && at < h.sigFirst[s + 1]; at++)
				m[s] |= values[h.sigVals[at]];
		}
		return (i) => {
			const s = h.sig[i], own = h.own.get(i);

			if (own)
				return inside(own.toLowerCase()) || threads[h.thread[i]];
			/* Texts are only read of operations that other words have found. */
			if (m[s] === LOOK)
				m[s] = finder.in(s) ? 1 : 0;
			return m[s] || threads[h.thread[i]];
		};
	}
	}
}

/* Return: an array with 1 for each operation that matches, or null if there is no query. */
function search(h, query) {
	const slow = (w) => !w.place && BETWEEN.test(w.text) ? 1 : 0;
	const tests = words(query).sort((a, b) => slow(a) - slow(b)).map((w) => matcher(h, w));
	const hits = new Uint8Array(h.n);

	if (!tests.length)
		return null;
	for (let i = 0; i < h.n; i++) {
		let all = 1;

		for (let k = 0; k < tests.length && all; k++)
			all = tests[k](i);
		hits[i] = all ? 1 : 0;
	}
	return hits;
}

/* The search field, and lists of what can be chosen. */
class SearchBar {
	constructor(app) {
		this.app = app;
		this.field = make("input", {
			type: "search",
			id: "search",
			"aria-label": "Search operations",
			autocomplete: "off",
			placeholder: "Search: deq, value:7, thread:t3, key:5 \u2026",
			oninput: () => this.run(),
			onkeydown: (e) => this.key(e),
		});
		this.said = make("output", { class: "said", "aria-live": "polite" });
		this.lists = CHOICES.map((place) => this.list(place));
		this.bar = make("div", { class: "bar", role: "search" }, this.field, this.lists,
			make("button", {
				type: "button",
				onclick: () => app.move(-1),
				title: "Previous operation (Up)"
			},
				"\u2190 previous"),
			make("button", {
				type: "button",
				onclick: () => app.move(1),
				title: "Next operation (Down)"
			},
				"next \u2192"),
			this.said);
	}

	/* A list of threads, methods or objects, unless there is nothing to choose. */
	list(place) {
		const h = this.app.h;
		const all = {
			thread: h.threads,
			comm: [...new Set(h.comms.filter(Boolean)) ],
			cpu: [...new Set(h.cpu || []) ].filter(Boolean).map(
				(n) => String(n - 1)),
			method: h.methods,
			object: h.objects,
			key: [...new Set(
				h.parts.filter((p) => p.key !== undefined).map((p) => p.key)) ],
		}[place].slice().sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

		if (all.length < 2 || all.length > 1000)
			return null;
		return make("select", {
			"aria-label": "Only this " + place,
			onchange: (e) => { this.set(place, e.target.value); }
		},
			make("option", { value: "" }, "any " + (place === "cpu" ? "CPU" : place)),
			all.map((t) => make("option", { value: t },
					place === "object" ?
						objectText(h, h.objects.indexOf(t)) :
						t)));
	}

	/* Put PLACE:TEXT into the query in place of another of that place. */
	set(place, text) {
		const rest = words(this.field.value)
				     .filter((w) => w.place !== place)
				     .map((w) => (w.place ? w.place + ":" : "") +
						     (/\s/.test(w.text) && !/"/.test(w.text) ?
								     "\"" + w.text + "\"" :
								     w.text));

		if (text)
			rest.push(place + ":" + (/\s/.test(text) ? "\"" + text + "\"" : text));
		this.field.value = rest.join(" ");
		this.run();
	}

	run() {
		const before = performance.now(), hits = search(this.app.h, this.field.value);

		this.app.setHits(hits);
		this.took = performance.now() - before;
		this.said.textContent = hits ? plural(this.app.hitList.length, "operation") : "";
	}

	key(e) {
		if (e.key !== "Enter")
			return;
		e.preventDefault();
		this.app.move(e.shiftKey ? -1 : 1);
	}
}
