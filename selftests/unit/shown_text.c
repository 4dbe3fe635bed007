// SPDX-License-Identifier: GPL-2.0
/* The text of a shown run, and of the plain machine's state and events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shown_text.h"
#include "tso/explore/explore.h"

static void add_piece(struct pieces *to, unsigned int t, const char *from, size_t len)
{
	struct piece *p = &to->p[to->n++];
	char *line;

	assert_true(to->n <= sizeof(to->p) / sizeof(*to->p));
	*p = (struct piece){ .thread = t, .text = strndup(from, len) };
	if (p->text[0] == 'T' && sscanf(p->text, "T%u", &p->thread) == 1) {
		p->flush = strstr(p->text, "'s buffer: ") && strstr(p->text, " reaches memory");
		memmove(p->text, strstr(p->text, ": ") + 2, strlen(strstr(p->text, ": ") + 2) + 1);
	}
	line = strrchr(p->text, '[');
	if (line && sscanf(line, "[%u]", &p->line) == 1 && line > p->text && line[-1] == ' ')
		line[-1] = 0;
	else
		p->line = 0;
	if (p->flush)
		*strstr(p->text, " reaches memory") = 0;
}

/* Split a step into calls at the begin, returns at the end, and accesses between them. */
void shown_parse(struct shown_step *s)
{
	const char *at = s->what, *end, *next;

	for (;;) {
		next = at;
		if (*next == 'T' && strspn(next + 1, "01234567"))
			next = strstr(next, ": ") + 2;
		if (strncmp(next, "call ", 5))
			break;
		end = strstr(at, "); ");
		add_piece(&s->calls, s->thread, at, end + 1 - at);
		at = end + 3;
	}
	for (end = strstr(at, "; ") ?: at + strlen(at); at < end; at = next) {
		next = strstr(at, ", ");
		next = next && next < end ? next : end;
		if ((size_t)(next - at) != 7 || strncmp(at, "goes on", 7))
			add_piece(&s->accesses, s->thread, at, next - at);
		next += next < end ? 2 : 0;
	}
	for (at = end; *at; at = next) {
		at += 2;
		next = strstr(at, "; ") ?: at + strlen(at);
		add_piece(&s->rets, s->thread, at, next - at);
	}
}

static void free_pieces(struct pieces *p)
{
	while (p->n)
		free(p->p[--p->n].text);
}

void shown_free(struct shown_step *s)
{
	free(s->what);
	free(s->state);
	free_pieces(&s->calls);
	free_pieces(&s->accesses);
	free_pieces(&s->rets);
}

/* ---- the plain machine as text --------------------------------------------------- */

void plain_put_place(const struct plain *m, uint32_t addr, FILE *f)
{
	const struct kl_impl *im = m->p->spec->impl;
	const unsigned int obj = (addr - im->nslots) / m->p->stride;
	unsigned int i;

	for (i = 0; i < im->nvars && addr < im->nslots; i++) {
		if (addr - im->vars[i].slot >= im->vars[i].len)
			continue;
		fputs(im->vars[i].f.name, f);
		if (im->vars[i].is_array)
			fprintf(f, "[%u]", addr - im->vars[i].slot);
		return;
	}
	fprintf(f, "#%u->%s", obj + 1, im->structs[m->type[obj]].fields[
		(addr - im->nslots) % m->p->stride].name);
}

void plain_put_value(const struct plain *m, uint64_t v, FILE *f)
{
	char buf[32];

	if (v >= KL_VM_PTR && v < KL_VM_PTR + KL_VM_MEM) {
		fprintf(f, "#%u", (unsigned int)(v - KL_VM_PTR - m->p->spec->impl->nslots) /
			m->p->stride + 1);
		return;
	}
	kl_vm_value(buf, sizeof(buf), v);
	fputs(buf, f);
}

static void put_list(const struct plain *m, const uint64_t *v, unsigned int n, FILE *f)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		fputs(i ? ", " : "", f);
		plain_put_value(m, v[i], f);
	}
}

