// SPDX-License-Identifier: GPL-2.0
/*
 * Give up privileges, see confine.h.
 *
 * The filter raises a signal for a call that it denies.  The handler reports the call and lets it
 * fail.  So an unexpected call of a library is seen and can be added here, and klind goes on
 * watching.  To kill the process would help nobody, because the call was denied already.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/err.h"
#include "klind/confine.h"

/*
 * AddressSanitizer needs more calls than klind: its search for leaks at the end starts a process
 * that traces this one.
 */
#if __has_include(<seccomp.h>) && !defined(__SANITIZE_ADDRESS__)
#define FILTERED
#include <seccomp.h>
#endif

int klind_drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	int cap;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* The bounding set matters to a program that is executed later; klind can execute none. */
	for (cap = 0; !prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); cap++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

#ifdef FILTERED

#define NUMBERS	1024	/* system calls of x86-64 have smaller numbers */

/* System calls that a running klind needs, with any arguments. */
static const int allowed[] = {
	/* memory; see also the rules for mmap() and mprotect() */
	SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(mremap), SCMP_SYS(munmap),
	/* threads, of the check; see also clone() */
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(futex), SCMP_SYS(get_robust_list),
	SCMP_SYS(getcpu), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(membarrier),
	SCMP_SYS(rseq), SCMP_SYS(sched_get_priority_max), SCMP_SYS(sched_get_priority_min),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler),
	SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_yield),
	SCMP_SYS(set_robust_list), SCMP_SYS(set_tid_address),
	/* signals */
	SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(tgkill),
	/* time and waiting */
	SCMP_SYS(clock_getres), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_wait),
	SCMP_SYS(gettimeofday), SCMP_SYS(nanosleep), SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(time),
	/* files: the configuration, specifications, reports, metrics, /proc, tracefs */
	SCMP_SYS(access), SCMP_SYS(chmod), SCMP_SYS(close), SCMP_SYS(dup), SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(fcntl),
	SCMP_SYS(fdatasync), SCMP_SYS(fstat), SCMP_SYS(fstatfs), SCMP_SYS(fsync),
	SCMP_SYS(ftruncate), SCMP_SYS(getcwd), SCMP_SYS(getdents64), SCMP_SYS(lseek),
	SCMP_SYS(lstat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(newfstatat), SCMP_SYS(open),
	SCMP_SYS(openat), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(pwrite64), SCMP_SYS(read),
	SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(readv), SCMP_SYS(rename),
	SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(rmdir), SCMP_SYS(stat),
	SCMP_SYS(statfs), SCMP_SYS(statx), SCMP_SYS(umask), SCMP_SYS(unlink),
	SCMP_SYS(unlinkat), SCMP_SYS(write), SCMP_SYS(writev),
	/* sockets of this machine; see also socket() */
	SCMP_SYS(accept4), SCMP_SYS(bind), SCMP_SYS(connect), SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt), SCMP_SYS(listen), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg), SCMP_SYS(sendto), SCMP_SYS(setsockopt), SCMP_SYS(shutdown),
	/* the machine and the process */
	SCMP_SYS(getegid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getrandom),
	SCMP_SYS(getrusage), SCMP_SYS(getuid), SCMP_SYS(prlimit64), SCMP_SYS(sysinfo),
	SCMP_SYS(uname),
};

/* Commands of bpf() on descriptors that klind has: it reads maps and counters, and detaches. */
static const int bpf_commands[] = {
	BPF_MAP_LOOKUP_ELEM, BPF_MAP_DELETE_ELEM, BPF_MAP_GET_NEXT_KEY, BPF_PROG_TEST_RUN,
	BPF_OBJ_GET_INFO_BY_FD, BPF_MAP_LOOKUP_AND_DELETE_ELEM, BPF_LINK_DETACH,
};

static scmp_filter_ctx filter;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;	/* libseccomp changes @filter */
static char *names[NUMBERS];	/* of system calls; the handler must not search for them */
static bool told[NUMBERS + 1]; /* calls that were reported; the last is of all other numbers */

