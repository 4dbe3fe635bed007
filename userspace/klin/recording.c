// SPDX-License-Identifier: GPL-2.0
/* Options and load of `klin record' and `klin monitor', see recording.h. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/args.h"
#include "base/digits.h"
#include "base/err.h"
#include "base/memstream.h"
#include "base/shipped.h"
#include "check/check.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/recording.h"
#include "record/cpulist.h"

#define DEFAULT_SLOTS 4096	/* default of --slots: tasks that keep a slot of their own */
#define MOST_SAMPLED (1u << 20) /* objects, of which --sample records one */
#define MOST_SECONDS 1e6 /* of --duration */
#define INTERVAL_US 3000	/* time between two reads of the buffers */

enum { OPT_LOAD = 1024, OPT_DURATION, OPT_OBJECT, OPT_ATTACH, OPT_BUFFER, OPT_SLOTS,
	OPT_CLOCK_ERROR, OPT_DEBUG, OPT_PID, OPT_CPU, OPT_SAMPLE, OPT_CLOCK, OPT_STACKS };

volatile int recording_stopped;

static void on_signal(int sig)
{
	recording_stopped = sig;
}

static uint64_t power_of_two(struct argp_state *state, const char *name, const char *arg,
			     uint64_t max)
{
	uint64_t v = kl_arg_amount(state, name, arg, ", a power of two,", 1, max);

	if (v & (v - 1))
		argp_error(state, "--%s=%s: expected a power of two", name, arg);
	return v;
}

static enum kl_way attach_way(struct argp_state *state, const char *arg)
{
	static const char *const names[] = { "auto", "fentry", "kprobe", "plain", NULL };
	static const enum kl_way ways[] = { KL_WAY_NONE, KL_WAY_FENTRY, KL_WAY_KPROBE,
					    KL_WAY_NONE };

	return ways[kl_arg_choice(state, "attach", arg, names)];
}

/* Parse a list of CPUs, such as 0-3,6. */
static void cpu_list(struct argp_state *state, const char *arg, uint64_t *cpus)
{
	if (*arg && !kl_cpulist_parse(arg, cpus, 64 * KL_CPU_WORDS))
		return;
	argp_error(state, "--cpu=%s: expected a list of CPUs below %u, such as 0-3,6", arg,
		   64 * KL_CPU_WORDS);
}

/* Refuse a list of CPUs of which this machine has none. */
static void some_cpu(struct argp_state *state, const char *arg, const uint64_t *cpus)
{
	const long n = sysconf(_SC_NPROCESSORS_CONF);
	long cpu;

	for (cpu = 0; cpu < n; cpu++)
		if (cpu >= 64 * KL_CPU_WORDS || kl_cpulist_has(cpus, cpu))
			return;
	argp_error(state, "--cpu=%s: this machine has only the CPUs from 0 to %ld", arg, n - 1);
}

/* Return: true if a shell would find the command @name. */
static bool is_command(const char *name)
{
	const char *dir = getenv("PATH") ?: "/bin:/usr/bin";
	char path[PATH_MAX];
	size_t len;

	if (strchr(name, '/'))
		return !access(name, X_OK);
	for (;; dir += len + 1) {
		len = strcspn(dir, ":");
		snprintf(path, sizeof(path), "%.*s/%s", len ? (int)len : 1, len ? dir : ".", name);
		if (!access(path, X_OK))
			return true;
		if (!dir[len])
			return false;
	}
}

static enum kl_clock clock_kind(struct argp_state *state, const char *arg)
{
	static const char *const names[] = {
		[KL_CLOCK_MONO] = "mono",   [KL_CLOCK_SEQ] = "seq",	 [KL_CLOCK_TICK] = "tick",
		[KL_CLOCK_EPOCH] = "epoch", [KL_CLOCK_EPOCH + 1] = NULL,
	};

	return kl_arg_choice(state, "clock", arg, names);
}

