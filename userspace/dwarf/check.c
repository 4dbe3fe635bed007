// SPDX-License-Identifier: GPL-2.0
/*
 * Is the entry of an inlined function hit once for each of its executions?  Else an
 * operation would be missed or invented, and a correct kernel accused.
 *
 * What compilers do to inlined code, and what is done about it here:
 *
 * - They copy it: a loop is peeled or unrolled, a jump is threaded.  All copies are one
 *   instance in DWARF, with one entry; the others' executions would not be seen.  A copy
 *   is entered elsewhere, so each way from the surrounding code into the instance must
 *   be its entry, or instructions just before that were taken forward; only straight code
 *   in between, where the two were mixed, may lead back into it.  Copies in a row have
 *   no way in between, but each has the statement at the function's beginning, or that of
 *   its call, which the line table marks where they begin: there must be one, in the
 *   straight code before the entry.
 * - There are ways into code that are in no instruction.  Static keys are read from the
 *   kernel's table; of others (exceptions) nothing is known: each instruction must be known
 *   to be reached from one of the instance.
 * - They mix it with what stands around it, take instructions out of it, and merge its
 *   last ones with others that are equal.  So an address where it has ended for certain
 *   does not exist short of the surrounding function's return; nor does one where it has
 *   not begun, after that function's call.  An operation's interval is therefore that of
 *   the surrounding function, of which the entry tells only that the operation was there.
 *   That may be far too wide, and is never too narrow.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/insn.h"
#include "dwarf/internal.h"

struct check {
	struct kl_site *site;
	uint64_t lead;		/* straight code from the entry up to here counts, too */
	const struct kl_code *code;
	const Dwarf_Lines *lines;
	size_t nlines;
};

__attribute__((format(printf, 2, 3)))
static void refuse(const struct check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->site->why, sizeof(c->site->why), fmt, ap);
	va_end(ap);
}

static bool inside(const struct check *c, uint64_t addr)
{
	return kl_ranges_have(c->site->ranges, c->site->nranges, addr) ||
	       (addr >= c->site->entry && addr < c->lead);
}

static bool runs_on(const struct kl_step *s)
{
	return s->flow == KL_FLOW_NEXT || s->flow == KL_FLOW_BRANCH;
}

static bool jumps(const struct kl_step *s)
{
	return s->flow == KL_FLOW_JUMP || s->flow == KL_FLOW_BRANCH;
}

static bool is_target(const struct check *c, uint64_t addr)
{
	size_t i;

	for (i = 0; i < c->code->n; i++)
		if (jumps(&c->code->step[i]) && c->code->step[i].to == addr)
			return true;
	return false;
}

static const struct kl_step *before(const struct check *c, const struct kl_step *s)
{
	return s > c->code->step && s[-1].at + s[-1].len == s->at ? s - 1 : NULL;
}

/*
 * The entry stands where the function's first statement does, and what comes next may be
 * of the surrounding code; straight on there must be the function's own.
 */
static bool leads_in(struct check *c)
{
	const struct kl_step *s = kl_code_at(c->code, c->site->entry);

	while (s && !kl_ranges_have(c->site->ranges, c->site->nranges, s->at)) {
		if (s->flow != KL_FLOW_NEXT || (s->at != c->site->entry && is_target(c, s->at)))
			return false;
		c->lead = s->at + s->len;
		s = kl_code_at(c->code, c->lead);
	}
	return s && (!c->lead || s->at == c->site->entry || !is_target(c, s->at));
}

/* Is the only way to @s from the instance, through straight code that is not of it? */
static bool mixed(const struct check *c, const struct kl_step *s)
{
	do {
		if (is_target(c, s->at))
			return false;
		s = before(c, s);
		if (!s || s->flow != KL_FLOW_NEXT)
			return false;
	} while (!inside(c, s->at));
	return true;
}

/* Straight code from @from to @to, and nothing else leads to the latter. */
static bool straight(const struct check *c, uint64_t from, uint64_t to)
{
	const struct kl_step *s = kl_code_at(c->code, to);

	while (s && s->at > from) {
		if (is_target(c, s->at))
			return false;
		s = before(c, s);
		if (s && s->flow != KL_FLOW_NEXT)
			return false;
	}
	return s && s->at == from;
}

