// SPDX-License-Identifier: GPL-2.0
/* The members that all results share, see envelope.h. */
#include <sys/utsname.h>

#include "report/build.h"
#include "report/envelope.h"
#include "report/json.h"

#define SCHEMA	"klin/1"

json_t *kl_json_envelope(const char *kind, const char *release)
{
	json_t *j = json_object();
	struct utsname machine;

	json_object_set_new(j, "schema", json_string(SCHEMA));
	json_object_set_new(j, "kind", json_string(kind));
	json_object_set_new(j, "klin", kl_build_json());
	if (uname(&machine))
		return j;
	json_object_set_new(j, "host", kl_json_text(machine.nodename));
	json_object_set_new(j, "kernel", kl_json_text(release ? release : machine.release));
	return j;
}
