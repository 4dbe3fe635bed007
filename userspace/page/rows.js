/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of the lanes: a lane for each thread, CPU, object or key.  A lane has more rows where its
 * operations overlap.
 */

const ROW = 24; /* height of a row */
/* Rows of a lane; operations beyond share the last one.  Those of a thread rarely overlap. */
const MOST_ROWS = { thread: 6, CPU: 24, object: 24, key: 24 };

/*
 * What may have a lane of its own: the names, and of(i), the index of an operation's.
 * Return: null if there is nothing to tell apart.
 */
function lanesBy(h, by) {
	switch (by) {
	case "CPU":
		return h.cpu && {
			names: [
				"CPU ?", ...Array.from({ length: Math.max(...new Set(h.cpu)) },
						 (none, cpu) => "CPU " + cpu)
			],
			of: (i) => h.cpu[i],
		};
	case "object":
		return h.objects.length > 1 && {
			names: h.objects.map((text, k) => h.symbols[k] || text),
			of: (i) => h.object[i],
		};
	case "key":
		return h.parts.some((p) => p.key !== undefined) && {
			names: [ "no key", ...h.parts.map((p) => p.key || "no key") ],
			of: (i) => h.part[i],
		};
	default:
		return {
			names: h.threads.map(
				(text, k) => text + (h.comms[k] ? " " + h.comms[k] : "")),
			of: (i) => h.thread[i],
		};
	}
}

/*
 * Lay out the lanes, those of the cast first if there are many.  @by: see lanesBy().
 * Return: { row: row of each operation, lanes: [{ name, first, rows }], rows, by }.
 */
function layRows(h, cast, by) {
	const { names, of } = lanesBy(h, by), most = MOST_ROWS[by];
	const ends = names.map(() => []), own = new Uint8Array(h.n);
	const used = new Array(names.length).fill(0), lanes = [], starts = [];
	const important = new Set(cast.map(of));
	let order, rows = 0;

	for (let i = 0; i < h.n; i++) {
		const e = ends[of(i)];
		let r = 0;

		while (r < e.length && e[r] > h.call[i] && r < most - 1)
			r++;
		e[r] = Math.max(e[r] || 0, h.ret[i]);
		own[i] = r;
		used[of(i)] = Math.max(used[of(i)], r + 1);
	}
	order = names.map((name, t) => t).filter((t) => used[t]);
	order.sort((a, b) => (order.length > 12 ? important.has(b) - important.has(a) : 0) ||
			names[a].localeCompare(names[b], "en", { numeric: true }));
	rows = layOthers(h, lanes, rows);
	for (const t of order) {
		lanes.push({ name: names[t], first: rows, rows: used[t] });
		starts[t] = rows;
		rows += used[t];
	}
	const row = new Uint32Array(h.n);

	for (let i = 0; i < h.n; i++)
		row[i] = starts[of(i)] + own[i];
	return { row: row, lanes: lanes, rows: rows, by: by };
}