/* Parse an option of which operations are recorded. */
static error_t parse_filter(struct recording *a, int key, char *arg, struct argp_state *state)
{
	uint64_t n = 0;

	switch (key) {
	case OPT_OBJECT:
		a->opts.one_object = true;
		a->opts.object = kl_arg_amount(state, "object", arg,
					       ", such as the address 0xffff888003a5c000,", 0,
					       UINT64_MAX);
		break;
	case OPT_PID:
		a->opts.pid = kl_arg_number(state, "pid", arg, 1, 1 << 22);
		if (kill(a->opts.pid, 0) && errno == ESRCH)
			argp_error(state, "--pid=%s: there is no such process", arg);
		a->opts.others = true;
		break;
	case OPT_CPU:
		cpu_list(state, arg, a->opts.cpus);
		some_cpu(state, arg, a->opts.cpus);
		a->opts.by_cpu = a->opts.others = true;
		break;
	case OPT_SAMPLE:
		if (strncmp(arg, "1/", 2) || !kl_digits(arg + 2, &n) || *kl_digits(arg + 2, &n) ||
		    !n || n > MOST_SAMPLED)
			argp_error(state,
				   "--sample=%s: expected 1/N, such as 1/16, an N of at "
				   "most %u",
				   arg, MOST_SAMPLED);
		a->opts.sample = n;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Refuse options that exclude each other. */
static void end_arguments(const struct recording *a, struct argp_state *state)
{
	if (!a->spec)
		kl_args_missing(state, "expected a specification; `klin spec --list' lists the "
				       "shipped ones");
	if (a->opts.clock_known && a->opts.clock != KL_CLOCK_MONO)
		kl_warn("--clock-error has an effect only with --clock=mono");
	if (a->opts.stacks && a->opts.plain)
		argp_error(state, "--stacks needs BPF programs, and --attach=plain uses "
				  "none: omit one of both");
	if (a->command && (a->load || a->duration))
		argp_error(state, "a command excludes --load and --duration: klin records "
				  "while it runs");
	if (!a->command && state->quoted && state->quoted == state->argc)
		argp_error(state, "expected a command after `--'");
	if (a->command && !is_command(a->command[0]))
		argp_error(state, "cannot run '%s': %s; expected a command after the specification",
			   a->command[0],
			   errno == EACCES ? strerror(errno) : "there is no such command");
}

static error_t parse_recording(int key, char *arg, struct argp_state *state)
{
	struct recording *a = state->input;
	char *end;

	switch (key) {
	case 'v':
		kl_log_level = KL_LOG_DEBUG;
		break;
	case OPT_LOAD:
		a->load = arg;
		break;
	case OPT_DURATION:
		a->duration = strtod(arg, &end);
		if (!*arg || *end || !(a->duration > 0) || a->duration > MOST_SECONDS)
			argp_error(state,
				   "--duration=%s: expected a number of seconds, above 0 and at "
				   "most %.0f, such as 0.5",
				   arg, MOST_SECONDS);
		break;
	case OPT_ATTACH:
		a->opts.plain = !strcmp(arg, "plain");
		a->opts.only = attach_way(state, arg);
		break;
	case OPT_STACKS:
		a->opts.stacks = true;
		break;
	case OPT_BUFFER:
		a->opts.pages = power_of_two(state, "buffer", arg, 1 << 18);
		break;
	case OPT_CLOCK:
		a->opts.clock = clock_kind(state, arg);
		break;
	case OPT_CLOCK_ERROR:
		a->opts.clock_known = true;
		a->opts.clock_error =
			kl_arg_amount(state, "clock-error", arg, " of nanoseconds", 0, 1000000000);
		break;
	case OPT_DEBUG:
		kl_args_file(state, "debug", &a->opts.debug, arg);
		break;
	case OPT_SLOTS:
		a->opts.slots = power_of_two(state, "slots", arg, 1 << 20);
		break;
	case ARGP_KEY_ARG:
		if (a->spec)
			return ARGP_ERR_UNKNOWN;
		if (state->quoted && state->next > state->quoted && access(arg, F_OK) &&
		    !kl_shipped_text(arg))
			argp_error(state, "expected a specification before `-- %s'", arg);
		a->spec = arg;
		break;
	case ARGP_KEY_ARGS:
		if (!a->spec) {
			a->spec = state->argv[state->next++];
			if (state->next < state->argc && !strcmp(state->argv[state->next], "--"))
				state->next++;
		}
		a->command = state->next < state->argc ? state->argv + state->next : NULL;
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		end_arguments(a, state);
		break;
	default:
		return parse_filter(a, key, arg, state);
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "load", OPT_LOAD, "LOAD", 0, "Run this load while recording, see below", 0 },
	{ "duration", OPT_DURATION, "SECONDS", 0,
	  "Record for SECONDS (default: until "
	  "interrupted)",
	  0 },
	{ "object", OPT_OBJECT, "ADDRESS", 0, "Record operations on this object only", 0 },
	{ "sample", OPT_SAMPLE, "1/N", 0, "Record one of N objects, with all its operations", 0 },
	{ "pid", OPT_PID, "PID", 0,
	  "Record operations of this process only.  An object that others "
	  "use at the same time gets a gap",
	  0 },
	{ "cpu", OPT_CPU, "LIST", 0,
	  "Record calls on these CPUs only.  An object that is used on "
	  "other CPUs gets a gap",
	  0 },
	{ "attach", OPT_ATTACH, "WAY", 0,
	  "How to attach to functions: auto, fentry or kprobe.  "
	  "With plain, klin.ko alone records the methods that instrumented modules declare, by "
	  "plain stores",
	  0 },
	{ "stacks", OPT_STACKS, NULL, 0,
	  "Keep the kernel stack of each call, which stories then show.  A stack that was not seen "
	  "before drains the store buffer.  Functions that klin.ko's kprobes record have no stacks",
	  0 },
	{ "debug", OPT_DEBUG, "FILE", KL_ARGS_SEVERAL,
	  "Debugging information for inlined functions: a vmlinux "
	  "or a loaded module; may be given several times (default: the distribution's file)",
	  0 },
	{ "buffer", OPT_BUFFER, "PAGES", 0,
	  "Number of buffer pages for each CPU, a power of two "
	  "(default: 1024, or less if all buffers would exceed an eighth of the memory)",
	  0 },
	{ "clock", OPT_CLOCK, "CLOCK", 0,
	  "The clock: mono (the kernel's clock, whose error between "
	  "CPUs is measured), seq (an exact count, which drains the store buffer at each "
	  "operation), tick (a count that a thread on a CPU of its own raises each microsecond) or "
	  "epoch (a count that rises each time the buffers are read).  An operation only loads "
	  "tick and epoch",
	  0 },
	{ "clock-error", OPT_CLOCK_ERROR, "NS", 0,
	  "Do not measure the error of mono, but trust that it differs by at most NS between two "
	  "CPUs.  For virtual CPUs, which seldom run at the same time but share the host's clock",
	  0 },
	{ "slots", OPT_SLOTS, "N", 0,
	  "Number of tasks that keep a slot for their operations, a "
	  "power of two (default 4096).  Other tasks borrow a slot for each operation, which "
	  "drains the store buffer at the call",
	  0 },
	{ "verbose", 'v', NULL, 0, "Print more, including messages of libbpf and the verifier", 0 },
	{ 0 }
};

const struct argp recording_argp = { .options = options, .parser = parse_recording };

void recording_init(struct recording *a)
{
	a->opts = (struct kl_record_opts){ .only = KL_WAY_NONE, .slots = DEFAULT_SLOTS };
}

char *recording_help(int key, const char *text, const char *examples)
{
	char *help = NULL;
	struct kl_memstream m;

	if (key != ARGP_KEY_HELP_POST_DOC || kl_memstream_open(&m))
		return (char *)text;
	fprintf(m.f, "Loads, as --load=NAME,SETTING=VALUE,... (for klin.ko without NAME):\n");
	kl_load_help(m.f);
	fprintf(m.f, "\nExamples:\n%s", examples);
	return kl_memstream_close(&m, &help, NULL) ? (char *)text : help;
}

int recording_open(struct recording *a, struct kl_spec **spec, struct kl_load **load,
		   struct kl_recorder **r)
{
	struct sigaction act = { .sa_handler = on_signal };
	int err;

	err = kl_spec_load(a->spec, spec);
	if (err)
		return kl_ending_input(err);
	kl_warn_blocks(*spec);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (a->load)
		err = kl_load_open(a->load, load);
	if (err)
		return err;
	a->opts.spec = *spec;
	if (*load && (*load)->pid && a->opts.pid) {
		kl_err("--pid and this load exclude each other: the load's own process is "
		       "recorded");
		return -EINVAL;
	}
	if (*load && (*load)->fresh) {
		a->opts.fresh = true;
		a->opts.private_object = !(*load)->interrupts;
		a->opts.pid = a->opts.pid ? a->opts.pid : (*load)->pid;
		if (!a->opts.one_object && !(*load)->pid) {
			a->opts.one_object = true;
			a->opts.object = (*load)->object;
			a->opts.lock = (*load)->lock;
		}
	}
	return kl_recorder_new(&a->opts, r);
}

int recording_exit_code(int err)
{
	return !err ? KLIN_EXIT_OK : err == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
}

static pid_t run_command(char **command)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	kl_room_restore();
	execvp(command[0], command);
	kl_err("cannot run '%s': %s", command[0], strerror(errno));
	_exit(127);
}

/*
 * Return: 1 if the command, the load or the duration has ended, 0 if not, or a negative errno if
 * the load failed.
 */
static int is_done(struct recording *a, struct kl_load *load, pid_t *child, uint64_t until)
{
	int status;

	if (*child > 0) {
		if (waitpid(*child, &status, WNOHANG) != *child)
			return 0;
		*child = 0;
		a->command_failed = !WIFEXITED(status) || WEXITSTATUS(status);
		if (a->command_failed)
			kl_warn("the command ended with %s %d",
				WIFEXITED(status) ? "status" : "signal",
				WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
		return 1;
	}
	if (until && kl_now_ns() >= until)
		return 1;
	return load ? load->ops->done(load) : 0;
}

int recording_run(struct recording *a, struct kl_recorder *r, struct kl_load *load,
		  int (*poll)(void *ctx), void *ctx)
{
	uint64_t until = a->duration ? kl_now_ns() + (uint64_t)(a->duration * 1e9) : 0;
	pid_t child = 0;
	int err = 0, done = 0;

	if (a->command)
		child = run_command(a->command);
	if (child < 0) {
		kl_err("fork: %s", strerror(errno));
		return -errno;
	}
	if (load)
		err = load->ops->start(load);
	while (!err && !done && !recording_stopped) {
		usleep(INTERVAL_US);
		done = is_done(a, load, &child, until);
		err = poll(ctx);
		if (load && load->ops->ack)
			load->ops->ack(load, kl_recorder_received(r));
	}
	if (child > 0) {
		kill(child, SIGTERM);
		waitpid(child, NULL, 0);
	}
	return err ? err : done < 0 ? done : 0;
}
