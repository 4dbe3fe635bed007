// SPDX-License-Identifier: GPL-2.0
/* The methods of containers, for the checker. */
#include <stdio.h>
#include <string.h>

#include "spec/lang/ast.h"

static const struct kl_cont_method methods[] = {
	/* container	name	  op		 args keyed writes special result */
	{ KL_C_QUEUE,	"push",	  KL_CO_PUSH,	 1, false, true,  false, '-' },
	{ KL_C_QUEUE,	"pop",	  KL_CO_POP,	 0, false, true,  true,  'v' },
	{ KL_C_QUEUE,	"front",  KL_CO_FRONT,	 0, false, false, true,  'v' },
	{ KL_C_QUEUE,	"size",	  KL_CO_SIZE,	 0, false, false, false, 'w' },
	{ KL_C_QUEUE,	"clear",  KL_CO_CLEAR,	 0, false, true,  false, '-' },
	{ KL_C_STACK,	"push",	  KL_CO_PUSH,	 1, false, true,  false, '-' },
	{ KL_C_STACK,	"pop",	  KL_CO_POP,	 0, false, true,  true,  'v' },
	{ KL_C_STACK,	"top",	  KL_CO_TOP,	 0, false, false, true,  'v' },
	{ KL_C_STACK,	"size",	  KL_CO_SIZE,	 0, false, false, false, 'w' },
	{ KL_C_STACK,	"clear",  KL_CO_CLEAR,	 0, false, true,  false, '-' },
	{ KL_C_DEQUE,	"push_front", KL_CO_PUSH_FRONT, 1, false, true, false, '-' },
	{ KL_C_DEQUE,	"push_back", KL_CO_PUSH, 1, false, true,  false, '-' },
	{ KL_C_DEQUE,	"pop_front", KL_CO_POP,	 0, false, true,  true,  'v' },
	{ KL_C_DEQUE,	"pop_back", KL_CO_POP_BACK, 0, false, true, true, 'v' },
	{ KL_C_DEQUE,	"front",  KL_CO_FRONT,	 0, false, false, true,  'v' },
	{ KL_C_DEQUE,	"back",	  KL_CO_BACK,	 0, false, false, true,  'v' },
	{ KL_C_DEQUE,	"size",	  KL_CO_SIZE,	 0, false, false, false, 'w' },
	{ KL_C_PQUEUE,	"push",	  KL_CO_PUSH,	 1, false, true,  false, '-' },
	{ KL_C_PQUEUE,	"pop",	  KL_CO_POP,	 0, false, true,  true,  'v' },
	{ KL_C_PQUEUE,	"top",	  KL_CO_TOP,	 0, false, false, true,  'v' },
	{ KL_C_PQUEUE,	"size",	  KL_CO_SIZE,	 0, false, false, false, 'w' },
	{ KL_C_SET,	"add",	  KL_CO_ADD,	 1, true,  true,  false, 'b' },
	{ KL_C_SET,	"remove", KL_CO_REMOVE,	 1, true,  true,  false, 'b' },
	{ KL_C_SET,	"has",	  KL_CO_HAS,	 1, true,  false, false, 'b' },
	{ KL_C_SET,	"size",	  KL_CO_SIZE,	 0, false, false, false, 'w' },
	{ KL_C_MAP,	"put",	  KL_CO_PUT,	 2, true,  true,  false, '-' },
	{ KL_C_MAP,	"get",	  KL_CO_GET,	 1, true,  false, true,  'v' },
	{ KL_C_MAP,	"remove", KL_CO_REMOVE,	 1, true,  true,  true,  'v' },
	{ KL_C_MAP,	"has",	  KL_CO_HAS,	 1, true,  false, false, 'b' },
	{ KL_C_MAP,	"size",	  KL_CO_SIZE,	 0, false, false, false, 'w' },
	{ KL_C_BAG,	"add",	  KL_CO_ADD,	 1, true,  true,  false, '-' },
	{ KL_C_BAG,	"remove", KL_CO_REMOVE,	 1, true,  true,  false, 'b' },
	{ KL_C_BAG,	"has",	  KL_CO_HAS,	 1, true,  false, false, 'b' },
	{ KL_C_BAG,	"count",  KL_CO_COUNT,	 1, true,  false, false, 'w' },
	{ KL_C_BAG,	"size",	  KL_CO_SIZE,	 0, false, false, false, 'w' },
};

#define NMETHODS (sizeof(methods) / sizeof(methods[0]))

const struct kl_cont_method *kl_cont_find(enum kl_cont_kind kind, const char *name)
{
	size_t i;

	for (i = 0; i < NMETHODS; i++)
		if (methods[i].cont == kind && !strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

const struct kl_cont_method *kl_cont_method(enum kl_cont_kind kind, enum kl_cont_op op)
{
	size_t i;

	for (i = 0; i < NMETHODS; i++)
		if (methods[i].cont == kind && methods[i].op == op)
			return &methods[i];
	return NULL;
}

const char *kl_cont_list(enum kl_cont_kind kind, char *buf, size_t size)
{
	size_t i, len = 0;

	buf[0] = 0;
	for (i = 0; i < NMETHODS; i++)
		if (methods[i].cont == kind && len < size)
			len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					methods[i].name);
	return buf;
}

const char *kl_cont_name(enum kl_cont_kind kind)
{
	static const char *const names[] = {
		[KL_C_NONE] = "scalar", [KL_C_QUEUE] = "queue", [KL_C_STACK] = "stack",
		[KL_C_DEQUE] = "deque", [KL_C_PQUEUE] = "pqueue", [KL_C_SET] = "set",
		[KL_C_MAP] = "map", [KL_C_BAG] = "bag",
	};

	return names[kind];
}
