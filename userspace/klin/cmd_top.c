// SPDX-License-Identifier: GPL-2.0
/* klin top: show what klind watches on a terminal. */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/args.h"
#include "base/digits.h"
#include "base/err.h"
#include "base/now.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/output.h"
#include "top/client.h"
#include "top/screen.h"
#include "top/table.h"
#include "top/wire.h"

#define SOCKET		"/run/klin/metrics"	/* as in userspace/klind/klind.conf */
#define INTERVAL_NS	1000000000ull		/* time between two samples */
#define WIDE		132			/* width of the table in a file or pipe */

enum { OPT_SOCKET = 256, OPT_ONCE, OPT_SORT, OPT_COLOR };

struct top {
	const char *socket;
	bool once;
	enum kl_diagram_auto colour;
	struct top_model model;
	struct top_client client;
	uint64_t more;		/* number of structures that klind does not list */
	bool wants_story;	/* the story of @story is to be asked for */
	char story[TOP_NAME];	/* the structure of the request under way; empty: all of them */
	char wanted[TOP_NAME];
};

static enum top_sort sort_of(struct argp_state *state, const char *arg)
{
	const char *names[TOP_SORTS + 1] = { NULL };

	memcpy(names, top_sorts, TOP_SORTS * sizeof(*names));
	return kl_arg_choice(state, "sort", arg, names);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *t = state->input;

