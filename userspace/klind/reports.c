// SPDX-License-Identifier: GPL-2.0
/* The queue of reports and what is kept of them, see reports.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "klind/reports.h"
#include "klind/report_write.h"

/*
 * Reports that wait, each of which holds on to what it is about.  More wait if they are the first
 * of their watcher and kind: many of one do not take the place of another's only one.
 */
#define WAITING	8

const char *const incident_kinds[] = {
	[INCIDENT_VIOLATION] = "violation", [INCIDENT_UNKNOWN] = "unknown",
	[INCIDENT_REQUEST] = "request",
};

struct reporter {
	char *dir;
	uint64_t keep, keep_bytes;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct incident *queue;
	size_t n, cap;
	bool busy, stop;
};

static void free_incident(struct incident *i)
{
	flight_shot_free(i->flight);
	flight_shot_free(i->window);
}

/* A report's directory has no directories in it. */
static void remove_report(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(fd, e->d_name, 0);
	closedir(d);
	unlinkat(dir, name, AT_REMOVEDIR);
}

static uint64_t report_bytes(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *e;
	struct stat st;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((e = readdir(d)))
		if (!fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			sum += st.st_blocks * 512ull;
	closedir(d);
	return sum;
}

struct kept {
	char name[REPORT_NAME];
	uint64_t bytes;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kept *)a)->name, ((const struct kept *)b)->name);
}

/* Is it a report's name, or that of one that was not finished? */
static bool is_report(const char *name, bool unfinished)
{
	if (unfinished)
		return !strncmp(name, REPORT_TEMPORARY, strlen(REPORT_TEMPORARY));
	return strspn(name, "0123456789TZ.") == strlen("20261121T233015.123456Z") &&
	       name[8] == 'T';
}

/*
 * Names begin with their time: the first ones are the oldest.  But the one that has just
 * been written stays, also where the clock was put back, or is not set yet.
 */
static void prune(const struct reporter *r, const char *written)
{
	int fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct kept *kept = NULL;
	size_t n = 0, cap = 0, i, left;
	struct dirent *e;
	uint64_t sum = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d))) {
		if (!is_report(e->d_name, false) || kl_grow(kept, cap, n + 1))
			continue;
		snprintf(kept[n].name, sizeof(kept[n].name), "%s", e->d_name);
		kept[n].bytes = report_bytes(fd, e->d_name);
		sum += kept[n++].bytes;
	}
	if (n)
		qsort(kept, n, sizeof(*kept), by_name);
	for (i = 0, left = n; i < n && (left > r->keep || sum > r->keep_bytes); i++) {
		if (!strcmp(kept[i].name, written))
			continue;
		remove_report(fd, kept[i].name);
		sum -= kept[i].bytes;
		left--;
	}
	if (left && sum > r->keep_bytes) {
		kl_warn("%s: a single report has more than keep-bytes, it was removed", r->dir);
		remove_report(fd, written);
	}
	free(kept);
	closedir(d);
}

static void *work(void *arg)
{
	struct reporter *r = arg;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		char name[REPORT_NAME] = "";
		struct incident i;
		int ret;

		while (!r->n && !r->stop)
			pthread_cond_wait(&r->changed, &r->lock);
		if (!r->n)
			break;
		i = r->queue[0];
		memmove(r->queue, r->queue + 1, --r->n * sizeof(*r->queue));
		r->busy = true;
		pthread_mutex_unlock(&r->lock);
		ret = report_write(r->dir, &i, name);
		__atomic_add_fetch(ret < 0 ? i.failed : i.written, 1, __ATOMIC_RELAXED);
		if (ret > 0 && i.incomplete)
			__atomic_add_fetch(i.incomplete, 1, __ATOMIC_RELAXED);
		if (ret < 0)
			kl_err("%s: a report could not be written to %s: %s", i.name, r->dir,
			       strerror(-ret));
		free_incident(&i);
		prune(r, ret < 0 ? "" : name);
		pthread_mutex_lock(&r->lock);
		r->busy = false;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void remove_unfinished(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (is_report(e->d_name, true))
			remove_report(fd, e->d_name);
	closedir(d);
}

int reporter_new(const char *dir, uint64_t keep, uint64_t keep_bytes, struct reporter **out)
{
	struct reporter *r;

	if ((mkdir(dir, 0755) && errno != EEXIST) || access(dir, W_OK | X_OK)) {
		kl_err("reports cannot be written to %s: %s", dir, strerror(errno));
		return -EINVAL;
	}
	remove_unfinished(dir);
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->dir = strdup(dir);
	r->keep = keep;
	r->keep_bytes = keep_bytes;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	if (!r->dir || kl_grow(r->queue, r->cap, WAITING) ||
	    pthread_create(&r->thread, NULL, work, r)) {
		free(r->queue);
		free(r->dir);
		free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void reporter_free(struct reporter *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	free(r->queue);
	free(r->dir);
	free(r);
}

static bool waits(const struct reporter *r, const char *name, enum incident_kind kind)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->queue[i].kind == kind && !strcmp(r->queue[i].name, name))
			return true;
	return false;
}

int reporter_submit(struct reporter *r, const struct incident *i)
{
	struct incident drop = *i;
	int ret;

	pthread_mutex_lock(&r->lock);
	if (r->n >= WAITING && waits(r, i->name, i->kind))
		ret = -EBUSY;
	else
		ret = kl_grow(r->queue, r->cap, r->n + 1);
	if (!ret) {
		r->queue[r->n++] = *i;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	if (ret)
		free_incident(&drop);
	return ret;
}

void reporter_drain(struct reporter *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->n || r->busy)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
}
