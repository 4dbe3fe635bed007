// SPDX-License-Identifier: GPL-2.0
/* Which klin this is, see build.h. */
#include <bpf/libbpf.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <nettle/version.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/version.h"
#include "report/build.h"
#include "report/json_value.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#define MOST_ID 64	/* bytes of a build ID at most */
#define MOST_LIBRARIES 9

/*
 * Only klin is linked with ncurses, and only klind with libseccomp.  A program with libklin needs
 * none of these.
 */
extern const char *curses_version(void) __attribute__((weak));
extern const struct { unsigned int major, minor, micro; } *seccomp_version(void)
	__attribute__((weak));
#pragma weak libbpf_version_string
#pragma weak dwfl_version

struct library {
	const char *name;
	char version[32];
};

/* Set the versions of the libraries that this process has loaded.  Return: their number. */
static size_t find_libraries(struct library *l)
{
	const char *bpf = libbpf_version_string ? libbpf_version_string() : NULL;
	const char *curses = curses_version ? curses_version() : NULL;	/* "ncurses 6.4.20221231" */
	char nettle[32], seccomp[40];
	const struct { const char *name, *version; } all[] = {
		{ "libbpf", bpf && *bpf == 'v' ? bpf + 1 : bpf },
		{ "elfutils", dwfl_version ? dwfl_version(NULL) : NULL },
		{ "jansson", jansson_version_str() }, { "zstd", ZSTD_versionString() },
		{ "nettle", nettle }, { "zlib", zlibVersion() },
		{ "ncurses", curses && strchr(curses, ' ') ? strchr(curses, ' ') + 1 : NULL },
		{ "seccomp", seccomp_version ? seccomp : NULL }, { "glibc", gnu_get_libc_version() },
	};
	size_t n = 0, i;

	if (seccomp_version)
		snprintf(seccomp, sizeof(seccomp), "%u.%u.%u", seccomp_version()->major,
			 seccomp_version()->minor, seccomp_version()->micro);
	snprintf(nettle, sizeof(nettle), "%d.%d", nettle_version_major(), nettle_version_minor());
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i].version)
			continue;
		l[n].name = all[i].name;
		snprintf(l[n++].version, sizeof(l->version), "%s", all[i].version);
	}
	return n;
}

/* Find the build ID in the notes of a loaded file.  Return: 1 if it has one, else 0. */
static int find_id(const ElfW(Phdr) *p, ElfW(Addr) base, char *hex)
{
	const char *at = (const char *)(base + p->p_vaddr), *end = at + p->p_memsz;

	while (at + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *n = (const void *)at;
		const char *name = at + sizeof(*n);
		const uint8_t *id = (const uint8_t *)name + ((n->n_namesz + 3) & ~3U);
		size_t i;

		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == sizeof("GNU") &&
		    !memcmp(name, "GNU", sizeof("GNU")) && n->n_descsz <= MOST_ID) {
			for (i = 0; i < n->n_descsz; i++)
				sprintf(hex + 2 * i, "%02x", id[i]);
			return n->n_descsz > 0;
		}
		at = (const char *)id + ((n->n_descsz + 3) & ~3U);
	}
	return 0;
}

/* The program itself is the first file that dl_iterate_phdr() calls this with. */
static int first_file(struct dl_phdr_info *info, size_t size, void *hex)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE &&
		    find_id(&info->dlpi_phdr[i], info->dlpi_addr, hex))
			break;
	return 1;
}

json_t *kl_build_json(void)
{
	json_t *j = json_object(), *build = json_object(), *libraries = json_object();
	struct library l[MOST_LIBRARIES];
	char id[2 * MOST_ID + 1] = "";
	size_t n, i;

	json_object_set_new(j, "version", json_string(KLIN_VERSION));
	dl_iterate_phdr(first_file, id);
	if (*id)
		json_object_set_new(build, "id", json_string(id));
	json_object_set_new(build, "compiler", kl_json_text(COMPILER));
	json_object_set_new(j, "build", build);
	n = find_libraries(l);
	for (i = 0; i < n; i++)
		json_object_set_new(libraries, l[i].name, kl_json_text(l[i].version));
	json_object_set_new(j, "libraries", libraries);
	return j;
}

void kl_put_build(FILE *f, const char *program)
{
	struct library l[MOST_LIBRARIES];
	char id[2 * MOST_ID + 1] = "";
	size_t n, i;

	fprintf(f, "%s %s\n", program, KLIN_VERSION);
	dl_iterate_phdr(first_file, id);
	fprintf(f, "build %s, by %s\n", *id ? id : "without an ID", COMPILER);
	n = find_libraries(l);
	for (i = 0; i < n; i++)
		fprintf(f, "%s%s %s", i ? ", " : "with ", l[i].name, l[i].version);
	fputc('\n', f);
}
