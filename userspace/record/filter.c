// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that options leave out, by their process, their CPU, or their object.
 *
 * A sample of objects is sound, since all operations of an object are recorded, or none.
 * Operations left out by process or CPU may use an object whose other operations are recorded.
 * The programs note these objects (bpf/filter.h), and the whole history of such an object becomes
 * a gap.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "record/cpulist.h"
#include "record/recorder.h"

_Static_assert(KL_CPU_WORDS == KLIN_CPU_WORDS, "CPUs that a filter can name");

static size_t mapped(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (sizeof(struct klin_left) + page - 1) / page * page;
}

/**
 * kl_filter_open() - make the map of noted objects
 * @r: the recorder
 *
 * Return: 0 or a negative errno.
 */
int kl_filter_open(struct kl_recorder *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	r->left_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "klin_left", 4, sizeof(struct klin_left), 1,
				    &opts);
	if (r->left_fd < 0)
		return r->left_fd;
	r->left = mmap(NULL, mapped(), PROT_READ, MAP_SHARED, r->left_fd, 0);
	if (r->left != MAP_FAILED)
		return 0;
	r->left = NULL;
	return -errno;
}

void kl_filter_close(struct kl_recorder *r)
{
	if (r->left)
		munmap(r->left, mapped());
	if (r->left_fd >= 0)
		close(r->left_fd);
}

void kl_filter_conf(const struct kl_recorder *r, struct klin_filter *f)
{
	f->only = r->opts.pid;
	f->sample = r->opts.sample > 1 ? r->opts.sample : 0;
	f->by_cpu = r->opts.by_cpu;
	f->note = r->opts.others;
	memcpy(f->cpus, r->opts.cpus, sizeof(f->cpus));
}

int kl_filter_check(const struct kl_recorder *r, const struct kl_clause *c)
{
	const struct kl_probe_target *t = c->found.target;

	if (c->found.nplaces && (r->opts.sample > 1 || r->opts.others)) {
		kl_spec_err_at(
			r->opts.spec, t->pos,
			"--sample, --pid and --cpu do not work with a probe inside a function: "
			"omit them");
		return -EINVAL;
	}
	if (r->opts.sample < 2 || t->kind == KL_TARGET_KLIN || t->object)
		return 0;
	kl_spec_err_at(
		r->opts.spec, t->pos,
		"--sample selects objects, but the clause of %s() has no object: add one, or "
		"omit --sample",
		t->name);
	return -EINVAL;
}

void kl_filter_show(const struct kl_recorder *r, FILE *f)
{
	if (r->opts.sample > 1)
		fprintf(f, "only about 1 of %u objects\n", r->opts.sample);
	if (r->opts.pid)
		fprintf(f, "only operations of process %d\n", r->opts.pid);
	if (!r->opts.by_cpu)
		return;
	fprintf(f, "only operations called on CPUs ");
	kl_cpulist_print(r->opts.cpus, 64 * KL_CPU_WORDS, f);
	fputc('\n', f);
}

/**
 * kl_filter_finish() - make gaps for the objects that omitted operations used
 * @r: the recorder, detached, with all events read
 * @stats: gets the number of such objects, shared
 *
 * The times of use are unknown, so the gaps extend over the whole recording.
 */
int kl_filter_finish(struct kl_recorder *r, struct kl_record_stats *stats)
{
	struct kl_gap gap = {
		.from = KL_TIME_MIN, .to = r->end, .cpu = KL_NO_CPU, .reason = KL_GAP_MISSED,
	};
	const volatile struct klin_left *left = r->left;
	size_t i;
	int err = 0;

	if (!r->opts.others)
		return 0;
	if (left->all) {
		stats->shared = r->h->nobjects;
		gap.object = KL_ALL_OBJECTS;
		return kl_history_add_gap(r->h, &gap);
	}
	for (i = 0; !err && i < r->h->nobjects; i++) {
		if (!left->object[klin_object_hash(r->h->objects[i]) & (KLIN_LEFT - 1)])
			continue;
		stats->shared++;
		gap.object = i;
		err = kl_history_add_gap(r->h, &gap);
	}
	return err;
}
