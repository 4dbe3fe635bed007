/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Colours.  Those of values are of Okabe and Ito's palette, which people with any kind of colour
 * blindness can tell apart; the failing operation also has a thick frame and a mark.
 */

const VALUE_COLORS = [ "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442" ];
const WRONG = "#d55e00";

let theme = {};

/* Read the colours of the style sheet, which follow the light or dark scheme. */
function readTheme() {
	const style = getComputedStyle(document.documentElement);

	theme = {};
	for (const name of ["paper", "ink", "quiet", "line", "bar", "bar-line", "gap", "hit",
		     "wrong", "link"])
		theme[name] = style.getPropertyValue("--" + name).trim();
}

/* Text on @color: black or white, whichever is easier to read. */
function inkOn(color) {
	const n = parseInt(color.slice(1), 16);
	const light = (n >> 16) * 299 + (n >> 8 & 255) * 587 + (n & 255) * 114;

	return light > 125000 ? "#000000" : "#ffffff";
}

/*
 * Colour the values of a violation's cast, so that operations of the same value look alike.
 * Return: a map from indices of values to colours.
 */
function valueColors(h, violation) {
	const colors = new Map();

	for (const one of violation ? violation.cast : []) {
		if (one.op === NONE)
			continue;
		for (const v of ownValues(h, one.op))
			if (!colors.has(v))
				colors.set(v, VALUE_COLORS[colors.size % VALUE_COLORS.length]);
	}
	return colors;
}

/* The colours of an operation's values, each once. */
function opColors(h, colors, i) {
	const s = h.sig[i], all = [];

	for (let at = h.sigFirst[s]; at < h.sigFirst[s + 1]; at++) {
		const color = colors.get(h.sigVals[at]);

		if (color && !all.includes(color))
			all.push(color);
	}
	return all;
}
