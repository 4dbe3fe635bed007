// SPDX-License-Identifier: GPL-2.0
/* klin report: write a page that shows a result in a browser. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/args.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memstream.h"
#include "base/outfile.h"
#include "base/path.h"
#include "base/quote.h"
#include "check/check.h"
#include "history/source_text.h"
#include "klin/cmd.h"
#include "klin/input.h"
#include "klin/out_file.h"
#include "klin/stop.h"
#include "page/page.h"
#include "report/entries.h"
#include "report/json.h"

struct report_args {
	const char *spec, *input, *out;
	struct kl_read_opts read;
	struct kl_options opt;
	bool model;		/* --memory-model was given */
	size_t most, texts;
};

#define MOST_SOURCE	(1 << 20)	/* bytes of a model's or a litmus test's text */
#define MOST_WITNESS	20000	/* operations of a history whose orders the page has */

enum { OPT_FROM = 256, OPT_INDEPENDENT, OPT_MEMORY_MODEL, OPT_TIME, OPT_OPERATIONS, OPT_TEXTS };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write the page to FILE (default: standard output)", 0 },
	{ "operations", OPT_OPERATIONS, "N", 0,
	  "Show at most about N operations, those of violations and around them first "
	  "(default 200000); 0: all.  The page says what it leaves out",
	  0 },
	{ "texts", OPT_TEXTS, "BYTES", 0,
	  "Show at most BYTES of the operations' lines in the file itself, those of violations "
	  "first (default 500000); 0: all.  The page says what it leaves out",
	  0 },
	{ "memory-model", OPT_MEMORY_MODEL, "MODEL", 0, "tso or sc, as for `klin check'", 0 },
	{ "time-limit", OPT_TIME, "SECONDS", 0, "Give up the check (UNKNOWN) after SECONDS", 0 },
	{ "from", OPT_FROM, "FORM", 0, "The form of a history, as in `klin convert --from'", 0 },
	{ "independent", OPT_INDEPENDENT, "yes|no", 0, KLIN_INDEPENDENT, 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		break;
	case OPT_OPERATIONS:
		a->most = kl_arg_number(state, "operations", arg, 0, UINT32_MAX);
		break;
	case OPT_TEXTS:
		a->texts = kl_arg_number(state, "texts", arg, 0, UINT32_MAX);
		break;
	case OPT_MEMORY_MODEL:
		a->opt.classical = kl_arg_sc(state, arg);
		a->opt.memory_by = KL_MEMORY_BY_COMMAND;
		a->model = true;
		break;
	case OPT_TIME:
		a->opt.time_ns = kl_arg_seconds(state, "time-limit", arg);
		break;
	case OPT_FROM:
		a->read.form = kl_arg_from(state, arg);
		break;
	case OPT_INDEPENDENT:
		a->read.independent = kl_arg_independent(state, arg);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num && arg[kl_stem(arg, ".html")] && access(arg, F_OK))
			argp_error(state, "to write the page to '%s', say -o %s", arg, arg);
		if (state->arg_num > 1)
			argp_error(state, "expected one spec and one input, found also '%s'", arg);
		if (a->input)
			a->spec = a->input;
		a->input = arg;
		break;
	case ARGP_KEY_END:
		if (!a->input)
			kl_args_missing(state, "expected a history, a result, a certificate or a "
					       "report");
		kl_arg_keep(state, "output", a->out, a->input);
		kl_arg_keep(state, "output", a->out, a->spec);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[SPEC.lin] X",
	.doc = "Write a page that shows X in a browser: what is wrong and why, and all operations "
	       "in lanes by thread.  The page is one file and needs no network.  X is a history, "
	       "which is checked first; a JSON result of check, monitor, explore, verify or litmus; "
	       "a certificate; or a report directory of klind.\v"
	       "Exit status: 0 the page is written, whatever the verdict; 2 usage or input, 4 the "
	       "system refused.\n\n"
	       "Examples:\n"
	       "  # Check a history, and show the violation.\n"
	       "  klin report queue queue.klh -o report.html\n"
	       "  # Show the run of an explorer.\n"
	       "  klin explore --json seqlock.lin >run.json; klin report run.json -o run.html\n"
	       "  # Show the violations that a monitor has found.\n"
	       "  klin monitor --json queue | tee found.json\n"
	       "  klin report found.json -o found.html\n"
	       "  # Show a report of klind.\n"
	       "  klin report /var/lib/klin/20260101T000000.000000Z-q-violation -o q.html",
};

/* The input of a page, and the parts of the page that were made from it. */
struct made {
	struct kl_page page;
	struct kl_spec *spec;
	struct kl_history *h;
	struct kl_report *r;
	json_t *result, *found, *sources;
	char *source;		/* text of a model */
	char *history, *command;
	char *replay;		/* the command that checks the proofs again */
	json_error_t damage; /* what is wrong with a result that is no JSON */
};

