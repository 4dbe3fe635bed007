// SPDX-License-Identifier: GPL-2.0
/* Memory and store buffers of the machine that runs specifications. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tso/machine/machine.h"

int kl_machine_init(struct kl_machine *m, size_t nmem)
{
	memset(m, 0, sizeof(*m));
	m->nmem = nmem;
	m->mem = calloc(nmem + 1, sizeof(*m->mem));
	return m->mem ? 0 : -ENOMEM;
}

void kl_machine_free(struct kl_machine *m)
{
	free(m->mem);
	free(m->entries);
	free(m->writes);
	free(m->notes);
	memset(m, 0, sizeof(*m));
}

int kl_machine_copy(struct kl_machine *to, const struct kl_machine *from)
{
	int ret = kl_grow(to->entries, to->centries, from->nentries + 1) ?:
		  kl_grow(to->writes, to->cwrites, from->nwrites + 1) ?:
		  kl_grow(to->notes, to->cnotes, from->nnotes);

	if (ret)
		return ret;
	to->in_gap = from->in_gap;
	to->nnotes = from->nnotes;
	to->nentries = from->nentries;
	to->nwrites = from->nwrites;
	memcpy(to->mem, from->mem, from->nmem * sizeof(*to->mem));
	if (from->nentries)
		memcpy(to->entries, from->entries, from->nentries * sizeof(*to->entries));
	if (from->nwrites)
		memcpy(to->writes, from->writes, from->nwrites * sizeof(*to->writes));
	if (from->nnotes)
		memcpy(to->notes, from->notes, from->nnotes * sizeof(*to->notes));
	return 0;
}

static void put_alive(struct kl_val v, struct kl_val *view, size_t *n)
{
	if (v.tag != KL_ANY)
		return;
	kl_raw_alive(v.v, view + *n);
	*n += KL_RAW_ALIVE;
}

int kl_machine_view(const struct kl_machine *m, uint32_t thread, struct kl_val **to, size_t *cap,
		    size_t *len)
{
	struct kl_val *view;
	size_t i, k;

	if (kl_grow(*to, *cap, m->nmem + m->nnotes + KL_RAW_ALIVE * (m->nmem + m->nwrites) + 1))
		return -ENOMEM;
	view = *to;
	memcpy(view, m->mem, m->nmem * sizeof(*view));
	/* In a gap the thread may have newer stores that were lost, so memory alone counts. */
	for (i = 0; i < m->nentries && !m->in_gap; i++) {
		const struct kl_entry *e = &m->entries[i];

		for (k = 0; k < e->n && e->thread == thread; k++)
			view[m->writes[e->first + k].slot] = m->writes[e->first + k].v;
	}
	*len = m->nmem;
	if (m->nnotes)
		memcpy(view + *len, m->notes, m->nnotes * sizeof(*view));
	*len += m->nnotes;
	for (i = 0; i < m->nmem; i++)
		put_alive(m->mem[i], view, len);
	for (i = 0; i < m->nwrites; i++)
		put_alive(m->writes[i].v, view, len);
	return 0;
}

bool kl_machine_lost(const struct kl_machine *m)
{
	return !m->in_gap && kl_state_lost(m->notes, m->nnotes);
}

static uint64_t max_unknown(uint64_t max, struct kl_val v)
{
	return v.tag == KL_ANY && v.v + 1 > max ? v.v + 1 : max;
}

uint64_t kl_machine_next_unknown(const struct kl_machine *m)
{
	uint64_t max = 0;
	size_t i;

	for (i = 0; i < m->nmem; i++)
		max = max_unknown(max, m->mem[i]);
	for (i = 0; i < m->nwrites; i++)
		max = max_unknown(max, m->writes[i].v);
	for (i = 0; i < m->nnotes; i++)
		max = max_unknown(max, m->notes[i]);
	return max;
}

void kl_machine_forget(struct kl_machine *m)
{
	uint64_t next = kl_machine_next_unknown(m);
	size_t i;

	for (i = 0; i < m->nmem; i++) {
		m->mem[i] = kl_special(KL_ANY);
		m->mem[i].v = next++;
	}
	m->nnotes = 0;
}

