/* SPDX-License-Identifier: GPL-2.0 */
/* The states of an explorer's run, which klin prints as text: memory, and the store buffers. */

/*
 * Read "memory: c=0 #1={A 0}; T0's buffer: c=1 d1=1".
 * Return: [{ name, cells: [{ name, value, text }] }], with other parts as { name, text }.
 */
function readState(text) {
	return splitOutside(text, "; ").map((part) => {
		const m = /^([^:{}]*): (.*)$/.exec(part);

		return m ? {
			name: m[1],
			cells: splitOutside(m[2], " ").filter(Boolean).map(readCell)
		} :
			   { name: part, cells: [] };
	});
}

function readCell(text) {
	const at = text.indexOf("=");

	return at > 0 ? { name: text.slice(0, at), value: text.slice(at + 1), text: text } :
			{ name: text, value: "", text: text };
}

/* Split at @by, but not inside brackets. */
function splitOutside(text, by) {
	const all = [];
	let deep = 0, from = 0;

	for (let i = 0; i < text.length; i++) {
		if ("([{".includes(text[i]))
			deep++;
		else if (")]}".includes(text[i]))
			deep--;
		else if (deep <= 0 && text.startsWith(by, i)) {
			all.push(text.slice(from, i));
			from = i + by.length;
			i = from - 1;
		}
	}
	all.push(text.slice(from));
	return all;
}

/* Return: the texts of what differs from the state before. */
function changes(before, after) {
	const all = [];

	for (const part of after) {
		const old = before.find((b) => b.name === part.name);

		if (/buffer$/.test(part.name)) {
			if (!old ||
				old.cells.map((c) => c.text).join(" ") !==
					part.cells.map((c) => c.text).join(" "))
				all.push(
					part.name + ": " + part.cells.map((c) => c.text).join(" "));
			continue;
		}
		for (const cell of part.cells)
			if (!old ||
				!old.cells.some(
					(c) => c.name === cell.name && c.value === cell.value))
				all.push(cell.text);
	}
	for (const old of before)
		if (/buffer$/.test(old.name) && !after.some((part) => part.name === old.name))
			all.push(old.name + " is empty");
	return all;
}

/* Did a step change the cell @k of a part?  @old is the part before the step, if it was there. */
function isChanged(part, k, old) {
	const text = part.cells[k].text;

	/* A store that has entered a buffer may equal an older one. */
	return !old || !old.cells.some((c) => c.text === text) ||
		(/buffer$/.test(part.name) && k >= old.cells.length);
}

function showCells(part, old, marked) {
	return part.cells.map((cell, k) => {
		const changed = marked && isChanged(part, k, old);

		return make("span", { class: changed ? "changed" : null }, cell.text);
	});
}

/* Show a state; what the step changed since @before is marked. */
function showState(state, before) {
	return state.map((part) => {
		const old = (before || state).find((b) => b.name === part.name);
		const order = /buffer$/.test(part.name) ? ", oldest store first" : "";

		return [
			make("h4", {}, part.name + order),
			make("div", { class: "memory" }, showCells(part, old, Boolean(before)))
		];
	});
}
