// SPDX-License-Identifier: GPL-2.0
/* Recording, from the choice of targets to the finished history; see record.h. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock_skew.h"
#include "base/err.h"
#include "base/memstream.h"
#include "base/file.h"
#include "record/unwind.h"
#include "record/attach/coverage.h"
#include "record/plain.h"
#include "record/recorder.h"

/* Say which privileges recording needs. */
static int not_allowed(void)
{
	const char *lockdown = kl_lockdown();

	if (!strcmp(lockdown, "confidentiality"))
		kl_err("the kernel is locked down (%s), so BPF programs cannot read its memory: "
		       "boot without lockdown", lockdown);
	else
		kl_err("recording needs root, or CAP_BPF and CAP_PERFMON");
	return -EPERM;
}

/* Say why the kernel refused to make a map, whose size the option @size gives, or NULL. */
static int refused(const char *what, const char *size, int err)
{
	if (err == -EPERM || err == -EACCES)
		return not_allowed();
	kl_err("cannot create %s: %s%s%s", what, strerror(-err),
	       size && err == -ENOMEM ? "; use a smaller " : "",
	       size && err == -ENOMEM ? size : "");
	return -EPERM;
}

static bool may_record(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint64_t has;

	/* Let the kernel decide. */
	if (syscall(SYS_capget, &head, data))
		return true;
	has = (uint64_t)data[1].effective << 32 | data[0].effective;
	return has >> CAP_SYS_ADMIN & 1 || (has >> CAP_BPF & has >> CAP_PERFMON & 1);
}

static int make_maps(struct kl_recorder *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int err;

	r->ncpus = libbpf_num_possible_cpus();
	if (r->ncpus < 0)
		return r->ncpus;
	err = kl_room_make(r) ?: kl_quiet_open(r);
	if (err)
		return err;
	if (r->opts.plain)
		return kl_plain_open(r);
	r->events_fd = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "klin_events", 4, 4, r->ncpus,
				      NULL);
	if (r->events_fd < 0)
		return refused("the perf event array", NULL, r->events_fd);
	r->slots_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "klin_slots", 4, sizeof(struct klin_slot),
				     KLIN_ALL_SLOTS(r->opts.slots), &opts);
	if (r->slots_fd < 0)
		return refused("the map of open operations", "--slots", r->slots_fd);
	r->slots = mmap(NULL, KLIN_ALL_SLOTS(r->opts.slots) * sizeof(struct klin_slot),
			PROT_READ | PROT_WRITE, MAP_SHARED, r->slots_fd, 0);
	if (r->slots == MAP_FAILED) {
		r->slots = NULL;
		return refused("the memory mapping of open operations", "--slots", -errno);
	}
	err = kl_ring_open(r);
	if (err)
		return refused("the map of the CPUs' ring buffers", "--buffer", err);
	err = kl_filter_open(r);
	if (err)
		return refused("the map of filtered objects", NULL, err);
	err = kl_lives_open(r);
	if (err)
		return refused("the map of objects", NULL, err);
	err = r->opts.stacks ? kl_stacks_open(r) : 0;
	return err ? refused("the map of stacks", NULL, err) : 0;
}

/* Return: the number of the first clause on the same function. */
static unsigned int function_number(const struct kl_recorder *r, const struct kl_clause *c)
{
	const struct kl_clause *first;

	for (first = r->clauses; first < c; first++)
		if (!first->tracepoint && !strcmp(first->found.func.name, c->found.func.name) &&
		    !strcmp(first->found.func.module, c->found.func.module))
			break;
	return first - r->clauses;
}