int64_t kl_machine_oldest(const struct kl_machine *m, uint32_t thread)
{
	size_t i;

	for (i = 0; i < m->nentries; i++)
		if (m->entries[i].thread == thread)
			return i;
	return -1;
}

bool kl_machine_drop(struct kl_machine *m, uint32_t thread)
{
	const int64_t at = kl_machine_oldest(m, thread);
	struct kl_entry e;
	size_t i;

	if (at < 0)
		return false;
	e = m->entries[at];
	memmove(m->writes + e.first, m->writes + e.first + e.n,
		(m->nwrites - e.first - e.n) * sizeof(*m->writes));
	m->nwrites -= e.n;
	m->nentries--;
	memmove(m->entries + at, m->entries + at + 1,
		(m->nentries - at) * sizeof(*m->entries));
	for (i = at; i < m->nentries; i++)
		m->entries[i].first -= e.n;
	return true;
}

bool kl_machine_flush(struct kl_machine *m, uint32_t thread)
{
	const int64_t at = kl_machine_oldest(m, thread);
	const struct kl_entry *e;
	size_t i;

	if (at < 0)
		return false;
	e = &m->entries[at];
	for (i = 0; i < e->n; i++)
		m->mem[m->writes[e->first + i].slot] = m->writes[e->first + i].v;
	kl_machine_drop(m, thread);
	if (m->in_gap)
		kl_machine_forget(m);
	return true;
}

/* Replace an unknown by the value, or the new number, that the outcome gives to it. */
static void rename_unknown(struct kl_val *v, const struct kl_outcome *o)
{
	if (v->tag == KL_ANY && v->v < o->nbound)
		*v = o->bound[v->v];
}

int kl_machine_exec(struct kl_machine *m, const struct kl_outcome *o, uint32_t thread,
		    uint32_t item)
{
	struct kl_write *w;
	size_t i;
	int ret;

	for (i = 0; i < m->nmem; i++)
		rename_unknown(&m->mem[i], o);
	for (i = 0; i < m->nwrites; i++)
		rename_unknown(&m->writes[i].v, o);
	ret = kl_grow(m->writes, m->cwrites, m->nwrites + o->nwrote + 1) ?:
	      kl_grow(m->entries, m->centries, m->nentries + 1) ?:
	      kl_grow(m->notes, m->cnotes, o->len);
	if (ret)
		return ret;
	m->nnotes = o->len > m->nmem ? o->len - m->nmem : 0;
	if (m->nnotes)
		memcpy(m->notes, o->state + m->nmem, m->nnotes * sizeof(*m->notes));
	w = m->writes + m->nwrites;
	for (i = 0; i < o->nwrote; i++) {
		w[i] = (struct kl_write){ .slot = o->wrote[i], .v = o->state[o->wrote[i]] };
		if (o->through)
			m->mem[w[i].slot] = w[i].v;
	}
	if (o->through || !o->nwrote) {
		if (m->in_gap)
			kl_machine_forget(m);
		return 0;
	}
	m->entries[m->nentries++] = (struct kl_entry){
		.thread = thread, .item = item, .first = m->nwrites, .n = o->nwrote,
	};
	m->nwrites += o->nwrote;
	if (m->in_gap)
		kl_machine_forget(m);
	return 1;
}

static void canon_value(struct kl_val *v, struct kl_machine *m, struct kl_val *map, size_t *n)
{
	size_t i;

	if (v->tag != KL_ANY)
		return;
	for (i = 0; i < *n; i++)
		if (map[i].v == v->v)
			break;
	if (i == *n)
		map[(*n)++].v = v->v;
	v->v = i;
}

void kl_machine_canon(struct kl_machine *m)
{
	const size_t max = m->nmem + m->nwrites + m->nnotes;
	struct kl_val few[64], *map = few;
	size_t n = 0, i;

	if (max > sizeof(few) / sizeof(*few)) {
		map = malloc(max * sizeof(*map));
		if (!map)
			return;		/* equal states may then differ in their numbers: no harm */
	}
	for (i = 0; i < m->nmem; i++)
		canon_value(&m->mem[i], m, map, &n);
	for (i = 0; i < m->nwrites; i++)
		canon_value(&m->writes[i].v, m, map, &n);
	for (i = 0; i < m->nnotes; i++)
		canon_value(&m->notes[i], m, map, &n);
	if (map != few)
		free(map);
}
