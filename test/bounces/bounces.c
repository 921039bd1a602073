// SPDX-License-Identifier: GPL-2.0-only
/*
 * bounces VMLINUX SYSTEM_MAP: what the kernel's own unwind table says of bounces. Prints how many
 * there are, at how many of them the table has another row than at the beginning of the window that
 * bounces there, and how many of these are in filler.
 *
 * The table: addresses, each relative to its own place, in order; and in parallel rows of 6 bytes.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "kerninst/splice.h"

#define ROW 6

struct table {
	const unsigned char *file;
	const int32_t *ip;
	const unsigned char *rows;
	uint64_t at; /* address of ip[0] */
	size_t n;
};

struct tally {
	struct table t;
	unsigned long bounces, differ, filler;
};

static const Elf64_Shdr *section(const struct table *t, const char *name)
{
	const Elf64_Ehdr *h = (const void *)t->file;
	const Elf64_Shdr *s = (const void *)(t->file + h->e_shoff);
	const char *names = (const char *)t->file + s[h->e_shstrndx].sh_offset;

	for (unsigned int i = 0; i < h->e_shnum; i++)
		if (!strcmp(names + s[i].sh_name, name))
			return &s[i];
	return NULL;
}

static int open_table(struct table *t, const char *path)
{
	const Elf64_Shdr *ip, *rows;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	t->file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (t->file == MAP_FAILED)
		return -1;
	ip = section(t, ".orc_unwind_ip");
	rows = section(t, ".orc_unwind");
	if (!ip || !rows || rows->sh_size / ROW != ip->sh_size / 4)
		return -1;
	t->ip = (const void *)(t->file + ip->sh_offset);
	t->rows = t->file + rows->sh_offset;
	t->at = ip->sh_addr;
	t->n = ip->sh_size / 4;
	return 0;
}

static const unsigned char *row_of(const struct table *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->at + 4 * mid + (uint64_t)(int64_t)t->ip[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? t->rows + ROW * (lo - 1) : NULL;
}

static int look(void *arg, size_t i, const struct ki_function *fn)
{
	struct tally *y = arg;
	struct ki_spans s;

	(void)i;
	if (!fn || fn->reason)
		return 0;
	if (ki_spans_find(fn, &s, NULL))
		return -1;
	for (size_t k = 0; k < s.n; k++) {
		const unsigned char *here = row_of(&y->t, s.v[k].addr), *there;

		if (s.v[k].board != KI_BOARD_BOUNCE)
			continue;
		there = row_of(&y->t, s.v[k].bounce);
		y->bounces++;
		if (here && there && !memcmp(here, there, ROW))
			continue;
		y->differ++;
		y->filler += s.v[k].host == KI_NONE;
	}
	ki_spans_free(&s);
	return 0;
}

int main(int argc, char **argv)
{
	const struct ki_symbol *s, **syms;
	struct ki_err err = {0};
	struct tally y = {0};
	struct ki_target *t;
	size_t n, count = 0;

	if (argc != 3 || open_table(&y.t, argv[1])) {
		fprintf(stderr, "usage: bounces VMLINUX SYSTEM_MAP\n");
		return 2;
	}
	if (ki_target_new_with_map(argv[1], argv[2], &t, &err)) {
		fprintf(stderr, "bounces: %s\n", err.msg);
		return 1;
	}
	s = ki_target_symbols(t, &n);
	syms = calloc(n + 1, sizeof(*syms));
	for (size_t i = 0; syms && i < n; i++)
		if (!s[i].alias)
			syms[count++] = &s[i];
	if (!syms ||
	    ki_functions_analyze(
		    t,
		    &(struct ki_functions_job){
			    .syms = syms, .n = count, .threads = 1, .each = look, .arg = &y},
		    &err))
		return 1;
	printf("%lu %lu %lu\n", y.bounces, y.differ, y.filler);
	free(syms);
	ki_target_free(t);
	return 0;
}
