// SPDX-License-Identifier: GPL-2.0
/* The instruction decoder: no instruction is longer than the input, or than 15 bytes. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/insn.h"
#include "selftests/fuzz/fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	struct kl_insn insn;
	uint8_t *copy = malloc(size ? size : 1);
	size_t at;

	if (!copy)
		fuzz_broken("out of memory");
	if (size)
		memcpy(copy, data, size);
	for (at = 0; at < size; at += insn.len) {
		if (kl_insn_decode(copy + at, size - at, &insn))
			break;
		if (!insn.len || insn.len > 15 || insn.len > size - at)
			fuzz_broken("an instruction of an impossible length");
	}
	free(copy);
}
