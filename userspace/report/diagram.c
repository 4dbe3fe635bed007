// SPDX-License-Identifier: GPL-2.0
/* Draws a small history, see diagram.h. */
#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/digits.h"
#include "report/diagram_layout.h"
#include "report/diagram_text.h"

/*
 * The content of a cell of the canvas.  A value below 128 is an ASCII character.  A value above 255
 * is a UTF-8 character, with its first byte in the lowest bits.
 */
enum glyph {
	G_LINE = 128, G_DOTS, G_BEGIN, G_END, G_BOTH, G_BAD_LINE, G_BAD_BEGIN, G_BAD_END, G_STORES,
	G_GAP, G_ON, G_MARK, G_TAIL,
};

static const char *const ascii[] = {
	[G_LINE - 128] = "-", [G_DOTS - 128] = ".", [G_BEGIN - 128] = "|", [G_END - 128] = "|",
	[G_BOTH - 128] = "|", [G_BAD_LINE - 128] = "=", [G_BAD_BEGIN - 128] = "|",
	[G_BAD_END - 128] = "|", [G_STORES - 128] = "~", [G_GAP - 128] = "#", [G_ON - 128] = ">",
	[G_MARK - 128] = "^", [G_TAIL - 128] = ">",
};

static const char *const utf8[] = {
	[G_LINE - 128] = "─", [G_DOTS - 128] = "┄", [G_BEGIN - 128] = "├",
	[G_END - 128] = "┤", [G_BOTH - 128] = "┼", [G_BAD_LINE - 128] = "━",
	[G_BAD_BEGIN - 128] = "┣", [G_BAD_END - 128] = "┫", [G_STORES - 128] = "░",
	[G_GAP - 128] = "▒", [G_ON - 128] = "»", [G_MARK - 128] = "▲", [G_TAIL - 128] = "▷",
};

enum attr { A_NONE, A_LINE, A_BAD, A_STORES, A_GAP, A_AROUND };

struct canvas {
	uint32_t *ch;
	uint8_t *attr;
	int width, rows;
	const char *const *glyphs;
	bool colour;
};

static void put_cell(struct canvas *c, int row, int x, uint32_t ch, enum attr attr)
{
	if (x < 0 || x >= c->width)
		return;
	c->ch[row * c->width + x] = ch;
	c->attr[row * c->width + x] = attr;
}

/* Read the UTF-8 character at *pp, and advance *pp.  Return: it, or '?' if it is malformed. */
static uint32_t read_utf8(const char **pp)
{
	const unsigned char *p = (const unsigned char *)*pp;
	uint32_t ch = *p;
	int n;

	for (n = 1; (p[n] & 0xc0) == 0x80; n++)
		ch |= n < 4 ? (uint32_t)p[n] << 8 * n : 0;
	*pp += n;
	if (*p < 128)
		return n == 1 ? ch : '?';
	return n == (*p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 0) ? ch : '?';
}

/* Write up to @len characters of a text. */
static void put_text(struct canvas *c, int row, int x, const char *s, int len, enum attr attr)
{
	for (; len && *s; len--)
		put_cell(c, row, x++, read_utf8(&s), attr);
}

static void fill(struct canvas *c, int row, int from, int to, uint32_t ch, enum attr attr)
{
	for (; from <= to; from++)
		put_cell(c, row, from, ch, attr);
}

/*
 * Find the columns of a band that the time from rank @from to @to covers.  Return: false if there
 * are none.
 */
static bool band_columns(const struct dg_layout *d, int band, int from, int to, int *x0, int *x1)
{
	if (d->band[to] < band || d->band[from] > band)
		return false;
	*x0 = d->band[from] < band ? 0 : d->x[from];
	*x1 = d->band[to] > band ? d->width - 1 : d->x[to];
	return true;
}

static void draw_ends(struct canvas *c, const struct dg_layout *d, const struct dg_item *it,
		      int band, int row, int x0, int x1, enum attr attr)
{
	bool both;

	if (d->band[it->from] < band) {
		put_cell(c, row, x0, G_ON, attr);
	} else if (it->open_left) {
		fill(c, row, x0, x0 + 2, G_DOTS, attr);
	} else {
		both = c->ch[row * c->width + x0] == G_END;
		put_cell(c, row, x0, both ? G_BOTH : it->bad ? G_BAD_BEGIN : G_BEGIN, attr);
	}
	if (d->band[it->to] > band)
		put_cell(c, row, x1, G_ON, attr);
	else if (it->open_right)
		fill(c, row, x1 - 2, x1, G_DOTS, attr);
	else
		put_cell(c, row, x1, it->bad ? G_BAD_END : G_END, attr);
}