static int no_memory(const char *name)
{
	kl_err("%s: out of memory", name);
	return -ENOMEM;
}

/* Return: the path of the file @name that is named in a file at @beside; free() it. */
static char *path_beside(const char *beside, const char *name)
{
	const char *slash = strrchr(beside, '/');
	struct stat st;
	char *path;

	if (*name == '/' || !slash || !stat(name, &st))
		return strdup(name);
	return asprintf(&path, "%.*s%s", (int)(slash + 1 - beside), beside, name) < 0 ? NULL : path;
}

/* ---- a history --------------------------------------------------------------------------- */

static int check_history(struct report_args *a, struct made *m, const char *path)
{
	int ret = kl_load_input(a->spec, path, &a->read, &m->spec, &m->h);
	struct kl_verdict_style style = { 0 };

	if (ret)
		return ret;
	if (!a->model)
		a->opt.classical = m->h->memory.sc;
	/* An order of many operations has no place on the page. */
	a->opt.no_witness = m->h->nops > MOST_WITNESS;
	a->opt.stop = stop_on_signals(false);
	ret = kl_check(m->spec, m->h, &a->opt, &m->r);
	stop_by_default();
	if (ret && ret != -EINVAL)
		kl_err("%s: %s", path, strerror(-ret));
	if (ret)
		return ret;
	kl_use_own_words(m->r, m->h);
	m->page.h = m->h;
	m->page.r = m->r;
	style.replay = m->replay;
	if (!m->result)
		m->result = kl_json_whole(kl_report_json(m->r, path, &style));
	return m->result ? 0 : no_memory(path);
}

/* Make a command of @head and @path, quoted for a shell.  Return: 0, or -ENOMEM after a message. */
static int quote(char **text, const char *head, const char *path)
{
	struct kl_memstream s;

	if (kl_memstream_open(&s))
		return no_memory(path);
	fputs(head, s.f);
	kl_put_quoted(s.f, path);
	return kl_memstream_close(&s, text, NULL) ? no_memory(path) : 0;
}

static int make_command(struct made *m, const struct report_args *a, const char *path)
{
	struct kl_memstream s;

	if (kl_memstream_open(&s))
		return no_memory(path);
	fputs("klin check ", s.f);
	if (a->model)
		fprintf(s.f, "--memory-model=%s ", a->opt.classical ? "sc" : "tso");
	if (a->spec) {
		kl_put_quoted(s.f, a->spec);
		fputc(' ', s.f);
	}
	kl_put_quoted(s.f, path);
	return kl_memstream_close(&s, &m->command, NULL) ? no_memory(path) : 0;
}

static int from_history(struct report_args *a, struct made *m, const char *path)
{
	int ret = make_command(m, a, path);

	if (!ret && strcmp(path, "-") &&
	    asprintf(&m->replay, "%s --certificate=klin.cert; klin replay klin.cert", m->command) < 0) {
		m->replay = NULL;
		ret = no_memory(path);
	}
	return ret ? ret : check_history(a, m, path);
}

/* ---- a certificate ----------------------------------------------------------------------- */

/* Return: the value of the line that begins with @word, up to @until; free() it. */
static char *cert_word(const char *text, const char *word, const char *until)
{
	const char *at = strstr(text, word), *end, *stop;

	if (!at)
		return NULL;
	at += strlen(word);
	end = at + strcspn(at, "\n");
	stop = strstr(at, until);
	return strndup(at, (stop && stop < end ? stop : end) - at);
}

/* Return: the specification's text of a certificate, without the tab before each line. */
static char *cert_spec(const char *text)
{
	const char *at = strstr(text, "\ntext ");
	char *spec = malloc(strlen(text) + 1), *to = spec;

	if (!spec)
		return NULL;
	if (at)
		at = strchr(at + 1, '\n') + 1;
	while (at && *at == '\t') {
		const size_t len = strcspn(++at, "\n");

		to = mempcpy(to, at, len);
		*to++ = '\n';
		at += len;
		at += *at == '\n';
	}
	*to = '\0';
	return spec;
}

