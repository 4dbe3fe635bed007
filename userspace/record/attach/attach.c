// SPDX-License-Identifier: GPL-2.0
/* Attaching: specialise BPF programs for the target of each clause, load and attach them. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "record/plain.h"
#include "record/recorder.h"
#include "free.skel.h"
#include "func.skel.h"
#include "func_long.skel.h"
#include "func_two.skel.h"
#include "place.skel.h"
#include "task.skel.h"
#include "tp.skel.h"

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[16384], *line, *save;

	if (kl_log_level < KL_LOG_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		kl_debug("%s", line);
	return 0;
}

/* Explain an error in words; with -v, print_libbpf() prints the messages of libbpf. */
static const char *explain(int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		if (strcmp(kl_lockdown(), "none"))
			return "the kernel is locked down; boot without lockdown, or without "
			       "Secure Boot";
		if (geteuid())
			return "needs root (CAP_BPF and CAP_PERFMON)";
		return "the kernel refused the program; -v shows the verifier's log";
	case ENOMEM:
		return "out of memory";
	case EBUSY:
		return "ftrace does not manage this function";
	case EINVAL:
		return "the kernel refused the program; -v shows why";
	case ENOENT:
	case ESRCH:
		return "not found in the kernel";
	case EILSEQ:
		return "no instruction begins at this offset";
	case E2BIG:
		return "too many programs are attached to this function";
	case 524:
		return "the kernel does not support this for functions of this kind";
	default:
		return strerror(-err);
	}
}

static int set_rodata(struct bpf_object *obj, const void *data, size_t size)
{
	struct bpf_map *map;
	size_t room;
	void *at;

	bpf_object__for_each_map(map, obj) {
		if (!strstr(bpf_map__name(map), ".rodata"))
			continue;
		at = (void *)bpf_map__initial_value(map, &room);
		if (!at || room < size)
			return -EPROTO;
		memcpy(at, data, size);
		return 0;
	}
	return -ENOENT;
}

static int share_maps(const struct kl_recorder *r, struct bpf_object *obj)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, obj) {
		if (!strcmp(bpf_map__name(map), "events"))
			err = bpf_map__reuse_fd(map, r->events_fd);
		else if (!strcmp(bpf_map__name(map), "slots"))
			err = bpf_map__reuse_fd(map, r->slots_fd);
		else if (!strcmp(bpf_map__name(map), "homes"))
			err = bpf_map__reuse_fd(map, r->homes_fd);
		else if (!strcmp(bpf_map__name(map), "left"))
			err = bpf_map__reuse_fd(map, r->left_fd);
		else if (!strcmp(bpf_map__name(map), "living"))
			err = bpf_map__reuse_fd(map, r->lives.living_fd);
		else if (!strcmp(bpf_map__name(map), "blocks"))
			err = bpf_map__reuse_fd(map, r->lives.blocks_fd);
		else if (!strcmp(bpf_map__name(map), "call_stacks"))
			err = bpf_map__set_autocreate(map, false);
		else if (!strcmp(bpf_map__name(map), "times"))
			err = bpf_map__reuse_fd(map, r->times.fd);
		else if (!strcmp(bpf_map__name(map), "cpus") ||
			 !strcmp(bpf_map__name(map), "founds"))
			err = bpf_map__set_max_entries(map, KLIN_SIDES * r->ncpus);
		else if (!strcmp(bpf_map__name(map), "tokens"))
			err = bpf_map__set_max_entries(map, r->ncpus);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Let the programs of an object keep stacks.  Without this call the code for stacks is dead, and
 * libbpf removes the map from it.
 */
static int share_stacks(const struct kl_recorder *r, struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "call_stacks");

	return bpf_map__set_autocreate(map, true) ?: bpf_map__reuse_fd(map, kl_stacks_fd(r));
}

int kl_open_object(const struct kl_recorder *r, const void *elf, size_t size, const void *rodata,
		   size_t rosize, struct bpf_object **out)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "klin");
	struct bpf_object *obj = bpf_object__open_mem(elf, size, &opts);
	int err;

	if (!obj)
		return -errno;
	err = rodata ? set_rodata(obj, rodata, rosize) : 0;
	if (!err)
		err = share_maps(r, obj);
	if (err)
		bpf_object__close(obj);
	else
		*out = obj;
	return err;
}