static void draw_item(struct canvas *c, const struct dg_layout *d, const struct dg_item *it,
		      int band, int row)
{
	enum attr attr = it->bad ? A_BAD : it->gap ? A_GAP : it->around ? A_AROUND : A_LINE;
	uint8_t line = it->gap ? G_GAP : it->bad ? G_BAD_LINE : it->around ? G_DOTS : G_LINE;
	int x0, x1, left, right, room;

	if (band_columns(d, band, it->from, it->to, &x0, &x1)) {
		fill(c, row, x0 + 1, x1 - 1, line, attr);
		draw_ends(c, d, it, band, row, x0, x1, attr);
		left = x0 + 1 + (it->open_left ? 2 : 0);
		right = x1 - 1 - (it->open_right ? 2 : 0);
		room = right - left + 1 - it->len;
		if (room > 0)
			put_text(c, row, left + room / 2, it->label, it->len,
				 it->bad ? A_BAD : it->around ? A_AROUND : A_NONE);
	}
	if (it->drain == DG_NONE || !band_columns(d, band, it->to, it->drain, &x0, &x1))
		return;
	fill(c, row, d->band[it->to] < band ? x0 : x0 + 1, x1, G_STORES, A_STORES);
	if (d->time[it->drain].t == KL_TIME_MAX && d->band[it->drain] == band)
		put_cell(c, row, x1, G_TAIL, A_STORES);
}

/* Write "^ text" below an interval, or "text ^" if there is no room on the right. */
static void draw_bad(struct canvas *c, const struct dg_layout *d, const struct dg_item *it,
		     int band, int row)
{
	const char *text = it->bad->text ? it->bad->text : "no order explains this";
	int len = dg_columns(text), x0, x1, at;

	/* Write the text only in the band in which the interval ends. */
	if (d->band[it->to] != band || !band_columns(d, band, it->from, it->to, &x0, &x1))
		return;
	at = x0 + (x1 - x0) / 2;
	put_cell(c, row, at, G_MARK, A_BAD);
	if (at + 2 + len <= c->width) {
		put_text(c, row, at + 2, text, len, A_BAD);
	} else if (at - 1 >= len) {
		put_text(c, row, at - 1 - len, text, len, A_BAD);
	} else {
		at = len < c->width ? c->width - len : 0;
		put_text(c, row + 1, at, text, len < c->width ? len : c->width, A_BAD);
	}
}

static const char *colour_of(enum attr a)
{
	switch (a) {
	case A_LINE:
		return "\033[36m";
	case A_BAD:
		return "\033[1;31m";
	case A_STORES:
		return "\033[33m";
	case A_GAP:
		return "\033[35m";
	case A_AROUND:
		return "\033[2m";
	default:
		return "\033[0m";
	}
}

static void print_row(FILE *f, const struct canvas *c, int row)
{
	const uint32_t *ch = c->ch + row * c->width;
	const uint8_t *attr = c->attr + row * c->width;
	enum attr now = A_NONE;
	uint32_t left;
	int end = c->width, x;

	while (end && ch[end - 1] == ' ')
		end--;
	for (x = 0; x < end; x++) {
		if (c->colour && ch[x] != ' ' && attr[x] != now) {
			fputs(now ? colour_of(A_NONE) : "", f);
			now = attr[x];
			fputs(now ? colour_of(now) : "", f);
		}
		if (ch[x] < 128 || ch[x] > 255)
			for (left = ch[x]; left; left >>= 8)
				putc(left & 255, f);
		else
			fputs(c->glyphs[ch[x] - 128], f);
	}
	fputs(now ? colour_of(A_NONE) : "", f);
	putc('\n', f);
}

static bool empty_row(const struct canvas *c, int row)
{
	int x;

	for (x = 0; x < c->width; x++)
		if (c->ch[row * c->width + x] != ' ')
			return false;
	return true;
}

/* Print a lane.  Below each row of intervals are two rows for texts of bad operations. */
static void print_lane(FILE *f, struct canvas *c, const struct dg_layout *d, int lane, int band,
		       int margin)
{
	const struct dg_lane *l = &d->lane[lane];
	bool named = false;
	int i, row;

	for (i = 0; i < c->width * 3 * l->rows; i++)
		c->ch[i] = ' ';
	memset(c->attr, A_NONE, (size_t)c->width * 3 * l->rows);
	for (i = 0; i < d->nitems; i++)
		if (d->item[i].lane == lane)
			draw_item(c, d, &d->item[i], band, 3 * d->item[i].row);
	for (i = 0; i < d->nitems; i++)
		if (d->item[i].lane == lane && d->item[i].bad)
			draw_bad(c, d, &d->item[i], band, 3 * d->item[i].row + 1);
	for (row = 0; row < 3 * l->rows; row++) {
		if ((row || d->nbands > 1) && empty_row(c, row))
			continue;
		fprintf(f, "  %-*s", margin, named ? "" : l->name);
		named = true;
		print_row(f, c, row);
	}
}

