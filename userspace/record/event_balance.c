// SPDX-License-Identifier: GPL-2.0
/* Compares written and read events, see event_balance.h. */
#include "record/event_balance.h"

uint64_t kl_account(struct kl_account *a, const struct kl_account_look *l)
{
	const uint64_t got = l->got + a->missing;
	uint64_t missing = 0;

	if (a->written > got + l->open)
		missing = a->written - got - l->open;
	a->missing += missing;
	a->written = 0;
	if (l->before != l->after)
		return missing;
	a->written = l->before;
	if (l->before <= got && !missing)
		a->floor = l->floor;
	return missing;
}
