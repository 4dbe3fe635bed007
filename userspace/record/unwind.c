// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which tasks are inside a function, from stacks and the kernel's code; see unwind.h.
 *
 * A stack does not show every function.  /proc/PID/stack omits functions of .sched.text, such as
 * mutex_lock(), and a function that ended in a jump to another one has no frame any more.  Such
 * functions may be between two frames of the stack.  The instruction before the outer frame's
 * return address names the function that was called.  The code of that function shows which
 * functions it calls and jumps to.
 *
 * Calls through pointers in .sched.text are assumed not to lead to the function in question: they
 * are schedule_timeout(), bit_wait() and similar functions.
 */
#include <bpf/btf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "dwarf/insn.h"
#include "record/unwind.h"

#define LONGEST	0x10000	/* maximal size of a function in bytes */
#define NOWHERE	UINT32_MAX	/* unknown function */

/* A call or jump to code[@to]. */
struct edge {
	uint32_t to;
	bool call;
};

/* The code from one symbol's address to the next symbol's address, usually a function. */
struct code {
	uint64_t addr;
	const struct kl_ksym *sym;	/* a symbol at this address */
	struct edge *edges;
	size_t nedges, cedges;
	bool scanned;
	bool anywhere; /* the code jumps to an unknown address */
	bool looked; /* btf and proto were looked up */
	const struct btf *btf; /* the BTF of the function's module or the kernel, or NULL */
	const struct btf_type *proto; /* the function's FUNC_PROTO, or NULL if BTF has none */
};

/* A symbol's name, as an entry of the hash table. */
struct name {
	const struct kl_ksym *sym;
	uint32_t code; /* index in code[] */
	uint32_t next;		/* next name with this hash, not at a lower address; or NOWHERE */
};

/* A segment of /proc/kcore: addresses of the kernel's memory, and their offset in the file. */
struct segment {
	uint64_t addr, size, offset;
};

struct kl_callees {
	const struct kl_kernel *k;
	int fd;
	struct segment *segments;
	size_t nsegments, csegments;
	struct code *code;	/* by address */
	uint32_t ncode;
	struct name *names;	/* by address */
	/* first name with each hash, or NOWHERE; NULL before the first look-up */
	uint32_t *hashed;
	uint32_t nnames, mask;
	uint64_t sched_from, sched_to;
	bool orc;		/* samples contain the caller of a function that has no frame yet */
	/*
	 * for leads(): functions in the order of the search; for each function, the number of the
	 * last search that found it; the number of the current search
	 */
	uint32_t *found, *stamps;
	uint32_t stamp;
};

static int by_address(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return (x->sym->addr > y->sym->addr) - (x->sym->addr < y->sym->addr);
}

static int take_symbols(struct kl_callees *c, const struct kl_kernel *k)
{
	size_t i;

	c->names = calloc(k->nsyms + 1, sizeof(*c->names));
	c->code = calloc(k->nsyms + 1, sizeof(*c->code));
	c->found = calloc(k->nsyms + 1, sizeof(*c->found));
	c->stamps = calloc(k->nsyms + 1, sizeof(*c->stamps));
	if (!c->names || !c->code || !c->found || !c->stamps)
		return -ENOMEM;
	for (i = 0; i < k->nsyms; i++) {
		const struct kl_ksym *s = &k->syms[i];

		if (!s->addr)
			return -EPERM;
		c->names[c->nnames++].sym = s;
		if (!strcmp(s->name, "__sched_text_start"))
			c->sched_from = s->addr;
		else if (!strcmp(s->name, "__sched_text_end"))
			c->sched_to = s->addr;
		else if (!strcmp(s->name, "unwind_module_init"))
			c->orc = true;
	}
	if (!c->sched_from || !c->sched_to)
		return -EPERM;
	qsort(c->names, c->nnames, sizeof(*c->names), by_address);
	for (i = 0; i < c->nnames; i++) {
		const struct kl_ksym *s = c->names[i].sym;

		if (!c->ncode || c->code[c->ncode - 1].addr != s->addr)
			c->code[c->ncode++] = (struct code){ .addr = s->addr, .sym = s };
		c->names[i].code = c->ncode - 1;
	}
	return 0;
}