static int map_cpus(const struct kl_recorder *r, struct kl_group *g)
{
	struct bpf_map *map = bpf_object__find_map_by_name(g->obj, "cpus");
	size_t page = sysconf(_SC_PAGESIZE);

	g->cpus_size = KLIN_SIDES * r->ncpus * sizeof(struct klin_cpu);
	g->cpus_size = (g->cpus_size + page - 1) / page * page;
	g->cpus = mmap(NULL, g->cpus_size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (g->cpus != MAP_FAILED)
		return kl_ring_map(r, g);
	g->cpus = NULL;
	return -errno;
}

static void close_group(const struct kl_kernel *k, struct kl_group *g)
{
	unsigned int i;

	for (i = 0; i < g->nprogs; i++) {
		bpf_link__destroy(g->progs[i].link);
		kl_kprobe_remove(k, &g->progs[i]);
	}
	if (g->cpus && g->cpus_size)
		munmap(g->cpus, g->cpus_size);
	kl_ring_unmap(g);
	bpf_object__close(g->obj);
	memset(g, 0, sizeof(*g));
}

/*
 * Select the programs @names, which begin with the program at the call.  Other programs of the
 * object are not loaded.
 */
static int select_programs(struct kl_group *g, const char *const *names, unsigned int n)
{
	struct bpf_program *prog;
	unsigned int i;

	bpf_object__for_each_program(prog, g->obj)
		bpf_program__set_autoload(prog, false);
	for (i = 0; i < n; i++) {
		g->progs[i].prog = bpf_object__find_program_by_name(g->obj, names[i]);
		if (!g->progs[i].prog)
			return -EPROTO;
		bpf_program__set_autoload(g->progs[i].prog, true);
	}
	g->nprogs = n;
	return 0;
}

static int attach_place(struct kl_recorder *r, struct kl_prog *prog, const struct kl_kplace *p,
			enum kl_way way, enum kl_kprobe_kind kind)
{
	if (way == KL_WAY_MODULE)
		return kl_kprobe_attach_module_place(prog, p->module, p->symbol, p->offset);
	return kl_kprobe_attach(r->kernel, prog, p->module, p->symbol, p->offset, kind);
}

/* Attach to the call or to the return of a clause's function. */
static int attach_side(struct kl_recorder *r, const struct kl_clause *c, struct kl_group *g,
		       enum kl_way way, bool at_return)
{
	const struct kl_func *f = &c->found.func;
	struct kl_prog *p = &g->progs[at_return];

	if (way == KL_WAY_MODULE)
		return kl_kprobe_attach_module(p, f->module, f->name, &g->progs[1]);
	if (way == KL_WAY_KPROBE)
		return kl_kprobe_attach(r->kernel, p, f->module, f->name, 0,
					at_return ? KL_KPROBE_RETURN : KL_KPROBE_CALL);
	p->link = bpf_program__attach_trace(p->prog);
	return p->link ? 0 : -errno;
}

/*
 * Return: true if a fetch program may be too long for func.bpf.c, which executes KLIN_FEW_INSNS
 * steps.  Steps after the end of a program are 0.
 */
static bool is_long(const struct kl_clause *c)
{
	return c->conf.call[KLIN_FEW_INSNS - 1].code || c->conf.ret[KLIN_FEW_INSNS - 1].code;
}

/* Return: the ELF file of the BPF object for a clause. */
static const void *elf_of_clause(const struct kl_clause *c, size_t *size)
{
	if (kl_found_place(&c->found))
		return place_bpf__elf_bytes(size);
	if (c->other)
		return func_two_bpf__elf_bytes(size);
	return is_long(c) ? func_long_bpf__elf_bytes(size) : func_bpf__elf_bytes(size);
}

static bool can_share(const struct kl_clause *c)
{
	return !c->other && !c->tracepoint && !kl_found_place(&c->found) && !is_long(c);
}

/*
 * Let two clauses on one function share programs.  The pair costs two thirds of two clauses with
 * programs of their own.
 */
static void pair_clauses(struct kl_recorder *r)
{
	struct kl_clause *c, *other;

	for (c = r->clauses; c < r->clauses + r->nclauses; c++)
		for (other = c + 1; can_share(c) && other < r->clauses + r->nclauses; other++) {
			if (!can_share(other) || other->conf.func != c->conf.func)
				continue;
			c->other = other;
			other->other = c;
		}
}

/*
 * Attach the programs of a clause, or of a pair of clauses, in this order:
 *
 * - First the return.  A recorded return without a call is of more use than a call without a
 *   return, which stays pending for ever.
 * - Then the call.
 * - Last the place, since a hit without a call is of little use.  There is one exception: the
 *   newest of several kprobes at one address runs first.  So a place at the function's first
 *   instruction is attached before the call.
 */
static int attach_func(struct kl_recorder *r, struct kl_clause *c, struct kl_group *g,
		       enum kl_way way)
{
	static const char *const names[][3] = {
		[KL_WAY_FENTRY] = { "klin_fentry", "klin_fexit", "klin_place" },
		[KL_WAY_KPROBE] = { "klin_kprobe", "klin_kretprobe", "klin_place" },
		[KL_WAY_MODULE] = { "klin_kprobe", "klin_kretprobe", "klin_place" },
	};
	const struct kl_kplace *place = kl_found_place(&c->found);
	struct klin_conf *conf[] = { &c->conf, c->other ? &c->other->conf : NULL }, confs[2];
	unsigned int nvals = c->conf.nvals;
	const void *elf;
	size_t size;
	int err, i;

	memset(g, 0, sizeof(*g));
	g->place = place;
	g->two = c->other;
	if (g->two && conf[1]->nvals > nvals)
		nvals = conf[1]->nvals;
	for (i = 0; i <= g->two; i++) {
		conf[i]->keep_args = way != KL_WAY_FENTRY && conf[i]->ret_args;
		/* A stack map takes locks, which code that klin.ko's kprobes hit may hold. */
		conf[i]->stacks = r->opts.stacks && way != KL_WAY_MODULE;
		conf[i]->nvals = nvals;
		conf[i]->ring = place ? 0 : kl_ring_entries(r, nvals);
		confs[i] = *conf[i];
	}
	elf = elf_of_clause(c, &size);
	err = kl_open_object(r, elf, size, confs, i * sizeof(*confs), &g->obj);
	if (err)
		return err;
	if (c->conf.stacks)
		err = share_stacks(r, g->obj);
	if (!place && !err)
		err = kl_ring_size(r, g, nvals);
	if (!err)
		err = select_programs(g, names[way], place ? 3 : 2);
	for (i = 0; !err && way == KL_WAY_FENTRY && i < 2; i++)
		err = bpf_program__set_attach_target(g->progs[i].prog, 0, c->found.func.name);
	if (!err)
		err = bpf_object__load(g->obj);
	if (!err)
		err = map_cpus(r, g);
	for (i = 1; !err && i >= 0; i--) {
		if (!i && place && !place->offset)
			err = attach_place(r, &g->progs[2], place, way, KL_KPROBE_PLACE);
		if (!err)
			err = attach_side(r, c, g, way, i);
	}
	if (!err && place && place->offset)
		err = attach_place(r, &g->progs[2], place, way, KL_KPROBE_PLACE);
	if (err)
		close_group(r->kernel, g);
	return err;
}

/* Attach a pair of clauses together or, if the kernel refuses that, this clause alone. */
static int attach_pair(struct kl_recorder *r, struct kl_clause *c, struct kl_group *g,
		       enum kl_way way)
{
	struct kl_clause *other = c->other;
	int err = attach_func(r, c, g, way);

	if (!err || !other || err == -EPERM || err == -ENOMEM)
		return err;
	kl_debug("%s(): cannot attach two clauses together: %s", c->found.target->name,
		 explain(err));
	c->other = other->other = NULL;
	err = attach_func(r, c, g, way);
	if (err) {
		c->other = other;
		other->other = c;
	}
	return err;
}

static int attach_point(struct kl_recorder *r, const struct kl_clause *c,
			const struct kl_kplace *place)
{
	struct kl_pointer *p = &r->points[r->npoints];
	struct bpf_program *prog;
	size_t size;
	const void *elf = place_bpf__elf_bytes(&size);
	int err = kl_open_object(r, elf, size, &c->conf, sizeof(c->conf), &p->obj);

	if (err)
		return err;
	bpf_object__for_each_program(prog, p->obj)
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), "klin_point"));
	p->prog.prog = bpf_object__find_program_by_name(p->obj, "klin_point");
	err = bpf_object__load(p->obj);
	if (!err)
		err = attach_place(r, &p->prog, place, c->found.way, KL_KPROBE_POINT);
	r->npoints++;
	return err;
}