static int choose_function(struct kl_recorder *r, struct kl_clause *c)
{
	struct klin_conf *conf = &c->conf;
	struct kl_misfit bad;
	int err;

	err = kl_compile(r->kernel, c->found.target, &c->found.func, kl_found_place(&c->found),
			 conf, &bad);
	if (err) {
		kl_spec_err_at(r->opts.spec, bad.pos, "%s", bad.why);
		return err;
	}
	conf->probe = c - r->clauses;
	conf->alone = c->found.target->inlined && !conf->nparams;
	conf->func = function_number(r, c);
	conf->slot_mask = r->opts.slots - 1;
	conf->clock = kl_times_kind(r);
	/*
	 * klin's own calls are operations, too.  If the method is pure, they may be left out, and
	 * so may calls by interrupts of klin.  With one object these calls are few and stay.
	 */
	conf->self = c->method->pure && !r->opts.one_object ? getpid() : 0;
	kl_filter_conf(r, &conf->filter);
	conf->one_object = r->opts.one_object && c->found.target->object;
	conf->object = r->opts.lock && !c->found.func.module[0] ? r->opts.lock : r->opts.object;
	/* These filters, too, reject operations at their calls. */
	conf->call_filter |= (conf->one_object || conf->filter.sample) && conf->call_object;
	conf->call_filter |= conf->filter.by_cpu;
	conf->all = !conf->one_object && !conf->filter.only && !conf->filter.sample &&
		    !conf->filter.by_cpu && !conf->filter.note;
	return 0;
}

static int choose_tracepoint(struct kl_recorder *r, struct kl_clause *c)
{
	const struct kl_probe_target *t = c->found.target;

	if (c->nargs <= KLIN_TP_VALS && c->nres <= KLIN_TP_VALS)
		return 0;
	kl_spec_err_at(
		r->opts.spec, t->pos,
		"a target klin:SUBJECT.METHOD has at most %u arguments and %u results, but '%s' "
		"has %u and %u",
		KLIN_TP_VALS, KLIN_TP_VALS, c->method->name, c->nargs, c->nres);
	return -EINVAL;
}

/* Make a clause for each place where a function was inlined into another one. */
static int choose_places(struct kl_recorder *r, struct kl_clause *first)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < first->found.nplaces && !err; i++) {
		struct kl_clause *c = &first[i];

		if (i)
			*c = *first;
		memset(&c->conf, 0, sizeof(c->conf));
		err = kl_target_place(r->kernel, &c->found, i);
		if (!err)
			err = choose_function(r, c);
	}
	r->nclauses += first->found.nplaces;
	return err;
}

/* Determine the clause's coverage; inlined instances of its function become clauses. */
static int choose_instances(struct kl_recorder *r, const struct kl_clause *first)
{
	struct kl_instances *c = malloc(sizeof(*c));
	unsigned int i;
	int err = c ? kl_instances_find(r->kernel, &first->found, c) : -ENOMEM;

	/* Executions of a place cannot be left out, see filter.c. */
	if (!err && c->n && (r->opts.sample > 1 || r->opts.others)) {
		c->n = 0;
		c->kind = KL_COVER_UNKNOWN;
		snprintf(c->text, sizeof(c->text), "%s(): with --sample, --pid or --cpu "
			 "inlined calls are not recorded", first->found.target->name);
	}
	for (i = 0; !err && i < c->n; i++) {
		struct kl_clause *to = &r->clauses[r->nclauses++];

		*to = *first;
		to->found = c->found[i];
		memset(&to->conf, 0, sizeof(to->conf));
		err = choose_function(r, to);
	}
	if (!err)
		err = kl_history_cover(r->h, c->kind, first->method->name,
				       strlen(first->method->name), c->text, strlen(c->text));
	free(c);
	return err;
}

