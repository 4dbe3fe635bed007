// SPDX-License-Identifier: GPL-2.0
/*
 * Tells userspace when the memory of a recorded object is freed (see lives.h).
 *
 * The tracepoints of kfree() and kmem_cache_free() come before the memory can be used again, and
 * those of allocations before it is.  Allocations show objects that were freed many at once: that
 * has no tracepoint, and a probe of the function would let the kernel wait for all tasks.
 *
 * An interrupt that hits klin_free may free memory, too, and the kernel does not run the same
 * program again on that CPU.  So klin_free has a twin, which then runs.  Only a free that both miss
 * is missed.
 *
 * klin_free runs before its twin, and leaves a token for it: the address of the tracepoint's
 * arguments, which lie on the stack.  Interrupts leave their tokens above.  A twin that does not
 * find its token knows that klin_free did not run, and counts that.  Userspace compares this count
 * with the kernel's count of the runs that klin_free missed.
 */
#include "vmlinux-min.h"
#include "slab.h"

const volatile struct klin_free_conf conf = {};

#include "slots.h"
#include "lives.h"

#define MOST_BYTES	8192	/* the largest object of a slab */
#define MOST_FOUND 32 /* recorded objects in one slab object, a power of two */
#define MOST_TOKENS 8

/* The objects that a free found; each program on each CPU has one struct, as of klin_cpu. */
struct found {
	__u32 n, pad;
	__u64 object[MOST_FOUND];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KLIN_SIDES);
	__type(key, __u32);
	__type(value, struct found);
} founds SEC(".maps");

/* A CPU has tokens of a task, of an interrupt that hit it, and so on. */
struct tokens {
	__u32 n, pad;
	__u64 of[MOST_TOKENS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tokens);
} tokens SEC(".maps");

/*
 * Leave a token.  A twin that was missed has left some whose frees are over: all that a task finds,
 * and those of an interrupt that lie on the same stack, no higher than this one.  The number rises
 * before the token is written, so that interrupts leave theirs above.
 */
static __always_inline void leave_token(void *ctx, struct klin_cpu *c, __u32 cpu)
{
	struct tokens *t = bpf_map_lookup_elem(&tokens, &cpu);
	const struct task_struct *task = bpf_get_current_task_btf();
	const __u64 token = klin_number_of(ctx, c), stack = (__u64)task->stack;
	__u32 i, n;

	if (!t)
		return;
	n = token - stack < conf.stack_size ? 0 : t->n;
#pragma unroll
	for (i = MOST_TOKENS; i-- > 0;)
		if (n == i + 1 && t->of[i] - stack >= conf.stack_size &&
		    token - t->of[i] < conf.stack_size)
			n = i;
	if (n >= MOST_TOKENS) {
		/* The twin will count this free, although klin_free runs. */
		c->covered++;
		return;
	}
	t->n = n + 1;
	barrier();
	t->of[n] = token;
}

/* Take the token of this free, and those above, whose frees are over. */
static __always_inline void take_token(void *ctx, struct klin_cpu *c, __u32 cpu)
{
	struct tokens *t = bpf_map_lookup_elem(&tokens, &cpu);
	const __u64 token = klin_number_of(ctx, c);
	__u32 i;

	if (!t)
		return;
#pragma unroll
	for (i = MOST_TOKENS; i-- > 0;)
		if (i < t->n && t->of[i] == token) {
			t->n = i;
			return;
		}
	c->covered++;
}

/*
 * Get the size of the slab object at @addr.  Memory that is no slab has MOST_BYTES or more, and so
 * may have a slab of a kernel whose structures are not known.
 *
 * Return: true if objects of the slab may be used while they are free (SLAB_TYPESAFE_BY_RCU).
 */
static __always_inline bool find_size(__u64 addr, __u64 *size)
{
	__u64 start;
	const struct kmem_cache *cache = klin_find_cache(&conf.slab, addr, &start);

	*size = cache ? BPF_CORE_READ(cache, object_size) : MOST_BYTES;
	return cache && klin_keeps_type(cache);
}

static __always_inline bool may_have(__u64 addr)
{
	const __u8 *used = klin_block(addr);

	return used && *used;
}

