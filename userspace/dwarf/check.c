// SPDX-License-Identifier: GPL-2.0
/*
 * Checks that each execution of an inlined instance hits its entry exactly once.  Otherwise an
 * operation would be missed or invented, and a correct kernel accused.
 *
 * Compilers change inlined code in three ways:
 *
 * - They copy it: they peel or unroll a loop, or thread a jump.  In DWARF all copies are one
 *   instance with one entry, so executions of the other copies would be missed.
 *   - A copy is entered elsewhere.  So the surrounding code may enter the instance at the entry
 *     only, or at instructions of the instance that were moved to just before the entry.
 *     Straight code of the surrounding function that stands inside the instance may lead back.
 *   - A copy behind another copy, as in an unrolled loop, is not entered from outside.  But each
 *     copy has the function's first statement, or the statement of the call, and the line table
 *     marks where statements begin.  So the first statement must begin only once in the instance,
 *     or the statement of the call must begin only once in the surrounding function and lead
 *     straight to the entry.
 * - They add jumps that no instruction shows.  The jumps of static keys are in the kernel's table.
 *   The jumps to exception handlers are unknown, so each instruction of the instance must have a
 *   known predecessor.
 * - They mix it with the surrounding code, move instructions out of it, and merge its last
 *   instructions with equal code.  So only the surrounding function's call is certainly before
 *   the operation, and only its return is certainly after the operation.  These are therefore the
 *   operation's call and return; the entry only shows that the operation happened.  The interval
 *   may be far too wide, but never too narrow.
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
	uint64_t lead;		/* end of the straight code after the entry, counted as inside */
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

/* Return: true if the address belongs to the instance. */
static bool is_inside(const struct check *c, uint64_t addr)
{
	return kl_ranges_have(c->site->ranges, c->site->nranges, addr) ||
	       (addr >= c->site->entry && addr < c->lead);
}

static bool falls_through(const struct kl_step *s)
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

/* Return: the instruction right before @s, or NULL. */
static const struct kl_step *previous(const struct check *c, const struct kl_step *s)
{
	return s > c->code->step && s[-1].at + s[-1].len == s->at ? s - 1 : NULL;
}

/*
 * Find the straight code from the entry to the instance's ranges, and set c->lead.  The entry is
 * at the function's first statement, where surrounding code may be mixed in.
 * Return: false if the entry does not lead straight to the ranges.
 */
static bool find_lead(struct check *c)
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

/*
 * Return: true if @s is reached only from inside the instance, through straight code outside of it.
 */
static bool only_from_inside(const struct check *c, const struct kl_step *s)
{
	do {
		if (is_target(c, s->at))
			return false;
		s = previous(c, s);
		if (!s || s->flow != KL_FLOW_NEXT)
			return false;
	} while (!is_inside(c, s->at));
	return true;
}

/* Return: true if straight code leads from @from to @to, and no jump enters it after @from. */
static bool is_straight(const struct check *c, uint64_t from, uint64_t to)
{
	const struct kl_step *s = kl_code_at(c->code, to);

	while (s && s->at > from) {
		if (is_target(c, s->at))
			return false;
		s = previous(c, s);
		if (s && s->flow != KL_FLOW_NEXT)
			return false;
	}
	return s && s->at == from;
}

/*
 * Check whether the instance may be entered at @to.  Allowed are the entry, and instructions that
 * lead straight to the entry.  Return: true, with site->why set, if @to is neither.
 */
static bool is_other_way_in(const struct check *c, const struct kl_step *to)
{
	if (to->at == c->site->entry || is_straight(c, to->at, c->site->entry))
		return false;
	refuse(c, "it is also entered at +0x%llx",
	       (unsigned long long)(to->at - c->site->entry + c->site->offset));
	return true;
}

/*
 * Check all jumps into the instance.  @reached[] gets true for each instruction that is a target.
 * Return: false, with site->why set, if a jump may enter the instance elsewhere than at the entry.
 */
