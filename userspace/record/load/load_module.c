// SPDX-License-Identifier: GPL-2.0
/* klin.ko's loads: kernel threads on one of its subjects, driven through debugfs. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/nearest.h"
#include "record/load/load.h"
#include "record/attach/module.h"

/* maximal number of operations by which the load may be ahead of the reader */
#define WINDOW "16384"
#define MOST_SUBJECTS 256
/* maximal duration of the load in ms, in case klin is killed and cannot stop the load */
#define LONGEST "600000"

struct module_load {
	struct kl_load load;
	int ack_fd;
	uint64_t acked;
	bool started;
};

static int module_open(const char *arg, struct kl_load **out);

static int module_start(struct kl_load *load)
{
	struct module_load *l = (struct module_load *)load;
	int err = kl_module_write("load", "start");

	if (err)
		return kl_module_refused("start", err);
	l->started = true;
	return 0;
}

static int module_done(struct kl_load *load)
{
	char state[32];

	return !kl_module_value("status", "state", state, sizeof(state)) ||
	       !strcmp(state, "done") || !strcmp(state, "idle");
}

static void module_ack(struct kl_load *load, uint64_t ops)
{
	struct module_load *l = (struct module_load *)load;
	char text[32];
	int n;

	if (ops == l->acked)
		return;
	l->acked = ops;
	n = snprintf(text, sizeof(text), "%llu", (unsigned long long)ops);
	if (write(l->ack_fd, text, n) < 0)
		kl_debug("cannot acknowledge operations to klin.ko: %s", strerror(errno));
}

static int module_stop(struct kl_load *load)
{
	int err = kl_module_write("load", "stop");

	return err ? kl_module_refused("stop", err) : 0;
}

static void module_report(struct kl_load *load, FILE *f)
{
	char subject[64], ops[32], ns[32], truth[32];
	double seconds;

	kl_module_value("status", "subject", subject, sizeof(subject));
	kl_module_value("status", "ops", ops, sizeof(ops));
	kl_module_value("status", "ns", ns, sizeof(ns));
	kl_module_value("status", "truth", truth, sizeof(truth));
	seconds = strtoull(ns, NULL, 10) / 1e9;
	fprintf(f, "%s: %s operations in %.2f s (%.0f/s)", subject, ops, seconds,
		seconds > 0 ? strtoull(ops, NULL, 10) / seconds : 0.0);
	if (strcmp(truth, "0"))
		fprintf(f, "; the threads of the load found %s violations", truth);
	fputc('\n', f);
}

static void module_free(struct kl_load *load)
{
	struct module_load *l = (struct module_load *)load;

	if (!l->started)
		kl_module_write("load", "stop");
	if (l->ack_fd >= 0)
		close(l->ack_fd);
	free(l);
}

static const struct kl_load_ops module_load = {
	.name = "klin.ko",
	.help = "kernel threads that use a structure of klin.ko; subject=NAME, threads=N, "
		"cpus=LIST, mix=PERCENT (reads, or trylocks), rate=OPS (per second and thread), "
		"ops=N (in total), duration=" LONGEST " (ms), seed=N, delay=NS (inside operations), "
		"work=NS (between operations), drain=OPS (between drains of the store buffer), "
		"lossless=" WINDOW " (operations that the reader may lag behind; 0: no limit)",
	.open = module_open, .start = module_start, .done = module_done, .ack = module_ack,
	.stop = module_stop, .report = module_report, .free = module_free,
};
KL_LOAD(module_load);

static bool given(const char *arg, const char *name)
{
	const char *at = strstr(arg, name);

	return at && (at == arg || at[-1] == ',');
}

/*
 * Make the load.  While klin drives a load, it holds a lock on the ack file.  So a load without
 * this lock was left by a klin that was killed; stop it first.
 */
static int take(struct module_load *l, const char *settings)
{
	bool alone = !flock(l->ack_fd, LOCK_EX | LOCK_NB);
	int err = kl_module_write("load", settings);

	if (err != -EBUSY || !alone)
		return err;
	kl_warn("klin.ko still runs the load of a klin that was killed: stopping it");
	err = kl_module_write("load", "stop");
	return err ? err : kl_module_write("load", settings);
}

/* Refuse a subject that klin.ko does not have.  If its list cannot be read, klin.ko decides. */
static int check_subject(const char *arg)
{
	const char *at = strstr(arg, "subject="), *names[MOST_SUBJECTS], *near;
	char *list, *line, *save = NULL, name[KL_NEAREST_MAX];
	bool found = false;
	size_t len, n = 0;

	if (!at || !given(arg, "subject=") || kl_read_file(KL_MODULE_DIR "subjects", &list, &len))
		return 0;
	at += strlen("subject=");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
	for (line = strtok_r(list, "\n", &save); line && n < MOST_SUBJECTS;
	     line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, " ")] = '\0';
		found |= !strcmp(line, name);
		names[n++] = line;
	}
	near = kl_nearest(name, names, n);
	if (!found)
		kl_err("--load subject=%s: klin.ko has no such structure%s%s%s "
		       "%s lists them",
		       name, near ? "; did you mean " : "", near ? near : "", near ? "?" : ";",
		       KL_MODULE_DIR "subjects");
	free(list);
	return found ? 0 : -EINVAL;
}

static int module_open(const char *arg, struct kl_load **out)
{
	static const char *const names[] = { "subject", "threads",  "cpus", "mix",   "rate",
					     "ops",	"duration", "seed", "delay", "work",
					     "drain",	"lossless", NULL };
	struct module_load *l = calloc(1, sizeof(*l));
	char settings[1024], value[32], *at;
	int err, n;

	if (!l)
		return -ENOMEM;
	l->load.ops = &module_load;
	l->ack_fd = -1;
	err = kl_load_check(arg, names);
	if (err)
		goto err;
	n = snprintf(settings, sizeof(settings), "%s%s%s paused=1", arg,
		     given(arg, "lossless=") ? "" : " lossless=" WINDOW,
		     given(arg, "duration=") ? "" : " duration=" LONGEST);
	if (n >= (int)sizeof(settings)) {
		kl_err("--load: the settings are longer than %zu bytes", sizeof(settings));
		err = -EINVAL;
		goto err;
	}
	for (at = settings; *at; at++)
		if (*at == ',' && !isdigit((unsigned char)at[1]))
			*at = ' ';
	l->ack_fd = open(KL_MODULE_DIR "ack", O_WRONLY | O_CLOEXEC);
	if (l->ack_fd < 0) {
		err = kl_module_refused("ack", -errno);
		goto err;
	}
	err = check_subject(arg);
	if (err)
		goto err;
	err = take(l, settings);
	if (err) {
		err = kl_module_refused(arg, err);
		goto err;
	}
	l->load.fresh = true;
	if (kl_module_value("addresses", "object", value, sizeof(value)))
		l->load.object = strtoull(value, NULL, 16);
	if (kl_module_value("addresses", "lock", value, sizeof(value)))
		l->load.lock = strtoull(value, NULL, 16);
	if (kl_module_value("status", "interrupts", value, sizeof(value)))
		l->load.interrupts = strcmp(value, "0");
	*out = &l->load;
	return 0;
err:
	if (l->ack_fd >= 0)
		close(l->ack_fd);
	free(l);
	return err;
}
