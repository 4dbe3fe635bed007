/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The proof of a violation that the online check found: the violation's last operations as a
 * history of their own, which is checked anew, and a certificate that names this history.
 */
#ifndef KL_WATCH_PROOF_H
#define KL_WATCH_PROOF_H

#include "check/check.h"
#include "watch/flight.h"

struct kl_proof {
	struct kl_history *h;	/* the history, or NULL */
	struct kl_report *r;	/* the result of its check, or NULL */
};

/**
 * proof_window() - copy the operations of a violation
 * @spec: the specification, which must outlive the copy
 * @h: the violation's history, see online.h
 *
 * Return: the copy, which any thread may use and free; NULL when out of memory.
 */
struct flight_shot *proof_window(const struct kl_spec *spec, const struct kl_history *h);

/**
 * proof_check() - make a history of a shot, and check it in bounded time and memory
 * @p: gets both; what it had is freed
 * @spec: the specification
 * @shot: the operations
 * @object: keep only this object; NULL: all objects
 * @classical: check on sequential consistency
 *
 * Return: 0 if the history shows a violation, also a suspected one; -ENODATA if not; other errno.
 */
int proof_check(struct kl_proof *p, const struct kl_spec *spec, const struct flight_shot *shot,
		const uint64_t *object, bool classical);

/**
 * proof_certify() - write the certificate of a proof whose history was written
 * @p: the proof
 * @classical: as of proof_check()
 * @history: path of the history's file, in the directory of @path
 * @path: the file to write, whole or not at all
 *
 * The certificate names the history by its file's name, without the directory, so that both can
 * be moved together.
 *
 * Return: 0 or a negative errno.
 */
int proof_certify(struct kl_proof *p, bool classical, const char *history, const char *path);

void proof_free(struct kl_proof *p);

#endif