/* The signal may interrupt malloc().  Neither snprintf() of such a text nor write() allocates. */
static void on_denied(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	const int number = info->si_syscall, saved = errno;
	const int at = number >= 0 && number < NUMBERS ? number : NUMBERS;
	const char *name = at < NUMBERS ? names[at] : NULL;
	char text[200];
	ssize_t n;

	u->uc_mcontext.gregs[REG_RAX] = -EPERM;
	if (__atomic_exchange_n(&told[at], true, __ATOMIC_RELAXED))
		return;
	n = snprintf(text, sizeof(text),
		     "%s%s: warning: denied the system call %s (%d), which a "
		     "running klind should not need; please report this\n",
		     kl_log_sink ? "<4>" : "", kl_log_name, name ? name : "?", number);
	n = write(STDERR_FILENO, text, n);
	errno = saved;
}

static void add(int *err, uint32_t action, int call)
{
	*err = *err ?: seccomp_rule_add(filter, action, call, 0);
}

static void add_if(int *err, uint32_t action, int call, struct scmp_arg_cmp arg)
{
	*err = *err ?: seccomp_rule_add(filter, action, call, 1, arg);
}

static int add_rules(void)
{
	const uint32_t allow = SCMP_ACT_ALLOW;
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		add(&err, allow, allowed[i]);
	for (i = 0; i < sizeof(bpf_commands) / sizeof(*bpf_commands); i++)
		add_if(&err, allow, SCMP_SYS(bpf), SCMP_A0(SCMP_CMP_EQ, bpf_commands[i]));
	/* Memory never becomes code. */
	add_if(&err, allow, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	add_if(&err, allow, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* Threads, but no processes.  The arguments of clone3() cannot be seen; use clone(). */
	add_if(&err, allow, SCMP_SYS(clone),
	       SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	add(&err, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
	add_if(&err, allow, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	/* These commands are of perf events and klin.ko, or ask whether a stream is a terminal. */
	add_if(&err, allow, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xff00, '$' << 8));
	add_if(&err, allow, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xff00, 'k' << 8));
	add_if(&err, allow, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, TCGETS));
	/* The recorder tries this for a CPU that comes online, and reports it itself. */
	add(&err, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(perf_event_open));
	add_if(&err, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(bpf), SCMP_A0(SCMP_CMP_EQ, BPF_MAP_CREATE));
	return err;
}

int klind_confine_prepare(void)
{
	struct sigaction denied = { .sa_sigaction = on_denied, .sa_flags = SA_SIGINFO };
	int err = -ENOMEM, i;

	filter = seccomp_init(SCMP_ACT_TRAP);
	if (filter)
		err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!err)
		err = add_rules();
	if (!err && sigaction(SIGSYS, &denied, NULL))
		err = -errno;
	if (err) {
		kl_warn("cannot make the filter of system calls: %s", strerror(-err));
		klind_confine_free();
		return err;
	}
	for (i = 0; i < NUMBERS; i++)
		names[i] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);
	return 0;
}

static int load_filter(void)
{
	int err;

	if (!filter)
		return 0;
	pthread_mutex_lock(&loading);
	err = seccomp_load(filter);
	pthread_mutex_unlock(&loading);
	return err;
}

void klind_confine_free(void)
{
	int i;

	seccomp_release(filter);
	filter = NULL;
	for (i = 0; i < NUMBERS; i++) {
		free(names[i]);
		names[i] = NULL;
	}
}

#else

int klind_confine_prepare(void)
{
#ifndef __SANITIZE_ADDRESS__
	kl_warn("klind was built without libseccomp: system calls are not filtered");
#endif
	return 0;
}

static int load_filter(void)
{
	return 0;
}

void klind_confine_free(void)
{
}

#endif

int klind_confine(void)
{
	int err = klind_drop_capabilities();

	if (err) {
		kl_warn("cannot drop capabilities: %s", strerror(-err));
		return err;
	}
	err = load_filter();
	if (err)
		kl_warn("cannot filter system calls: %s", strerror(-err));
	return err;
}
