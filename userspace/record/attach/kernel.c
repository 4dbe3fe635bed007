// SPDX-License-Identifier: GPL-2.0
/* Reads the functions, types and limits of a kernel, see kernel.h. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "record/attach/btf_check.h"
#include "record/attach/kernel.h"
#include "record/attach/module.h"
#include "record/attach/place.h"
#include "record/attach/prototypes.h"

/* Read available_filter_functions, whose lines are "NAME" or "NAME [MODULE]". */
static int read_traceable(struct kl_kernel *k)
{
	char path[64], *line, *next, *bracket;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/available_filter_functions", k->tracefs);
	err = kl_read_file(path, &k->text, &len);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (line = k->text; *line; line = next) {
		char *module = NULL;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		bracket = strchr(line, ' ');
		if (bracket) {
			*bracket++ = '\0';
			module = bracket + (*bracket == '[');
			module[strcspn(module, "]")] = '\0';
		}
		err = kl_grow(k->traceable, k->ctraceable, k->ntraceable + 1);
		if (err)
			return err;
		k->traceable[k->ntraceable++] = (struct kl_traceable){ line, module };
	}
	return 0;
}

bool kl_ksym_next(char **text, struct kl_ksym *s, bool *code)
{
	char *line, *name, *module;

	while (**text) {
		line = *text;
		*text += strcspn(line, "\n");
		if (**text)
			*(*text)++ = '\0';
		s->addr = strtoull(line, &name, 16);
		if (name[0] != ' ' || !name[1] || name[2] != ' ')
			continue;
		*code = strchr("tTwW", name[1]);
		if (!*code && !strchr("dDbBrRvV", name[1]))
			continue;
		s->name = name += 3;
		module = strchr(name, '\t');
		if (module) {
			*module++ = '\0';
			module += *module == '[';
			module[strcspn(module, "]")] = '\0';
		}
		s->module = module;
		return true;
	}
	return false;
}

/* Read symbols of code and data. */
static int read_symbols(struct kl_kernel *k, const char *path)
{
	struct kl_ksym s;
	bool code;
	char *at;
	size_t len;
	int err;

	err = kl_read_file(path, &k->symtext, &len);
	if (err)
		return err;
	for (at = k->symtext; kl_ksym_next(&at, &s, &code);) {
		/* The code of BPF programs cannot be probed. */
		if (s.module && !strcmp(s.module, "bpf"))
			continue;
		err = code ? kl_grow(k->syms, k->csyms, k->nsyms + 1) :
			     kl_grow(k->vars, k->cvars, k->nvars + 1);
		if (err)
			return err;
		*(code ? &k->syms[k->nsyms++] : &k->vars[k->nvars++]) = s;
	}
	return 0;
}

int kl_ksym_compare(const void *a, const void *b)
{
	const struct kl_ksym *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

const char *kl_kernel_variable(struct kl_kernel *k, uint64_t addr)
{
	const struct kl_ksym key = { .addr = addr }, *found;

	/* A hidden address is 0. */
	if (!addr || !k->nvars)
		return NULL;
	if (!k->sorted)
		qsort(k->vars, k->nvars, sizeof(*k->vars), kl_ksym_compare);
	k->sorted = true;
	found = bsearch(&key, k->vars, k->nvars, sizeof(*k->vars), kl_ksym_compare);
	return found ? found->name : NULL;
}

uint64_t kl_kernel_address(const struct kl_kernel *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->nvars; i++)
		if (!k->vars[i].module && !strcmp(k->vars[i].name, name))
			return k->vars[i].addr;
	return 0;
}

/* Read the functions that ftrace manages, and the symbols of all functions. */
static int read_functions(struct kl_kernel *k)
{
	int err = k->tracefs ? read_traceable(k) : 0;

	if (err)
		return err;
	err = read_symbols(k, "/proc/kallsyms");
	return err == -ENOMEM ? err : 0;
}

