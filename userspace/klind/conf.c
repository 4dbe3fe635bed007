// SPDX-License-Identifier: GPL-2.0
/* Parse klind's configuration, see conf.h. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/text.h"
#include "klind/conf.h"
#include "klind/socket.h"

#define MAX_NAME	64

enum kind { TEXT, PATH, NUMBER, POWER, BYTES, TIME, BOOL, ADDRESS, ATTACH, MODEL };

struct key {
	const char *name;
	enum kind kind;
	size_t at;		/* offset of the member in the section's structure */
	/* offset of a bool that becomes true when the key is given; 0: none */
	size_t given;
	uint64_t min, max;	/* bounds of the value; PATH: @max bytes, 0: any length */
};

#define GLOBAL(_member)	offsetof(struct klind_conf, _member)
#define WATCH(_member)	offsetof(struct klind_watch_conf, _member)
#define SECOND		1000000000ull

static const struct key global_keys[] = {
	{ "reports", PATH, GLOBAL(reports), 0, 0, 0 },
	{ "keep-reports", NUMBER, GLOBAL(keep), 0, 1, 1000000 },
	{ "keep-bytes", BYTES, GLOBAL(keep_bytes), 0, 1 << 20, 1ull << 50 },
	{ "report-interval", TIME, GLOBAL(report_ns), 0, 0, 86400 * SECOND },
	{ "drop-privileges", BOOL, GLOBAL(drop), 0, 0, 0 },
	{ "metrics", PATH, GLOBAL(metrics), 0, 0, 0 },
	{ "metrics-socket", PATH, GLOBAL(socket), 0, 0, KLIND_SOCKET_PATH },
	{ "metrics-interval", TIME, GLOBAL(metrics_ns), 0, SECOND / 10, 3600 * SECOND },
	{ 0 }
};

static const struct key watch_keys[] = {
	{ "file", TEXT, WATCH(file), 0, 0, 0 },
	{ "debug", PATH, WATCH(debug), 0, 0, 0 },
	{ "object", ADDRESS, WATCH(object), WATCH(one_object), 0, UINT64_MAX },
	{ "attach", ATTACH, WATCH(attach), 0, 0, 0 },
	{ "buffer", POWER, WATCH(pages), 0, 1, 1 << 18 },
	{ "slots", POWER, WATCH(slots), 0, 1, 1 << 20 },
	{ "clock-error", TIME, WATCH(clock_error), WATCH(clock_known), 0, SECOND },
	{ "memory-model", MODEL, WATCH(classical), 0, 0, 0 },
	{ "memory", BYTES, WATCH(memory), 0, 1 << 20, 1ull << 40 },
	{ "flight-memory", BYTES, WATCH(flight), 0, 1 << 16, 1ull << 40 },
	{ "flight-time", TIME, WATCH(flight_ns), 0, 0, 86400 * SECOND },
	{ "report-unknown", BOOL, WATCH(report_unknown), 0, 0, 0 },
	{ "stacks", BOOL, WATCH(stacks), 0, 0, 0 },
	{ 0 }
};

struct parser {
	const char *name;
	struct klind_conf *c;
	unsigned int line;
	const char *source; /* the line's text, or NULL: the mistake is in a section */
	const char *start, *found; /* in a copy of the line: its beginning, and what is wrong */
	const struct key *keys;		/* keys of the current section, or NULL: no section */
	/* structure of the section; NULL before the first section; @c after a wrong section line */
	void *at;
	/* line of each key in this section; 0: not given */
	unsigned int seen[sizeof(watch_keys) / sizeof(*watch_keys)];
	unsigned int global;		/* line of [klind]; 0: not seen */
	bool wrong;			/* some mistake was reported */
};

__attribute__((format(printf, 2, 3)))
static void mistake(struct parser *p, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kl_err_at(p->name, p->line, p->source ? p->found - p->start + 1 : 0, "%s", text);
	if (p->source)
		kl_err_source(p->source, strcspn(p->source, "\r\n"), p->found - p->start + 1);
	p->wrong = true;
}

static char *trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s + strspn(s, " \t\r");
}