/* Instructions that were taken forward lead to the entry, too; nothing else may. */
static bool other_way_in(const struct check *c, const struct kl_step *to)
{
	if (to->at == c->site->entry || straight(c, to->at, c->site->entry))
		return false;
	refuse(c, "it is entered at +0x%llx, too",
	       (unsigned long long)(to->at - c->site->entry + c->site->offset));
	return true;
}

/* Jumps; @reached: by address, what is known to be reached. */
static bool jumps_in(const struct check *c, bool *reached)
{
	const struct kl_step *s, *to;
	size_t i;

	for (i = 0; i < c->code->n; i++) {
		s = &c->code->step[i];
		if (s->flow == KL_FLOW_INDIRECT) {
			refuse(c, "the function jumps to where its code does not tell");
			return false;
		}
		to = jumps(s) ? kl_code_at(c->code, s->to) : NULL;
		if (!to || !inside(c, to->at))
			continue;
		reached[to - c->code->step] = true;
		if (!inside(c, s->at) && other_way_in(c, to))
			return false;
	}
	return true;
}

/* What comes next; code is aligned with instructions that nothing leads to. */
static bool runs_in(const struct check *c, bool *reached)
{
	const struct kl_step *s;
	size_t i;

	for (i = 0; i + 1 < c->code->n; i++) {
		s = &c->code->step[i];
		if (!runs_on(s) || s[1].at != s->at + s->len || !inside(c, s[1].at))
			continue;
		if (inside(c, s->at) && s->nop && !reached[i] && s->at != c->site->entry)
			continue;
		reached[i + 1] = true;
		if (!inside(c, s->at) && !mixed(c, &s[1]) && other_way_in(c, &s[1]))
			return false;
	}
	return true;
}

/* Do all ways into the instance lead to its entry?  1, 0 with the reason, or -ENOMEM. */
static int one_way_in(const struct check *c)
{
	bool *reached = calloc(c->code->n, sizeof(*reached));
	const struct kl_step *s;
	bool ok;
	size_t i;

	if (!reached)
		return -ENOMEM;
	ok = jumps_in(c, reached) && runs_in(c, reached);
	for (i = 0; ok && i < c->code->n; i++) {
		s = &c->code->step[i];
		if (!inside(c, s->at) || s->at == c->site->entry || reached[i] || s->nop)
			continue;
		refuse(c, "what leads to +0x%llx in it is not known (an exception)",
		       (unsigned long long)(s->at - c->site->entry + c->site->offset));
		ok = false;
	}
	free(reached);
	return ok;
}

/*
 * Addresses in the ranges at which a statement of this line begins: 0, 1, or 2 for more.
 * @at: the last one found.
 */
static unsigned int beginnings(const struct check *c, const struct kl_range *r, size_t nr,
			       const char *file, int line, uint64_t *at)
{
	unsigned int found = 0;
	size_t i;

	for (i = 0; i < c->nlines; i++) {
		Dwarf_Line *l = dwarf_onesrcline((Dwarf_Lines *)c->lines, i);
		const char *src;
		Dwarf_Addr addr;
		bool begins;
		int no;

		if (dwarf_lineno(l, &no) || no != line || dwarf_linebeginstatement(l, &begins) ||
		    !begins || dwarf_lineaddr(l, &addr) || !kl_ranges_have(r, nr, addr) ||
		    (found && addr == *at))
			continue;
		src = dwarf_linesrc(l, NULL, NULL);
		if (!src || strcmp(src, file))
			continue;
		*at = addr;
		if (++found == 2)
			break;
	}
	return found;
}

/*
 * Statements of the function itself begin at the entry, and nowhere else in it.  At one
 * address those of the surrounding code come first: the entry's view counts them.
 */
