// SPDX-License-Identifier: GPL-2.0
/*
 * usage: time-limit SECONDS COMMAND [ARGUMENT...]
 *
 * Run COMMAND in a process group of its own, and end the group after SECONDS; 0 means no limit.
 * The archive of tools/bundle has this program, because the timeout of busybox signals COMMAND
 * alone: a shell that waits for a hung program would go on waiting.  Exit status: COMMAND's; 124
 * after SECONDS, as of coreutils' timeout; 125 for wrong arguments; 127 if COMMAND does not start.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds between SIGTERM and SIGKILL, in which a test may clean up and keep its files. */
#define GRACE 60

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/*
 * Wait for the end of @child, and pass signals on to its group.
 *
 * Return: 0 after @seconds, or 1 with the child's status in @status.
 */
static int wait_for(pid_t child, time_t seconds, const sigset_t *signals, int *status)
{
	struct timespec left = { 0 };
	time_t end = now() + seconds;
	int signal;

	while (waitpid(child, status, WNOHANG) != child) {
		left.tv_sec = end - now();
		if (seconds && left.tv_sec <= 0)
			return 0;
		signal = seconds ? sigtimedwait(signals, NULL, &left) : sigwaitinfo(signals, NULL);
		if (signal > 0 && signal != SIGCHLD)
			kill(-child, signal);
	}
	return 1;
}

int main(int argc, char **argv)
{
	sigset_t signals, before;
	char *end = NULL;
	long seconds;
	int status;
	pid_t child;

	seconds = argc > 2 ? strtol(argv[1], &end, 10) : -1;
	if (seconds < 0 || end == argv[1] || *end) {
		fprintf(stderr, "usage: time-limit SECONDS COMMAND [ARGUMENT...]\n");
		return 125;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	child = fork();
	if (child < 0) {
		perror("time-limit: fork");
		return 125;
	}
	if (!child) {
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	/* Both set the group, so that it exists before either goes on. */
	setpgid(child, child);
	if (!wait_for(child, seconds, &signals, &status)) {
		kill(-child, SIGTERM);
		if (!wait_for(child, GRACE, &signals, &status))
			fprintf(stderr, "time-limit: %s ignored SIGTERM\n", argv[2]);
		/* What is left of the group would keep the pipe of the results open. */
		kill(-child, SIGKILL);
		return 124;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