/* Add clauses for the first alternative that this kernel has, if any. */
static int choose(struct kl_recorder *r, struct kl_clause *c)
{
	const struct kl_spec *s = r->opts.spec;
	int64_t method;
	int err;

	c->method = kl_spec_method(s, c->p->method);
	c->nargs = c->method->nparams;
	c->nres = c->method->nresults;
	err = kl_target_choose(r->kernel, s, c->p, &c->found);
	if (err)
		return err;
	method = kl_history_method(r->h, c->method->name, strlen(c->method->name));
	if (method < 0)
		return method;
	c->history_method = method;
	if (c->found.target->kind == KL_TARGET_NOTHING)
		return 0;
	if (kl_target_lacks_object(s, c->found.target))
		kl_warn_at(kl_spec_path(s), c->found.target->pos.line, c->found.target->pos.col,
			   "the clause of %s() names no object, so all calls are operations on one "
			   "object; add `object E;', or `object 0;' if there is only one",
			   c->found.target->name);
	err = kl_filter_check(r, c);
	if (!err && r->opts.plain)
		err = kl_plain_check(r, c);
	if (err)
		return err;
	if (c->found.nplaces)
		return choose_places(r, c) ?: choose_instances(r, c);
	r->nclauses++;
	c->tracepoint = c->found.target->kind == KL_TARGET_KLIN;
	err = c->tracepoint ? choose_tracepoint(r, c) : choose_function(r, c);
	return err ? err : choose_instances(r, c);
}

/* Fill the history's header. */
static int describe(struct kl_recorder *r)
{
	const struct kl_spec *s = r->opts.spec;
	struct kl_history *h = r->h;
	const char *source = kl_clock_source(r->clock_source, sizeof(r->clock_source));

	h->clock = r->opts.clock;
	h->fresh = r->opts.fresh;
	h->ncpus = r->ncpus;
	h->spec_path = strdup(kl_spec_path(s));
	h->spec_text = strdup(kl_spec_text(s));
	h->release = strdup(r->kernel->release);
	if (!h->spec_path || !h->spec_text || !h->release)
		return -ENOMEM;
	if (h->clock == KL_CLOCK_MONO && strcmp(source, "tsc"))
		kl_warn("the clock source is '%s', not 'tsc': clocks of different CPUs may differ "
			"by more than measured", source);
	if (r->opts.clock_known && h->clock == KL_CLOCK_MONO) {
		h->error = r->opts.clock_error;
		return 0;
	}
	return kl_times_error(r, &h->error);
}

/* Return: true if a clause is on something other than klin.ko's tracepoints. */
static bool names_functions(const struct kl_spec *s)
{
	unsigned int i, j;

	for (i = 0; i < kl_spec_nprobes(s); i++) {
		const struct kl_probe *p = kl_spec_probe(s, i);

		for (j = 0; j < p->ntargets; j++)
			if (p->targets[j].kind == KL_TARGET_FUNC)
				return true;
	}
	return false;
}

int kl_recorder_new(const struct kl_record_opts *opts, struct kl_recorder **out)
{
	struct kl_recorder *r = calloc(1, sizeof(*r));
	uint64_t start = kl_now_ns();
	unsigned int i, n;
	int err = -ENOMEM;

	if (!r)
		return err;
	r->opts = *opts;
	r->events_fd = r->slots_fd = r->left_fd = r->homes_fd = -1;
	r->times.fd = r->drain_fd = r->lives.living_fd = r->lives.blocks_fd = -1;
	r->plain.fd = -1;
	r->nclauses = kl_spec_nprobes(opts->spec);
	r->clauses = calloc(r->nclauses * (KL_PLACES_MAX + 1) + 1, sizeof(*r->clauses));
	r->h = kl_history_new();
	if (!r->clauses || !r->h)
		goto err;
	if (!r->nclauses) {
		kl_err("'%s' has no probe clauses: choose a specification that has them",
		       kl_spec_path(opts->spec));
		err = -EINVAL;
		goto err;
	}
	/* This comes first, since many files of /proc and tracefs need privileges. */
	err = may_record() ? 0 : not_allowed();
	if (!err)
		err = kl_settle_check(opts) ?: kl_clock_check() ?:
		      kl_kernel_open(names_functions(opts->spec), &r->kernel);
	if (err)
		goto err;
	r->kernel->debug = opts->debug;
	r->ignore_misses = opts->one_object && opts->private_object &&
			   !kl_preemptible(r->kernel->preemption);
	kl_debug("kernel's symbols and types read after %.0f ms", (kl_now_ns() - start) / 1e6);
	/* Remove clauses that have nothing to attach to in this kernel. */
	for (i = 0, n = r->nclauses, r->nclauses = 0; i < n; i++) {
		struct kl_clause *c = &r->clauses[r->nclauses];

		c->p = kl_spec_probe(opts->spec, i);
		err = choose(r, c);
		if (err)
			goto err;
	}
	kl_changes_open(r);
	kl_debug("clauses compiled after %.0f ms", (kl_now_ns() - start) / 1e6);
	err = make_maps(r) ?: kl_times_open(r) ?: describe(r);
	if (err)
		goto err;
	kl_debug("clocks compared after %.0f ms", (kl_now_ns() - start) / 1e6);
	*out = r;
	return 0;
err:
	if (err == -ENOMEM)
		kl_err("out of memory");
	kl_recorder_free(r);
	return err;
}

