// SPDX-License-Identifier: GPL-2.0
/*
 * Loads on BPF maps, through bpf(2).  Every value is stored once and contains its key, so that a
 * value read under another key is a violation.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/load/load_user.h"

#define VALUE_MAX 4096

struct map {
	int fd;
};

static int make_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries,
		    uint32_t flags, void **priv)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	struct map *m = malloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->fd = bpf_map_create(type, "klin_subject", key, value, entries, &opts);
	*priv = m;
	return m->fd < 0 ? m->fd : 0;
}

/* A missing key, a full map and a busy map are results, not errors. */
static int outcome(int err)
{
	return !err || err == -ENOENT || err == -E2BIG || err == -EEXIST || err == -EBUSY ? 1 : err;
}

enum { HASH_KEYS, HASH_SIZE, HASH_PREALLOC, HASH_WRITERS };

static const char bpf_hash_help[] = "threads that update, delete and look up keys of a BPF hash "
				    "map; keys=2, size=512 (bytes of a value), prealloc=1, "
				    "writers=1";

static int bpf_hash_setup(const uint64_t *number, void **priv)
{
	return make_map(BPF_MAP_TYPE_HASH, sizeof(uint64_t), number[HASH_SIZE] / 8 * 8,
			number[HASH_KEYS], number[HASH_PREALLOC] ? 0 : BPF_F_NO_PREALLOC, priv);
}

/* All words of a value are equal, so that a torn value shows. */
static int hash_write(struct kl_user_task *t, uint64_t key)
{
	const struct map *m = t->priv;
	uint64_t value[VALUE_MAX / 8], words = t->number[HASH_SIZE] / 8, i;

	if (kl_user_below(t, 2))
		return outcome(bpf_map_delete_elem(m->fd, &key));
	value[0] = kl_user_value(t) << 8 | key;
	for (i = 1; i < words; i++)
		value[i] = value[0];
	return outcome(bpf_map_update_elem(m->fd, &key, value, BPF_ANY));
}

static int bpf_hash_step(struct kl_user_task *t)
{
	const struct map *m = t->priv;
	uint64_t value[VALUE_MAX / 8], key = kl_user_below(t, t->number[HASH_KEYS]);

	if (t->index < t->number[HASH_WRITERS])
		return hash_write(t, key);
	return outcome(bpf_map_lookup_elem(m->fd, &key, value));
}

static const struct kl_user_kind bpf_hash_kind = {
	.name = "bpf_hash", .tasks = 2, .setup = bpf_hash_setup, .step = bpf_hash_step,
	.numbers = {
		[HASH_KEYS] = { "keys", 1, 255, 2 },
		[HASH_SIZE] = { "size", 8, VALUE_MAX, 512 },
		[HASH_PREALLOC] = { "prealloc", 0, 1, 1 },
		[HASH_WRITERS] = { "writers", 0, KL_USER_TASKS, 1 },
	},
};
KL_USER_LOAD(bpf_hash);

enum { QUEUE_ENTRIES };

static int queue_step(struct kl_user_task *t)
{
	const struct map *m = t->priv;
	uint64_t value = kl_user_value(t);

	switch (kl_user_below(t, 5)) {
	case 0:
	case 1:
		return outcome(bpf_map_update_elem(m->fd, NULL, &value, BPF_ANY));
	case 2:
		return outcome(bpf_map_lookup_elem(m->fd, NULL, &value));
	default:
		return outcome(bpf_map_lookup_and_delete_elem(m->fd, NULL, &value));
	}
}

static const char bpf_queue_help[] = "threads that push, pop and peek a BPF queue; entries=8";

static int bpf_queue_setup(const uint64_t *number, void **priv)
{
	return make_map(BPF_MAP_TYPE_QUEUE, 0, sizeof(uint64_t), number[QUEUE_ENTRIES], 0, priv);
}

static const struct kl_user_kind bpf_queue_kind = {
	.name = "bpf_queue", .tasks = 4, .setup = bpf_queue_setup, .step = queue_step,
	.numbers = { [QUEUE_ENTRIES] = { "entries", 1, 1 << 20, 8 } },
};
KL_USER_LOAD(bpf_queue);

static const char bpf_stack_help[] = "threads that push, pop and peek a BPF stack; entries=8";

static int bpf_stack_setup(const uint64_t *number, void **priv)
{
	return make_map(BPF_MAP_TYPE_STACK, 0, sizeof(uint64_t), number[QUEUE_ENTRIES], 0, priv);
}

static const struct kl_user_kind bpf_stack_kind = {
	.name = "bpf_stack", .tasks = 4, .setup = bpf_stack_setup, .step = queue_step,
	.numbers = { [QUEUE_ENTRIES] = { "entries", 1, 1 << 20, 8 } },
};
KL_USER_LOAD(bpf_stack);

/* A key of a trie of IPv4 prefixes. */
struct prefix {
	uint32_t len;
	uint8_t addr[4];
};

static const char bpf_lpm_help[] = "threads that update, delete and look up overlapping "
				   "prefixes in a BPF LPM trie";

static int bpf_lpm_setup(const uint64_t *number, void **priv)
{
	return make_map(BPF_MAP_TYPE_LPM_TRIE, sizeof(struct prefix), sizeof(uint64_t), 64,
			BPF_F_NO_PREALLOC, priv);
}

/* The keys are prefixes of 10.1.2.3, as bpf_lpm.lin expects. */
static int bpf_lpm_step(struct kl_user_task *t)
{
	struct prefix p = { 32, { 10, 1, 2, 3 } };
	const struct map *m = t->priv;
	uint64_t value = kl_user_value(t);
	int err;

	if (t->index % 2)
		return outcome(bpf_map_lookup_elem(m->fd, &p, &value));
	p.len = 8 * (1 + kl_user_below(t, 3));
	memset(p.addr + p.len / 8, 0, 4 - p.len / 8);
	if (kl_user_below(t, 2))
		err = bpf_map_delete_elem(m->fd, &p);
	else
		err = bpf_map_update_elem(m->fd, &p, &value, BPF_ANY);
	/* Failed operations are not recorded. */
	return err && outcome(err) > 0 ? 0 : outcome(err);
}

static const struct kl_user_kind bpf_lpm_kind = {
	.name = "bpf_lpm", .tasks = 2, .setup = bpf_lpm_setup, .step = bpf_lpm_step,
};
KL_USER_LOAD(bpf_lpm);
