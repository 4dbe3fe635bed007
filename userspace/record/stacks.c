// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel stacks of calls.  The programs keep each different stack once, in a map of the
 * kernel, and an event has its number.  Here each stack gets a text, by the symbols that
 * /proc/kallsyms has when the first stack is seen.  All programs are attached by then, so their own
 * frames have symbols, too, and can be left out.  No verdict depends on stacks.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "history/spell.h"
#include "record/recorder.h"

/* A recording's history has so many different stacks; later ones are not kept. */
#define MOST_STACKS	4096

/*
 * An address so far behind a symbol is not in that function, but in code without a symbol, such as
 * a BPF program that was loaded later.
 */
#define FAR	0x10000

struct kl_stacks {
	int fd;
	uint16_t *number;	/* by id: its number in the history, or 0 */
	uint16_t last;		/* the last number that was given */
	uint64_t without;	/* number of calls without a stack */
	bool read;		/* the symbols were read */
	char *text;
	struct kl_ksym *syms;	/* by address */
	size_t n, cap;
};

int kl_stacks_open(struct kl_recorder *r)
{
	struct kl_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	r->stacks = s;
	s->number = calloc(KLIN_STACKS, sizeof(*s->number));
	s->fd = bpf_map_create(BPF_MAP_TYPE_STACK_TRACE, "klin_stacks", sizeof(uint32_t),
			       KLIN_FRAMES * sizeof(uint64_t), KLIN_STACKS, NULL);
	return !s->number ? -ENOMEM : s->fd < 0 ? s->fd : 0;
}

void kl_stacks_close(struct kl_recorder *r)
{
	struct kl_stacks *s = r->stacks;

	if (!s)
		return;
	if (s->without)
		kl_warn("--stacks: %" PRIu64 " of %" PRIu64 " calls have no stack: there are too many "
			"different ones, or two with the same hash", s->without, r->ops);
	if (s->fd >= 0)
		close(s->fd);
	free(s->number);
	free(s->syms);
	free(s->text);
	free(s);
	r->stacks = NULL;
}

int kl_stacks_fd(const struct kl_recorder *r)
{
	return r->stacks ? r->stacks->fd : -1;
}

/* Read the symbols of code.  Without them frames are addresses. */
static int read_symbols(struct kl_stacks *s)
{
	struct kl_ksym sym;
	size_t len;
	bool code;
	char *at;
	int err;

	s->read = true;
	err = kl_read_file("/proc/kallsyms", &s->text, &len);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (at = s->text; kl_ksym_next(&at, &sym, &code);) {
		/* A hidden address is 0. */
		if (!code || !sym.addr)
			continue;
		err = kl_grow(s->syms, s->cap, s->n + 1);
		if (err)
			return err;
		s->syms[s->n++] = sym;
	}
	if (s->n)
		qsort(s->syms, s->n, sizeof(*s->syms), kl_ksym_compare);
	return 0;
}

int kl_recorder_read_ahead(struct kl_recorder *r)
{
	return r->stacks && !r->stacks->read ? read_symbols(r->stacks) : 0;
}

/* Return: the symbol of the function that has the address, or NULL if it is not known. */
static const struct kl_ksym *symbol_of(const struct kl_stacks *s, uint64_t addr)
{
	size_t low = 0, high = s->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->syms[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	/* If several symbols have the address, the first one is taken. */
	while (low > 1 && s->syms[low - 2].addr == s->syms[low - 1].addr)
		low--;
	return low && addr - s->syms[low - 1].addr < FAR ? &s->syms[low - 1] : NULL;
}

/* Return: true for a BPF program, or a trampoline that runs one around a function. */
static bool is_bpf(const struct kl_ksym *sym)
{
	return sym && sym->module && !strcmp(sym->module, "bpf");
}

/* Return: true for code that runs klin's program, between the recorded call and the program. */
static bool is_probe(const struct kl_ksym *sym)
{
	static const char *const prefixes[] = {
		"bpf_get_stackid", "bpf_trace_run", "__bpf_trace_", "__traceiter_", "trace_call_bpf",
		"klin_trace_", "kprobe_", "kretprobe_", "ftrace_",
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(sym->name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/*
 * Write the frames of a stack as spell.h says.  A function that a trampoline calls is on the stack
 * twice: its body, and below the trampoline its first instruction, which called the trampoline.
 */
static void print_stack(const struct kl_stacks *s, const uint64_t *ip, char *buf, size_t size)
{
	const struct kl_ksym *sym = NULL, *above, *body = NULL;
	bool begun = false;
	size_t len = 0;
	int i;

	*buf = '\0';
	for (i = 0; i < KLIN_FRAMES && ip[i] && len < size; i++) {
		above = sym;
		sym = symbol_of(s, ip[i]);
		if (is_bpf(sym) || (!begun && sym && is_probe(sym)))
			continue;
		if (is_bpf(above) && sym && sym == body)
			continue;
		body = sym;
		if (sym)
			len += snprintf(buf + len, size - len, "%s%s+0x%" PRIx64 "%s%s%s",
					begun ? "; " : "", sym->name, ip[i] - sym->addr,
					sym->module ? " [" : "", sym->module ? sym->module : "",
					sym->module ? "]" : "");
		else
			len += snprintf(buf + len, size - len, "%s0x%" PRIx64, begun ? "; " : "",
					ip[i]);
		begun = true;
	}
}

int kl_stacks_add(struct kl_recorder *r, const struct klin_event *ev)
{
	const struct kl_clause *c = &r->clauses[ev->probe];
	const uint32_t told = ev->flags >> KLIN_STACK_SHIFT, id = told - 1;
	uint64_t ip[KLIN_FRAMES] = { 0 };
	struct kl_stacks *s = r->stacks;
	char text[KLIN_FRAMES * 96];
	int err;

	if (!s || (!c->tracepoint && !c->conf.stacks) || (!told && ev->flags & KLIN_F_NOCALL))
		return 0;
	if (!told || told > KLIN_STACKS || (!s->number[id] && s->last == MOST_STACKS)) {
		s->without++;
		return 0;
	}
	if (!s->number[id]) {
		err = kl_recorder_read_ahead(r);
		if (err)
			return err;
		s->number[id] = ++s->last;
		*text = '\0';
		if (!bpf_map_lookup_elem(s->fd, &id, ip))
			print_stack(s, ip, text, sizeof(text));
		err = *text ? kl_history_spell_kind(r->h, KL_SPELLED_STACK, s->number[id], text,
						    strlen(text)) : 0;
		if (err)
			return err;
	}
	return kl_history_set_stack(r->h, r->h->nops - 1, s->number[id]);
}
