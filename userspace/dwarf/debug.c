// SPDX-License-Identifier: GPL-2.0
/*
 * Finds where a function was inlined.  Each compilation unit that has an inlined instance has an
 * abstract entry of the function at its top level.  So units without an abstract entry are skipped
 * quickly, and in other units the entries of all functions are searched.
 */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "dwarf/internal.h"
#include "dwarf/loc.h"

#define DEPTH 48	/* longest chain of functions inlined into one another */

static int no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/*
 * libdw calls this function when it is out of memory; the function must not return.  By default
 * libdw exits with status 1, which would mean a violation.
 */
__attribute__((noreturn)) static void out_of_memory(void)
{
	kl_err("out of memory");
	exit(kl_ending(KLIN_EXIT_SYSTEM));
}

int kl_debug_try(const char *path, struct kl_debug **out, const char **why)
{
	struct kl_debug *d = calloc(1, sizeof(*d));
	const char *what = NULL;
	Dwarf_Addr bias;
	int err;

	if (!d || !(d->path = strdup(path))) {
		*why = "out of memory";
		free(d);
		return -ENOMEM;
	}
	if (access(path, R_OK)) {
		what = strerror(errno);
		goto err;
	}
	errno = 0;
	d->dwfl = dwfl_begin(&callbacks);
	if (d->dwfl) {
		dwfl_report_begin(d->dwfl);
		d->mod = dwfl_report_offline(d->dwfl, "", path, -1);
		dwfl_report_end(d->dwfl, NULL, NULL);
	}
	if (!d->mod) {
		what = "expected an ELF file: vmlinux, or a module";
		goto err;
	}
	d->dwarf = dwfl_module_getdwarf(d->mod, &d->bias);
	if (!d->dwarf) {
		what = "no debugging information (DWARF); on Debian, install a "
		       "package linux-image-...-dbg";
		goto err;
	}
	dwarf_new_oom_handler(d->dwarf, out_of_memory);
	errno = 0;
	d->cfi = dwfl_module_dwarf_cfi(d->mod, &bias);
	if (kl_debug_nomem())
		goto err;
	*out = d;
	return 0;
err:
	/* libdw's errors may be the same for a damaged file and a failure of the system. */
	err = kl_ending_error(-errno) == KLIN_EXIT_SYSTEM ? -errno : -EINVAL;
	*why = err == -EINVAL ? what : strerror(-err);
	kl_debug_close(d);
	return err;
}

int kl_debug_open(const char *path, struct kl_debug **out)
{
	const char *what;
	int err = kl_debug_try(path, out, &what);

	if (err)
		kl_err("%s: %s", path, what);
	return err;
}

void kl_debug_close(struct kl_debug *d)
{
	if (!d)
		return;
	if (d->dwfl)
		dwfl_end(d->dwfl);
	free(d->relocs);
	free(d->keys);
	free(d->path);
	free(d);
}

size_t kl_debug_build_id(const struct kl_debug *d, const unsigned char **id)
{
	GElf_Addr at;
	int n = dwfl_module_build_id(d->mod, id, &at);

	return n > 0 ? n : 0;
}

bool kl_debug_linked(const struct kl_debug *d)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(d->mod, &bias);
	GElf_Ehdr ehdr;

	return elf && gelf_getehdr(elf, &ehdr) && ehdr.e_type != ET_REL;
}

const char *kl_debug_section(const struct kl_debug *d, uint64_t addr, uint64_t *offset)
{
	Dwarf_Addr at = addr + d->bias;
	GElf_Addr bias;
	Elf_Scn *scn = dwfl_module_address_section(d->mod, &at, &bias);
	Elf *elf = dwfl_module_getelf(d->mod, &bias);
	GElf_Shdr shdr;
	size_t strings;

	if (!scn || !elf || !gelf_getshdr(scn, &shdr) || elf_getshdrstrndx(elf, &strings))
		return NULL;
	*offset = at;
	return elf_strptr(elf, strings, shdr.sh_name);
}

unsigned int kl_debug_progress(const struct kl_debug *d)
{
	return d->progress;
}

void kl_sites_free(struct kl_sites *sites)
{
	size_t i;

	for (i = 0; i < sites->n; i++)
		free(sites->site[i].ranges);
	free(sites->site);
	*sites = (struct kl_sites){ 0 };
}

int kl_die_ranges(Dwarf_Die *die, struct kl_range **ranges, size_t *n)
{
	Dwarf_Addr base, from, to;
	struct kl_range *r = NULL;
	ptrdiff_t at = 0;
	size_t cap = 0;
	int err = 0;

	*n = 0;
	while (!err && (at = dwarf_ranges(die, at, &base, &from, &to)) > 0) {
		if (from >= to)
			continue;
		err = kl_grow(r, cap, *n + 1);
		if (!err)
			r[(*n)++] = (struct kl_range){ from, to };
	}
	*ranges = r;
	return err;
}

bool kl_ranges_have(const struct kl_range *r, size_t n, uint64_t addr)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (addr >= r[i].from && addr < r[i].to)
			return true;
	return false;
}

