// SPDX-License-Identifier: GPL-2.0
/* Describe the machine, see machine.h. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "klind/machine.h"
#include "report/json_value.h"

/*
 * Find the first line of a file that begins with @head.  Return: what follows in @line, without
 * blanks and colons before it; NULL if there is no such line.
 */
static const char *find_line(const char *path, const char *head, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	const char *found = NULL;

	while (f && !found && fgets(line, size, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, head, strlen(head)))
			found = line + strlen(head) + strspn(line + strlen(head), ": \t");
	}
	if (f)
		fclose(f);
	return found;
}

static json_t *text_or_null(const char *text)
{
	return text ? kl_json_text(text) : json_null();
}

json_t *klind_machine_json(void)
{
	json_t *j = json_object();
	struct utsname u;
	char line[256];
	const bool known = !uname(&u);

	json_object_set_new(j, "kernel_version", text_or_null(known ? u.version : NULL));
	json_object_set_new(j, "architecture", text_or_null(known ? u.machine : NULL));
	json_object_set_new(j, "boot", text_or_null(find_line("/proc/sys/kernel/random/boot_id", "",
							      line, sizeof(line))));
	json_object_set_new(j, "cpus", kl_json_number(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(j, "cpu_model", text_or_null(find_line("/proc/cpuinfo", "model name",
								   line, sizeof(line))));
	return j;
}
