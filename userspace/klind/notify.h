/* SPDX-License-Identifier: GPL-2.0 */
/* Report klind's state to systemd, by the protocol of sd_notify(3). */
#ifndef KLIND_NOTIFY_H
#define KLIND_NOTIFY_H

/**
 * klind_notify() - send klind's state to the service manager
 * @state: lines such as READY=1, see sd_notify(3)
 *
 * Does nothing if the environment has no NOTIFY_SOCKET.
 */
void klind_notify(const char *state);

#endif