/* A search for instances of a function. */
struct search {
	struct kl_debug *d;
	const char *function, *in;
	struct kl_sites *sites;
	/* offsets of the function's abstract entries in this unit */
	Dwarf_Off *abstract;
	size_t nabstract, cabstract;
	/* a function, an instance inlined into it, an instance inlined into this instance, ... */
	Dwarf_Die chain[DEPTH];
	Dwarf_Files *files;
	size_t nfiles;
};

static bool read_origin(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	/* libdw may have read a new unit, and without memory only a part of it. */
	return dwarf_attr(die, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, out) &&
	       !kl_debug_nomem();
}

static bool is_abstract(const struct search *s, Dwarf_Die *die)
{
	Dwarf_Die to;
	size_t i;

	if (!read_origin(die, &to))
		return false;
	for (i = 0; i < s->nabstract; i++)
		if (s->abstract[i] == dwarf_dieoffset(&to))
			return true;
	return false;
}

/* Find the child of @die that is the instance of the parameter @param. */
static bool find_param(Dwarf_Die *die, Dwarf_Die *param, Dwarf_Die *out)
{
	Dwarf_Die to;

	if (dwarf_child(die, out))
		return false;
	do {
		if (dwarf_tag(out) == DW_TAG_formal_parameter &&
		    (dwarf_dieoffset(out) == dwarf_dieoffset(param) ||
		     (read_origin(out, &to) && dwarf_dieoffset(&to) == dwarf_dieoffset(param))))
			return true;
	} while (!dwarf_siblingof(out, out));
	return false;
}

static void read_params(struct search *s, Dwarf_Die *die, struct kl_site *site)
{
	Dwarf_Die decl, param, here;

	if (!read_origin(die, &decl))
		decl = *die;
	if (dwarf_child(&decl, &param))
		return;
	do {
		struct kl_var *v = &site->params[site->nparams];
		const char *name;

		if (dwarf_tag(&param) != DW_TAG_formal_parameter)
			continue;
		if (site->nparams == KL_SITE_PARAMS)
			return;
		name = dwarf_diename(&param);
		v->name = name ? name : "";
		kl_dtype_read(&param, &v->type);
		if (find_param(die, &param, &here))
			kl_loc_read(&here, &s->chain[0], s->d->cfi, site->entry, true, &v->loc);
		else
			v->loc = (struct kl_loc){ .why = "optimised out" };
		site->nparams++;
	} while (!dwarf_siblingof(&param, &param));
}

static void read_call(const struct search *s, Dwarf_Die *die, struct kl_site *site)
{
	Dwarf_Attribute attr;
	Dwarf_Word file, line;

	if (!dwarf_attr(die, DW_AT_call_file, &attr) || dwarf_formudata(&attr, &file) ||
	    !dwarf_attr(die, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line) || !s->files)
		return;
	site->file = dwarf_filesrc(s->files, file, NULL, NULL);
	site->line = line;
}

static void read_decl(struct kl_debug *d, Dwarf_Die *die, struct kl_site *site)
{
	Dwarf_Attribute attr;
	Dwarf_Word how;
	Dwarf_Die decl;
	int line;

	if (!read_origin(die, &decl))
		decl = *die;
	site->decl_file = dwarf_decl_file(&decl);
	if (!dwarf_decl_line(&decl, &line))
		site->decl_line = line;
	if (dwarf_attr(&decl, DW_AT_inline, &attr) && !dwarf_formudata(&attr, &how))
		site->declared_inline = how == DW_INL_declared_inlined ||
					how == DW_INL_declared_not_inlined;
}

/* Return: true if the kernel frees the address's section after the start. */
static bool is_init(struct kl_debug *d, Dwarf_Addr addr)
{
	uint64_t offset;
	const char *name = kl_debug_section(d, addr, &offset);

	return name && !strncmp(name, ".init.", 6);
}

static int add_site(struct search *s, unsigned int depth)
{
	struct kl_debug *d = s->d;
	struct kl_site site = { .inlined = depth > 1 };
	Dwarf_Die *die = &s->chain[depth - 1];
	const char *name;
	Dwarf_Addr entry;
	GElf_Off offset;
	GElf_Sym sym;
	unsigned int i;
	int err;

	for (i = 0; s->in && i + 1 < depth; i++) {
		name = dwarf_diename(&s->chain[i]);
		if (name && !strcmp(name, s->in))
			break;
	}
	if (s->in && i + 1 >= depth)
		return 0;
	err = kl_die_ranges(die, &site.ranges, &site.nranges);
	if (err)
		return err;
	name = dwarf_diename(&s->chain[0]);
	site.in = name ? name : "";
	site.via = depth > 2 ? dwarf_diename(&s->chain[depth - 2]) : NULL;
	if (!site.nranges) {
		snprintf(site.why, sizeof(site.why), "none of its code is left");
	} else if (!site.inlined ? dwarf_entrypc(die, &entry) || !entry :
		   dwarf_entrypc(die, &entry)) {
		entry = site.ranges[0].from;
	}
	if (site.nranges) {
		site.entry = entry;
		site.init = is_init(d, entry);
		site.symbol = dwfl_module_addrinfo(d->mod, entry + d->bias, &offset, &sym, NULL,
						   NULL, NULL);
		site.offset = site.symbol ? offset : 0;
		if (!dwarf_entrypc(&s->chain[0], &entry))
			site.owner = dwfl_module_addrinfo(d->mod, entry + d->bias, &offset, &sym,
							  NULL, NULL, NULL);
	}
	read_decl(d, die, &site);
	read_call(s, die, &site);
	read_params(s, die, &site);
	site.may_jump_out = true;
	if (site.nranges && site.inlined)
		err = kl_site_check(d, s->chain, depth, &site);
	if (!err)
		err = kl_debug_nomem();
	if (!err)
		err = kl_grow(s->sites->site, s->sites->cap, s->sites->n + 1);
	if (err)
		free(site.ranges);
	else
		s->sites->site[s->sites->n++] = site;
	return err;
}

