// SPDX-License-Identifier: GPL-2.0
/*
 * Finds places in functions of a kernel, see place.h.  A debug file is used only if it has the
 * same build ID as the running code.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "history/history.h"
#include "record/attach/debugfile.h"
#include "record/attach/place.h"

/* Cached result of a search: the instances of @inlined that are inside the function @in ("": any). */
struct lookup {
	char *inlined, *in;
	const struct kl_debug *debug;
	struct kl_sites sites;
	struct lookup *next;
};

/* An open debug file. */
struct opened {
	char module[64];
	struct kl_debug *debug;
	struct opened *next;
};

/* A target made from a clause's target, for a place where the function is inlined. */
struct derived {
	struct kl_probe_target target;
	struct kl_fetch args[KL_MAX_ARGS], results[KL_MAX_ARGS];
	struct derived *next;
};

/* All debug files, targets and results that live as long as the kernel. */
struct kl_places {
	struct opened *opened;
	struct derived *derived;
	struct lookup *lookups;
};

/* Return: the build ID in ELF notes, or NULL. */
static const unsigned char *note_id(const char *data, size_t len, size_t *n)
{
	Elf64_Nhdr note;
	size_t at = 0, name, desc;

	while (at + sizeof(note) <= len) {
		memcpy(&note, data + at, sizeof(note));
		at += sizeof(note);
		name = ((size_t)note.n_namesz + 3) & ~3UL;
		desc = ((size_t)note.n_descsz + 3) & ~3UL;
		if (name > len - at || desc > len - at - name)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(data + at, "GNU", 4)) {
			*n = note.n_descsz;
			return (const unsigned char *)data + at + name;
		}
		at += name + desc;
	}
	return NULL;
}

/* Get the build ID of the running code.  Return: its number of bytes, 0 if it is unknown. */
static size_t running_build_id(const char *module, unsigned char *id, size_t size)
{
	const unsigned char *running;
	char path[160], *data;
	size_t n = 0, len;

	if (module[0])
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	else
		snprintf(path, sizeof(path), "/sys/kernel/notes");
	if (kl_read_file(path, &data, &len))
		return 0;
	running = note_id(data, len, &n);
	n = running && n <= size ? n : 0;
	if (n)
		memcpy(id, running, n);
	free(data);
	return n;
}

/*
 * Return: true if the debug file belongs to the running code.  With a kernel from files, the user
 * chose the debug file of the kernel itself, and none is accepted for modules.
 */
static bool is_running_code(const struct kl_kernel *k, const struct kl_debug *d, const char *module)
{
	const unsigned char *mine;
	unsigned char running[64];
	size_t n = kl_debug_build_id(d, &mine);

	if (k->offline)
		return !module[0];
	return n && n == running_build_id(module, running, sizeof(running)) &&
	       !memcmp(mine, running, n);
}