static int from_certificate(struct report_args *a, struct made *m, const char *text)
{
	char *name = cert_word(text, "\nhistory ", " sha256 ");
	char *hash = name ? cert_word(strstr(text, "\nhistory ") + 1, " sha256 ", "\n") : NULL;
	char *memory = cert_word(text, "\nmemory ", "\n"), *spec = cert_spec(text);
	int ret = -EINVAL;

	if (!name || !hash || !spec || !memory) {
		kl_err("%s: not a whole certificate", a->input);
		goto out;
	}
	if (a->spec) {
		kl_err("%s: a certificate has a specification itself; omit '%s'", a->input,
		       a->spec);
		goto out;
	}
	m->history = path_beside(a->input, name);
	ret = m->history ? 0 : no_memory(a->input);
	ret = ret ?: quote(&m->replay, "klin replay ", a->input);
	if (!ret && *spec)
		ret = kl_spec_parse(a->input, spec, strlen(spec), &m->spec);
	a->read.hashed = true;
	a->opt.classical = !strcmp(memory, "sc");
	a->opt.memory_by = KL_MEMORY_BY_COMMAND;
	a->model = true;
	if (!ret)
		ret = check_history(a, m, m->history);
	if (!ret && strcmp(hash, "-") && strcmp(hash, m->h->sha256)) {
		kl_err("%s: '%s' is not the certificate's history: its hash differs", a->input,
		       m->history);
		ret = -EINVAL;
	}
	if (!ret) {
		m->command = strdup(m->replay);
		ret = m->command ? 0 : no_memory(a->input);
	}
out:
	free(name);
	free(hash);
	free(spec);
	free(memory);
	return ret;
}

/* ---- a result ---------------------------------------------------------------------------- */

/* Load the history that a result names, if it is there and is the same. */
static int load_history(struct report_args *a, struct made *m, const char *name)
{
	const json_t *n = json_object_get(m->result, "operations");
	struct stat st;

	m->history = path_beside(a->input, name);
	if (!m->history)
		return no_memory(a->input);
	if (stat(m->history, &st) || !S_ISREG(st.st_mode)) {
		m->page.note = "The history was not found, so the page has only the operations of "
			       "the result.";
		return 0;
	}
	if (kl_read_by(m->spec, m->history, &a->read, &m->h)) {
		m->page.note = "The history could not be read, so the page has only the "
			       "operations of the result.";
		return 0;
	}
	if (json_is_integer(n) && (size_t)json_integer_value(n) != m->h->nops) {
		m->page.note = "The file of the history has changed since the check, so the page "
			       "has only the operations of the result.";
		return 0;
	}
	kl_source_own_words(m->h, m->h, NULL);
	m->page.h = m->h;
	return 0;
}

/* Load the text of a model or litmus test.  *@text: free() it; NULL: the file is not there. */
static int load_source(struct report_args *a, const char *name, char **text)
{
	char *path = path_beside(a->input, name);
	struct stat st;
	size_t len;

	*text = NULL;
	if (!path)
		return no_memory(a->input);
	if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size < MOST_SOURCE &&
	    kl_read_file(path, text, &len))
		*text = NULL;
	free(path);
	return 0;
}

static int load_model(struct report_args *a, struct made *m, const char *name)
{
	int ret = load_source(a, name, &m->source);

	m->page.source = m->source;
	return ret;
}

/* Load the texts of litmus tests, as many as have room. */
static int load_tests(struct report_args *a, struct made *m, const json_t *tests)
{
	size_t i, left = MOST_SOURCE;
	const json_t *test;

	m->sources = json_object();
	json_array_foreach(tests, i, test) {
		const char *name = json_string_value(json_object_get(test, "file"));
		char *text = NULL;
		int ret = name ? load_source(a, name, &text) : 0;

		if (ret)
			return ret;
		if (text && strlen(text) < left) {
			left -= strlen(text);
			json_object_set_new(m->sources, name, kl_json_text(text));
		}
		free(text);
	}
	return 0;
}

static int from_result(struct report_args *a, struct made *m)
{
	const char *history = json_string_value(json_object_get(m->result, "history"));
	const char *model = json_string_value(json_object_get(m->result, "file"));
	const char *spec = json_string_value(json_object_get(m->result, "spec"));
	const json_t *tests = json_object_get(m->result, "tests");

	if (a->spec) {
		kl_err("%s: a result has its specification; name the result alone", a->input);
		return -EINVAL;
	}
	if (tests)
		return load_tests(a, m, tests);
	if (model)
		return load_model(a, m, model);
	/* A monitor names the specification there, and keeps no history. */
	if (m->found && (!history || (spec && !strcmp(history, spec)))) {
		m->page.note = m->page.note ?: "The page has the operations of violations only: "
					       "the check kept no others.";
		return 0;
	}
	return history ? load_history(a, m, history) : 0;
}

/*
 * Read the JSON objects of a file: one result, or a violation a line and a summary of a check that
 * ran along.  Return: whether the file has results.
 */
