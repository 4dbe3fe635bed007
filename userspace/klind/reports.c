// SPDX-License-Identifier: GPL-2.0
/* Queue reports, and remove the oldest ones, see reports.h. */
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
 * Length of the queue; each report in it holds memory of its operations.  The first report of a
 * watcher and kind is queued even beyond this length: other reports must not displace it.
 */
#define WAITING	8

const char *const incident_kinds[] = {
	[INCIDENT_VIOLATION] = "violation", [INCIDENT_UNKNOWN] = "unknown",
	[INCIDENT_REQUEST] = "request",
};

struct reporter {
	char *dir;
	uint64_t keep, keep_bytes;
	int (*confine)(void); /* the thread has yet to call it; or NULL */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct incident *queue;
	size_t n, cap;
	/* a report is written, or privileges are dropped; end when the queue is empty */
	bool busy, stop;
};

static void free_incident(struct incident *i)
{
	flight_shot_free(i->flight);
	flight_shot_free(i->window);
}

/* Return: the opened directory, or NULL with the error in errno. */
static DIR *open_dir(int at, const char *name, int flags)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags), err;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0) {
		err = errno;
		close(fd);
		errno = err;
	}
	return d;
}

/* Return: the next entry; NULL at the end, with errno 0, or after an error, with errno set. */
static struct dirent *next_entry(DIR *d)
{
	errno = 0;
	return readdir(d);
}

/* Remove a report's directory, which has no subdirectories.  Return: 0 or a negative errno. */
static int remove_report(int dir, const char *name)
{
	DIR *d = open_dir(dir, name, O_NOFOLLOW);
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = next_entry(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	return unlinkat(dir, name, AT_REMOVEDIR) ? -errno : 0;
}

/* Sum up the sizes of a report's files.  Return: 0 or a negative errno; the sum is then partial. */
static int report_bytes(int dir, const char *name, uint64_t *sum)
{
	DIR *d = open_dir(dir, name, O_NOFOLLOW);
	struct dirent *e;
	struct stat st;
	int err;

	*sum = 0;
	if (!d)
		return -errno;
	while ((e = next_entry(d)))
		if (!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			*sum += st.st_blocks * 512ull;
	err = -errno;
	closedir(d);
	return err;
}

struct kept {
	char name[REPORT_NAME];
	uint64_t bytes;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kept *)a)->name, ((const struct kept *)b)->name);
}

/* Return: true if @name is a report's name; with @unfinished, an unfinished report's name. */
static bool is_report(const char *name, bool unfinished)
{
	if (unfinished)
		return !strncmp(name, REPORT_TEMPORARY, strlen(REPORT_TEMPORARY));
	return strspn(name, "0123456789TZ.") == strlen("20261121T233015.123456Z") &&
	       name[8] == 'T';
}

/* Log why a report is not counted in the bounds, or is not removed, unless it is gone. */
static void warn_kept(const struct reporter *r, const char *name, const char *what, int err)
{
	if (err == -ENOENT)
		return;
	kl_warn("%s/%s: cannot %s this report, so that %s may exceed keep-reports or keep-bytes: "
		"%s", r->dir, name, what, r->dir, strerror(-err));
}

/* List the reports in @d.  An error is logged, and the list lacks what could not be read. */
static size_t list_reports(const struct reporter *r, DIR *d, struct kept **out)
{
	struct kept *kept = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;
	int err;

	while ((e = next_entry(d))) {
		if (!is_report(e->d_name, false))
			continue;
		err = kl_grow(kept, cap, n + 1);
		if (!err) {
			snprintf(kept[n].name, sizeof(kept[n].name), "%s", e->d_name);
			err = report_bytes(dirfd(d), e->d_name, &kept[n++].bytes);
		}
		if (err)
			warn_kept(r, e->d_name, "count", err);
	}
	if (errno)
		kl_warn("%s: cannot list all reports: %s", r->dir, strerror(errno));
	if (n)
		qsort(kept, n, sizeof(*kept), by_name);
	*out = kept;
	return n;
}