static bool check_jumps(const struct check *c, bool *reached)
{
	const struct kl_step *s, *to;
	size_t i;

	for (i = 0; i < c->code->n; i++) {
		s = &c->code->step[i];
		if (s->flow == KL_FLOW_INDIRECT) {
			refuse(c, "the function has a jump whose target is unknown");
			return false;
		}
		to = jumps(s) ? kl_code_at(c->code, s->to) : NULL;
		if (!to || !is_inside(c, to->at))
			continue;
		reached[to - c->code->step] = true;
		if (!is_inside(c, s->at) && is_other_way_in(c, to))
			return false;
	}
	return true;
}

/*
 * Check all instructions that run on into the next one, as check_jumps() does for jumps.  A nop
 * that is not reached only aligns code, and does not count as a predecessor.
 */
static bool check_fallthrough(const struct check *c, bool *reached)
{
	const struct kl_step *s;
	size_t i;

	for (i = 0; i + 1 < c->code->n; i++) {
		s = &c->code->step[i];
		if (!falls_through(s) || s[1].at != s->at + s->len || !is_inside(c, s[1].at))
			continue;
		if (is_inside(c, s->at) && s->nop && !reached[i] && s->at != c->site->entry)
			continue;
		reached[i + 1] = true;
		if (!is_inside(c, s->at) && !only_from_inside(c, &s[1]) &&
		    is_other_way_in(c, &s[1]))
			return false;
	}
	return true;
}

/*
 * Check that all ways into the instance lead to its entry.
 * Return: 1 if they do, 0 with site->why set if not, -ENOMEM.
 */
static int check_ways_in(const struct check *c)
{
	bool *reached = calloc(c->code->n, sizeof(*reached));
	const struct kl_step *s;
	bool ok;
	size_t i;

	if (!reached)
		return -ENOMEM;
	ok = check_jumps(c, reached) && check_fallthrough(c, reached);
	for (i = 0; ok && i < c->code->n; i++) {
		s = &c->code->step[i];
		if (!is_inside(c, s->at) || s->at == c->site->entry || reached[i] || s->nop)
			continue;
		refuse(c, "no known way leads to +0x%llx in it (an exception handler?)",
		       (unsigned long long)(s->at - c->site->entry + c->site->offset));
		ok = false;
	}
	free(reached);
	return ok;
}

/*
 * Count the addresses in @r at which a statement of line @line of @file begins.
 * Return: 0, 1, or 2 for two or more.  @at gets the last address found.
 */
static unsigned int count_statements(const struct check *c, const struct kl_range *r, size_t nr,
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
 * Return: true if the function's statements at the entry begin nowhere else in the instance.  In
 * the line table, statements of the surrounding code at the entry's address come first;
 * DW_AT_GNU_entry_view is their number.
 */
static bool has_one_start(const struct check *c, Dwarf_Die *die)
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
		if (count_statements(c, site->ranges, site->nranges, file, no, &at) > 1)
			return false;
		found = true;
	}
	return found;
}

/*
 * Return: true if the statement of the call begins only once in the surrounding function, and
 * leads straight to the entry.
 */
static bool has_one_call(const struct check *c, Dwarf_Die *parent, Dwarf_Die *die,
			 Dwarf_Files *files)
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
	ok = count_statements(c, r, n, name, line, &at) == 1 && is_straight(c, at, c->site->entry);
	free(r);
	return ok;
}

/* Return: true if the instance may jump out of the surrounding function. */
static bool jumps_out(const struct check *c)
{
	size_t i;

	for (i = 0; i < c->code->n; i++) {
		const struct kl_step *s = &c->code->step[i];

		if (is_inside(c, s->at) &&
		    (s->flow == KL_FLOW_INDIRECT || (jumps(s) && !kl_code_at(c->code, s->to))))
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
	site->may_jump_out = jumps_out(&c);
	if (!find_lead(&c)) {
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
	err = check_ways_in(&c);
	if (err <= 0)
		goto out;
	/* Each surrounding function, from the inside out, may have been copied as a whole. */
	if (!has_one_start(&c, &chain[n - 1])) {
		for (i = n - 1; i > 0; i--) {
			if (has_one_call(&c, &chain[i - 1], &chain[i], files))
				continue;
			refuse(&c, "it may have been copied (a loop unrolled, a jump threaded)");
			break;
		}
	}
out:
	free(code.step);
	return err == -ENOMEM ? err : kl_debug_nomem();
}