static bool is_name(const char *s)
{
	const size_t len = strlen(s);

	return len && len <= MAX_NAME && *s != '.' && strspn(s, "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == len;
}

static int new_watch(struct parser *p, const char *name)
{
	struct klind_conf *c = p->c;
	size_t cap = c->nwatch, i;
	struct klind_watch_conf *w;
	int ret;

	for (i = 0; i < c->nwatch; i++)
		if (!strcmp(c->watch[i].name, name))
			mistake(p, "[spec %s] already begins in line %u; choose another name",
				name, c->watch[i].line);
	ret = kl_grow(c->watch, cap, c->nwatch + 1);
	if (ret)
		return ret;
	w = &c->watch[c->nwatch];
	*w = (struct klind_watch_conf){
		.line = p->line,
		.file_line = p->line,
		.attach = KLIND_AUTO,
		.slots = 4096,
		.memory = 256 << 20,
		.flight = 32 << 20,
	};
	w->name = strdup(name);
	if (!w->name)
		return -ENOMEM;
	c->nwatch++;
	p->keys = watch_keys;
	p->at = w;
	memset(p->seen, 0, sizeof(p->seen));
	return 0;
}

static int begin_section(struct parser *p, char *s)
{
	char *end = strchr(s, ']');

	if (end && !end[1]) {
		*end = '\0';
		s = trim(s + 1);
		if (!strcmp(s, "klind")) {
			if (p->global)
				mistake(p, "[klind] already begins in line %u; move the keys there",
					p->global);
			p->global = p->line;
			p->keys = global_keys;
			p->at = p->c;
			memset(p->seen, 0, sizeof(p->seen));
			return 0;
		}
		if (!strncmp(s, "spec", 4) && isspace((unsigned char)s[4]) && is_name(trim(s + 4)))
			return new_watch(p, trim(s + 4));
	}
	if (end && strpbrk(end, "#;"))
		mistake(p, "a comment needs a line of its own");
	else
		mistake(p,
			"expected [klind], or [spec NAME] with a name of letters, digits, -, _ "
			"and .%s",
			strstr(s, "\xc2\xa0") ? "; the blank here does not break: write a blank" :
						"");
	/* Do not report the keys of the wrong section as mistakes, too. */
	p->keys = NULL;
	p->at = p->c;
	return 0;
}

/* Parse a number and its unit.  Return: false if malformed or out of the key's bounds. */
static bool parse_quantity(const char *s, const struct key *k, uint64_t *v)
{
	static const struct unit {
		enum kind kind;
		const char *name;
		uint64_t factor;
	} units[] = {
		{ BYTES, "", 1 }, { BYTES, "K", 1 << 10 }, { BYTES, "M", 1 << 20 },
		{ BYTES, "G", 1 << 30 }, { BYTES, "T", 1ull << 40 },
		{ TIME, "ns", 1 }, { TIME, "us", 1000 }, { TIME, "ms", 1000000 },
		{ TIME, "s", SECOND }, { TIME, "min", 60 * SECOND }, { TIME, "h", 3600 * SECOND },
		{ NUMBER, "", 1 }, { POWER, "", 1 }, { ADDRESS, "", 1 },
	};
	unsigned long long n;
	char *end;
	size_t i;

	errno = 0;
	n = strtoull(s, &end, k->kind == ADDRESS ? 0 : 10);
	if (!isdigit((unsigned char)*s) || errno)
		return false;
	end += strspn(end, " \t");
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].kind == k->kind && !strcmp(units[i].name, end))
			break;
	/* A time of 0 needs no unit. */
	if (i == sizeof(units) / sizeof(*units) && (k->kind != TIME || *end || n))
		return false;
	if (n && __builtin_mul_overflow(n, units[i].factor, &n))
		return false;
	*v = n;
	return n >= k->min && n <= k->max && (k->kind != POWER || !(n & (n - 1)));
}

static void print_bound(char *buf, size_t size, const struct key *k, uint64_t v)
{
	static const struct {
		uint64_t factor;
		const char *name;
	} bytes[] = { { 1ull << 40, "T" }, { 1 << 30, "G" }, { 1 << 20, "M" }, { 1 << 10, "K" } },
	  times[] = { { 3600 * SECOND, "h" }, { SECOND, "s" }, { 1000000, "ms" } };
	size_t i;

	for (i = 0; k->kind == BYTES && i < 4; i++)
		if (v && !(v % bytes[i].factor)) {
			snprintf(buf, size, "%llu%s", (unsigned long long)(v / bytes[i].factor),
				 bytes[i].name);
			return;
		}
	for (i = 0; k->kind == TIME && i < 3; i++)
		if (v && !(v % times[i].factor)) {
			snprintf(buf, size, "%llu%s", (unsigned long long)(v / times[i].factor),
				 times[i].name);
			return;
		}
	snprintf(buf, size, "%llu", (unsigned long long)v);
}

