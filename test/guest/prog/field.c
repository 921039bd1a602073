// SPDX-License-Identifier: GPL-2.0-only
/*
 * field NAME: one number of what the driver says of itself, as kerninst info --quick does, which
 * reads all symbols before: tests ask a hundred times.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "uapi/kerninst.h"

static struct ki_info info = {.size = sizeof(info)};

static const struct field {
	const char *name;
	const __u32 *narrow;
	const __u64 *wide;
} fields[] = {
	{"counters", &info.counters, NULL},
	{"counters_used", &info.counters_used, NULL},
	{"sessions", &info.sessions, NULL},
	{"windows", &info.windows, NULL},
	{"globals_used", &info.globals_used, NULL},
	{"words_used", &info.words_used, NULL},
	{"returns", &info.returns, NULL},
	{"leftovers", &info.leftovers, NULL},
	{"heap_start", NULL, &info.heap_start},
	{"heap_end", NULL, &info.heap_end},
	{"heap_used", NULL, &info.heap_used},
	{"large", NULL, &info.large},
	{"large_start", NULL, &info.large_start},
	{"waits", NULL, &info.waits},
	{"skipped", NULL, &info.skipped},
	{"filled", NULL, &info.filled},
	{"late", NULL, &info.late},
	{"rings", &info.rings, NULL},
	{"tsc_khz", &info.tsc_khz, NULL},
};

int main(int argc, char **argv)
{
	int fd = open(KI_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, KI_IOC_INFO, &info)) {
		perror("field: " KI_DEVICE);
		return 1;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(fields) / sizeof(*fields); i++) {
		const struct field *f = &fields[i];

		if (!strcmp(f->name, argv[1]))
			return printf("%llu\n", f->wide ? *f->wide : *f->narrow) < 0;
	}
	fprintf(stderr, "field: no such field\n");
	return 1;
}