static uint32_t hash_of(const char *name, size_t len)
{
	uint32_t h = 2166136261;	/* FNV-1a */

	while (len--)
		h = (h ^ (uint8_t)*name++) * 16777619;
	return h;
}

/* Hash the names.  Only stacks of names need the hashes, not stacks of addresses. */
static int hash_names(struct kl_callees *c)
{
	uint32_t i, *at;

	if (c->hashed)
		return 0;
	for (c->mask = 1; c->mask < c->nnames; c->mask = c->mask * 2 + 1)
		;
	c->hashed = malloc((c->mask + 1) * sizeof(*c->hashed));
	if (!c->hashed)
		return -ENOMEM;
	memset(c->hashed, 0xff, (c->mask + 1) * sizeof(*c->hashed));
	for (i = c->nnames; i-- > 0; *at = i) {
		const char *name = c->names[i].sym->name;

		at = &c->hashed[hash_of(name, strlen(name)) & c->mask];
		c->names[i].next = *at;
	}
	return 0;
}

static int read_at(int fd, void *to, size_t size, uint64_t offset)
{
	ssize_t n = pread(fd, to, size, offset);

	return n < 0 ? -errno : (size_t)n < size ? -EIO : 0;
}

static int take_segments(struct kl_callees *c)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned int i;
	int err = read_at(c->fd, &eh, sizeof(eh), 0);

	if (err)
		return err;
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_machine != EM_X86_64 || eh.e_phentsize != sizeof(ph))
		return -ENOEXEC;
	for (i = 0; i < eh.e_phnum; i++) {
		err = read_at(c->fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph));
		if (!err)
			err = kl_grow(c->segments, c->csegments, c->nsegments + 1);
		if (err)
			return err;
		if (ph.p_type == PT_LOAD)
			c->segments[c->nsegments++] =
				(struct segment){ ph.p_vaddr, ph.p_memsz, ph.p_offset };
	}
	return 0;
}

/* Read @size bytes at @addr.  Return: the number of bytes that could be read. */
static size_t read_code(const struct kl_callees *c, uint64_t addr, uint8_t *to, size_t size)
{
	const struct segment *s;
	ssize_t n;

	for (s = c->segments; s < c->segments + c->nsegments; s++) {
		if (addr < s->addr || addr - s->addr >= s->size)
			continue;
		if (size > s->size - (addr - s->addr))
			size = s->size - (addr - s->addr);
		n = pread(c->fd, to, size, s->offset + (addr - s->addr));
		return n < 0 ? 0 : n;
	}
	return 0;
}