static int attach_points(struct kl_recorder *r, const struct kl_clause *c)
{
	const struct kl_spot *s = c->found.target->point;
	struct kl_kplace places[KL_PLACES_MAX];
	unsigned int n, i;
	char why[400];
	int err;

	if (!s)
		return 0;
	err = kl_places_find(r->kernel, s->inlined, s->name, s->module, s->offset, places, &n, why,
			     sizeof(why));
	for (i = 0; i < n && !err; i++) {
		err = attach_point(r, c, &places[i]);
		if (err)
			snprintf(why, sizeof(why), "%s", explain(err));
	}
	if (err)
		kl_spec_err_at(r->opts.spec, s->pos,
			       "cannot attach to the linearization point "
			       "in %s() of kernel %s: %s",
			       s->name, r->kernel->release, why);
	return err;
}

/* Return: the way that the options allow, or KL_WAY_NONE.  @best is the kernel's best way. */
static enum kl_way allowed_way(const struct kl_recorder *r, struct kl_clause *c, enum kl_way best)
{
	struct kl_func *f = &c->found.func;
	enum kl_way way = best;

	if (r->opts.only == KL_WAY_NONE || best == KL_WAY_NONE)
		return best;
	/* A user who asks for fentry gets it on a preemptible kernel, too; a warning follows. */
	if (f->preemptible && !kl_found_place(&c->found)) {
		f->preemptible = false;
		way = kl_func_way(f, c->found.why, sizeof(c->found.why));
		f->preemptible = true;
	}
	if (r->opts.only == KL_WAY_FENTRY)
		return way == KL_WAY_FENTRY ? way : KL_WAY_NONE;
	return way == KL_WAY_MODULE ? way : r->opts.only;
}

