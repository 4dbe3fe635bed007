// SPDX-License-Identifier: GPL-2.0
/* Debugging information: the sites of the functions "put" and "f", and their parameters. */
#include "dwarf/debug.h"
#include "selftests/fuzz/fuzz.h"

static void look(struct kl_debug *d, const char *function)
{
	struct kl_sites sites = { 0 };
	unsigned int k;
	char buf[160];
	size_t i;

	kl_debug_sites(d, function, NULL, &sites);
	for (i = 0; i < sites.n; i++)
		for (k = 0; k < sites.site[i].nparams; k++) {
			kl_dtype_text(&sites.site[i].params[k].type, buf, sizeof(buf));
			kl_loc_text(&sites.site[i].params[k].loc, buf, sizeof(buf));
		}
	kl_sites_free(&sites);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	const unsigned char *id;
	struct kl_debug *d;

	if (kl_debug_open(fuzz_file(data, size), &d))
		return;
	kl_debug_build_id(d, &id);
	look(d, "put");
	look(d, "f");
	kl_debug_close(d);
}
