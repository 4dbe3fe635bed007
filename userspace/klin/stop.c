// SPDX-License-Identifier: GPL-2.0
/* Handlers of SIGINT and SIGTERM, see stop.h. */
#include <signal.h>
#include <stddef.h>

#include "klin/stop.h"

static volatile int interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

const volatile int *stop_on_signals(bool reads)
{
	const struct sigaction act = {
		.sa_handler = on_signal, .sa_flags = reads ? 0 : SA_RESTART,
	};

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	return &interrupted;
}

void stop_by_default(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}