static bool one_first_statement(const struct check *c, Dwarf_Die *die)
{
	const struct kl_site *site = c->site;
	Dwarf_Die origin, *decl = &origin;
	Dwarf_Attribute attr;
	Dwarf_Word view = 0, seen = 0;
	const char *file;
	uint64_t at = 0;
	bool found = false;
	size_t i;
	int from;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) || !dwarf_formref_die(&attr, decl))
		return false;
	file = dwarf_decl_file(decl);
	if (!file || dwarf_decl_line(decl, &from))
		return false;
	if (dwarf_attr(die, DW_AT_GNU_entry_view, &attr))
		dwarf_formudata(&attr, &view);
	for (i = 0; i < c->nlines; i++) {
		Dwarf_Line *l = dwarf_onesrcline((Dwarf_Lines *)c->lines, i);
		const char *src;
		Dwarf_Addr addr;
		bool begins;
		int no;

		if (dwarf_lineaddr(l, &addr) || addr != site->entry || seen++ < view ||
		    dwarf_linebeginstatement(l, &begins) || !begins || dwarf_lineno(l, &no) ||
		    no < from)
			continue;
		src = dwarf_linesrc(l, NULL, NULL);
		if (!src || strcmp(src, file))
			continue;
		if (beginnings(c, site->ranges, site->nranges, file, no, &at) > 1)
			return false;
		found = true;
	}
	return found;
}

/* The statement that calls begins once in what surrounds it, just before the entry. */
static bool one_call(const struct check *c, Dwarf_Die *parent, Dwarf_Die *die, Dwarf_Files *files)
{
	Dwarf_Attribute attr;
	Dwarf_Word file, line;
	struct kl_range *r;
	const char *name;
	uint64_t at = 0;
	size_t n;
	bool ok;

	if (!dwarf_attr(die, DW_AT_call_file, &attr) || dwarf_formudata(&attr, &file) ||
	    !dwarf_attr(die, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line))
		return false;
	name = files ? dwarf_filesrc(files, file, NULL, NULL) : NULL;
	if (!name || kl_die_ranges(parent, &r, &n))
		return false;
	ok = beginnings(c, r, n, name, line, &at) == 1 && straight(c, at, c->site->entry);
	free(r);
	return ok;
}

static bool jumps_out(const struct check *c)
{
	size_t i;

	for (i = 0; i < c->code->n; i++) {
		const struct kl_step *s = &c->code->step[i];

		if (inside(c, s->at) && (s->flow == KL_FLOW_INDIRECT ||
					 (jumps(s) && !kl_code_at(c->code, s->to))))
			return true;
	}
	return false;
}

int kl_site_check(struct kl_debug *d, Dwarf_Die *chain, unsigned int n, struct kl_site *site)
{
	struct check c = { .site = site };
	struct kl_code code;
	Dwarf_Files *files = NULL;
	Dwarf_Lines *lines = NULL;
	Dwarf_Die cu;
	size_t nfiles;
	unsigned int i;
	int err;

	err = kl_code_read(d, &chain[0], &code);
	c.code = &code;
	if (err == -ENOMEM)
		goto out;
	if (err) {
		refuse(&c, err == -ENODATA ? "the file has no code, only debugging information" :
		       "the function cannot be disassembled");
		goto out;
	}
	site->leaves = jumps_out(&c);
	if (!leads_in(&c)) {
		refuse(&c, "its entry does not lead to its code");
		goto out;
	}
	if (kl_code_at(&code, site->entry)->key) {
		refuse(&c, "its entry is an instruction that the kernel patches (a static key)");
		goto out;
	}
	if (!dwarf_diecu(&chain[0], &cu, NULL, NULL) ||
	    dwarf_getsrclines(&cu, &lines, &c.nlines) || dwarf_getsrcfiles(&cu, &files, &nfiles)) {
		refuse(&c, "the file has no line table for it");
		goto out;
	}
	c.lines = lines;
	err = one_way_in(&c);
	if (err <= 0)
		goto out;
	/* What surrounds it may have been copied as a whole, and so on outwards. */
	if (!one_first_statement(&c, &chain[n - 1])) {
		for (i = n - 1; i > 0; i--) {
			if (one_call(&c, &chain[i - 1], &chain[i], files))
				continue;
			refuse(&c, "it may have been copied (a loop unrolled, a jump threaded)");
			break;
		}
	}
out:
	free(code.step);
	return err == -ENOMEM ? err : kl_debug_starved();
}