/* Get the path of a debug file by the build ID.  Return: true if it can be read. */
static bool by_build_id(const char *module, char *path, size_t size)
{
	unsigned char id[64];
	size_t n = running_build_id(module, id, sizeof(id)), i, len;

	if (n < 2)
		return false;
	len = snprintf(path, size, "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (i = 1; i < n && len < size; i++)
		len += snprintf(path + len, size - len, "%02x", id[i]);
	if (len < size)
		len += snprintf(path + len, size - len, ".debug");
	return len < size && !access(path, R_OK);
}

static int keep_open(struct kl_kernel *k, const char *module, struct kl_debug *d)
{
	struct opened *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	snprintf(o->module, sizeof(o->module), "%s", module);
	o->debug = d;
	o->next = k->places->opened;
	k->places->opened = o;
	return 0;
}

/* Print a build ID as hexadecimal digits, or "none". */
static const char *id_text(const unsigned char *id, size_t n, char *buf, size_t size)
{
	size_t i;

	snprintf(buf, size, "none");
	for (i = 0; i < n && 2 * i + 2 < size; i++)
		snprintf(buf + 2 * i, size - 2 * i, "%02x", id[i]);
	return buf;
}

/* Add to the reason @why that the debug file @d has another build ID. */
static void add_other_id(const struct kl_kernel *k, const char *path, const struct kl_debug *d,
			 char *why, size_t size)
{
	const size_t len = strlen(why);
	const unsigned char *id;
	char text[65];
	size_t n = kl_debug_build_id(d, &id);

	if (!k->offline)
		snprintf(why + len, size - len, "%s %s has the build ID %s", len ? "," : "", path,
			 id_text(id, n, text, sizeof(text)));
}

/* Open the debug file of a module, or of the kernel itself. */
static int open_debug(struct kl_kernel *k, const char *module, struct kl_debug **out, char *why,
		      size_t size)
{
	const char *candidates[KL_FILES_MAX + 2] = { NULL }, *what;
	char path[512], id_path[256], others[400] = "", text[65];
	unsigned char id[64];
	const struct opened *o;
	unsigned int i, n = k->debug.n;

	for (o = k->places->opened; o; o = o->next) {
		if (strcmp(o->module, module))
			continue;
		*out = o->debug;
		return 0;
	}
	memcpy(candidates, k->debug.path, n * sizeof(*candidates));
	if (!k->offline && !kl_debug_file(k->release, module[0] ? module : NULL, path,
					  sizeof(path)))
		candidates[n++] = path;
	if (!k->offline && by_build_id(module, id_path, sizeof(id_path)))
		candidates[n++] = id_path;
	for (i = 0; i < n; i++) {
		int err = kl_debug_try(candidates[i], out, &what);

		if (err == -ENOMEM) {
			snprintf(why, size, "out of memory");
			return err;
		}
		if (err) {
			if (i < k->debug.n)
				kl_err("%s: %s", candidates[i], what);
			continue;
		}
		if (is_running_code(k, *out, module))
			return keep_open(k, module, *out);
		add_other_id(k, candidates[i], *out, others, sizeof(others));
		kl_debug_close(*out);
	}
	snprintf(why, size, "there is no debugging information of %s%s", module[0] ? "module " :
		 "kernel ", module[0] ? module : k->release);
	if (*others)
		snprintf(why + strlen(why), size - strlen(why),
			 " with the build ID of the running one, %s:%s",
			 id_text(id, running_build_id(module, id, sizeof(id)), text, sizeof(text)),
			 others);
	snprintf(why + strlen(why), size - strlen(why), "; give --debug=FILE");
	return -ENOENT;
}

static int find_sites(struct kl_kernel *k, struct kl_debug *d, const char *inlined,
		      const char *in, const struct kl_sites **out)
{
	struct lookup *l;
	int err;

	for (l = k->places->lookups; l; l = l->next) {
		if (l->debug != d || strcmp(l->inlined, inlined) ||
		    strcmp(l->in, in ? in : ""))
			continue;
		*out = &l->sites;
		return 0;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->next = k->places->lookups;
	k->places->lookups = l;
	l->debug = d;
	l->inlined = strdup(inlined);
	l->in = strdup(in ? in : "");
	if (!l->inlined || !l->in)
		return -ENOMEM;
	err = kl_debug_sites(d, inlined, in, &l->sites);
	*out = &l->sites;
	return err;
}

/* Look up the only function of this name.  Return: 0, or a negative errno with @why filled. */
static int find_function(struct kl_kernel *k, const char *name, const char *module,
			 struct kl_func *f, char *why, size_t size)
{
	int err = kl_func_find(k, name, module, f);

	if (err) {
		snprintf(why, size, "%s has no function '%s' (inlined, renamed, or not built in)",
			 module ? "that module is not loaded, or" : "the kernel", name);
		return err;
	}
	if (f->copies == 1)
		return 0;
	snprintf(why, size, "%u functions have the name '%s'", f->copies, name);
	return -EOPNOTSUPP;
}

/*
 * Make a place of an inlined instance.  An instance that cannot be recorded is an error, since
 * operations would be missed.
 */
static int make_place(struct kl_kernel *k, const struct kl_debug *d, const char *module,
		      const struct kl_site *s, const char *inlined, struct kl_kplace *out,
		      char *why, size_t size)
{
	struct kl_func f;

	if (*s->why || !s->symbol || !s->owner) {
		snprintf(why, size, "%s inlined at %s+0x%llx: %s", inlined, s->symbol ? s->symbol :
			 s->in, (unsigned long long)s->offset, *s->why ? s->why :
			 "its code has no symbol");
		return -EOPNOTSUPP;
	}
	if (kl_func_find(k, s->symbol, module[0] ? module : NULL, &f) || f.copies != 1 ||
	    strcmp(f.module, module)) {
		snprintf(why, size, "the kernel has no symbol '%s', or several", s->symbol);
		return -EOPNOTSUPP;
	}
	*out = (struct kl_kplace){
		.symbol = s->symbol, .owner = s->owner, .offset = s->offset, .site = s,
		.debug = d,
		.linked = f.addr && kl_debug_linked(d),
		.load_bias = f.addr - (s->entry - s->offset),
	};
	snprintf(out->module, sizeof(out->module), "%s", module);
	return 0;
}

static int find_inlined(struct kl_kernel *k, const char *inlined, const char *name,
			const char *module, struct kl_kplace *out, unsigned int *n, char *why,
			size_t size)
{
	const struct kl_sites *sites;
	struct kl_debug *d;
	struct kl_func f;
	size_t i;
	/* A function that is inlined everywhere has no symbol; assume it is in @module. */
	const char *in_module = !kl_func_find(k, name, module, &f) ? f.module :
				module ? module : "";
	int err = open_debug(k, in_module, &d, why, size);

	if (err)
		return err;
	err = find_sites(k, d, inlined, name, &sites);
	if (err) {
		snprintf(why, size, "its debugging information cannot be read: %s", strerror(-err));
		return err;
	}
	if (!sites->n) {
		snprintf(why, size, "'%s' is not inlined in '%s'; `klin sites %s' lists where it "
			 "is",
			 inlined, name, inlined);
		return -ENOENT;
	}
	if (sites->n > KL_PLACES_MAX) {
		snprintf(why, size, "'%s' is inlined at %zu places in '%s'; at most %u can be "
			 "recorded",
			 inlined, sites->n, name, KL_PLACES_MAX);
		return -EOPNOTSUPP;
	}
	for (i = 0; i < sites->n && !err; i++)
		err = make_place(k, d, in_module, &sites->site[i], inlined, &out[i], why, size);
	*n = sites->n;
	return err;
}

int kl_place_of_site(struct kl_kernel *k, const char *module, const struct kl_site *s,
		     const char *inlined, struct kl_kplace *out, char *why, size_t size)
{
	struct kl_debug *d;
	int err = open_debug(k, module, &d, why, size);

	return err ? err : make_place(k, d, module, s, inlined, out, why, size);
}

static int ensure_places(struct kl_kernel *k, char *why, size_t size)
{
	if (!k->places)
		k->places = calloc(1, sizeof(*k->places));
	if (k->places)
		return 0;
	snprintf(why, size, "out of memory");
	return -ENOMEM;
}

int kl_debug_instances(struct kl_kernel *k, const char *name, const char *module,
		       const struct kl_sites **out, char *why, size_t size)
{
	struct kl_debug *d;
	int err = ensure_places(k, why, size) ?: open_debug(k, module, &d, why, size);

	if (err)
		return err;
	err = find_sites(k, d, name, NULL, out);
	if (err)
		snprintf(why, size, "its debugging information cannot be read: %s", strerror(-err));
	return err;
}

/*
 * Copy fetches.  Inlined code has no return, so values that a fetch reads at the return become
 * unknown.
 */
static void copy_fetches(struct kl_fetch *to, const struct kl_fetch *from, unsigned int n)
{
	static const struct kl_expr unknown = { .kind = KL_E_UNKNOWN, .name = "unknown" };
	unsigned int i;

	for (i = 0; i < n; i++) {
		to[i] = from[i];
		if (to[i].at_return)
			to[i].expr = &unknown;
		to[i].at_return = false;
	}
}

const struct kl_probe_target *kl_target_inlined(struct kl_kernel *k,
						const struct kl_probe_target *t, const char *in)
{
	struct derived *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->next = k->places->derived;
	k->places->derived = d;
	d->target = *t;
	d->target.inlined = t->name;
	d->target.ninlined = t->nparams;
	d->target.name = in;
	d->target.point = NULL;
	copy_fetches(d->args, t->args, t->nargs);
	copy_fetches(d->results, t->results, t->nresults);
	d->target.args = d->args;
	d->target.results = d->results;
	return &d->target;
}

/* Return: bytes from a function to the next symbol, UINT64_MAX if unknown. */
static uint64_t func_size(const struct kl_kernel *k, const struct kl_func *f)
{
	uint64_t end = UINT64_MAX;
	size_t i;

	for (i = 0; f->addr && i < k->nsyms; i++)
		if (k->syms[i].addr > f->addr && k->syms[i].addr < end)
			end = k->syms[i].addr;
	return end == UINT64_MAX ? end : end - f->addr;
}

int kl_places_find(struct kl_kernel *k, const char *inlined, const char *name,
		   const char *module, uint64_t offset, struct kl_kplace *out, unsigned int *n,
		   char *why, size_t size)
{
	struct kl_func f;
	int err;

	if (ensure_places(k, why, size))
		return -ENOMEM;
	if (inlined)
		return find_inlined(k, inlined, name, module, out, n, why, size);
	err = find_function(k, name, module, &f, why, size);
	if (err)
		return err;
	if (offset >= func_size(k, &f)) {
		/* The kernel would probe another function there. */
		snprintf(why, size, "'%s' ends before +0x%llx: the next symbol is at +0x%llx", name,
			 (unsigned long long)offset, (unsigned long long)func_size(k, &f));
		return -EOPNOTSUPP;
	}
	*n = 1;
	out[0] = (struct kl_kplace){ .symbol = name, .owner = name, .offset = offset };
	snprintf(out[0].module, sizeof(out[0].module), "%s", f.module);
	return 0;
}

void kl_places_free(struct kl_kernel *k)
{
	struct derived *d;
	struct lookup *l;
	struct opened *o;

	if (!k->places)
		return;
	while ((l = k->places->lookups)) {
		k->places->lookups = l->next;
		kl_sites_free(&l->sites);
		free(l->inlined);
		free(l->in);
		free(l);
	}
	while ((d = k->places->derived)) {
		k->places->derived = d->next;
		free(d);
	}
	while ((o = k->places->opened)) {
		k->places->opened = o->next;
		kl_debug_close(o->debug);
		free(o);
	}
	free(k->places);
	k->places = NULL;
}