/*
 * Warn that fentry misses calls on a preemptible kernel.  Return: 0, or -EINVAL after a message
 * if the clock does not work there either.
 */
static int check_preemption(struct kl_recorder *r, const struct kl_clause *c)
{
	const struct kl_probe_target *t = c->found.target;

	if (!c->found.func.preemptible)
		return 0;
	/*
	 * The count of a CPU in a coarse time (bpf/clock.h) allows for interrupts, but not for
	 * tasks that preempt other tasks.
	 */
	if (kl_times_kind(r) == KLIN_CLOCK_COARSE) {
		kl_spec_err_at(
			r->opts.spec, t->pos,
			"%s(): fentry on a preemptible kernel does not work with --clock=tick or "
			"epoch; use another clock or --attach=kprobe",
			t->name);
		return -EINVAL;
	}
	if (!r->warned_preemptible)
		kl_warn("the kernel is preemptible (preempt=%s): while an fentry program of %s() "
			"is preempted, calls of other tasks are missed; --attach=auto avoids this",
			kl_preemption_name(r->kernel->preemption), t->name);
	r->warned_preemptible = true;
	return 0;
}

/*
 * Attach a clause in the best way that works.  If a better way fails, found.why keeps the reason,
 * to be shown to the user.
 */
static int attach_clause(struct kl_recorder *r, struct kl_clause *c)
{
	struct kl_group *g = &r->groups[r->ngroups];
	const struct kl_probe_target *t = c->found.target;
	enum kl_way way, first;
	int err = -ENOENT;

	/* The first clause of a pair has attached the programs of both. */
	if (c->other && c->other < c)
		return attach_points(r, c);
	way = kl_func_way(&c->found.func, c->found.why, sizeof(c->found.why));
	if (kl_found_place(&c->found))
		way = c->found.way;
	first = way;
	way = allowed_way(r, c, way);
	if (way == KL_WAY_NONE) {
		kl_spec_err_at(r->opts.spec, t->pos,
			       "%s() of kernel %s cannot be attached%s: "
			       "%s",
			       t->name, r->kernel->release,
			       r->opts.only == KL_WAY_FENTRY ? " by fentry" : "", c->found.why);
		return -EINVAL;
	}
	if (way == KL_WAY_FENTRY) {
		err = check_preemption(r, c);
		if (err)
			return err;
		err = attach_pair(r, c, g, KL_WAY_FENTRY);
		if (err && r->opts.only != KL_WAY_FENTRY && err != -EPERM && err != -ENOMEM) {
			snprintf(c->found.why, sizeof(c->found.why), "fentry: %s", explain(err));
			way = KL_WAY_KPROBE;
		}
	}
	if (way == KL_WAY_KPROBE || way == KL_WAY_MODULE)
		err = attach_pair(r, c, g, way);
	if (err) {
		kl_spec_err_at(r->opts.spec, t->pos, "cannot attach to %s() of kernel %s: %s",
			       t->name, r->kernel->release, explain(err));
		return err == -EILSEQ ? -EINVAL : err;
	}
	kl_debug("%s() attached after %.0f ms", t->name, (kl_now_ns() - r->began) / 1e6);
	c->found.way = way;
	if (r->opts.stacks && !c->conf.stacks)
		kl_warn("--stacks: %s() has no stacks, since klin.ko's kprobes record it, which may "
			"run where no lock may be taken", t->name);
	if (first == way)
		c->found.why[0] = '\0';
	c->group = r->ngroups++;
	if (c->other) {
		c->other->found.way = way;
		memcpy(c->other->found.why, c->found.why, sizeof(c->found.why));
		c->other->group = c->group;
	}
	return attach_points(r, c);
}