static void wrong_value(struct parser *p, const struct key *k, const char *value)
{
	static const char *const kinds[] = {
		[NUMBER] = "a number", [POWER] = "a power of two",
		[BYTES] = "bytes, such as 64M (units K, M, G, T)",
		[TIME] = "a time with its unit, such as 10s (units ns, us, ms, s, min, h)",
	};
	char min[32], max[40] = "";

	if (strstr(value, " #") || strstr(value, " ;")) {
		mistake(p, "%s = %s: a comment needs a line of its own", k->name, value);
		return;
	}
	switch (k->kind) {
	case TEXT:
		mistake(p, "%s: expected the name or path of a specification", k->name);
		break;
	case PATH:
		if (k->max && strlen(value) > k->max)
			snprintf(max, sizeof(max), ", of at most %u bytes", (unsigned int)k->max);
		mistake(p, "%s = %s: expected a path that begins with /%s%s", k->name, value, max,
			*value == '"' || *value == '\'' ? ", without quotes" : "");
		break;
	case BOOL:
		mistake(p, "%s = %s: expected yes or no", k->name, value);
		break;
	case ADDRESS:
		mistake(p, "%s = %s: expected an address, such as 0xffff888003c42000", k->name,
			value);
		break;
	case ATTACH:
		mistake(p, "%s = %s: expected auto, fentry, kprobe or plain", k->name, value);
		break;
	case MODEL:
		mistake(p, "%s = %s: expected tso or sc", k->name, value);
		break;
	default:
		print_bound(min, sizeof(min), k, k->min);
		print_bound(max, sizeof(max), k, k->max);
		mistake(p, "%s = %s: expected %s, from %s to %s", k->name, value, kinds[k->kind],
			min, max);
	}
}

/* Return: the index of @value among @words, which `|' separates; -1 if none is equal. */
static int word_index(const char *words, const char *value)
{
	const size_t len = strlen(value);
	int i;

	for (i = 0; *words; i++) {
		const size_t n = strcspn(words, "|");

		if (n == len && !strncmp(words, value, n))
			return i;
		words += n + (words[n] == '|');
	}
	return -1;
}

static int set_value(struct parser *p, const struct key *k, const char *value)
{
	void *at = (char *)p->at + k->at;
	int word;

	switch (k->kind) {
	case TEXT:
	case PATH:
		if (!*value || (k->kind == PATH && *value != '/') ||
		    (k->max && strlen(value) > k->max))
			break;
		if (k->kind == TEXT)
			((struct klind_watch_conf *)p->at)->file_line = p->line;
		free(*(char **)at);
		*(char **)at = strdup(value);
		return *(char **)at ? 0 : -ENOMEM;
	case BOOL:
		word = word_index("no|false|off|0|yes|true|on|1", value);
		if (word < 0)
			break;
		*(bool *)at = word >= 4;
		return 0;
	case MODEL:
		word = word_index("tso|sc", value);
		if (word < 0)
			break;
		*(bool *)at = word;
		return 0;
	case ATTACH:
		word = word_index("fentry|kprobe|auto|plain", value);
		if (word < 0)
			break;
		*(enum klind_attach *)at = word;
		return 0;
	default:
		if (!parse_quantity(value, k, at))
			break;
		if (k->given)
			*((bool *)p->at + k->given) = true;
		return 0;
	}
	wrong_value(p, k, value);
	return 0;
}

static void unknown_key(struct parser *p, const char *name)
{
	const bool global = p->keys == global_keys;
	const char *names[sizeof(watch_keys) / sizeof(*watch_keys)], *near;
	char all[300] = "";
	const struct key *k;
	size_t n = 0, len = 0;

	for (k = global ? watch_keys : global_keys; k->name && strcmp(k->name, name); k++)
		;
	if (k->name) {
		mistake(p, "the key '%s' belongs into a section %s", name,
			global ? "[spec NAME]" : "[klind]");
		return;
	}
	for (k = p->keys; k->name; k++) {
		names[n++] = k->name;
		if (len < sizeof(all))
			len += snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "",
					k->name);
	}
	near = kl_nearest(name, names, n);
	mistake(p,
		near ? "unknown key '%s'; did you mean '%s'?" :
		       "unknown key '%s': expected one of %s",
		name, near ? near : all);
}

static int parse_assignment(struct parser *p, char *s)
{
	char *value = strchr(s, '=');
	const struct key *k;

	/* One message about the lines before the first section is enough. */
	if (!p->at && p->wrong)
		return 0;
	if (!value && !p->at) {
		mistake(p, "expected a section, [klind] or [spec NAME]; a comment begins with #");
		return 0;
	}
	if (!value) {
		mistake(p, "expected KEY = VALUE, a [section] or a comment");
		return 0;
	}
	*value++ = '\0';
	s = trim(s);
	value = trim(value);
	if (!p->keys) {
		if (!p->at)
			mistake(p, "'%s' is in no section; begin one above it with [klind] or "
				"[spec NAME]", s);
		return 0;
	}
	for (k = p->keys; k->name && strcmp(k->name, s); k++)
		;
	if (!k->name) {
		unknown_key(p, s);
		return 0;
	}
	if (p->seen[k - p->keys])
		mistake(p, "%s is already set in line %u; keep only one of them", k->name,
			p->seen[k - p->keys]);
	p->seen[k - p->keys] = p->line;
	p->found = value;
	return set_value(p, k, value);
}

