/* SPDX-License-Identifier: GPL-2.0 */
/* Telling systemd how klind goes, by the protocol of sd_notify(3). */
#ifndef KLIND_NOTIFY_H
#define KLIND_NOTIFY_H

/**
 * klind_notify() - tell who began klind, if it wants to know
 * @state: lines such as READY=1; see sd_notify(3)
 */
void klind_notify(const char *state);

#endif
