/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the data, and shows what it is about. */

function start() {
	const begun = performance.now();
	const data = JSON.parse(document.getElementById("data").textContent);
	const root = document.getElementById("page"), page = { data: data };
	const result = readResult(data);

	readTheme();
	put(root, headOf(data, result));
	if (result.tests.length)
		put(root, new Litmus(result).box);
	if (result.outcomes.length)
		put(root, outcomesOf(result.outcomes));
	if (result.trail.length)
		put(root, alarmOf(result));
	if (result.run.length)
		put(root, runOf(result.run, result, "The run, step by step"));
	if (array(result.concrete.run).length)
		put(root, runOf(result.concrete.run, result, "A concrete wrong run"));
	if (result.history.n)
		page.app = new App(result, root);
	put(root, footOf(result));
	page.result = result;
	page.describe = (i) => [opText(result.history, i), callText(result.history, i)];
	page.ready = performance.now() - begun;
	/* Tests look at the page by this name; the page itself does not use it. */
	window.klin = page;
	/* Printing has colours of its own, and needs the picture at once. */
	for (const media of ["(prefers-color-scheme: dark)", "print"])
		matchMedia(media).addEventListener("change", () => {
			readTheme();
			tell("theme");
		});
	if (page.app)
		followFragment(page.app);
}

/* #op=7 selects an operation, #q=deq searches, so that a link can point to what it shows. */
function followFragment(app) {
	const go = () => {
		const at = new URLSearchParams(location.hash.slice(1));

		if (at.has("q")) {
			app.search.field.value = at.get("q");
			app.search.run();
		}
		if (at.has("op") && findId(app.h, Number(at.get("op"))) !== NONE)
			app.select(findId(app.h, Number(at.get("op"))), true);
	};

	addEventListener("hashchange", go);
	go();
}

start();