	switch (key) {
	case OPT_SOCKET:
		if (!*arg)
			argp_error(state, "--socket=: expected the path of klind's metrics-socket");
		t->socket = arg;
		break;
	case 'b':
	case OPT_ONCE:
		t->once = true;
		break;
	case OPT_SORT:
		t->model.sort = sort_of(state, arg);
		break;
	case OPT_COLOR:
		t->colour = kl_arg_colour(state, arg);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': no arguments expected", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "socket", OPT_SOCKET, "PATH", 0, "klind's metrics-socket (default: " SOCKET ")", 0 },
	{ "once", OPT_ONCE, NULL, 0,
	  "Print the table as text after a second, which the rates need, and exit", 0 },
	{ "batch", 'b', NULL, 0, "The same as --once", 0 },
	{ "sort", OPT_SORT, "ORDER", 0,
	  "First order of the structures: verdict (the default: violations first), rate, lag, "
	  "lost or name", 0 },
	{ "color", OPT_COLOR, "WHEN", 0, KLIN_COLOR, 0 },
	{ 0 }
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Show the structures that klind watches: operations per second, the check's lag, "
	       "losses and gaps, verdicts, and the story of the last violation.  klind answers on "
	       "the socket that metrics-socket in klind.conf names.\v"
	       "Keys: arrows, j and k select a structure; Enter or Space shows its last story; s "
	       "changes the order; p pauses; h shows help; q quits.\n\n"
	       "Columns:\n" TOP_COLUMNS "\n"
	       "Examples:\n"
	       "  # Watch klind on the terminal.\n"
	       "  klin top\n"
	       "  # Print the table for a script, the structures with most losses first.\n"
	       "  klin top --once --sort=lost --socket=/run/klin/metrics\n\n"
	       "Exit status: 0 done, 2 usage or no terminal, 4 klind does not answer.\n",
};

/* Take the answer to a request for all structures.  Return: 0 or a negative errno. */
static int take_rows(struct top *t)
{
	struct top_row *rows;
	size_t n;
	int err = top_rows_read(t->client.body, t->client.body_len, &rows, &n, &t->more);

	if (err)
		return err;
	err = top_model_sample(&t->model, rows, n);
	free(rows);
	return err;
}

static void say_connected(const struct top *t)
{
	char text[80] = "";

	if (t->more)
		snprintf(text, sizeof(text), "%llu more structures are not listed",
			 (unsigned long long)t->more);
	else if (!t->model.n)
		snprintf(text, sizeof(text), "klind watches no structure");
	top_screen_say(text, false);
}

static void say_failed(int err)
{
	char text[160];

	snprintf(text, sizeof(text), "No answer from klind: %s; trying again",
		 top_client_error(err));
	top_screen_say(text, true);
}

/* Take the answer, or the error @ret, of the request that has ended; show it. */
static void end_request(struct top *t, int ret)
{
	static char story[TOP_STORY];

	if (ret > 0 && *t->story) {
		ret = top_story_read(t->client.body, t->client.body_len, story);
		if (!ret)
			top_screen_story(t->story, *story ? story : "No violation was found.");
	} else if (ret > 0) {
		ret = take_rows(t);
		if (!ret)
			say_connected(t);
	}
	if (ret)
		say_failed(ret);
	top_screen_draw(&t->model);
}

/* Begin the next request, if one is due.  @due: time of the next sample, updated. */
static void begin_request(struct top *t, uint64_t now, uint64_t *due)
{
	int err;

	if (t->wants_story) {
		t->wants_story = false;
		memcpy(t->story, t->wanted, sizeof(t->story));
	} else if (now >= *due && !top_screen_paused()) {
		*t->story = '\0';
		*due = now + INTERVAL_NS;
	} else {
		return;
	}
	err = top_client_start(&t->client, *t->story ? t->story : NULL, now);
	if (err)
		end_request(t, err);
}

static int wait_ms(const struct top *t, uint64_t now, uint64_t due)
{
	if (t->client.fd >= 0)
		due = t->client.until;
	/* A signal may come just before poll(), so do not wait for long. */
	else if (top_screen_paused())
		return 500;
	return due > now ? (due - now) / 1000000 + 1 : 0;
}

static int show(struct top *t)
{
	enum top_action action = TOP_NONE;
	struct pollfd p[2] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	uint64_t due = 0, now;
	int ret = top_screen_open(STDIN_FILENO, STDOUT_FILENO, t->socket, t->colour);

	if (ret)
		return ret;
	top_screen_draw(&t->model);
	while (action != TOP_QUIT && !top_screen_signal()) {
		now = kl_now_ns();
		if (t->client.fd < 0)
			begin_request(t, now, &due);
		top_client_poll(&t->client, &p[1]);
		p[0].revents = p[1].revents = 0;
		poll(p, 2, wait_ms(t, now, due));
		if (t->client.fd >= 0) {
			ret = top_client_work(&t->client, kl_now_ns());
			if (ret)
				end_request(t, ret);
		}
		action = top_screen_keys(&t->model);
		if (action == TOP_STORY_WANTED) {
			memcpy(t->wanted, top_model_selected(&t->model)->row.name, TOP_NAME);
			t->wants_story = true;
		}
		/* The terminal is gone, perhaps without a signal. */
		if (p[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			break;
	}
	top_screen_close();
	return 0;
}

/* Wait for the answer to a request for all structures.  Return: 0 or a negative errno. */
static int ask(struct top *t)
{
	struct pollfd p;
	int ret = top_client_start(&t->client, NULL, kl_now_ns());

	while (!ret) {
		top_client_poll(&t->client, &p);
		poll(&p, 1, 100);
		ret = top_client_work(&t->client, kl_now_ns());
	}
	return ret < 0 ? ret : take_rows(t);
}

/* Return: the width of standard output's terminal or of COLUMNS, which counts first; else WIDE. */
static int text_width(void)
{
	const char *s = getenv("COLUMNS");
	struct winsize ws;
	uint64_t w;

	if (s && kl_digits(s, &w) && w && w <= TOP_WIDTH)
		return w;
	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col ? ws.ws_col : WIDE;
}

static int print_once(struct top *t)
{
	const int width = text_width();
	char text[TOP_TEXT];
	size_t i;
	int ret = ask(t);

	if (!ret && t->model.n) {
		usleep(INTERVAL_NS / 1000);
		ret = ask(t);
	}
	if (ret) {
		kl_err("%s: no answer from klind: %s; name klind's metrics-socket by --socket",
		       t->socket, top_client_error(ret));
		return ret;
	}
	top_table_head(text, width);
	printf("%s\n", text);
	for (i = 0; i < t->model.n; i++) {
		top_table_line(text, t->model.order[i], width);
		printf("%s\n", text);
	}
	if (t->more)
		printf("%llu more structures are not listed\n", (unsigned long long)t->more);
	return 0;
}

static int cmd_top(int argc, char **argv)
{
	struct top t = { .socket = SOCKET };
	int err = kl_args(&argp, argc, argv, 0, &t);

	if (err)
		return err;
	top_client_init(&t.client, t.socket);
	err = t.once ? print_once(&t) : show(&t);
	if (err == -ENOMEM)
		kl_err("out of memory");
	top_client_free(&t.client);
	top_model_free(&t.model);
	return !err ? KLIN_EXIT_OK : err == -EINVAL ? KLIN_EXIT_USAGE : KLIN_EXIT_SYSTEM;
}

KL_COMMAND("top", cmd_top, "show what klind watches on a terminal");