static int print_bands(FILE *f, const struct dg_layout *d, int margin, const char *const *glyphs,
		       bool colour)
{
	struct canvas c = { .width = d->width, .glyphs = glyphs, .colour = colour };
	int rows = 1, band, lane;

	for (lane = 0; lane < d->nlanes; lane++)
		rows = d->lane[lane].rows > rows ? d->lane[lane].rows : rows;
	c.ch = malloc((size_t)c.width * 3 * rows * sizeof(*c.ch));
	c.attr = malloc((size_t)c.width * 3 * rows);
	if (!c.ch || !c.attr) {
		free(c.ch);
		free(c.attr);
		return -ENOMEM;
	}
	for (band = 0; band < d->nbands; band++) {
		if (band)
			putc('\n', f);
		for (lane = 0; lane < d->nlanes; lane++)
			print_lane(f, &c, d, lane, band, margin);
	}
	free(c.ch);
	free(c.attr);
	return 0;
}

static unsigned int width_of(FILE *f, const struct kl_diagram_opts *o)
{
	const char *s = getenv("COLUMNS");
	struct winsize ws;
	uint64_t w = o->width;

	if (!w && s)
		kl_digits(s, &w);
	if (!w && isatty(fileno(f)) && !ioctl(fileno(f), TIOCGWINSZ, &ws))
		w = ws.ws_col;
	if (!w)
		w = 80;
	return w < 40 ? 40 : w > 500 ? 500 : w;
}

static bool is_on(enum kl_diagram_auto a, bool by_default)
{
	return a == KL_DIAGRAM_AUTO ? by_default : a == KL_DIAGRAM_ON;
}

bool kl_colour_wanted(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(f)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static int index_order(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A sorted copy without duplicates; updates @n.  Return: NULL when out of memory. */
static uint32_t *sorted_copy(const uint32_t *ops, size_t *n)
{
	uint32_t *copy = malloc((*n + 1) * sizeof(*copy));
	size_t i, k = 0;

	if (!copy)
		return NULL;
	memcpy(copy, ops, *n * sizeof(*copy));
	qsort(copy, *n, sizeof(*copy), index_order);
	for (i = 0; i < *n; i++)
		if (!k || copy[k - 1] != copy[i])
			copy[k++] = copy[i];
	*n = k;
	return copy;
}

/* Compute the layout of the @n operations @sel.  Return: the width of the names of lanes. */
static int lay_out(struct dg_layout *d, const struct kl_history *h, const uint32_t *sel, size_t n,
		   const struct kl_diagram_opts *o, int width)
{
	int margin = 0, i;

	dg_collect(d, h, sel, n, o);
	for (i = 0; i < d->nlanes; i++)
		if ((int)strlen(d->lane[i].name) > margin)
			margin = strlen(d->lane[i].name);
	margin += 2;
	dg_place(d, width - margin - 3);
	return margin;
}

/*
 * Replace the layout *@d, with the width @margin of names, by one that also has the operations
 * around, if that one is as readable.  Return: the width of the names of its lanes.
 */
static int lay_around(struct dg_layout **d, const struct kl_history *h, const uint32_t *sel,
		      size_t n, const struct kl_diagram_opts *o, int width, int margin)
{
	struct dg_layout *more = malloc(sizeof(*more));
	uint32_t all[KL_DIAGRAM_OPS], *sorted;
	size_t nall = n + o->naround;
	int wider;

	memcpy(all, sel, n * sizeof(*all));
	memcpy(all + n, o->around, o->naround * sizeof(*all));
	sorted = sorted_copy(all, &nall);
	if (more && sorted) {
		wider = lay_out(more, h, sorted, nall, o, width);
		if (!more->numbered && more->nbands == 1 && more->scaled == (*d)->scaled) {
			struct dg_layout *less = *d;

			*d = more;
			more = less;
			margin = wider;
		}
	}
	free(more);
	free(sorted);
	return margin;
}

int kl_diagram(FILE *f, const struct kl_history *h, const uint32_t *ops, size_t n,
	       const struct kl_diagram_opts *o)
{
	static const struct kl_diagram_opts none;
	const char *const *glyphs;
	struct dg_layout *d;
	uint32_t *sel;
	size_t all;
	FILE *to;
	int width, margin, ret = -ENOMEM;

	if (!o)
		o = &none;
	to = o->terminal ? o->terminal : f;
	d = malloc(sizeof(*d));
	sel = sorted_copy(ops, &n);
	if (!d || !sel)
		goto out;
	all = n;
	if (n > KL_DIAGRAM_OPS)
		n = KL_DIAGRAM_OPS;
	width = width_of(to, o);
	margin = lay_out(d, h, sel, n, o, width);
	if (o->naround && n + o->naround <= KL_DIAGRAM_OPS)
		margin = lay_around(&d, h, sel, n, o, width, margin);
	glyphs = is_on(o->utf8, !strcmp(nl_langinfo(CODESET), "UTF-8")) ? utf8 : ascii;
	dg_print_caption(f, h, d, all - n, o->stores ? glyphs[G_STORES - 128] : NULL);
	ret = print_bands(f, d, margin, glyphs, is_on(o->colour, kl_colour_wanted(to)));
	if (!ret)
		ret = dg_print_text(f, h, d, o, width);
	if (!ret && ferror(f))
		ret = -EIO;
out:
	free(sel);
	free(d);
	return ret;
}
