// SPDX-License-Identifier: GPL-2.0
/*
 * Full and broken disks, for the preloaded library (inject.c).
 *
 * KLIN_INJECT_DISK=N		fails the N-th system call that writes: write() etc., except to
 *				standard error; fsync(); close() of a file open for writing;
 *				rename(); open() of a new file
 * KLIN_INJECT_DISK_ON=N	fails the N-th such call and all later ones
 * KLIN_INJECT_ERRNO=NUMBER	the error; ENOSPC by default
 * KLIN_INJECT_SHORT=1		write() writes half of its bytes
 *
 * The streams of the C library enter the kernel without calling write(), so preloading does
 * not catch them.  A seccomp filter therefore traps these system calls, and the handler of
 * SIGSYS makes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "inject.h"

static unsigned long fail_at, fail_from, short_writes, calls;
static int error;

/* Return: true if the system call writes to a disk, or completes a write. */
static bool writes(long nr, long fd)
{
	switch (nr) {
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
		return fd != STDERR_FILENO;
	case SYS_close:
		return (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
	default:
		return true;
	}
}

bool inject_disk_counts(void)
{
	return fail_at || fail_from || short_writes;
}

static bool fails(long nr, long fd)
{
	unsigned long n;

	if (!writes(nr, fd))
		return false;
	inject_count();
	n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (n != fail_at && (!fail_from || n < fail_from))
		return false;
	inject_mark();
	return true;
}

static void trapped(int number __attribute__((unused)), siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	const int saved = errno;
	const bool bad = fails(info->si_syscall, reg[REG_RDI]);
	long ret = 0;

	if (info->si_syscall == SYS_write && short_writes && reg[REG_RDX] > 1) {
		reg[REG_RDX] /= 2;
		inject_mark();
	}
	/* Close the file even if close() reports an error. */
	if (!bad || info->si_syscall == SYS_close)
		ret = inject_call(info->si_syscall, reg[REG_RDI], reg[REG_RSI], reg[REG_RDX],
				  reg[REG_R10]);
	reg[REG_RAX] = bad ? -error : ret < 0 ? -errno : ret;
	errno = saved;
}

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define END(action)	BPF_STMT(BPF_RET | BPF_K, action)
/* Trap this system call: the next instruction is END(SECCOMP_RET_TRAP). */
#define TRAP(nr)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), END(SECCOMP_RET_TRAP)

void inject_disk_begin(void)
{
	static struct sock_filter code[] = {
		LOAD(args[5]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, INJECT_PASS, 0, 1),
		END(SECCOMP_RET_ALLOW),
		LOAD(nr),
		TRAP(SYS_write),
		TRAP(SYS_writev),
		TRAP(SYS_pwrite64),
		TRAP(SYS_close),
		TRAP(SYS_fsync),
		TRAP(SYS_fdatasync),
		TRAP(SYS_rename),
		TRAP(SYS_renameat),
		TRAP(SYS_renameat2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1),
		END(SECCOMP_RET_TRAP),
		END(SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };
	/* SA_NODEFER: system calls of the handler are trapped, too. */
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };

	fail_at = inject_number("KLIN_INJECT_DISK");
	fail_from = inject_number("KLIN_INJECT_DISK_ON");
	short_writes = inject_number("KLIN_INJECT_SHORT");
	error = inject_number("KLIN_INJECT_ERRNO") ?: ENOSPC;
	if (!inject_disk_counts())
		return;
	if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(99);
}