/* Find the instances below @parent: chain[depth - 1], or a block of it. */
static int search_below(struct search *s, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	int err = 0;

	if (dwarf_child(parent, &die))
		return kl_debug_nomem();
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_lexical_block:
			err = search_below(s, &die, depth);
			break;
		case DW_TAG_inlined_subroutine:
			if (depth == DEPTH)
				break;
			s->chain[depth] = die;
			if (is_abstract(s, &die))
				err = add_site(s, depth + 1);
			if (!err)
				err = search_below(s, &die, depth + 1);
			break;
		}
	} while (!err && !dwarf_siblingof(&die, &die));
	return err ? err : kl_debug_nomem();
}

static int find_abstract(struct search *s, Dwarf_Die *unit)
{
	Dwarf_Die die;
	int err;

	s->nabstract = 0;
	if (dwarf_child(unit, &die))
		return kl_debug_nomem();
	do {
		const char *name;

		if (dwarf_tag(&die) != DW_TAG_subprogram ||
		    dwarf_hasattr(&die, DW_AT_abstract_origin))
			continue;
		name = dwarf_diename(&die);
		if (!name || strcmp(name, s->function))
			continue;
		err = kl_grow(s->abstract, s->cabstract, s->nabstract + 1);
		if (err)
			return err;
		s->abstract[s->nabstract++] = dwarf_dieoffset(&die);
	} while (!dwarf_siblingof(&die, &die));
	return kl_debug_nomem();
}

static int search_unit(struct search *s, Dwarf_Die *unit)
{
	Dwarf_Die die;
	int err = find_abstract(s, unit);

	if (err || !s->nabstract)
		return err;
	if (dwarf_child(unit, &die))
		return kl_debug_nomem();
	s->files = NULL;
	if (dwarf_getsrcfiles(unit, &s->files, &s->nfiles))
		s->files = NULL;
	do {
		const char *name;
		Dwarf_Addr low;

		if (dwarf_tag(&die) != DW_TAG_subprogram ||
		    (dwarf_lowpc(&die, &low) && !dwarf_hasattr(&die, DW_AT_ranges)))
			continue;
		s->chain[0] = die;
		name = dwarf_diename(&die);
		if (!s->in && name && !strcmp(name, s->function))
			err = add_site(s, 1);
		if (!err)
			err = search_below(s, &die, 1);
	} while (!err && !dwarf_siblingof(&die, &die));
	return err ? err : kl_debug_nomem();
}

/* Return: number of bytes of .debug_info, for the progress; 1 if unknown. */
static Dwarf_Off info_size(struct kl_debug *d)
{
	Elf *elf = dwarf_getelf(d->dwarf);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	const char *name;
	size_t strings;

	while (elf && !elf_getshdrstrndx(elf, &strings) && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		if (name && !strcmp(name, ".debug_info"))
			return shdr.sh_size ? shdr.sh_size : 1;
	}
	return 1;
}

int kl_debug_sites(struct kl_debug *d, const char *function, const char *in,
		   struct kl_sites *sites)
{
	struct search s = { .d = d, .function = function, .in = in, .sites = sites };
	Dwarf_CU *cu = NULL;
	Dwarf_Off size;
	Dwarf_Die unit;
	int err = 0, more;

	errno = 0;
	size = info_size(d);
	while (!err) {
		more = dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &unit, NULL);
		err = kl_debug_nomem();
		if (err)
			break;
		if (more < 0) {
			kl_err("%s: its debugging information is damaged: %s", d->path,
			       dwarf_errmsg(-1));
			err = -EINVAL;
		}
		if (more)
			break;
		d->progress = dwarf_dieoffset(&unit) * 1000 / size;
		err = search_unit(&s, &unit);
	}
	free(s.abstract);
	return err;
}

const char *kl_debug_nearest(struct kl_debug *d, const char *name)
{
	const char *best = NULL;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, die;

	while (!dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &unit, NULL)) {
		if (dwarf_child(&unit, &die))
			continue;
		do {
			const char *near[2] = { dwarf_diename(&die), best };

			if (dwarf_tag(&die) == DW_TAG_subprogram && near[0])
				best = kl_nearest(name, near, best ? 2 : 1);
			if (best && !strcmp(best, name))
				return best;
		} while (!dwarf_siblingof(&die, &die));
	}
	return best;
}
