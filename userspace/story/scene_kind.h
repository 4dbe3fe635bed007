/* SPDX-License-Identifier: GPL-2.0 */
/* How the scene finds out what an operation did; for scene.c alone. */
#ifndef KL_STORY_SCENE_KIND_H
#define KL_STORY_SCENE_KIND_H

#include "spec/classify/ends.h"
#include "story/scene.h"

/* The effect of a method of the history. */
struct kl_scene_kind {
	int method;	/* its index in the specification */
	enum kl_role role;
	bool end;	/* @e has its kind */
	struct kl_end_method e;
	const struct kl_word_method *word;
};

/*
 * Find what operation @op did on a container, and add its deeds; s->deeds[] has room for two.
 * Return: false if there is no scene with it.
 */
bool kl_scene_add_deed(struct kl_scene *s, const struct kl_scene_kind *k, uint32_t op);
/*
 * Find the step of operation @op, and add it; @steps finds those of a key.  Return: 1, 0 if there
 * is no scene with it, or -ENOMEM.
 */
int kl_scene_add_step(struct kl_scene *s, struct kl_key_steps *steps,
		      const struct kl_scene_kind *k, uint32_t op);

#endif