int kl_kernel_open(bool functions, struct kl_kernel **out)
{
	libbpf_print_fn_t old;
	struct kl_kernel *k = calloc(1, sizeof(*k));
	struct utsname uts;
	int err;

	if (!k)
		return -ENOMEM;
	if (!uname(&uts))
		snprintf(k->release, sizeof(k->release), "%s", uts.release);
	if (!access("/sys/kernel/tracing/available_filter_functions", R_OK))
		k->tracefs = "/sys/kernel/tracing";
	else if (!access("/sys/kernel/debug/tracing/available_filter_functions", R_OK))
		k->tracefs = "/sys/kernel/debug/tracing";
	err = functions ? read_functions(k) : 0;
	if (err)
		goto err;
	/* Whoever needs BTF reports in its own words that there is none. */
	old = libbpf_set_print(NULL);
	errno = 0;
	k->btf = btf__load_vmlinux_btf();
	err = k->btf || errno != ENOMEM ? 0 : -ENOMEM;
	libbpf_set_print(old);
	if (err)
		goto err;
	k->preemption = kl_preemption();
	*out = k;
	return 0;
err:
	kl_kernel_close(k);
	return err;
}

static int read_btf_functions(struct kl_kernel *k)
{
	uint32_t id, n = btf__type_cnt(k->btf);
	int err;

	for (id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(k->btf, id);

		if (!btf_is_func(t))
			continue;
		err = kl_grow(k->syms, k->csyms, k->nsyms + 1);
		if (err)
			return err;
		k->syms[k->nsyms++] = (struct kl_ksym){
			.name = btf__name_by_offset(k->btf, t->name_off) };
	}
	return 0;
}

/*
 * Return: the errno of a failed btf__parse().  When libelf runs out of memory, libbpf reports an
 * unknown file format instead.  libelf has no public number for this error, only a message.  The
 * message is not translated, since klin sets no locale for messages.
 */
static int btf_errno(void)
{
	const int failed = errno, elf = elf_errno();

	return elf && !strcmp(elf_errmsg(elf), "out of memory") ? ENOMEM : failed;
}

int kl_kernel_open_files(const char *btf, const char *symbols, struct kl_kernel **out)
{
	struct kl_kernel *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->offline = true;
	snprintf(k->release, sizeof(k->release), "%s", btf);
	/* libbpf would print messages of its own about a file of another format. */
	libbpf_set_print(NULL);
	elf_errno();
	errno = 0;
	k->btf = btf__parse(btf, NULL);
	if (!k->btf) {
		const int failed = btf_errno();

		/*
		 * libbpf's result may be the same for a damaged file and a failure of the system.
		 */
		err = kl_ending_input(-failed);
		if (err == -ENOMEM)
			goto err;
		kl_err("%s: %s", btf, err != -EINVAL ? strerror(failed) :
		       access(btf, R_OK) ? strerror(errno) :
		       "expected BTF, or an ELF file with BTF");
		goto err;
	}
	err = kl_btf_check(k->btf);
	if (err == -EINVAL)
		kl_err("%s: damaged BTF: a type is not aligned, has no end, or refers to a missing "
		       "name or type", btf);
	if (err)
		goto err;
	err = symbols ? read_symbols(k, symbols) : read_btf_functions(k);
	if (!err && !k->nsyms)
		err = -ENODATA;
	if (err && err != -ENOMEM) {
		kl_err("%s: expected symbols as in /proc/kallsyms: %s", symbols ? symbols : btf,
		       strerror(-err));
		err = kl_ending_input(err);
	}
	if (err)
		goto err;
	*out = k;
	return 0;
err:
	kl_kernel_close(k);
	return err;
}

void kl_kernel_close(struct kl_kernel *k)
{
	size_t i;

	if (!k)
		return;
	kl_places_free(k);
	for (i = 0; i < k->nmods; i++) {
		btf__free(k->mods[i].btf);
		free(k->mods[i].name);
	}
	free(k->mods);
	btf__free(k->btf);
	free(k->traceable);
	free(k->text);
	free(k->syms);
	free(k->vars);
	free(k->symtext);
	free(k);
}

struct btf *kl_kernel_btf(struct kl_kernel *k, const char *module)
{
	char path[128];
	size_t i;

	if (!module || !k->btf)
		return k->btf;
	/* The BTF of this machine's modules refers to types of this machine's kernel. */
	if (k->offline)
		return NULL;
	for (i = 0; i < k->nmods; i++)
		if (!strcmp(k->mods[i].name, module))
			return k->mods[i].btf;
	if (kl_grow(k->mods, k->cmods, k->nmods + 1))
		return NULL;
	k->mods[i].name = strdup(module);
	if (!k->mods[i].name)
		return NULL;
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	k->mods[i].btf = access(path, R_OK) ? NULL : btf__load_module_btf(module, k->btf);
	k->nmods++;
	return k->mods[i].btf;
}

