// SPDX-License-Identifier: GPL-2.0
/*
 * Histories in the forms of other programs.  Their readers are larger than everything else that
 * klin-replay needs, so it has none: it runs `klin convert', and reads what that writes.  The
 * history's hash is the hash of the original file.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/ending.h"
#include "base/err.h"
#include "klin-replay/foreign.h"

static const char *from;	/* the form's name for klin; NULL: klin recognizes the form */
static const char *rules; /* text of a spec with a history block, or NULL */
static bool converted;

void foreign_rules(const char *spec)
{
	rules = spec;
}

/*
 * Run klin with these arguments; @spec, unless it is negative, is its descriptor 3.
 * Return: 0, -EINVAL after its message, or another errno.
 */
static int run_klin(char **argv, int in, int out, int spec)
{
	posix_spawn_file_actions_t files;
	char *path = kl_beside("klin");
	int status, ret;
	pid_t pid;

	if (!path)
		return -EINVAL;
	ret = posix_spawn_file_actions_init(&files);
	if (ret)
		goto out_path;
	ret = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	if (!ret)
		ret = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	if (!ret && spec >= 0)
		ret = posix_spawn_file_actions_adddup2(&files, spec, 3);
	if (!ret)
		ret = posix_spawn(&pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (ret) {
		kl_err("cannot run '%s', which converts histories in the forms of other programs: "
		       "%s; convert the history with `klin convert', and run `klin check' on the "
		       "result", path, strerror(ret));
		ret = EINVAL;
		goto out_path;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status)) {
		ret = WEXITSTATUS(status) == KLIN_EXIT_OK ? 0 :
		      WEXITSTATUS(status) == KLIN_EXIT_SYSTEM ? ENOMEM : EINVAL;
	} else {
		kl_err("'%s convert' was ended by signal %d", path, WTERMSIG(status));
		ret = ECANCELED;
	}
out_path:
	free(path);
	return -ret;
}

/* Return: an unnamed file with these bytes, read from its start, or a negative errno. */
static int unnamed_file(const char *data, size_t len)
{
	int fd = memfd_create("history", MFD_CLOEXEC), ret;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (len) {
		n = write(fd, data, len);
		if (n < 0) {
			ret = -errno;
			close(fd);
			return ret;
		}
		data += n;
		len -= n;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Read the .klh in @fd as if it were the file @name. */
static int read_converted(const char *name, int fd, struct kl_history **out)
{
	struct kl_input in;
	struct stat st;
	void *data;
	int ret;

	if (fstat(fd, &st))
		return -errno;
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	kl_input_memory(&in, name, data, st.st_size);
	ret = kl_form_read(&kl_form_klh, &in, out);
	kl_input_close(&in);
	munmap(data, st.st_size);
	return ret;
}

static int read_foreign(struct kl_input *in, struct kl_history **out)
{
	char *argv[10] = { "klin", "convert", "--to=klh" }, option[64], *name;
	int n = 3, here = -1, spec = -1, there, ret;
	const char *data;
	size_t len;

	/* klin reads a copy, but its messages name the history. */
	if (asprintf(&name, "--name=%s", in->name) < 0)
		return -ENOMEM;
	argv[n++] = name;
	if (from) {
		snprintf(option, sizeof(option), "--from=%s", from);
		argv[n++] = option;
	}
	if (in->independent)
		argv[n++] = in->independent == KL_INDEPENDENT_YES ? "--independent=yes" :
								    "--independent=no";
	if (rules)
		argv[n++] = "--spec=/dev/fd/3";
	argv[n++] = "-";
	argv[n] = "-";
	ret = kl_input_all(in, &data, &len);
	there = ret ? ret : unnamed_file(data, len);
	if (there >= 0)
		here = unnamed_file(NULL, 0);
	if (here >= 0 && rules)
		spec = unnamed_file(rules, strlen(rules));
	ret = there < 0 ? there : here < 0 ? here : rules && spec < 0 ? spec : 0;
	if (!ret)
		ret = run_klin(argv, there, here, spec);
	if (!ret)
		ret = read_converted(in->name, here, out);
	if (here >= 0)
		close(here);
	if (there >= 0)
		close(there);
	if (spec >= 0)
		close(spec);
	free(name);
	converted = !ret;
	return ret;
}

/*
 * Return: true for any file that is not empty, since klin may know its form.  The rank of this form
 * is the last, so all other forms are asked before.
 */
static bool is_foreign(const struct kl_head *head)
{
	return head->data != head->end;
}

static const struct kl_form form_foreign = {
	.name = "foreign", .rank = 1000, .example = "",
	.help = "the form of another program, converted by klin",
	.is = is_foreign, .read = read_foreign, .keys = true,
};
KL_FORM(form_foreign);

const struct kl_form *foreign_form(const char *name)
{
	const struct kl_form *form = kl_form_find(name);

	if (!strcmp(name, "help")) {
		char *argv[] = { "klin", "convert", "--from=help", NULL };

		exit(kl_ending(kl_ending_error(run_klin(argv, STDIN_FILENO, STDOUT_FILENO, -1))));
	}
	if (form && form != &form_foreign)
		return form;
	from = name;
	return &form_foreign;
}

bool foreign_converted(void)
{
	return converted;
}