void kl_recorder_free(struct kl_recorder *r)
{
	if (!r)
		return;
	kl_close_groups(r);
	kl_reader_close(r);
	kl_times_close(r);
	kl_drain_close(r);
	kl_quiet_close(r);
	kl_plain_close(r);
	if (r->slots && r->slots_fd >= 0)
		munmap(r->slots, KLIN_ALL_SLOTS(r->opts.slots) * sizeof(struct klin_slot));
	if (r->slots_fd >= 0)
		close(r->slots_fd);
	kl_ring_close(r);
	kl_filter_close(r);
	kl_lives_close(r);
	kl_stacks_close(r);
	if (r->events_fd >= 0)
		close(r->events_fd);
	kl_callees_free(r->callees);
	kl_kernel_close(r->kernel);
	kl_history_free(r->h);
	free(r->groups);
	free(r->points);
	free(r->clauses);
	free(r->drained);
	free(r->unknown);
	kl_settle_close(r);
	free(r);
}

/* Say what recording an event does to the store buffer of its CPU. */
static const char *effect(const struct kl_recorder *r, bool drains)
{
	if (drains)
		return "DRAINS the store buffer";
	return r->opts.clock == KL_CLOCK_SEQ ? "DRAINS the store buffer, by its clock" :
	       "store buffer not drained";
}

/* Return: true on QEMU without KVM, where CPUs are threads of the host. */
static bool emulated(void)
{
	size_t len;
	char *text;
	bool found;

	if (kl_read_file("/proc/cpuinfo", &text, &len))
		return false;
	found = strstr(text, ": QEMU TCG CPU");
	free(text);
	return found;
}

void kl_recorder_show(const struct kl_recorder *r, FILE *f)
{
	static const char *const ways[] = {
		[KL_WAY_FENTRY] = "fentry+fexit", [KL_WAY_KPROBE] = "kprobe+kretprobe",
		[KL_WAY_MODULE] = "kprobe+kretprobe of klin.ko",
	};
	unsigned int i;

	for (i = 0; i < r->nclauses; i++) {
		const struct kl_clause *c = &r->clauses[i];
		const struct kl_found *found = &c->found;
		const struct kl_kplace *place = kl_found_place(found);

		fprintf(f, "%-10s ", c->method->name);
		if (place && found->target->inlined)
			fprintf(f, "inlined %s at ", found->target->inlined);
		if (place)
			fprintf(f, "%s+0x%llx", place->symbol, (unsigned long long)place->offset);
		else
			fprintf(f, "%s%s", c->tracepoint ? "klin:" : "", found->target->name);
		if (found->func.module[0])
			fprintf(f, " [%s]", found->func.module);
		if (c->tracepoint)
			fprintf(f, "  %s, %s", r->opts.plain ? "klin.ko's own recording by plain stores" :
				"tracepoints", effect(r, false));
		else if (place)
			fprintf(f, "  kprobe, %s; from %s()'s call to its return, by %s, %s",
				effect(r, true), found->func.name, ways[found->way],
				effect(r, found->way != KL_WAY_FENTRY));
		else
			fprintf(f, "  %s, %s%s%s%s", ways[found->way],
				effect(r, found->way != KL_WAY_FENTRY), found->why[0] ? " (" : "",
				found->why, found->why[0] ? ")" : "");
		if (found->target->point)
			fprintf(f, "; linearization point by kprobe, %s", effect(r, true));
		fputc('\n', f);
	}
	for (i = 0; i < r->h->ncoverage; i++)
		fprintf(f, "%-10s coverage %s: %s\n", r->h->coverage[i].method,
			kl_cover_names[r->h->coverage[i].kind], r->h->coverage[i].text);
	fprintf(f, "preemption: %s%s\n", kl_preemption_name(r->kernel->preemption),
		kl_preemptible(r->kernel->preemption) ?
		" (preemptible: while an fentry program is preempted, calls of other tasks are "
		"missed; kprobes and tracepoints miss none)" : "");
	if (emulated())
		fprintf(f, "machine: emulated (QEMU's TCG): the store buffers are the host's, and "
			"more drains them than these lines say, such as each read of the TSC\n");
	kl_filter_show(r, f);
	kl_quiet_show(r, f);
}

