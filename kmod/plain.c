// SPDX-License-Identifier: GPL-2.0
/*
 * Recording without BPF: events announced by <klin.h> go by plain stores into memory that the
 * reader has mapped.
 *
 * The usual path has no locked instruction and no barrier.  A store of the operation may so
 * wait in the store buffer as long as without the recording, except that the event's own
 * stores take room in the buffer.  Only the first operation of a task claims a slot by a
 * locked instruction; tasks beyond the number of kept slots do so at each operation.
 *
 * A TSC time is taken after the earlier loads are done (lfence or rdtscp), which waits for no
 * store.  Otherwise the time could precede the last load of an operation, and overlapping
 * operations would seem to follow one another.  If even that wait is too much, the coarse
 * clock loads ticks and epochs from memory.
 *
 * The algorithm is that of bpf/tp.bpf.c, on structures of the same layout.  Interrupts are off
 * while an event is recorded, so each structure of a CPU has one writer.  Only events of NMIs
 * are missed.  A kept slot is freed when its task has ended, a lent slot when its last open
 * operation returns.  No other task uses the slot meanwhile, so holds need no count as in
 * bpf/slots.h.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "control.h"
#include "plain.h"
#include "plain_abi.h"
#include "task_end.h"
#include "trace.h"

#define SLOTS_MAX	(1U << 20)
#define ENTRIES_MAX	(1U << 22)

/**
 * struct plain - a recording
 * @lock: guards creation, start and stop of the recording
 * @size: sizes of its memory
 * @map: offsets of the memory's parts
 * @mem: the memory, which the reader maps too, so nothing in it is trusted
 * @conf: the methods, objects and clock to record
 * @started: true once START has succeeded
 * @running: true while the tracepoint probes are attached
 */
struct plain {
	struct mutex lock;
	struct klin_plain_size size;
	struct klin_plain_map map;
	void *mem;
	struct klin_tp_conf conf;
	bool started, running;
};

/* At most one recording exists: with several, each event would call the probes of each. */
static atomic_t opened = ATOMIC_INIT(0);

static struct klin_cpu *this_side(const struct plain *p, u32 cpu, enum klin_side side)
{
	return (struct klin_cpu *)(p->mem + p->map.cpus) + KLIN_SIDES * cpu + side;
}

/* As klin_coarse_time() of bpf/clock.h. */
static u64 coarse_time(const struct plain *p, u32 cpu)
{
	struct klin_time *times = p->mem + p->map.times;
	u64 first = READ_ONCE(times[0].now) << KLIN_TICK_BITS;
	u64 last = first | ((1ULL << KLIN_TICK_BITS) - 1), next;

	next = clamp(times[1 + cpu].now + 1, first, last);
	times[1 + cpu].now = next;
	return next;
}

static u64 time(const struct plain *p, u32 cpu)
{
	return p->conf.clock == KLIN_CLOCK_MONO ? ktime_get_mono_fast_ns() : coarse_time(p, cpu);
}

static bool wanted(const struct plain *p, const void *object, u32 id)
{
	if (p->conf.one_object && (unsigned long)object != p->conf.object)
		return false;
	return id < KLIN_TP_METHODS && p->conf.method[id].used;
}

/* Idle tasks share tid 0, so their CPU identifies them. */
static u32 this_key(u32 cpu)
{
	return current->pid ?: KLIN_TID_IDLE + cpu;
}

/*
 * Return: 1 on the task's own stack, 0 on an interrupt's.  The stack of an interrupt is
 * aligned to pages only, so it cannot be identified by its address.
 */
