// SPDX-License-Identifier: GPL-2.0
/* klin.ko's loads: kernel threads on one of its subjects, driven through debugfs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "probe/load.h"

#define DIR "/sys/kernel/debug/klin/"
#define WINDOW "16384"		/* operations the load may be ahead of the reader */
#define LONGEST "600000"	/* ms; nobody may be there any more to stop it */

struct module_load {
	struct kl_load load;
	int ack_fd;
	uint64_t acked;
	bool started;
};

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* A value of klin/status; false if it is not there. */
static bool status(const char *key, char *value, size_t size)
{
	size_t len, n = strlen(key);
	char *data, *line, *save;
	bool found = false;

	value[0] = '\0';
	if (kl_read_file(DIR "status", &data, &len))
		return false;
	for (line = strtok_r(data, "\n", &save); line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		found = !strncmp(line, key, n) && line[n] == '=';
		if (found)
			snprintf(value, size, "%s", line + n + 1);
	}
	free(data);
	return found;
}

static int refused(const char *what, int err)
{
	char *text;
	size_t len;

	if (err == -ENOENT) {
		kl_err("klin.ko is not loaded, or debugfs is not mounted at /sys/kernel/debug: "
		       "insmod klin.ko");
	} else if (err == -EACCES || err == -EPERM) {
		kl_err("driving klin.ko needs root");
	} else if (!kl_read_file(DIR "error", &text, &len) && len) {
		text[strcspn(text, "\n")] = '\0';
		kl_err("klin.ko refuses '%s': %s", what, text);
		free(text);
	} else {
		kl_err("klin.ko refuses '%s': %s", what, strerror(-err));
	}
	return err == -EBUSY ? -EBUSY : err == -EACCES || err == -EPERM ? -EPERM : -EINVAL;
}

static int module_open(const char *arg, struct kl_load **out);

static int module_start(struct kl_load *load)
{
	struct module_load *l = (struct module_load *)load;
	int err = write_file(DIR "load", "start");

	if (err)
		return refused("start", err);
	l->started = true;
	return 0;
}

static int module_done(struct kl_load *load)
{
	char state[32];

	return !status("state", state, sizeof(state)) || !strcmp(state, "done") ||
		!strcmp(state, "idle");
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
		kl_debug("ack: %s", strerror(errno));
}

static int module_stop(struct kl_load *load)
{
	int err = write_file(DIR "load", "stop");

	return err ? refused("stop", err) : 0;
}

static void module_report(struct kl_load *load, FILE *f)
{
	char subject[64], ops[32], ns[32], truth[32];
	double seconds;

	status("subject", subject, sizeof(subject));
	status("ops", ops, sizeof(ops));
	status("ns", ns, sizeof(ns));
	status("truth", truth, sizeof(truth));
	seconds = strtoull(ns, NULL, 10) / 1e9;
	fprintf(f, "%s: %s operations in %.2f s (%.0f/s)", subject, ops, seconds,
		seconds > 0 ? strtoull(ops, NULL, 10) / seconds : 0.0);
	if (strcmp(truth, "0"))
		fprintf(f, "; its threads saw %s violations themselves", truth);
	fputc('\n', f);
}

static void module_free(struct kl_load *load)
{
	struct module_load *l = (struct module_load *)load;

	if (!l->started)
		write_file(DIR "load", "stop");
	if (l->ack_fd >= 0)
		close(l->ack_fd);
	free(l);
}

static const struct kl_load_ops module_load = {
	.name = "klin.ko",
	.help = "subject=NAME,threads=N,cpus=LIST,mix=PERCENT,rate=N,ops=N,duration=MS,seed=N,\n"
		"                   delay=NS,work=NS,drain=OPS,lossless=OPS (" WINDOW "; 0: do not "
		"wait for the reader)",
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
 * Make the load.  Each klin that drives one holds a lock on the ack file, so a
 * load without one is what a killed klin has left, waiting for its reader.
 */
static int take(struct module_load *l, const char *settings)
{
	bool alone = !flock(l->ack_fd, LOCK_EX | LOCK_NB);
	int err = write_file(DIR "load", settings);

	if (err != -EBUSY || !alone)
		return err;
	kl_warn("stopping the load that was left under way on klin.ko");
	err = write_file(DIR "load", "stop");
	return err ? err : write_file(DIR "load", settings);
}

static int module_open(const char *arg, struct kl_load **out)
{
	struct module_load *l = calloc(1, sizeof(*l));
	char settings[1024], value[32], *at;
	int err, n;

	if (!l)
		return -ENOMEM;
	l->load.ops = &module_load;
	l->ack_fd = -1;
	n = snprintf(settings, sizeof(settings), "%s%s%s paused=1", arg,
		     given(arg, "lossless=") ? "" : " lossless=" WINDOW,
		     given(arg, "duration=") ? "" : " duration=" LONGEST);
	if (n >= (int)sizeof(settings)) {
		kl_err("--load: longer than %zu bytes", sizeof(settings));
		err = -EINVAL;
		goto err;
	}
	for (at = settings; *at; at++)
		if (*at == ',')
			*at = ' ';
	l->ack_fd = open(DIR "ack", O_WRONLY | O_CLOEXEC);
	if (l->ack_fd < 0) {
		err = refused("ack", -errno);
		goto err;
	}
	err = take(l, settings);
	if (err) {
		err = refused(arg, err);
		goto err;
	}
	l->load.fresh = true;
	if (status("object", value, sizeof(value)))
		l->load.object = strtoull(value, NULL, 16);
	if (status("spinlock", value, sizeof(value)))
		l->load.lock = strtoull(value, NULL, 16);
	*out = &l->load;
	return 0;
err:
	if (l->ack_fd >= 0)
		close(l->ack_fd);
	free(l);
	return err;
}