void kl_kernel_all_btf(struct kl_kernel *k)
{
	DIR *dir = k->offline ? NULL : opendir("/sys/kernel/btf");
	const struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.' && strcmp(d->d_name, "vmlinux"))
			kl_kernel_btf(k, d->d_name);
	if (dir)
		closedir(dir);
}

static bool is_traceable(const struct kl_kernel *k, const struct kl_func *f)
{
	size_t i;

	if (k->offline)
		return true;
	/* A recording looks up few of many thousand functions; sorting them would take longer. */
	for (i = 0; i < k->ntraceable; i++) {
		const struct kl_traceable *t = &k->traceable[i];

		if (!strcmp(t->name, f->name) && !strcmp(t->module ? t->module : "", f->module))
			return true;
	}
	return false;
}

/* Search kprobes/blacklist, whose lines are "FROM-TO NAME". */
static bool is_blacklisted(const char *name)
{
	char *data, *at;
	size_t len, n = strlen(name);
	bool found = false;

	if (kl_read_file("/sys/kernel/debug/kprobes/blacklist", &data, &len))
		return false;
	for (at = data; !found && (at = strstr(at, name)); at += n)
		found = at > data && (at[-1] == '\t' || at[-1] == ' ') &&
			(at[n] == '\n' || !at[n]);
	free(data);
	return found;
}

int kl_func_find(struct kl_kernel *k, const char *name, const char *module, struct kl_func *out)
{
	const struct btf *btf;
	size_t i;
	int id;

	memset(out, 0, sizeof(*out));
	out->name = name;
	for (i = 0; i < k->nsyms; i++) {
		const struct kl_ksym *s = &k->syms[i];

		if (strcmp(s->name, name) ||
		    (module && (!s->module || strcmp(s->module, module))))
			continue;
		/* Functions of the kernel itself come first in the list, and are preferred. */
		if (out->copies && !out->module[0] && s->module)
			break;
		out->copies++;
		out->addr = s->addr;
		snprintf(out->module, sizeof(out->module), "%s", s->module ? s->module : "");
	}
	if (!out->copies)
		return -ENOENT;
	out->traceable = is_traceable(k, out);
	out->ftrace_unknown = kl_kernel_ftrace_unknown(k);
	out->preemptible = kl_kernel_preemptible(k);
	out->blacklisted = !k->offline && is_blacklisted(name);
	btf = kl_kernel_btf(k, out->module[0] ? out->module : NULL);
	id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : -ENOENT;
	out->btf = btf;
	if (id > 0) {
		out->proto_id = btf__type_by_id(btf, id)->type;
		out->proto = btf__type_by_id(btf, out->proto_id);
		out->types_differ = kl_prototypes_count(btf, name) > 1;
	}
	return 0;
}

/* Return: the reason why fentry cannot read the arguments or the result, or NULL. */
static const char *bad_signature(const struct kl_func *f)
{
	const struct btf_param *p = btf_params(f->proto);
	const struct btf_type *t;
	unsigned int i, n = btf_vlen(f->proto);

	if (n && !p[n - 1].type)
		return "a variable number of arguments";
	if (n > 6)
		return "more than six arguments";
	for (i = 0; i < n; i++) {
		t = btf__type_by_id(f->btf, p[i].type);
		while (t && (btf_is_mod(t) || btf_is_typedef(t)))
			t = btf__type_by_id(f->btf, t->type);
		if (t && btf_is_composite(t))
			return "a struct passed by value";
	}
	t = btf__type_by_id(f->btf, f->proto->type);
	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(f->btf, t->type);
	if (t && btf_is_composite(t))
		return "a struct returned by value";
	return NULL;
}

/*
 * Choose fentry for a function that allows it.  If the kernel may preempt fentry programs, choose
 * a kprobe, unless kprobes refuse the function.
 */