/* Attach one set of programs for all clauses on klin.ko's tracepoints. */
static int attach_tracepoints(struct kl_recorder *r)
{
	static const char *const names[] = {
		"klin_tp_call", "klin_tp_return", "klin_tp_point", "klin_tp_drain",
	};
	struct klin_tp_conf conf = {
		.slot_mask = r->opts.slots - 1, .clock = kl_times_kind(r),
		.one_object = r->opts.one_object, .stacks = r->opts.stacks,
		.object = r->opts.object,
		.stack_size = kl_kernel_stack_size(r->kernel),
	};
	struct kl_group *g = &r->groups[r->ngroups];
	unsigned int i, n = 0;
	size_t size;
	const void *elf = tp_bpf__elf_bytes(&size);
	int err, j;

	kl_filter_conf(r, &conf.filter);
	for (i = 0; i < r->nclauses; i++)
		if (r->clauses[i].tracepoint && (!n++ || r->clauses[i].found.id < conf.first_id))
			conf.first_id = r->clauses[i].found.id;
	if (!n)
		return 0;
	for (i = 0; i < r->nclauses; i++) {
		struct kl_clause *c = &r->clauses[i];
		uint32_t at = c->found.id - conf.first_id;

		if (!c->tracepoint)
			continue;
		if (at >= KLIN_TP_METHODS || i > UINT8_MAX) {
			kl_err("%s for one recording", i > UINT8_MAX ? "too many probe clauses" :
			       "the numbers of klin.ko's methods are too far apart");
			return -EINVAL;
		}
		conf.method[at].used = 1;
		conf.method[at].probe = i;
		conf.method[at].nargs = c->nargs;
		conf.method[at].nres = c->nres;
		if (c->nargs + c->nres > conf.nvals)
			conf.nvals = c->nargs + c->nres;
		c->group = r->ngroups;
	}
	if (r->opts.plain) {
		err = kl_plain_attach(r, g, &conf);
		goto out;
	}
	conf.ring = kl_ring_entries(r, conf.nvals);
	err = kl_open_object(r, elf, size, &conf, sizeof(conf), &g->obj);
	if (!err && conf.stacks)
		err = share_stacks(r, g->obj);
	if (!err)
		err = kl_ring_size(r, g, conf.nvals);
	if (!err)
		err = select_programs(g, names, 4);
	if (!err)
		err = bpf_object__load(g->obj);
	if (!err)
		err = map_cpus(r, g);
	for (j = 3; !err && j >= 0; j--) {
		g->progs[j].link = bpf_program__attach(g->progs[j].prog);
		if (!g->progs[j].link)
			err = -errno;
	}
out:
	if (err) {
		kl_err("cannot attach to klin.ko's tracepoints on kernel %s: %s",
		       r->kernel->release, explain(err));
		close_group(r->kernel, g);
		return err;
	}
	r->ngroups++;
	return 0;
}