bool plain_event_is(const struct plain *m, const char *text)
{
	const struct kl_vm_event *e = &m->ev[m->nev - 1];
	const char *name = m->p->spec->impl->methods[e->method].pub.name;
	char buf[400];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	if (e->kind == KL_VM_EVENT_CALL)
		fprintf(f, "call %s(", name);
	else
		fprintf(f, "%s returns%s", name, e->n ? " " : "");
	put_list(m, e->val, e->n, f);
	fputs(e->kind == KL_VM_EVENT_CALL ? ")" : "", f);
	fclose(f);
	return !strcmp(buf, text);
}

/* Return: true if another thread's buffer has the value that the text names. */
static bool stale(const struct plain *m, unsigned int t, uint32_t addr, const char *text)
{
	unsigned int u, i;
	char buf[64];
	FILE *f;

	for (u = 0; u < m->p->nthreads; u++) {
		for (i = m->thread[u].nbuf; i-- && u != t;) {
			const struct plain_entry *e = &m->thread[u].buf[i];

			if (e->kind != KL_VM_WRITE || e->addr != addr)
				continue;
			f = fmemopen(buf, sizeof(buf), "w");
			fprintf(f, " (stale: T%u's buffer has ", u);
			plain_put_value(m, e->val, f);
			fputc(')', f);
			fclose(f);
			if (!strncmp(text, buf, strlen(buf)))
				return true;
		}
	}
	return false;
}

bool plain_access_is(struct plain *m, unsigned int t, const struct piece *p)
{
	const struct plain_access *a = &m->access;
	struct plain_thread *th = &m->thread[t];
	const char *rest;
	char buf[200];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	plain_put_place(m, a->addr, f);
	fputs(a->write ? " = " : " is ", f);
	plain_put_value(m, a->val, f);
	fclose(f);
	if (p->flush || p->thread != t || p->line != a->line ||
	    strncmp(p->text, buf, strlen(buf)))
		return false;
	rest = p->text + strlen(buf);
	if (a->write) {
		if (m->p->sc || th->block == PLAIN_LOCKED)
			return !*rest;
		th->buf[th->nbuf - 1].secret = !*rest;
		return !*rest || !strcmp(rest, " to the buffer");
	}
	if (a->own && !strcmp(rest, " (own buffer)"))
		return !a->own_secret;
	if (a->own && !a->own_secret)
		return false;
	return !*rest || stale(m, t, a->addr, rest);
}

void plain_put_state(const struct plain *m, FILE *f)
{
	const struct kl_impl *im = m->p->spec->impl;
	uint64_t mem[KL_VM_MEM];
	unsigned int i, k, t, n;

	/* Memory that only the buffer's thread can reach is shown as already stored. */
	memcpy(mem, m->mem, sizeof(mem));
	for (t = 0; t < m->p->nthreads; t++)
		for (i = 0; i < m->thread[t].nbuf; i++)
			if (m->thread[t].buf[i].secret)
				mem[m->thread[t].buf[i].addr] = m->thread[t].buf[i].val;
	fputs("memory:", f);
	for (i = 0; i < im->nslots; i++) {
		fputc(' ', f);
		plain_put_place(m, i, f);
		fputc('=', f);
		plain_put_value(m, mem[i], f);
	}
	for (i = 0; i < m->nobj; i++) {
		fprintf(f, " #%u={", i + 1);
		for (k = 0; k < im->structs[m->type[i]].nfields; k++) {
			fputs(k ? " " : "", f);
			plain_put_value(m, mem[im->nslots + i * m->p->stride + k], f);
		}
		fputc('}', f);
	}
	for (t = 0; t < m->p->nthreads; t++) {
		const struct plain_thread *th = &m->thread[t];

		for (i = n = 0; i < th->nbuf; i++) {
			if (th->buf[i].kind != KL_VM_WRITE || th->buf[i].secret)
				continue;
			if (!n++)
				fprintf(f, "; T%u's buffer:", t);
			fputc(' ', f);
			plain_put_place(m, th->buf[i].addr, f);
			fputc('=', f);
			plain_put_value(m, th->buf[i].val, f);
			fputs(th->buf[i].more ? " +" : "", f);
		}
	}
}
