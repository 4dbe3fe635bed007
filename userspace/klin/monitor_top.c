// SPDX-License-Identifier: GPL-2.0
/* The screen of `klin monitor --top', see monitor_top.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "klin/monitor_top.h"
#include "top/screen.h"

#define SAMPLE_NS	1000000000ull
#define KEYS_NS		50000000ull	/* time between two looks at the keyboard */

/* A stream into memory. */
struct text {
	FILE *f;
	char *s;
	size_t len;
};

struct monitor_top {
	const char *name;
	enum kl_diagram_auto colour;
	bool open;
	struct top_model model;
	struct text violations, messages;
	bool told;		/* a violation with a story was found */
	size_t story;		/* where the last one begins, or a violation without one */
	size_t seen;		/* how much of the violations there was at the last look */
	uint64_t sampled, looked;
};

/* The log's sink has no argument, and there is one terminal. */
static struct monitor_top *on_screen;

static void keep_message(enum kl_level level, const char *line)
{
	fprintf(on_screen->messages.f, "%s\n", line);
	top_screen_say(line, false);
}

static int text_open(struct text *t)
{
	t->f = open_memstream(&t->s, &t->len);
	return t->f ? 0 : -ENOMEM;
}

static void text_free(struct text *t)
{
	if (t->f)
		fclose(t->f);
	free(t->s);
}

/* Print the text to @f, and begin it anew. */
static void text_print(struct text *t, FILE *f)
{
	if (!fflush(t->f))
		fwrite(t->s, 1, t->len, f);
	fflush(f);
	rewind(t->f);
}

struct monitor_top *monitor_top_new(const char *spec, enum kl_diagram_auto colour, FILE **out)
{
	struct monitor_top *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->name = spec;
	m->colour = colour;
	if (text_open(&m->violations) || text_open(&m->messages)) {
		monitor_top_free(m);
		return NULL;
	}
	*out = m->violations.f;
	return m;
}

int monitor_top_open(struct monitor_top *m)
{
	int ret = top_screen_open(STDIN_FILENO, STDOUT_FILENO, "klin monitor", m->colour);

	if (ret)
		return ret;
	m->open = true;
	on_screen = m;
	kl_log_sink = keep_message;
	return 0;
}

static int sample(struct monitor_top *m, const struct session *s, const struct kl_recorder *r,
		  uint64_t now)
{
	struct kl_record_stats rec;
	struct kl_online_stats st;
	struct top_row row = { .up = true };

	kl_recorder_counts(r, &rec);
	session_stats(s, &st);
	snprintf(row.name, sizeof(row.name), "%s", m->name);
	snprintf(row.reason, sizeof(row.reason), "%s", st.reason);
	row.verdict = st.verdict;
	row.c = (struct top_counts){
		.at = now, .recorded = st.ops, .checked = st.ops, .lost = rec.lost + st.late,
		.missed = rec.missed, .gaps = st.gaps, .violations = st.violations,
		.linearizable = st.count[KL_LINEARIZABLE], .violated = st.count[KL_VIOLATION],
		.unknown = st.count[KL_UNKNOWN], .waiting = st.waiting, .bytes = st.bytes,
		.lag_ns = st.newest > st.now ? st.newest - st.now : 0,
	};
	return top_model_sample(&m->model, &row, 1);
}

int monitor_top_work(struct monitor_top *m, const struct session *s, const struct kl_recorder *r)
{
	const uint64_t now = kl_now_ns();
	enum top_action action;
	int ret = 0;

	if (now - m->looked < KEYS_NS)
		return 0;
	m->looked = now;
	if (fflush(m->violations.f))
		return -ENOMEM;
	/* Only the first violations have a story, see --show; later ones are a line each. */
	if (m->violations.len > m->seen &&
	    (!m->told || strstr(m->violations.s + m->seen, "What is wrong"))) {
		m->told = strstr(m->violations.s + m->seen, "What is wrong");
		m->story = m->seen;
	}
	m->seen = m->violations.len;
	if (now - m->sampled >= SAMPLE_NS && !top_screen_paused()) {
		m->sampled = now;
		ret = sample(m, s, r, now);
		if (ret)
			return ret;
		top_screen_draw(&m->model);
	}
	action = top_screen_keys(&m->model);
	if (action == TOP_STORY_WANTED)
		top_screen_story(m->name, m->seen ? m->violations.s + m->story :
				 "No violation so far.\n");
	return action == TOP_QUIT || top_screen_signal();
}

void monitor_top_close(struct monitor_top *m)
{
	if (!m || !m->open)
		return;
	m->open = false;
	kl_log_sink = NULL;
	on_screen = NULL;
	top_screen_close();
	text_print(&m->messages, stderr);
	text_print(&m->violations, stdout);
}

void monitor_top_free(struct monitor_top *m)
{
	if (!m)
		return;
	monitor_top_close(m);
	text_free(&m->violations);
	text_free(&m->messages);
	top_model_free(&m->model);
	free(m);
}