/*
 * Attach to the ends of tasks, and to CPUs that go offline or come online.  If the changes of CPUs
 * cannot be seen, only perf buffers are used, and no rings.
 */
static int attach_task_ends(struct kl_recorder *r)
{
	struct klin_small_conf conf = { .slot_mask = r->opts.slots - 1, .clock = kl_times_kind(r) };
	struct bpf_program *prog = NULL;
	size_t size;
	const void *elf = task_bpf__elf_bytes(&size);
	int err = kl_open_object(r, elf, size, &conf, sizeof(conf), &r->task_obj), i;

	if (!err)
		err = bpf_object__load(r->task_obj);
	for (i = 0; !err && i < 2; i++) {
		prog = bpf_object__next_program(r->task_obj, prog);
		r->task_links[i] = bpf_program__attach(prog);
		if (!r->task_links[i])
			err = -errno;
	}
	if (err) {
		kl_err("cannot attach to the end of tasks (sched_process_exit, sched_process_free) "
		       "on kernel %s: %s",
		       r->kernel->release, explain(err));
		return err;
	}
	r->cpu_link = bpf_program__attach(bpf_object__next_program(r->task_obj, prog));
	if (!r->cpu_link)
		kl_debug("cannot see CPUs come online (%s): all events use the perf buffers",
			 explain(-errno));
	return 0;
}

/* Attach a program to a tracepoint; some kernels lack it if @optional. */
static int attach_raw(struct bpf_program *prog, const char *tracepoint, bool optional,
		      struct bpf_link **link)
{
	*link = bpf_program__attach_raw_tracepoint(prog, tracepoint);
	if (*link)
		return 0;
	return optional && errno == ENOENT ? 0 : -errno;
}

/*
 * See when the memory of recorded objects is freed, see bpf/free.bpf.c.  The twin is attached after
 * klin_free, so it runs after it, and never without it.
 */
static int attach_frees(struct kl_recorder *r)
{
	static const char *const names[] = { "klin_free", "klin_free_twin", "klin_alloc" };
	static const struct {
		unsigned int prog;
		const char *tracepoint;
		bool optional;
	} hooks[] = {
		{ 0, "kfree", false },		 { 1, "kfree", false },
		{ 0, "kmem_cache_free", false }, { 1, "kmem_cache_free", false },
		{ 2, "kmalloc", false },	 { 2, "kmem_cache_alloc", false },
		{ 2, "kmalloc_node", true },	 { 2, "kmem_cache_alloc_node", true },
	};
	const struct klin_free_conf conf = {
		.slot_mask = r->opts.slots - 1, .clock = kl_times_kind(r),
		.stack_size = kl_kernel_stack_size(r->kernel), .slab = kl_slab_conf(r->kernel),
	};
	struct kl_group *g = &r->groups[r->ngroups];
	size_t size;
	const void *elf = free_bpf__elf_bytes(&size);
	int err = kl_open_object(r, elf, size, &conf, sizeof(conf), &g->obj);
	unsigned int i;

	_Static_assert(sizeof(hooks) / sizeof(*hooks) == KL_FREE_LINKS, "links of hooks");
	if (!err)
		err = select_programs(g, names, 3);
	if (!err)
		err = bpf_object__load(g->obj) ?: map_cpus(r, g);
	for (i = 0; !err && i < KL_FREE_LINKS; i++)
		err = attach_raw(g->progs[hooks[i].prog].prog, hooks[i].tracepoint,
				 hooks[i].optional, &r->free_links[i]);
	if (err) {
		kl_err("cannot see when the kernel frees the memory of objects (tracepoints of "
		       "kmem) on kernel %s: %s",
		       r->kernel->release, explain(err));
		close_group(r->kernel, g);
		return err;
	}
	g->twins = true;
	r->ngroups++;
	return 0;
}