static __always_inline u32 this_stack(void)
{
	return (unsigned long)__builtin_frame_address(0) -
	       (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

/* Return: slot number @i among those that the task may use, kept slots first. */
static struct klin_slot *slot_at(const struct plain *p, u32 key, u32 i)
{
	struct klin_slot *slots = p->mem + p->map.slots;
	u32 mask = p->size.slots - 1;

	if (i < KLIN_TRIES)
		return &slots[KLIN_KEPT_AT(key, mask, i)];
	return &slots[KLIN_LENT_AT(key, mask, i - KLIN_TRIES)];
}

static bool is_lent(const struct plain *p, const struct klin_slot *s)
{
	return s - (struct klin_slot *)(p->mem + p->map.slots) >= p->size.slots;
}

/* Return: the task's slot among those from number @from up to @to, or NULL. */
static struct klin_slot *own_slot(const struct plain *p, u32 key, u32 from, u32 to)
{
	u32 i;

	for (i = from; i < to; i++)
		if (READ_ONCE(slot_at(p, key, i)->owner) == key)
			return slot_at(p, key, i);
	return NULL;
}

/* Find the slot of the task; with @claim, claim a free slot if it has none.  End with leave(). */
static struct klin_slot *find_slot(const struct plain *p, struct klin_cpu *c, u32 key, bool claim)
{
	const u32 all = KLIN_TRIES + KLIN_LENT_TRIES;
	struct klin_slot *s = own_slot(p, key, 0, KLIN_TRIES);
	u32 i;

	if (s)
		return s;
	if (READ_ONCE(slot_at(p, key, 0)->crowded))
		s = own_slot(p, key, KLIN_TRIES, all);
	for (i = 0; !s && claim && i < all; i++) {
		s = slot_at(p, key, i);
		if (i == KLIN_TRIES)
			WRITE_ONCE(slot_at(p, key, 0)->crowded, 1);
		if (READ_ONCE(s->owner) || cmpxchg(&s->owner, 0, key))
			s = NULL;
		else if (i >= KLIN_TRIES)
			WRITE_ONCE(c->lent, c->lent + 1);
	}
	return s;
}

static bool in_use(const struct klin_slot *s)
{
	u32 i;

	if (s->top != s->base)
		return true;
	/* Frames above the top may belong to interrupts. */
	for (i = 0; i < KLIN_DEPTH; i++)
		if (READ_ONCE(s->frames[i].open) == KLIN_OPEN)
			return true;
	return false;
}

/* Free a lent slot without open frames. */
static void leave(const struct plain *p, struct klin_slot *s)
{
	if (likely(!is_lent(p, s)) || in_use(s))
		return;
	/* Publishes all stores before another task claims the slot (pairs with cmpxchg()). */
	smp_store_release(&s->owner, 0);
}

static void lost(struct klin_cpu *c, u64 from, u64 to)
{
	/* Read once: user space can change the number. */
	u32 n = min_t(u32, READ_ONCE(c->nlosses), KLIN_LOSSES);
	struct klin_loss *l;

	c->lost++;
	if (!n || (!c->losing && n < KLIN_LOSSES)) {
		c->losses[n] = (struct klin_loss){ .from = from, .to = to, .count = 1 };
		c->nlosses = n + 1;
	} else {
		l = &c->losses[n - 1];
		l->from = min(l->from, from);
		l->to = max(l->to, to);
		l->count++;
	}
	c->losing = 1;
}

static bool put(const struct plain *p, u32 cpu, const struct klin_event *ev, size_t size)
{
	struct klin_plain_ring *ring = (struct klin_plain_ring *)(p->mem + p->map.rings) + cpu;
	struct klin_plain_entry *entries = p->mem + p->map.events;
	u64 head = READ_ONCE(ring->head);

	/*
	 * The reader has finished with the entry before it is overwritten (pairs with the reader's
	 * store).
	 */
	if (head - smp_load_acquire(&ring->tail) >= p->size.entries)
		return false;
	memcpy(&entries[(u64)cpu * p->size.entries + (head & (p->size.entries - 1))].ev, ev, size);
	/* The event is complete before the reader sees it (pairs with the reader's load). */
	smp_store_release(&ring->head, head + 1);
	return true;
}

static void send_event(const struct plain *p, u32 cpu, struct klin_cpu *c,
		       const struct klin_event *ev, size_t size)
{
	WRITE_ONCE(c->events, c->events + 1);
	if (put(p, cpu, ev, size)) {
		c->losing = 0;
		return;
	}
	lost(c, ev->flags & KLIN_F_NOCALL ? 0 : ev->call, ev->ret);
	if (ev->flags & KLIN_F_NOCALL)
		c->lost_nocall++;
}

/* Send the operation of @f as pending: its return was missed. */
static void send_stale(const struct plain *p, u32 cpu, struct klin_cpu *c, struct klin_frame *f)
{
	if (f->open != KLIN_OPEN)
		return;
	f->ev.flags |= KLIN_F_NORET;
	f->ev.ret = time(p, cpu);
	send_event(p, cpu, c, &f->ev, sizeof(f->ev));
	f->open = KLIN_FILLING;
}

/* Push a new frame; the reader may read the slot at any time. */
static struct klin_frame *push(const struct plain *p, u32 cpu, struct klin_cpu *c,
			       struct klin_slot *s)
{
	struct klin_frame *f = &s->frames[s->top & (KLIN_DEPTH - 1)];

	/* The slot is full of calls whose returns were missed: drop the oldest. */
	if (s->top - s->base >= KLIN_DEPTH) {
		WRITE_ONCE(s->base, s->base + 1);
		WRITE_ONCE(c->displaced, c->displaced + 1);
	}
	send_stale(p, cpu, c, f);
	WRITE_ONCE(f->open, KLIN_FILLING);
	barrier();
	WRITE_ONCE(s->top, s->top + 1);
	f->sp = 0;
	f->ev.type = KLIN_EV_OP;
	f->ev.point = 0;
	f->ev.flags = 0;
	f->ev.fault = 0;
	f->ev.cpu_call = cpu;
	return f;
}

/* Return: the innermost open call of a method on an object, with its index in *@at, or NULL. */
static struct klin_frame *find_frame(struct klin_slot *s, const void *object, u32 probe, u32 stack,
				     u32 *at)
{
	struct klin_frame *f;
	u32 i, n = s->top;

	for (i = 0; i < KLIN_DEPTH && n != s->base; i++) {
		n--;
		f = &s->frames[n & (KLIN_DEPTH - 1)];
		if (f->open == KLIN_OPEN && f->func == stack && f->ev.probe == probe &&
		    f->ev.object == (unsigned long)object) {
			*at = n;
			return f;
		}
	}
	return NULL;
}

static void record_call(const struct plain *p, const void *object, u32 id, u32 stack,
			const u64 *args)
{
	u32 cpu = smp_processor_id(), key = this_key(cpu);
	struct klin_cpu *c = this_side(p, cpu, KLIN_AT_CALL);
	struct klin_slot *s = find_slot(p, c, key, true);
	struct klin_frame *f;

	if (!s) {
		WRITE_ONCE(c->missed, c->missed + 1);
		return;
	}
	f = push(p, cpu, c, s);
	f->func = stack;
	f->ev.probe = p->conf.method[id].probe;
	f->ev.object = (unsigned long)object;
	f->ev.tid = key;
	memcpy(f->ev.val, args, 3 * sizeof(*args));
	f->ev.call = time(p, cpu);
	barrier();
	WRITE_ONCE(f->open, KLIN_OPEN);
}

static void record_return(const struct plain *p, const void *object, u32 id, u32 stack,
			  const u64 *results)
{
	u32 cpu = smp_processor_id(), key = this_key(cpu), at = 0, i;
	u32 probe = p->conf.method[id].probe, nargs = p->conf.method[id].nargs & 3;
	u32 nres = p->conf.method[id].nres & 3;
	struct klin_cpu *c = this_side(p, cpu, KLIN_AT_RETURN);
	u64 now = time(p, cpu);
	struct klin_slot *s = find_slot(p, c, key, true);
	struct klin_frame *f;

	if (!s) {
		WRITE_ONCE(c->missed, c->missed + 1);
		return;
	}
	f = find_frame(s, object, probe, stack, &at);
	if (f) {
		/* Calls nest, so the calls above this frame have returned unseen. */
		for (i = 0; i < KLIN_DEPTH && s->top != at + 1; i++) {
			send_stale(p, cpu, c, &s->frames[(s->top - 1) & (KLIN_DEPTH - 1)]);
			WRITE_ONCE(s->top, s->top - 1);
		}
	} else {
		at = s->top;
		f = push(p, cpu, c, s);
		f->ev.probe = probe;
		f->ev.call = 0;
		f->ev.object = (unsigned long)object;
		f->ev.tid = key;
		f->ev.flags = KLIN_F_NOCALL;
		f->ev.fault = (1U << nargs) - 1;
	}
	f->ev.ret = now;
	f->ev.cpu_ret = cpu;
	/* Unused results are overwritten or cut off. */
	memcpy(f->ev.val + nargs, results, 3 * sizeof(*results));
	send_event(p, cpu, c, &f->ev, KLIN_EVENT_SIZE(nargs + nres));
	barrier();
	WRITE_ONCE(f->open, KLIN_FILLING);
	WRITE_ONCE(s->top, at);
	leave(p, s);
}

/* An NMI may interrupt the recording of a frame or event, so events in NMIs are only counted. */
static bool missed_in_nmi(const struct plain *p)
{
	struct klin_cpu *c;

	if (likely(!in_nmi()))
		return false;
	/* Only NMIs change this counter, and NMIs do not nest. */
	c = this_side(p, smp_processor_id(), KLIN_AT_DRAIN);
	WRITE_ONCE(c->missed, c->missed + 1);
	return true;
}

static void on_call(void *data, const void *object, u32 method, u64 a, u64 b, u64 c)
{
	const struct plain *p = data;
	const u64 args[] = { a, b, c };
	u32 id = method - p->conf.first_id;
	unsigned long flags;

	if (!wanted(p, object, id) || missed_in_nmi(p))
		return;
	raw_local_irq_save(flags);
	record_call(p, object, id, this_stack(), args);
	raw_local_irq_restore(flags);
}

static void on_return(void *data, const void *object, u32 method, u64 r0, u64 r1, u64 r2)
{
	const struct plain *p = data;
	const u64 results[] = { r0, r1, r2 };
	u32 id = method - p->conf.first_id;
	unsigned long flags;

	if (!wanted(p, object, id) || missed_in_nmi(p))
		return;
	raw_local_irq_save(flags);
	record_return(p, object, id, this_stack(), results);
	raw_local_irq_restore(flags);
}

static void on_point(void *data, const void *object, u32 method)
{
	const struct plain *p = data;
	u32 id = method - p->conf.first_id, cpu, at;
	struct klin_frame *f = NULL;
	struct klin_slot *s;
	unsigned long flags;

	if (!wanted(p, object, id) || in_nmi())
		return;
	raw_local_irq_save(flags);
	cpu = smp_processor_id();
	s = find_slot(p, NULL, this_key(cpu), false);
	if (s)
		f = find_frame(s, object, p->conf.method[id].probe, this_stack(), &at);
	if (f)
		f->ev.point = time(p, cpu);
	raw_local_irq_restore(flags);
}

static void on_drain(void *data, int cpu)
{
	const struct plain *p = data;
	struct klin_event ev = { .type = KLIN_EV_DRAIN };
	struct klin_cpu *c;
	unsigned long flags;

	if (in_nmi())
		return;
	raw_local_irq_save(flags);
	c = this_side(p, smp_processor_id(), KLIN_AT_DRAIN);
	ev.cpu_call = ev.cpu_ret = smp_processor_id();
	ev.call = ev.ret = time(p, ev.cpu_ret);
	/* A dropped drain is no loss: it only gives the checker less information. */
	if (put(p, ev.cpu_ret, &ev, KLIN_EVENT_SIZE(0)))
		WRITE_ONCE(c->events, c->events + 1);
	raw_local_irq_restore(flags);
}

/* As klin_task_free() of bpf/task.bpf.c. */
static void on_task_end(void *data, struct task_struct *task)
{
	struct klin_slot *s = find_slot(data, NULL, task->pid, false);
	u32 owner = 0, i;

	if (!s)
		return;
	for (i = 0; i < KLIN_DEPTH; i++)
		if (READ_ONCE(s->frames[i].open) == KLIN_OPEN)
			owner = KLIN_SLOT_DEAD;
	WRITE_ONCE(s->owner, owner);
}

static void detach(struct plain *p)
{
	/* Detach from returns first: a call that is recorded after that stays open in its slot. */
	unregister_trace_klin_return(on_return, p);
	unregister_trace_klin_point(on_point, p);
	unregister_trace_klin_drain(on_drain, p);
	unregister_trace_klin_call(on_call, p);
	klin_task_end_unregister(on_task_end, p);
	tracepoint_synchronize_unregister();
	p->running = false;
}

static int attach(struct plain *p)
{
	int err;

	err = klin_task_end_register(on_task_end, p);
	if (err)
		return err;
	err = register_trace_klin_drain(on_drain, p);
	if (err)
		goto err_task_end;
	err = register_trace_klin_point(on_point, p);
	if (err)
		goto err_drain;
	err = register_trace_klin_return(on_return, p);
	if (err)
		goto err_point;
	err = register_trace_klin_call(on_call, p);
	if (err)
		goto err_return;
	p->running = true;
	return 0;

err_return:
	unregister_trace_klin_return(on_return, p);
err_point:
	unregister_trace_klin_point(on_point, p);
err_drain:
	unregister_trace_klin_drain(on_drain, p);
err_task_end:
	klin_task_end_unregister(on_task_end, p);
	tracepoint_synchronize_unregister();
	return err;
}

static int make(struct plain *p, const struct klin_plain_size *size)
{
	if (p->mem)
		return -EBUSY;
	if (size->ncpus < nr_cpu_ids || size->ncpus > NR_CPUS ||
	    !is_power_of_2(size->slots) || size->slots > SLOTS_MAX ||
	    !is_power_of_2(size->entries) || size->entries > ENTRIES_MAX)
		return -EINVAL;
	p->size = *size;
	p->map = klin_plain_layout(size);
	p->mem = vmalloc_user(p->map.size);
	return p->mem ? 0 : -ENOMEM;
}

static int start(struct plain *p, const struct klin_tp_conf *conf)
{
	int err;

	if (!p->mem || p->started)
		return -EBUSY;
	p->conf = *conf;
	/* A clock that counts events would need a locked instruction. */
	if (p->conf.clock != KLIN_CLOCK_MONO && p->conf.clock != KLIN_CLOCK_COARSE)
		return -EINVAL;
	if (p->conf.filter.only || p->conf.filter.sample || p->conf.filter.by_cpu)
		return -EOPNOTSUPP;
	err = attach(p);
	p->started = !err;
	return err;
}

static long plain_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	struct plain *p = f->private_data;
	struct klin_tp_conf *conf = NULL;
	struct klin_plain_size size;
	long err = 0;

	/*
	 * Copy before taking the lock: mmap() takes it while it holds the lock of the address
	 * space.
	 */
	if (cmd == KLIN_PLAIN_SIZE && copy_from_user(&size, (void __user *)arg, sizeof(size)))
		return -EFAULT;
	if (cmd == KLIN_PLAIN_START)
		conf = memdup_user((void __user *)arg, sizeof(*conf));
	if (IS_ERR(conf))
		return PTR_ERR(conf);
	mutex_lock(&p->lock);
	switch (cmd) {
	case KLIN_PLAIN_SIZE:
		err = make(p, &size);
		break;
	case KLIN_PLAIN_START:
		err = start(p, conf);
		break;
	case KLIN_PLAIN_STOP:
		if (p->running)
			detach(p);
		break;
	default:
		err = -ENOTTY;
	}
	mutex_unlock(&p->lock);
	kfree(conf);
	return err;
}

static int plain_mmap(struct file *f, struct vm_area_struct *vma)
{
	struct plain *p = f->private_data;
	int err = -EINVAL;

	mutex_lock(&p->lock);
	if (p->mem)
		err = remap_vmalloc_range(vma, p->mem, vma->vm_pgoff);
	mutex_unlock(&p->lock);
	return err;
}

static int plain_open(struct inode *inode, struct file *f)
{
	struct plain *p;
	int err = klin_may_control();

	if (err)
		return err;
	if (atomic_cmpxchg(&opened, 0, 1))
		return -EBUSY;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p) {
		atomic_set(&opened, 0);
		return -ENOMEM;
	}
	mutex_init(&p->lock);
	f->private_data = p;
	return nonseekable_open(inode, f);
}

/* All mappings are gone by now. */
static int plain_release(struct inode *inode, struct file *f)
{
	struct plain *p = f->private_data;

	if (p->running)
		detach(p);
	vfree(p->mem);
	kfree(p);
	atomic_set(&opened, 0);
	return 0;
}

const struct file_operations klin_plain_fops = {
	.owner = THIS_MODULE,
	.open = plain_open,
	.unlocked_ioctl = plain_ioctl,
	.mmap = plain_mmap,
	.release = plain_release,
};