int kl_callees_open(const struct kl_kernel *k, const char *core, struct kl_callees **out)
{
	struct kl_callees *c = calloc(1, sizeof(*c));
	uint8_t byte;
	int err;

	if (!c)
		return -ENOMEM;
	c->k = k;
	c->fd = open(core, O_RDONLY | O_CLOEXEC);
	err = c->fd < 0 ? -errno : take_symbols(c, k) ?: take_segments(c);
	if (!err && !read_code(c, c->sched_from, &byte, 1))
		err = -EIO;
	if (err) {
		kl_callees_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void kl_callees_free(struct kl_callees *c)
{
	uint32_t i;

	if (!c)
		return;
	for (i = 0; i < c->ncode; i++)
		free(c->code[i].edges);
	if (c->fd >= 0)
		close(c->fd);
	free(c->segments);
	free(c->code);
	free(c->names);
	free(c->hashed);
	free(c->found);
	free(c->stamps);
	free(c);
}

static size_t size_of(const struct kl_callees *c, uint32_t i)
{
	uint64_t size = i + 1 < c->ncode ? c->code[i + 1].addr - c->code[i].addr : LONGEST;

	return size < LONGEST ? size : LONGEST;
}

static bool is_sched(const struct kl_callees *c, uint32_t i)
{
	return c->code[i].addr >= c->sched_from && c->code[i].addr < c->sched_to;
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Return: the code that contains @addr, or NOWHERE. */
static uint32_t find(const struct kl_callees *c, uint64_t addr)
{
	uint32_t from = 0, to = c->ncode, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (c->code[mid].addr <= addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from && addr - c->code[from - 1].addr < size_of(c, from - 1) ? from - 1 : NOWHERE;
}

/*
 * Return: the function that a call or jump to @addr enters, or NOWHERE.  The address may be in the
 * padding before the function, or after the function's endbr64.
 */
static uint32_t find_start(const struct kl_callees *c, uint64_t addr)
{
	uint32_t i = find(c, addr);

	if (i == NOWHERE)
		return NOWHERE;
	if (begins(c->code[i].sym->name, "__pfx_") && i + 1 < c->ncode)
		return i + 1;
	return addr == c->code[i].addr || addr == c->code[i].addr + 4 ? i : NOWHERE;
}

static int add_edge(struct kl_callees *c, struct code *s, uint32_t to, bool call)
{
	const char *name = c->code[to].sym->name;
	int err;

	if (&c->code[to] == s || strstr(name, "return_thunk"))
		return 0;
	/* These are copies of instructions under kprobes, which continue in their function. */
	if (c->code[to].sym->module && begins(c->code[to].sym->module, "__builtin__"))
		return 0;
	if (begins(name, "__x86_indirect_")) {
		s->anywhere |= !call;
		return 0;
	}
	err = kl_grow(s->edges, s->cedges, s->nedges + 1);
	if (!err)
		s->edges[s->nedges++] = (struct edge){ to, call };
	return err;
}

static int32_t rel32(const uint8_t *at)
{
	int32_t rel;

	memcpy(&rel, at, sizeof(rel));
	return rel;
}

/*
 * Find calls and jumps to the begin of a function, at any byte.  Bytes that only look like a call
 * hardly ever lead to the begin of a function.  A breakpoint may be on the opcode's first byte.
 */
static int scan_bytes(struct kl_callees *c, struct code *s, const uint8_t *b, size_t n)
{
	size_t at;
	uint32_t to;
	int err = 0;

	for (at = 0; !err && at + 5 <= n; at++) {
		if (b[at] == 0xe8 || b[at] == 0xe9 || b[at] == 0xcc) {
			to = find_start(c, s->addr + at + 5 + rel32(b + at + 1));
			if (to != NOWHERE)
				err = add_edge(c, s, to, b[at] == 0xe8);
		}
		if (!err && at + 6 <= n && (b[at] == 0x0f || b[at] == 0xcc) &&
		    (b[at + 1] & 0xf0) == 0x80) {
			to = find_start(c, s->addr + at + 6 + rel32(b + at + 2));
			if (to != NOWHERE)
				err = add_edge(c, s, to, false);
		}
	}
	return err;
}

/* Find other jumps: to the other half of a function (.cold), and indirect jumps. */
static int scan_jumps(struct kl_callees *c, struct code *s, const uint8_t *b, size_t n)
{
	const size_t size = size_of(c, s - c->code);
	struct kl_insn insn;
	size_t at, next;
	uint64_t target;
	uint32_t to;
	int err = 0;

	for (at = 0; !err && at < n; at = next) {
		if (kl_insn_decode(b + at, n - at, &insn)) {
			next = at + 1;
			continue;
		}
		next = at + insn.len;
		if (insn.flow == KL_FLOW_INDIRECT)
			s->anywhere = true;
		if (insn.flow != KL_FLOW_JUMP && insn.flow != KL_FLOW_BRANCH)
			continue;
		target = s->addr + next + insn.rel;
		if (target - s->addr < size)
			continue;
		to = find(c, target);
		if (to != NOWHERE)
			err = add_edge(c, s, to, false);
		else if (insn.len >= 5)
			s->anywhere = true;
	}
	return err;
}

static int scan(struct kl_callees *c, struct code *s)
{
	size_t size = size_of(c, s - c->code), n;
	uint8_t *bytes;
	int err;

	if (s->scanned)
		return 0;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	n = read_code(c, s->addr, bytes, size);
	if (!n)
		s->anywhere = true;
	err = scan_bytes(c, s, bytes, n) ?: scan_jumps(c, s, bytes, n);
	s->scanned = !err;
	free(bytes);
	return err;
}

/* Stands for any function of .sched.text, whose frames are not shown. */
#define TO_SCHED	(NOWHERE - 1)

/*
 * Search from @from for @to, along jumps, and along calls of functions that stacks do not show.
 * Return: KL_INSIDE if @to was found, KL_OUTSIDE if not; KL_MAYBE_INSIDE if jumps lead to unknown
 * addresses; or -ENOMEM.
 */
static int leads(struct kl_callees *c, uint32_t from, uint32_t to)
{
	enum kl_inside ret = KL_OUTSIDE;
	uint32_t i, j, n = 0;
	bool calls;
	int err;

	if (to == NOWHERE)
		return KL_MAYBE_INSIDE;
	c->stamp++;
	c->found[n++] = from;
	c->stamps[from] = c->stamp;
	/* Follow jumps alone first, then calls too. */
	for (i = 0, calls = false; i < n || !calls; i++) {
		struct code *s;

		if (i == n) {
			calls = true;
			i = 0;
		}
		if (c->found[i] == to || (to == TO_SCHED && is_sched(c, c->found[i])))
			return KL_INSIDE;
		s = &c->code[c->found[i]];
		err = scan(c, s);
		if (err)
			return err;
		if (s->anywhere && !calls)
			ret = KL_MAYBE_INSIDE;
		for (j = 0; j < s->nedges; j++) {
			uint32_t next = s->edges[j].to;

			if (c->stamps[next] == c->stamp || (s->edges[j].call &&
			    (!calls || !is_sched(c, c->found[i]))))
				continue;
			c->stamps[next] = c->stamp;
			c->found[n++] = next;
		}
	}
	return ret;
}

/* A line of the stack, "[<0>] name+0x1/0x2" or the same and " [module]". */
struct frame {
	const char *name, *module;
	size_t len, module_len;
	uint64_t offset, size;
	uint32_t code; /* index in code[], or NOWHERE */
};

static const char *parse(const char *line, struct frame *f)
{
	const char *end = line + strcspn(line, "\n"), *at = line;
	char *rest;

	memset(f, 0, sizeof(*f));
	if (*at == '[')
		at += strcspn(at, " \n");
	at += *at == ' ';
	f->name = at;
	f->len = strcspn(at, "+ \n");
	at += f->len;
	if (*at == '+') {
		f->offset = strtoull(at + 1, &rest, 16);
		if (*rest == '/')
			f->size = strtoull(rest + 1, &rest, 16);
		at = rest;
		if (at[0] == ' ' && at[1] == '[') {
			f->module = at + 2;
			f->module_len = strcspn(f->module, "]\n");
		}
	}
	return end + (*end == '\n');
}

static bool is_named(const struct frame *f, const char *name)
{
	return strlen(name) == f->len && !memcmp(f->name, name, f->len);
}

/* Return: true for a frame of the function @name, or of a part of it: .cold, .part.0, .isra.0. */
static bool is_part(const struct frame *f, const char *name)
{
	size_t n = strlen(name);

	return f->len >= n && !memcmp(f->name, name, n) && (f->len == n || f->name[n] == '.');
}

static bool is_symbol(const struct frame *f, const struct kl_ksym *s)
{
	const char *module = s->module ? s->module : "";

	return is_named(f, s->name) && strlen(module) == f->module_len &&
	       (!f->module_len || !memcmp(f->module, module, f->module_len));
}

/* Find a frame's code.  Among several functions of its name, take the one of the frame's size. */
static void resolve(const struct kl_callees *c, struct frame *f)
{
	uint32_t code[2] = { NOWHERE, NOWHERE };	/* of any size, and of the frame's size */
	unsigned int n[2] = { 0 }, i;
	uint32_t at;

	for (at = c->hashed[hash_of(f->name, f->len) & c->mask]; at != NOWHERE;
	     at = c->names[at].next) {
		if (!is_symbol(f, c->names[at].sym))
			continue;
		for (i = 0; i < 2; i++) {
			if (i && size_of(c, c->names[at].code) != f->size)
				continue;
			n[i] += code[i] != c->names[at].code;
			code[i] = c->names[at].code;
		}
	}
	f->code = n[0] == 1 ? code[0] : n[1] == 1 ? code[1] : NOWHERE;
}

/* Return: the function that a frame has called, or NOWHERE. */
static uint32_t called(const struct kl_callees *c, const struct frame *f)
{
	uint64_t at;
	uint8_t b[5];
	uint32_t to;

	if (f->code == NOWHERE)
		return NOWHERE;
	at = c->code[f->code].addr + f->offset;
	if (read_code(c, at - sizeof(b), b, sizeof(b)) < sizeof(b) || b[0] != 0xe8)
		return NOWHERE;
	to = find_start(c, at + rel32(b + 1));
	if (to != NOWHERE && begins(c->code[to].sym->name, "__x86_indirect_"))
		return NOWHERE;
	return to;
}

/*
 * Return: true for an interrupt's frame.  If the interrupt preempted the task, the interrupted
 * function may be one that stacks do not show.  Frames of exceptions do not count, since functions
 * that stacks do not show cause none.
 */
static bool is_interrupt(const struct frame *f)
{
	return f->len > 4 && begins(f->name, "asm_") && !begins(f->name, "asm_exc_");
}

/* Return: the size in bytes of a function's result, 0 for void, negative if unknown. */
static int64_t returns(const struct btf *btf, const struct btf_type *proto)
{
	return proto->type ? btf__resolve_size(btf, proto->type) : 0;
}

static void look_for_type(const struct kl_callees *c, struct code *s)
{
	size_t m;
	int id;

	if (s->looked)
		return;
	s->looked = true;
	s->btf = s->sym->module ? NULL : c->k->btf;
	for (m = 0; s->sym->module && m < c->k->nmods; m++)
		if (!strcmp(c->k->mods[m].name, s->sym->module))
			s->btf = c->k->mods[m].btf;
	id = s->btf ? btf__find_by_name_kind(s->btf, s->sym->name, BTF_KIND_FUNC) : -ENOENT;
	if (id > 0)
		s->proto = btf__type_by_id(s->btf, btf__type_by_id(s->btf, id)->type);
}

/* Return: the name of the structure that a parameter points to, or NULL. */
static const char *points_to(const struct btf *btf, const struct btf_param *p)
{
	const struct btf_type *t = btf__type_by_id(btf, p->type);
	bool pointer = false;

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || (btf_is_ptr(t) && !pointer))) {
		pointer |= btf_is_ptr(t);
		t = btf__type_by_id(btf, t->type);
	}
	return t && pointer && (btf_is_composite(t) || btf_is_fwd(t)) && t->name_off ?
	       btf__name_by_offset(btf, t->name_off) : NULL;
}

/*
 * Return: true if @to may get its arguments from @f.  A function with two parameters that point to
 * structures is assumed to pass one of them on.  This is a heuristic: without it nearly every task
 * might be inside a function such as unix_dgram_recvmsg(), which ends in a jump to
 * sk->sk_prot->recvmsg() for sockets of BPF.
 */
static bool hands_on(const struct kl_func *f, const struct code *to)
{
	const struct btf_param *mine = btf_params(f->proto), *its = btf_params(to->proto);
	unsigned int i, j, n = 0;

	for (i = 0; i < btf_vlen(f->proto); i++) {
		const char *name = points_to(f->btf, &mine[i]), *other;

		n += name != NULL;
		for (j = 0; name && j < btf_vlen(to->proto); j++) {
			other = points_to(to->btf, &its[j]);
			if (other && !strcmp(name, other))
				return true;
		}
	}
	return n < 2;
}

/*
 * Return: true if @outer may have called @f, which ends in a jump to an unknown address, and @f may
 * have jumped to @inner.  It may not if one of these conditions fails:
 *
 * - @f returns @inner's result, so the results have the same size.
 * - @f passed its arguments on to @inner.
 * - If @outer is the start of a thread, it has called a function of one argument.
 */
static bool is_plausible(const struct kl_callees *c, const struct kl_func *f,
			 const struct frame *outer, const struct frame *inner)
{
	struct code *to = inner->code == NOWHERE ? NULL : &c->code[inner->code];
	int64_t here, there;

	if (!f->proto)
		return true;
	if (btf_vlen(f->proto) != 1 && (is_named(outer, "kthread") ||
	    is_named(outer, "ret_from_fork") || is_named(outer, "ret_from_fork_asm")))
		return false;
	if (to)
		look_for_type(c, to);
	if (!to || !to->proto)
		return true;
	here = returns(f->btf, f->proto);
	there = returns(to->btf, to->proto);
	return (here <= 0 || there < 0 || here == there) && hands_on(f, to);
}

/*
 * Decide if @f, whose code is @at, may have run between @outer and @inner.  If @inner is NULL,
 * decide if it may be between @outer and the place where the task was put to sleep.  Return: an
 * enum kl_inside, or -ENOMEM.
 */
static int between(struct kl_callees *c, const struct kl_func *f, uint32_t at,
		   const struct frame *outer, const struct frame *inner)
{
	const uint32_t to = called(c, outer);
	int above = KL_MAYBE_INSIDE, below = KL_OUTSIDE;

	if (to != NOWHERE) {
		/* The called function is the next frame. */
		if (inner && to == inner->code)
			return KL_OUTSIDE;
		above = leads(c, to, at);
		if (above <= KL_OUTSIDE)
			return above;
	}
	/* The called function is not shown, or it has jumped to such a function, or to @inner. */
	if (!inner || (to != NOWHERE && is_sched(c, to)))
		below = leads(c, at, TO_SCHED);
	if (inner && below == KL_OUTSIDE) {
		below = leads(c, at, inner->code);
		if (below == KL_MAYBE_INSIDE && !is_plausible(c, f, outer, inner))
			below = KL_OUTSIDE;
	}
	return below < above ? below : above;
}

int kl_callees_inside(struct kl_callees *c, const struct kl_func *f, const char *stack)
{
	const uint32_t at = find(c, f->addr);
	struct frame frames[2], *inner = NULL;
	enum kl_inside ret = KL_OUTSIDE;
	unsigned int i;
	int one;

	if (at == NOWHERE || c->code[at].addr != f->addr)
		return kl_callees_by_name(f->name, stack);
	one = hash_names(c);
	if (one)
		return one;
	for (i = 0; *stack; i = !i) {
		struct frame *outer = &frames[i];

		stack = parse(stack, outer);
		resolve(c, outer);
		if (is_part(outer, f->name) || outer->code == at)
			return KL_INSIDE;
		one = between(c, f, at, outer, inner && !is_interrupt(inner) ? inner : NULL);
		if (one < 0 || one == KL_INSIDE)
			return one;
		if (one == KL_MAYBE_INSIDE)
			ret = one;
		inner = outer;
	}
	return ret;
}

/* Return: true for an entry into the kernel, which ends a complete stack. */
static bool is_entry(const struct frame *f)
{
	return begins(f->name, "entry_") || begins(f->name, "ret_from_fork") ||
	       begins(f->name, "asm_");
}

/*
 * Find the frame of an address of a sample.  If the address is a return address (@returns_to), it
 * is after its function if the call is the function's last instruction.
 */
static void resolve_ip(const struct kl_callees *c, uint64_t ip, bool returns_to, struct frame *f)
{
	*f = (struct frame){ .name = "", .code = find(c, ip - returns_to) };
	if (f->code == NOWHERE)
		return;
	f->name = c->code[f->code].sym->name;
	f->len = strlen(f->name);
	f->offset = ip - c->code[f->code].addr;
}

int kl_callees_running(struct kl_callees *c, const struct kl_func *f, const uint64_t *ips,
		       unsigned int n)
{
	const uint32_t at = find(c, f->addr);
	/* The frame-pointer unwinder omits the caller of a function that has just begun. */
	int ret = c->orc ? KL_OUTSIDE : KL_MAYBE_INSIDE, one;
	struct frame frames[2], *inner = NULL;
	bool interrupted = true;
	unsigned int i;

	if (at == NOWHERE || c->code[at].addr != f->addr)
		return KL_MAYBE_INSIDE;
	for (i = 0; i < n; i++) {
		struct frame *outer = &frames[i % 2];

		resolve_ip(c, ips[i], !interrupted, outer);
		if (is_part(outer, f->name) || outer->code == at)
			return KL_INSIDE;
		/* An interrupted function was not in a call, so no function is inside of it. */
		one = interrupted ? KL_OUTSIDE : between(c, f, at, outer, inner);
		if (one < 0 || one == KL_INSIDE)
			return one;
		if (one == KL_MAYBE_INSIDE || outer->code == NOWHERE)
			ret = KL_MAYBE_INSIDE;
		interrupted = begins(outer->name, "asm_");
		inner = outer;
	}
	return inner && is_entry(inner) ? ret : KL_MAYBE_INSIDE;
}

int kl_callees_by_name(const char *name, const char *stack)
{
	struct frame f;

	while (*stack) {
		stack = parse(stack, &f);
		if (is_part(&f, name))
			return KL_INSIDE;
	}
	return KL_MAYBE_INSIDE;
}
