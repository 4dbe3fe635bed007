/* SPDX-License-Identifier: GPL-2.0 */
/* Elements and texts.  Nothing here or elsewhere reads a text as HTML. */

const NONE = -1;

/* Make an element: @attrs are attributes, or handlers for names that begin with "on". */
function make(tag, attrs, ...inside) {
	const e = document.createElement(tag);

	for (const name of Object.keys(attrs || {})) {
		if (name.startsWith("on"))
			e.addEventListener(name.slice(2), attrs[name]);
		else if (attrs[name] !== null && attrs[name] !== undefined && attrs[name] !== false)
			e.setAttribute(name, attrs[name] === true ? "" : attrs[name]);
	}
	put(e, ...inside);
	return e;
}

/* The same in SVG. */
function makeSvg(tag, attrs, ...inside) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", tag);

	for (const name of Object.keys(attrs || {}))
		e.setAttribute(name, attrs[name]);
	put(e, ...inside);
	return e;
}

/* Append elements and texts; nothing for null and undefined. */
function put(e, ...inside) {
	for (const one of inside.flat(Infinity)) {
		if (one === null || one === undefined || one === false)
			continue;
		e.append(one instanceof Node ? one : visible(String(one)));
	}
	return e;
}

/* Show control characters and marks of text direction, which could hide what a value is. */
const HIDDEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f" +
	"\\u2028-\\u202e\\u2066-\\u2069\\ufeff]", "g");

function visible(text) {
	return text.replace(HIDDEN, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

/* Do what the table @acts has for the key that was pressed.  Return: whether it has one. */
function act(e, acts) {
	if (!acts[e.key])
		return false;
	e.preventDefault();
	acts[e.key]();
	return true;
}

function empty(e) {
	while (e.firstChild)
		e.firstChild.remove();
	return e;
}

function array(x) { return Array.isArray(x) ? x : []; }

function object(x) { return x && typeof x === "object" && !Array.isArray(x) ? x : {}; }

function string(x) {
	return typeof x === "string"				     ? x :
		[ "number", "bigint", "boolean" ].includes(typeof x) ? String(x) :
								       "";
}

/* A sentence of klin's has no full stop. */
function sentence(text) { return text && !/[.!?]$/.test(text) ? text + "." : text; }

function plural(n, what) { return count(n) + " " + what + (n === 1 ? "" : "s"); }

/* A number with spaces between groups of three digits. */
function count(n) { return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f"); }

/* Return: the first index in [0, n) for which @after is true, or n. */
function firstIndex(n, after) {
	let low = 0, high = n;

	while (low < high) {
		const mid = (low + high) >>> 1;

		if (after(mid))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Listeners of this page's own events. */
const listeners = {};

function on(what, f) { (listeners[what] = listeners[what] || []).push(f); }

function tell(what, arg) {
	for (const f of listeners[what] || [])
		f(arg);
}

function download(name, type, text) {
	const a = make("a", {
		href: URL.createObjectURL(new Blob([ text ], { type: type })),
		download: name,
	});

	document.body.append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
