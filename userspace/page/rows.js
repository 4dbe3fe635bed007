/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of the lanes: a lane for each thread, with more rows where its operations overlap. */

const ROW = 24; /* height of a row */
const MOST_ROWS = 6; /* rows of a thread; operations beyond share the last one */

/*
 * Lay out the lanes, threads of the cast first if there are many.
 * Return: { row: row of each operation, lanes: [{ thread, first, rows }], rows }.
 */
function layRows(h, cast) {
	const ends = h.threads.map(() => []), own = new Uint8Array(h.n);
	const used = new Array(h.threads.length).fill(0), lanes = [], starts = [];
	const important = new Set(cast.map((i) => h.thread[i]));
	let order, rows = 0;

	for (let i = 0; i < h.n; i++) {
		const e = ends[h.thread[i]];
		let r = 0;

		while (r < e.length && e[r] > h.call[i] && r < MOST_ROWS - 1)
			r++;
		e[r] = Math.max(e[r] || 0, h.ret[i]);
		own[i] = r;
		used[h.thread[i]] = Math.max(used[h.thread[i]], r + 1);
	}
	order = h.threads.map((name, t) => t).filter((t) => used[t]);
	order.sort((a, b) => (order.length > 12 ? important.has(b) - important.has(a) : 0) ||
			h.threads[a].localeCompare(h.threads[b], "en", { numeric: true }));
	for (const t of order) {
		lanes.push({ thread: t, first: rows, rows: used[t] });
		starts[t] = rows;
		rows += used[t];
	}
	const row = new Uint32Array(h.n);

	for (let i = 0; i < h.n; i++)
		row[i] = starts[h.thread[i]] + own[i];
	return { row: row, lanes: lanes, rows: rows };
}