int kl_recorder_attach(struct kl_recorder *r)
{
	struct kl_slow *slow = NULL;
	unsigned int i;
	int err;

	libbpf_set_print(print_libbpf);
	kl_kprobe_sweep(r->kernel);
	pair_clauses(r);
	/* Recording by klin.ko itself needs neither BPF buffers nor BPF programs. */
	err = r->opts.plain ? 0 : attach_task_ends(r) ?: kl_reader_open(r);
	if (err)
		goto out;
	err = -ENOMEM;
	r->groups = calloc(r->nclauses + 2, sizeof(*r->groups));
	r->points = calloc(r->nclauses * KL_PLACES_MAX + 1, sizeof(*r->points));
	if (!r->groups || !r->points)
		goto out;
	r->began = r->looked = kl_now_ns();
	r->begin = r->polled = r->polled_before = kl_times_first(r);
	kl_drain_open(r);
	if (!r->opts.plain)
		kl_slab_open(r);
	if (!r->opts.plain && !kl_spec_flushes(r->opts.spec))
		kl_ticks_attach(r);
	slow = kl_slow_start(r);
	err = r->opts.plain ? 0 : attach_frees(r);
	for (i = 0; !err && i < r->nclauses; i++)
		if (!r->clauses[i].tracepoint)
			err = attach_clause(r, &r->clauses[i]);
	if (!err)
		err = attach_tracepoints(r);
	if (!err)
		err = kl_settle(r);
	r->began = kl_now_ns();
out:
	kl_slow_stop(slow);
	if (err)
		kl_detach(r);
	return err;
}

/*
 * Detach a program.  A kprobe's definition in tracefs stays, so that the kernel's counts can be
 * read; a probe of klin.ko is removed.
 */
static void detach_prog(struct kl_recorder *r, struct kl_prog *p)
{
	bpf_link__destroy(p->link);
	p->link = NULL;
	if (p->module_fd)
		kl_kprobe_remove(r->kernel, p);
}

void kl_detach(struct kl_recorder *r)
{
	unsigned int i, j;

	/* Detach returns first: operations called after that stay in their slots, pending. */
	for (i = 0; i < r->ngroups; i++)
		for (j = r->groups[i].nprogs; j-- > 0;)
			detach_prog(r, &r->groups[i].progs[j]);
	for (i = 0; i < r->npoints; i++)
		detach_prog(r, &r->points[i].prog);
	if (r->opts.plain)
		kl_plain_detach(r);
	for (i = 0; i < 2; i++) {
		bpf_link__destroy(r->task_links[i]);
		r->task_links[i] = NULL;
	}
	bpf_link__destroy(r->cpu_link);
	r->cpu_link = NULL;
	/* A twin never runs alone. */
	for (i = KL_FREE_LINKS; i-- > 0;) {
		bpf_link__destroy(r->free_links[i]);
		r->free_links[i] = NULL;
	}
	kl_ticks_detach(r);
}

void kl_close_groups(struct kl_recorder *r)
{
	unsigned int i;

	for (i = 0; i < r->ngroups; i++)
		close_group(r->kernel, &r->groups[i]);
	r->ngroups = 0;
	for (i = 0; i < r->npoints; i++) {
		bpf_link__destroy(r->points[i].prog.link);
		kl_kprobe_remove(r->kernel, &r->points[i].prog);
		bpf_object__close(r->points[i].obj);
	}
	r->npoints = 0;
	bpf_object__close(r->task_obj);
	r->task_obj = NULL;
	kl_slab_close(r);
}
