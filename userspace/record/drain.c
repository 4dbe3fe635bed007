// SPDX-License-Identifier: GPL-2.0
/* Drains CPUs by klin.ko, which interrupts each. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/attach/module.h"
#include "record/recorder.h"

/* Open klin.ko's file.  Without klin.ko fewer drains are known. */
void kl_drain_open(struct kl_recorder *r)
{
	r->drain_cpus = kl_quiet_others(r);
	r->drain_fd = !r->drain_cpus || kl_spec_flushes(r->opts.spec) ? -1 :
		      open(KL_MODULE_DIR "drain", O_WRONLY | O_CLOEXEC);
}

void kl_drain_close(struct kl_recorder *r)
{
	if (r->drain_fd >= 0)
		close(r->drain_fd);
	free(r->drain_cpus);
}

/**
 * kl_drain_all() - drain all CPUs but the quiet ones, if klin.ko is loaded
 * @r: the recorder, attached
 * @ended: the stores of operations that returned by this time are drained
 *
 * Return: 0 or -ENOMEM.
 */
int kl_drain_all(struct kl_recorder *r, uint64_t ended)
{
	/* Different counters always give the right order of two CPUs, see clocks.c. */
	const uint64_t error = r->h->clock == KL_CLOCK_MONO ? r->h->error : 0;
	const ssize_t len = r->drain_fd < 0 ? 0 : strlen(r->drain_cpus);
	int cpu, err = 0;

	/* The write also fails if klin.ko has been unloaded, and then nothing was drained. */
	if (!len || write(r->drain_fd, r->drain_cpus, len) != len)
		return 0;
	for (cpu = 0; !err && cpu < r->ncpus; cpu++)
		if (!kl_quiet_is(r, cpu))
			err = kl_add_drained(r, cpu, ended < error ? 0 : ended - error,
					     kl_time_add(kl_times_last(r), error));
	return err;
}