/* Take the recorded objects in the granule of @from that are in the @size bytes at @addr. */
__noinline int klin_take_granule(__u64 from, __u64 addr, __u64 size, __u32 at)
{
	struct found *f = bpf_map_lookup_elem(&founds, &at);
	struct klin_bucket *b = klin_bucket(from);
	__u64 object;
	__u32 i, n;

	if (!f || !b)
		return 0;
	for (i = 0; i < KLIN_BUCKET; i++) {
		object = b->object[i];
		if (object - addr >= size ||
		    object >> KLIN_GRANULE_BITS != from >> KLIN_GRANULE_BITS)
			continue;
		/* The count is in memory, so that the verifier need not follow all its values. */
		n = f->n;
		if (n < MOST_FOUND) {
			f->object[n] = object;
			__sync_val_compare_and_swap(&b->object[i], object, 0);
		}
		f->n = n + 1;
	}
	return 0;
}

/* The memory that a free looks through; at: the index of its struct found. */
struct search {
	__u64 addr, size;
	__u32 at;
};

/* Take the objects in granule number @i of the memory. */
static long take_next(__u32 i, struct search *s)
{
	klin_take_granule(s->addr + ((__u64)i << KLIN_GRANULE_BITS), s->addr, s->size, s->at);
	return 0;
}

/* Report the objects that were found. */
static __always_inline void report(void *ctx, struct klin_cpu *c, __u32 cpu, const struct found *f,
				   bool keeps_type)
{
	struct klin_event ev = { .type = KLIN_EV_FREE, .cpu_call = cpu, .cpu_ret = cpu };
	const __u32 n = f->n;
	__u32 i, k;

	if (!n)
		return;
	ev.flags = keeps_type ? KLIN_F_UNWATCHED : 0;
	ev.call = ev.ret = klin_time(cpu);
	for (i = 0; i < MOST_FOUND / KLIN_MAX_VALS; i++) {
		if (i * KLIN_MAX_VALS >= n)
			return;
		ev.probe = n - i * KLIN_MAX_VALS;
#pragma unroll
		for (k = 0; k < KLIN_MAX_VALS; k++)
			ev.val[k] = f->object[i * KLIN_MAX_VALS + k];
		klin_send(ctx, c, &ev, sizeof(ev));
	}
	/* The rest is lost. */
	if (n > MOST_FOUND) {
		c->events++;
		klin_lost(c, ev.ret, ev.ret);
	}
}

/* Take the recorded objects in the slab object at @addr out of the table, and report them. */
static __always_inline void freed(void *ctx, struct klin_cpu *c, __u64 addr, __u32 cpu,
				  enum klin_side side)
{
	struct search s = { .addr = addr, .at = KLIN_SIDES * cpu + side };
	struct found *f;
	bool keeps_type;
	__u64 last;

	if (!may_have(addr))
		return;
	f = bpf_map_lookup_elem(&founds, &s.at);
	if (!f)
		return;
	f->n = 0;
	keeps_type = find_size(addr, &s.size);
	last = (addr + s.size - 1) >> KLIN_GRANULE_BITS;
	bpf_loop(last - (addr >> KLIN_GRANULE_BITS) + 1, take_next, &s, 0);
	report(ctx, c, cpu, f, keeps_type);
}

/* kfree() and kmem_cache_free() */
SEC("raw_tp")
int klin_free(struct bpf_raw_tracepoint_args *ctx)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_FREE);

	if (!c)
		return 0;
	leave_token(ctx, c, cpu);
	freed(ctx, c, ctx->args[1], cpu, KLIN_AT_FREE);
	return 0;
}

SEC("raw_tp")
int klin_free_twin(struct bpf_raw_tracepoint_args *ctx)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_FREE_TWIN);

	if (!c)
		return 0;
	take_token(ctx, c, cpu);
	freed(ctx, c, ctx->args[1], cpu, KLIN_AT_FREE_TWIN);
	return 0;
}

/*
 * Allocations.  If an object is still in the table, its memory was freed in another way: many
 * objects at once, as kfree_rcu() does.
 */
SEC("raw_tp")
int klin_alloc(struct bpf_raw_tracepoint_args *ctx)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct klin_cpu *c = klin_this_cpu(cpu, KLIN_AT_ALLOC);

	if (c)
		freed(ctx, c, ctx->args[1], cpu, KLIN_AT_ALLOC);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