static int finish_sections(struct parser *p)
{
	const char *plain = NULL;
	struct klind_conf *c = p->c;
	size_t i;

	if (!c->nwatch && !p->wrong) {
		p->line = 0;
		mistake(p, "nothing to watch; add a section [spec NAME]");
	}
	for (i = 0; i < c->nwatch; i++) {
		p->line = c->watch[i].line;
		if (c->watch[i].attach == KLIND_PLAIN && plain)
			mistake(p, "attach = plain: klin.ko records one structure at a time, and "
				"[spec %s] already uses it; choose fentry, kprobe or auto", plain);
		else if (c->watch[i].attach == KLIND_PLAIN)
			plain = c->watch[i].name;
		if (c->watch[i].attach == KLIND_PLAIN && c->watch[i].stacks)
			mistake(p, "stacks = yes needs BPF programs, and attach = plain uses none; "
				"omit one of both");
		if (c->watch[i].file)
			continue;
		c->watch[i].file = strdup(c->watch[i].name);
		if (!c->watch[i].file)
			return -ENOMEM;
	}
	return p->wrong ? -EINVAL : 0;
}

int klind_conf_parse(const char *name, const char *text, struct klind_conf **out)
{
	struct parser p = { .name = name, .c = calloc(1, sizeof(*p.c)) };
	const char *source = text;
	char *copy = strdup(text), *line, *next;
	int ret = p.c && copy ? 0 : -ENOMEM;

	if (!ret) {
		p.c->keep = 100;
		p.c->keep_bytes = 1 << 30;
		p.c->report_ns = 10 * SECOND;
		p.c->metrics_ns = 10 * SECOND;
		p.c->drop = true;
		p.c->path = strdup(name);
		ret = p.c->path ? 0 : -ENOMEM;
	}
	for (line = copy; !ret && line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		p.line++;
		p.source = source;
		source += next ? next - line : 0;
		p.start = line;
		p.found = line = trim(line);
		if (!*line || *line == '#' || *line == ';')
			continue;
		ret = *line == '[' ? begin_section(&p, line) : parse_assignment(&p, line);
	}
	p.source = NULL;
	if (!ret)
		ret = finish_sections(&p);
	free(copy);
	if (ret)
		klind_conf_free(p.c);
	else
		*out = p.c;
	return ret;
}

int klind_conf_read(const char *path, struct klind_conf **out)
{
	size_t len;
	char *text;
	int ret = kl_read_file(path, &text, &len), mark;

	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		kl_err("cannot read %s: %s; --config=FILE names another configuration", path,
		       strerror(-ret));
		return kl_ending_input(ret);
	}
	mark = kl_text_start(path, text, len);
	ret = mark < 0 ? mark : kl_text_zero(path, 1, text, len);
	if (!ret)
		ret = klind_conf_parse(path, text + mark, out);
	free(text);
	return ret;
}

void klind_conf_free(struct klind_conf *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->nwatch + c->nleft_out; i++) {
		free(c->watch[i].name);
		free(c->watch[i].file);
		free(c->watch[i].debug);
	}
	free(c->watch);
	free(c->reports);
	free(c->metrics);
	free(c->socket);
	free(c->path);
	free(c);
}

void klind_conf_leave_out(struct klind_conf *c, size_t i)
{
	const struct klind_watch_conf w = c->watch[i];
	const size_t last = c->nwatch + c->nleft_out - 1;

	memmove(&c->watch[i], &c->watch[i + 1], (last - i) * sizeof(w));
	c->watch[last] = w;
	c->nwatch--;
	c->nleft_out++;
}

bool klind_watch_conf_equal(const struct klind_watch_conf *a, const struct klind_watch_conf *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->file, b->file) &&
	       !strcmp(a->debug ? a->debug : "", b->debug ? b->debug : "") &&
	       a->one_object == b->one_object && a->clock_known == b->clock_known &&
	       a->report_unknown == b->report_unknown && a->classical == b->classical &&
	       a->attach == b->attach && a->object == b->object &&
	       a->clock_error == b->clock_error && a->pages == b->pages &&
	       a->slots == b->slots && a->memory == b->memory && a->flight == b->flight &&
	       a->flight_ns == b->flight_ns && a->stacks == b->stacks;
}