int kl_recorder_poll(struct kl_recorder *r)
{
	uint64_t before = r->polled;
	int err;

	kl_losses_poll(r, false);
	if (r->polled != before)
		kl_settle_poll(r);
	err = kl_times_epoch(r);
	return err ? err : kl_reader_consume(r);
}

uint64_t kl_recorder_received(const struct kl_recorder *r)
{
	return r->ops;
}

/* Compare the clocks again: those of CPUs that came online may differ by more. */
static int compare_again(struct kl_recorder *r)
{
	uint64_t error, before = r->h->error;
	size_t i;
	int err;

	if (!r->cpus_came || r->opts.clock_known || r->opts.clock != KL_CLOCK_MONO)
		return 0;
	err = kl_times_error(r, &error);
	if (err || error <= before)
		return err;
	r->h->error = error;
	/*
	 * If a task moved to another CPU between call and return, the reader made the call earlier
	 * by the old error.
	 */
	for (i = 0; i < r->h->nops; i++) {
		struct kl_op *op = &r->h->ops[i];

		op->call -= op->call < error - before ? op->call : error - before;
	}
	return 0;
}

void kl_look_at_preemption(struct kl_recorder *r)
{
	const enum kl_preemption now = kl_preemption(), before = r->kernel->preemption;

	if (now == before)
		return;
	kl_warn("the kernel's preemption model changed from %s to %s during the recording",
		kl_preemption_name(before), kl_preemption_name(now));
	r->kernel->preemption = now;
	if (!kl_preemptible(now))
		return;
	r->ignore_misses = false;
}

int kl_recorder_stop(struct kl_recorder *r, struct kl_history **out, struct kl_record_stats *stats)
{
	struct kl_memstream m;
	int err;

	/* The clocks differ by less than the sleep, so after it all events until r->end exist. */
	r->ended = kl_now_ns();
	r->end = kl_times_end(r);
	usleep(1000);
	kl_losses_poll(r, true);
	kl_detach(r);
	err = kl_drain_all(r, r->end) ?: kl_reader_consume(r);
	kl_losses_poll(r, true);
	kl_settle_poll(r);
	if (!err)
		err = compare_again(r);
	if (!err)
		err = kl_finish(r, stats);
	if (!err)
		err = kl_memstream_open(&m);
	if (!err) {
		kl_recorder_show(r, m.f);
		kl_recorder_show_clock(r, r->h, m.f);
		err = kl_memstream_close(&m, &r->h->attached, NULL);
	}
	if (err) {
		kl_err("cannot finish the history: %s", strerror(-err));
		return err;
	}
	*out = r->h;
	r->h = NULL;
	return 0;
}