static enum kl_way fentry_way(const struct kl_func *f, char *why, size_t size)
{
	if (!f->preemptible)
		return KL_WAY_FENTRY;
	snprintf(why, size, f->blacklisted ?
		 "fentry misses calls, since the kernel is preemptible, and kprobes refuse the "
		 "function" :
		 "fentry would miss calls, since the kernel is preemptible");
	if (f->blacklisted)
		return KL_WAY_FENTRY;
	/* Inside bpf(2), the kernel's kprobes do not run BPF programs, but klin.ko's kprobes do. */
	return kl_module_probes() ? KL_WAY_MODULE : KL_WAY_KPROBE;
}

static const char no_module_btf[] =
	" (its module was built without BTF, which `tools/btf MODULE.ko' adds, or --btf= names the "
	"BTF of another kernel)";

enum kl_way kl_func_way(const struct kl_func *f, char *why, size_t size)
{
	const char *bad = f->proto ? bad_signature(f) : NULL;
	const char *untraceable =
		f->ftrace_unknown ?
			"not known to be traceable: tracefs cannot be read (needs root)" :
			"not traceable: ftrace does not manage it (notrace, or its directory is built "
			"without ftrace)";

	why[0] = '\0';
	if (f->proto && f->types_differ && f->copies == 1) {
		char all[400];

		kl_prototypes_text(f, all, sizeof(all));
		snprintf(why, size, "BTF has %u functions of this name, with different types, and "
			 "does not show which one has the symbol%s",
			 kl_prototypes_count(f->btf, f->name), all);
		return KL_WAY_NONE;
	}
	if (f->proto && f->traceable && !bad && f->copies == 1)
		return fentry_way(f, why, size);
	if (!f->btf && !f->module[0])
		snprintf(why, size, "the kernel has no BTF, which CONFIG_DEBUG_INFO_BTF gives it");
	else if (!f->proto)
		snprintf(why, size, "no BTF for it%s", f->module[0] ? no_module_btf : "");
	else if (!f->traceable)
		snprintf(why, size, "%s", untraceable);
	else if (f->copies > 1)
		snprintf(why, size, "%u functions have this name", f->copies);
	else
		snprintf(why, size, "%s", bad);
	if (!f->proto || f->blacklisted || f->copies > 1)
		return KL_WAY_NONE;
	if (f->traceable)
		return KL_WAY_KPROBE;
	if (kl_module_probes())
		return KL_WAY_MODULE;
	snprintf(why, size, "%s; klin.ko, which is not loaded, could attach to it", untraceable);
	return KL_WAY_NONE;
}

bool kl_module_probes(void)
{
	return !access(KL_MODULE_DIR "probes", W_OK);
}

struct nearest {
	const char *name;
	unsigned int max;
	char found[3][128];
	unsigned int distance[3], n;
};

static void add_near(struct nearest *s, const char *name)
{
	unsigned int d = kl_name_distance(s->name, name, s->max), i, j;

	/* A name with GCC's suffix .isra or .constprop is near, too. */
	if (d > s->max && !strncmp(name, s->name, strlen(s->name)) &&
	    name[strlen(s->name)] == '.')
		d = 0;
	if (d > s->max || strlen(name) >= sizeof(s->found[0]))
		return;
	for (i = 0; i < s->n; i++)
		if (!strcmp(s->found[i], name))
			return;
	for (i = 0; i < s->n && s->distance[i] <= d; i++)
		;
	if (i == 3)
		return;
	if (s->n < 3)
		s->n++;
	for (j = s->n - 1; j > i; j--) {
		strcpy(s->found[j], s->found[j - 1]);
		s->distance[j] = s->distance[j - 1];
	}
	strcpy(s->found[i], name);
	s->distance[i] = d;
}

void kl_func_suggest(struct kl_kernel *k, const char *name, char *buf, size_t size)
{
	struct nearest s = { .name = name, .max = kl_name_slack(name) };
	size_t len = 0, j;
	unsigned int i;

	buf[0] = '\0';
	for (j = 0; j < k->nsyms; j++)
		add_near(&s, k->syms[j].name);
	for (i = 0; i < s.n && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s",
				!i ? "" :
				i + 1 == s.n ? " or " :
				", ",
				s.found[i]);
}

const char *kl_lockdown(void)
{
	const char *level = "none";
	char *data;
	size_t len;

	if (kl_read_file("/sys/kernel/security/lockdown", &data, &len))
		return level;
	if (strstr(data, "[integrity]"))
		level = "integrity";
	else if (strstr(data, "[confidentiality]"))
		level = "confidentiality";
	free(data);
	return level;
}
