// SPDX-License-Identifier: GPL-2.0
/* Advice about a configuration, see advise.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "klind/advise.h"

/* Return: whether ProtectHome=yes of klind.service hides @path. */
static bool is_hidden(const char *path)
{
	return !strncmp(path, "/root/", 6) || !strncmp(path, "/home/", 6) ||
	       !strncmp(path, "/run/user/", 10);
}

const char *klind_hidden_hint(const char *path)
{
	/* systemd sets this variable for a service of Type=notify, as klind.service is. */
	if (!getenv("NOTIFY_SOCKET") || !is_hidden(path))
		return "";
	return "; ProtectHome= in klind.service hides /home and /root: copy the file to /etc/klin";
}

const char *klind_metrics_hint(int err, bool confined)
{
	if (err == -EACCES && confined)
		return "; klind has dropped its privileges, so the directory must belong to "
		       "klind's user";
	if (err == -EROFS)
		return "; if klind runs as a service, a ReadWritePaths= in klind.service must "
		       "name the directory";
	return "";
}

/* Warn of a directory of metrics that does not exist. */
static void advise_metrics(const struct klind_conf *c)
{
	char *dir = strdup(c->metrics), *end = dir ? strrchr(dir, '/') : NULL;

	if (end) {
		end[end == dir] = '\0';
		if (access(dir, F_OK) && errno == ENOENT)
			kl_warn_at(c->path, 0, 0,
				   "metrics = %s: the directory %s does not exist; "
				   "make it, or remove this key",
				   c->metrics, dir);
	}
	free(dir);
}

void klind_advise(const struct klind_conf *c)
{
	size_t i;

	if (c->metrics)
		advise_metrics(c);
	/* A configuration that is hidden itself is not for the service. */
	for (i = 0; i < c->nwatch && !is_hidden(c->path); i++)
		if (is_hidden(c->watch[i].file))
			kl_warn_at(c->path, c->watch[i].file_line, 0,
				   "[spec %s]: the service cannot "
				   "read '%s', since ProtectHome= in klind.service hides /home and "
				   "/root; copy the file to /etc/klin",
				   c->watch[i].name, c->watch[i].file);
}
