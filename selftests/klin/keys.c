// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command on a pseudo terminal of 80x24, for programs that draw a screen.  Prints all that
 * the command writes.  Once it has written WORD, its keyboard gets KEYS, in which ^ stands for
 * Enter; then the next WORD is waited for.
 *
 *   keys [WORD KEYS]... -- COMMAND...
 *
 * The exit status is that of the command.
 */
#include <errno.h>
#include <error.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	/* The output since the last keys, or the end of it if it is long. */
	static char said[1 << 16];
	size_t len = 0;
	int fd, status, at, command;
	ssize_t n;
	pid_t pid;
	char *p;

	for (command = 1; command < argc && strcmp(argv[command], "--"); command++)
		;
	if (++command >= argc || command % 2)
		error(2, 0, "expected words with keys, --, and a command");
	for (at = 2; at < command - 1; at += 2)
		for (p = argv[at]; *p; p++)
			if (*p == '^')
				*p = '\r';
	at = 1;
	pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0)
		error(2, errno, "no pseudo terminal");
	if (!pid) {
		execvp(argv[command], argv + command);
		error(127, errno, "%s", argv[command]);
	}
	/* Linux reports the end of the other side as EIO. */
	while ((n = read(fd, said + len, sizeof(said) - 1 - len)) > 0) {
		fwrite(said + len, 1, n, stdout);
		len += n;
		said[len] = '\0';
		if (at < command - 1 && strstr(said, argv[at])) {
			if (write(fd, argv[at + 1], strlen(argv[at + 1])) < 0)
				error(2, errno, "cannot send the keys");
			at += 2;
			len = 0;
		}
		/* Keep the end, where WORD may have begun. */
		if (len > sizeof(said) / 2) {
			memmove(said, said + len - 256, 256);
			len = 256;
		}
		said[len] = '\0';
	}
	if (waitpid(pid, &status, 0) < 0)
		error(2, errno, "waitpid");
	fflush(stdout);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
