/* SPDX-License-Identifier: GPL-2.0 */
/* Pens draw the same picture on a canvas or as SVG. */

const FONT = "11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const LETTER = 6.65; /* width of a letter of FONT */

class CanvasPen {
	constructor(canvas, width, height) {
		const scale = window.devicePixelRatio || 1;

		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(height * scale);
		canvas.style.height = height + "px";
		this.c = canvas.getContext("2d");
		this.c.scale(scale, scale);
		this.c.font = FONT;
		this.c.textBaseline = "middle";
	}

	rect(x, y, w, h, fill, line, thick) {
		if (fill) {
			this.c.fillStyle = fill;
			this.c.fillRect(x, y, w, h);
		}
		if (line) {
			this.c.strokeStyle = line;
			this.c.lineWidth = thick || 1;
			this.c.strokeRect(x, y, w, h);
		}
	}

	line(x1, y1, x2, y2, color, thick, dash) {
		this.c.strokeStyle = color;
		this.c.lineWidth = thick || 1;
		this.c.setLineDash(dash || []);
		this.c.beginPath();
		this.c.moveTo(x1, y1);
		this.c.lineTo(x2, y2);
		this.c.stroke();
		this.c.setLineDash([]);
	}

	text(x, y, text, color, align, bold) {
		this.c.font = bold ? "bold " + FONT : FONT;
		this.c.fillStyle = color;
		this.c.textAlign = align || "left";
		this.c.fillText(visible(text), x, y);
	}

	dot(x, y, radius, fill, line) {
		this.c.beginPath();
		this.c.arc(x, y, radius, 0, 2 * Math.PI);
		this.c.fillStyle = fill;
		this.c.fill();
		if (line) {
			this.c.lineWidth = 1;
			this.c.strokeStyle = line;
			this.c.stroke();
		}
	}

	/* Lines across a rectangle. */
	hatch(x, y, w, h, color) {
		this.c.save();
		this.c.beginPath();
		this.c.rect(x, y, w, h);
		this.c.clip();
		this.c.strokeStyle = color;
		this.c.lineWidth = 1;
		this.c.beginPath();
		for (let at = x - h - x % 8; at < x + w; at += 8) {
			this.c.moveTo(at, y + h);
			this.c.lineTo(at + h, y);
		}
		this.c.stroke();
		this.c.restore();
	}

	/* What follows is drawn inside a rectangle, until end(). */
	begin(x, y, w, h) {
		this.c.save();
		this.c.beginPath();
		this.c.rect(x, y, w, h);
		this.c.clip();
	}

	end() { this.c.restore(); }
}

class SvgPen {
	constructor(width, height, background) {
		this.root = makeSvg("svg", {
			xmlns: "http://www.w3.org/2000/svg",
			width: width,
			height: height,
			viewBox: "0 0 " + width + " " + height,
			role: "img",
		});
		this.at = this.root;
		this.clips = 0;
		this.rect(0, 0, width, height, background);
	}

	add(tag, attrs, ...inside) { this.at.append(makeSvg(tag, attrs, ...inside)); }

	rect(x, y, w, h, fill, line, thick) {
		this.add("rect", {
			x: x,
			y: y,
			width: Math.max(w, 0),
			height: h,
			fill: fill || "none",
			stroke: line || "none",
			"stroke-width": line ? thick || 1 : 0,
		});
	}

	line(x1, y1, x2, y2, color, thick, dash) {
		this.add("line", {
			x1: x1,
			y1: y1,
			x2: x2,
			y2: y2,
			stroke: color,
			"stroke-width": thick || 1,
			"stroke-dasharray": (dash || []).join(" ") || "none",
		});
	}

	text(x, y, text, color, align, bold) {
		this.add("text", {
			x: x,
			y: y + 4,
			fill: color,
			"font-family": "monospace",
			"font-size": 11,
			"font-weight": bold ? "bold" : "normal",
			"text-anchor": align === "right" ? "end" :
				align === "center"	  ? "middle" :
							    "start",
		},
			text);
	}

	dot(x, y, radius, fill, line) {
		this.add("circle",
			{ cx: x, cy: y, r: radius, fill: fill, stroke: line || "none" });
	}

	hatch(x, y, w, h, color) {
		this.begin(x, y, w, h);
		for (let at = x - h - x % 8; at < x + w; at += 8)
			this.line(at, y + h, at + h, y, color);
		this.end();
	}

	begin(x, y, w, h) {
		const id = "clip" + this.clips++,
		      g = makeSvg("g", { "clip-path": "url(#" + id + ")" });

		this.add("clipPath", { id: id },
			makeSvg("rect", { x: x, y: y, width: w, height: h }));
		this.at.append(g);
		this.at = g;
	}

	end() { this.at = this.at.parentNode; }

	textOf() { return new XMLSerializer().serializeToString(this.root); }
}