/*
 * Remove the oldest reports until the rest is within the bounds.  Names begin with the time, so
 * their order is the order of time.  Keep @written, the newest report: its name sorts earlier if
 * the clock was set back or is not set yet.  Remove @written only if it alone exceeds keep_bytes.
 * A report that cannot be removed counts as removed: newer reports do not make room for it.
 */
static void prune(const struct reporter *r, const char *written)
{
	DIR *d = open_dir(AT_FDCWD, r->dir, 0);
	struct kept *kept;
	uint64_t sum = 0;
	size_t n, i, left;
	int err;

	if (!d) {
		kl_warn("%s: cannot remove old reports: %s", r->dir, strerror(errno));
		return;
	}
	n = list_reports(r, d, &kept);
	for (i = 0; i < n; i++)
		sum += kept[i].bytes;
	for (i = 0, left = n; i < n && (left > r->keep || sum > r->keep_bytes); i++) {
		if (!strcmp(kept[i].name, written))
			continue;
		err = remove_report(dirfd(d), kept[i].name);
		if (err)
			warn_kept(r, kept[i].name, "remove", err);
		sum -= kept[i].bytes;
		left--;
	}
	if (left && sum > r->keep_bytes) {
		err = remove_report(dirfd(d), written);
		if (err)
			warn_kept(r, written, "remove", err);
		else
			kl_warn("%s: removed report %s, which alone exceeds keep-bytes; raise "
				"keep-bytes", r->dir, written);
	}
	free(kept);
	closedir(d);
}

/* Write a report, count it, free its incident, and remove old reports. */
static void write_one(const struct reporter *r, struct incident *i)
{
	char name[REPORT_NAME] = "";
	int ret = report_write(r->dir, i, name);

	__atomic_add_fetch(ret < 0 ? i->failed : i->written, 1, __ATOMIC_RELAXED);
	if (ret > 0 && i->incomplete)
		__atomic_add_fetch(i->incomplete, 1, __ATOMIC_RELAXED);
	if (ret < 0)
		kl_err("%s: cannot write a report to %s: %s", i->name, r->dir, strerror(-ret));
	free_incident(i);
	prune(r, ret < 0 ? "" : name);
}

static void *write_reports(void *arg)
{
	struct reporter *r = arg;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		int (*confine)(void);
		struct incident i;

		while (!r->n && !r->stop && !r->confine)
			pthread_cond_wait(&r->changed, &r->lock);
		confine = r->confine;
		if (!confine && !r->n)
			break;
		r->confine = NULL;
		if (!confine) {
			i = r->queue[0];
			memmove(r->queue, r->queue + 1, --r->n * sizeof(*r->queue));
		}
		r->busy = true;
		pthread_mutex_unlock(&r->lock);
		if (confine)
			confine();
		else
			write_one(r, &i);
		pthread_mutex_lock(&r->lock);
		r->busy = false;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void remove_unfinished(const char *dir)
{
	DIR *d = open_dir(AT_FDCWD, dir, 0);
	struct dirent *e;
	int err;

	if (!d) {
		kl_warn("%s: cannot remove unfinished reports: %s", dir, strerror(errno));
		return;
	}
	while ((e = next_entry(d))) {
		err = is_report(e->d_name, true) ? remove_report(dirfd(d), e->d_name) : 0;
		if (err)
			kl_warn("%s/%s: cannot remove this unfinished report: %s", dir, e->d_name,
				strerror(-err));
	}
	closedir(d);
}

int reporter_new(const char *dir, uint64_t keep, uint64_t keep_bytes, struct reporter **out)
{
	struct reporter *r;

	if ((mkdir(dir, 0755) && errno != EEXIST) || access(dir, W_OK | X_OK)) {
		kl_err("cannot write reports to %s: %s", dir, strerror(errno));
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
	    pthread_create(&r->thread, NULL, write_reports, r)) {
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

static bool is_queued(const struct reporter *r, const char *name, enum incident_kind kind)
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
	if (r->n >= WAITING && is_queued(r, i->name, i->kind))
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

void reporter_confine(struct reporter *r, int (*confine)(void))
{
	pthread_mutex_lock(&r->lock);
	r->confine = confine;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

void reporter_drain(struct reporter *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->n || r->busy || r->confine)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
}