static bool read_results(struct made *m, const char *data, size_t len)
{
	json_error_t e;

	while (len && *data == '{') {
		json_t *j = json_loadb(data, len, JSON_DISABLE_EOF_CHECK, &e);
		const char *kind = json_string_value(json_object_get(j, "kind"));

		if (!j)
			m->damage = e;
		if (!json_is_string(json_object_get(j, "verdict")) &&
		    !json_is_string(json_object_get(j, "schema"))) {
			json_decref(j);
			break;
		}
		if (kind && !strcmp(kind, "violation")) {
			m->found = m->found ?: json_array();
			json_array_append_new(m->found, j);
		} else {
			json_decref(m->result);
			m->result = j;
		}
		data += e.position;
		len -= e.position;
		data += strspn(data, " \t\r\n");
	}
	if (m->found && !m->result)
		m->page.note = "The file ends before the summary of the check, so there may be more "
			       "violations.";
	return m->result || m->found;
}

/* ---- a report of klind ------------------------------------------------------------------- */

static int from_directory(struct report_args *a, struct made *m)
{
	json_t *report, *check = NULL;
	json_error_t e;
	char *path;
	struct stat st;
	int ret;

	if (asprintf(&path, "%s/report.json", a->input) < 0)
		return no_memory(a->input);
	report = json_load_file(path, 0, &e);
	if (!report) {
		kl_err("%s: not a report of klind: %s", path, e.text);
		free(path);
		return -EINVAL;
	}
	free(path);
	check = json_object_get(report, "check");
	if (asprintf(&m->history, "%s/history.klh", a->input) < 0) {
		m->history = NULL;
		json_decref(report);
		return no_memory(a->input);
	}
	if (!check || stat(m->history, &st)) {
		m->page.note = "The report has no history.";
		m->result = report;
		return 0;
	}
	ret = from_history(a, m, m->history);
	if (!ret)
		json_object_set(m->result, "incident", report);
	json_object_del(report, "check");
	json_decref(report);
	return ret;
}

/* Find out what the input is, and make what its page shows. */
static int make(struct report_args *a, struct made *m)
{
	static const char cert[] = "klin-certificate ";
	struct stat st;
	char *data = NULL;
	size_t len = 0;
	int ret;

	if (!strcmp(a->input, "-") || stat(a->input, &st))
		return from_history(a, m, a->input);
	if (S_ISDIR(st.st_mode))
		return from_directory(a, m);
	if (!S_ISREG(st.st_mode))
		return from_history(a, m, a->input);
	ret = kl_read_file(a->input, &data, &len);
	if (ret) {
		kl_err("cannot read '%s': %s", a->input, strerror(-ret));
		return ret;
	}
	if (len > strlen(cert) && !strncmp(data, cert, strlen(cert))) {
		ret = from_certificate(a, m, data);
	} else if (read_results(m, data, len)) {
		ret = from_result(a, m);
	} else if (m->damage.line && memmem(data, len < 100 ? len : 100, "\"klin/1\"", 8)) {
		kl_err_at(a->input, m->damage.line, m->damage.column,
			  "the result is cut off or damaged: %s", m->damage.text);
		ret = -EINVAL;
	} else {
		ret = from_history(a, m, a->input);
	}
	free(data);
	return ret;
}

static int write_page(const char *path, const struct kl_page *p)
{
	struct kl_outfile o;
	int ret = kl_outfile_open(&o, path);

	if (!ret) {
		ret = kl_page_write(o.f, p);
		if (ret)
			kl_outfile_abort(&o);
		else
			ret = kl_outfile_commit(&o);
	}
	if (ret)
		kl_cannot_write(path, ret);
	return ret;
}

static int cmd_report(int argc, char **argv)
{
	struct report_args a = {
		.out = "-", .most = KL_PAGE_OPERATIONS, .texts = KL_PAGE_TEXTS,
		.opt = {
			.max_shrink = 8, .bytes = KL_DEFAULT_BYTES, .work = KL_DEFAULT_WORK,
		},
	};
	struct made m = { 0 };
	int ret = kl_args(&argp, argc, argv, 0, &a);

	if (ret)
		return ret;
	m.page.title = a.input;
	m.page.most = a.most;
	m.page.texts = a.texts;
	ret = make(&a, &m);
	m.page.result = m.result;
	m.page.found = m.found;
	m.page.sources = m.sources;
	m.page.command = m.command;
	if (!ret)
		ret = write_page(a.out, &m.page) ? -EIO : 0;
	kl_report_free(m.r);
	kl_history_free(m.h);
	kl_spec_free(m.spec);
	json_decref(m.result);
	json_decref(m.found);
	json_decref(m.sources);
	free(m.source);
	free(m.history);
	free(m.command);
	free(m.replay);
	return ret ? kl_ending_error(ret) : KLIN_EXIT_OK;
}

KL_COMMAND("report", cmd_report, "write a page that shows a result in a browser");
