// SPDX-License-Identifier: GPL-2.0-only
#include "common_image.h"

#include <fcntl.h>
#include <glob.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t each_section(int fd, image_fn *fn, void *ctx)
{
	Elf_Scn *s = NULL;
	size_t bytes = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (s = elf_nextscn(elf, s))) {
		Elf64_Shdr *h = elf64_getshdr(s);
		Elf_Data *d;

		if (!h || !(h->sh_flags & SHF_EXECINSTR) || h->sh_type != SHT_PROGBITS)
			continue;
		d = elf_getdata(s, NULL);
		if (!d || !d->d_size)
			continue;
		fn(ctx, d->d_buf, d->d_size);
		bytes += d->d_size;
	}
	elf_end(elf);
	return bytes;
}

size_t image_file(const char *path, image_fn *fn, void *ctx)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = fd < 0 ? 0 : each_section(fd, fn, ctx);

	if (fd >= 0)
		close(fd);
	return n;
}

static void find(const char *tail, glob_t *g)
{
	const char *cache = getenv("KI_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char pattern[4096];

	if (cache)
		snprintf(pattern, sizeof(pattern), "%s/%s", cache, tail);
	else if (xdg)
		snprintf(pattern, sizeof(pattern), "%s/kerninst/%s", xdg, tail);
	else
		snprintf(pattern, sizeof(pattern), "%s/.cache/kerninst/%s", home ? home : "/root",
			 tail);
	if (glob(pattern, 0, NULL, g))
		g->gl_pathc = 0;
}

/* The xz stream in a boot image, unpacked; -1 if there is none. */
static int unpack(const char *path)
{
	static const char magic[] = "\xfd\x37\x7a\x58\x5a";
	int in = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("vmlinux", MFD_CLOEXEC);
	off_t size = lseek(in, 0, SEEK_END);
	char command[4200], buf[65536];
	const char *p, *at;
	size_t n;
	FILE *f;

	p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, in, 0);
	close(in);
	at = p == MAP_FAILED ? NULL : memmem(p, (size_t)size, magic, sizeof(magic)); /* with \0 */
	if (!at || out < 0)
		return -1;
	snprintf(command, sizeof(command),
		 "tail -c +%td '%s' | xz -dc --single-stream 2> /dev/null", at - p + 1, path);
	f = popen(command, "r");
	while (f && (n = fread(buf, 1, sizeof(buf), f)))
		if (write(out, buf, n) != (ssize_t)n)
			break;
	if (f)
		pclose(f);
	return out;
}

size_t image_kernel(image_fn *fn, void *ctx)
{
	size_t n = 0;
	glob_t g;
	int fd;

	find("kernel-6.1-*/boot/vmlinuz-*", &g);
	fd = g.gl_pathc ? unpack(g.gl_pathv[g.gl_pathc - 1]) : -1;
	if (fd >= 0) {
		n = each_section(fd, fn, ctx);
		close(fd);
	}
	globfree(&g);
	return n;
}

size_t image_modules(size_t max, image_fn *fn, void *ctx)
{
	size_t n = 0;
	glob_t g;

	find("kernel-6.1-*/lib/modules/*/kernel/*/*/*.ko", &g);
	for (size_t i = 0; i < g.gl_pathc && i < max; i++)
		n += image_file(g.gl_pathv[i], fn, ctx);
	globfree(&g);
	return n;
}

size_t image_libraries(image_fn *fn, void *ctx)
{
	static const char *const names[] = {"libc.so.6", "libm.so.6", "libcrypto.so.3",
					    "libcrypto.so.1.1", "libstdc++.so.6"};
	char path[256];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "/lib/x86_64-linux-gnu/%s", names[i]);
		n += image_file(path, fn, ctx);
		snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", names[i]);
		if (access("/lib/x86_64-linux-gnu/libc.so.6", R_OK))
			n += image_file(path, fn, ctx);
	}
	return n;
}
