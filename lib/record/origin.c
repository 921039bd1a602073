// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which kernel this is, on which machine, and what the clocks say. What cannot be found out is
 * left empty: a recording is none the worse for it.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "kerninst/record.h"

#define NOTES_MOST 4096

static size_t read_some(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, size);

	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : (size_t)n;
}

static void write_hex(const char *bytes, size_t n, char *to, size_t size)
{
	for (size_t i = 0; i < n && 2 * i + 2 < size; i++)
		sprintf(to + 2 * i, "%02x", (unsigned char)bytes[i]);
}

/* In a file of notes: that of type NT_GNU_BUILD_ID. */
static void find_build(const char *path, char *to, size_t size)
{
	char notes[NOTES_MOST];
	size_t n = read_some(path, notes, sizeof(notes)), at = 0;

	while (at + sizeof(Elf64_Nhdr) <= n) {
		Elf64_Nhdr h;
		size_t name, desc;

		memcpy(&h, notes + at, sizeof(h));
		name = at + sizeof(h);
		desc = name + ((h.n_namesz + 3ul) & ~3ul);
		at = desc + ((h.n_descsz + 3ul) & ~3ul);
		if (at > n)
			return;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4)) {
			write_hex(notes + desc, h.n_descsz, to, size);
			return;
		}
	}
}

void ki_record_module_build(const char *module, char *to, size_t size)
{
	char path[256];

	*to = 0;
	if (strchr(module, '/'))
		return;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	find_build(path, to, size);
}

static void find_clocks(struct ki_record_origin *o)
{
	struct timespec now;
	uint64_t before = __rdtsc(), after;

	clock_gettime(CLOCK_REALTIME, &now);
	after = __rdtsc();
	o->tsc = before + (after - before) / 2;
	o->time = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void ki_record_origin_here(const struct ki_target *t, struct ki_record_origin *out)
{
	const struct ki_info *info = t ? ki_target_info(t) : NULL;
	struct utsname u = {0};
	size_t n;

	*out = (struct ki_record_origin){0};
	uname(&u);
	snprintf(out->kernel, sizeof(out->kernel), "%s", u.release);
	snprintf(out->host, sizeof(out->host), "%s", u.nodename);
	find_build("/sys/kernel/notes", out->build, sizeof(out->build));
	n = read_some("/proc/sys/kernel/random/boot_id", out->boot, sizeof(out->boot) - 1);
	out->boot[n] = 0;
	out->boot[strcspn(out->boot, "\n")] = 0;
	out->cpus = info ? info->cpus : (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	out->tsc_khz = info ? info->tsc_khz : 0;
	find_clocks(out);
}

void ki_record_command_text(int argc, char *const *argv, char *to, size_t size)
{
	for (int i = 0; i < argc && size > 1; i++) {
		int n = snprintf(to, size, "%s%s", i ? " " : "", argv[i] ? argv[i] : "--");

		if (n < 0 || (size_t)n >= size)
			return;
		to += n;
		size -= (size_t)n;
	}
}
