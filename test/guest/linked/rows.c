/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows rows VMLINUX SYSTEM-MAP: the reserved text that the driver tells of the running kernel
 * beside that of the kernel's file: for each reason the rows that both have, and those that only
 * one has. Rows of modules and of code that is freed after start are left out. The running
 * kernel's list for kprobes has each function of a piece of text that the file has as a whole.
 *
 * rows symbols SYSTEM-MAP: are the live kernel's own symbols the same with the map?
 *
 * rows refresh MODULE: what a target says of a module's text, rows and data before it is loaded,
 * while it is, and when it is gone.
 *
 * rows text: reads all text in one call for each range, and the kernel's through both ways in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kerninst/target.h"

static struct ki_err err;

static void fail(const char *what)
{
	fprintf(stderr, "rows: %s: %s\n", what, err.msg);
	exit(2);
}

struct side {
	struct ki_target *t;
	const struct ki_reserved_row *rows;
	size_t n, count[KI_R_COUNT];
};

static void load(struct side *s, uint64_t start, uint64_t end)
{
	if (ki_target_reserved(s->t, start, end, &s->rows, &s->n, &err))
		fail("reserved");
}

static int same(const struct ki_reserved_row *a, const struct ki_reserved_row *b)
{
	return a->addr == b->addr && a->len == b->len && a->reason == b->reason &&
	       a->target == b->target;
}

/* Does another row of the side's, among those of one address, equal row? */
static int has(const struct side *s, const struct ki_reserved_row *row)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->rows[mid].addr < row->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->n && s->rows[lo].addr == row->addr; lo++)
		if (same(&s->rows[lo], row))
			return 1;
	return 0;
}

/* Does the row lie in a piece of text of the side's that must not be touched as a whole? */
static int inside(const struct side *s, const struct ki_reserved_row *row)
{
	for (size_t i = 0; i < s->n && s->rows[i].addr <= row->addr; i++) {
		const struct ki_reserved_row *r = &s->rows[i];

		if (r->reason <= KI_R_KPROBES_BLACKLIST && row->addr + row->len <= r->addr + r->len)
			return 1;
	}
	return 0;
}

static void only(const struct side *a, const struct side *b, size_t count[KI_R_COUNT],
		 const char *who)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct ki_reserved_row *r = &a->rows[i];

		if (has(b, r) || (r->reason == KI_R_KPROBES_BLACKLIST && inside(b, r)))
			continue;
		if (count[r->reason]++ < 5)
			fprintf(stderr, "only %s: %s 0x%llx len %u target 0x%llx\n", who,
				ki_reason_tag(r->reason), (unsigned long long)r->addr, r->len,
				(unsigned long long)r->target);
	}
}

static int compare(const char *vmlinux, const char *map)
{
	size_t only_live[KI_R_COUNT] = {0}, only_image[KI_R_COUNT] = {0};
	struct side live = {0}, image = {0};
	const struct ki_info *info;

	if (ki_target_new_live(&live.t, &err) ||
	    ki_target_new_with_map(vmlinux, map, &image.t, &err))
		fail("open");
	info = ki_target_info(live.t);
	load(&live, info->text_start, info->text_end);
	load(&image, info->text_start, info->text_end);
	only(&live, &image, only_live, "live");
	only(&image, &live, only_image, "image");
	for (size_t i = 0; i < live.n; i++)
		live.count[live.rows[i].reason]++;
	for (int r = 1; r < KI_R_COUNT; r++)
		if (live.count[r] || only_image[r])
			printf("%s both %zu live %zu image %zu\n", ki_reason_tag((unsigned int)r),
			       live.count[r] - only_live[r], only_live[r], only_image[r]);
	ki_target_free(live.t);
	ki_target_free(image.t);
	return 0;
}

/* Text symbols of the kernel's own text, in both ways to learn them. */
static int symbols(const char *map)
{
	struct ki_target *a, *b;
	const struct ki_symbol *x, *y;
	size_t n, m, differ = 0;

	if (ki_target_new_live(&a, &err) || ki_target_new_with_map(NULL, map, &b, &err))
		fail("open");
	x = ki_target_symbols(a, &n);
	y = ki_target_symbols(b, &m);
	for (size_t i = 0; i < n && i < m; i++)
		differ += x[i].addr != y[i].addr || strcmp(x[i].name, y[i].name) ||
			  strcmp(x[i].module, y[i].module);
	printf("symbols %zu %zu differ %zu\n", n, m, differ);
	ki_target_free(a);
	ki_target_free(b);
	return 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void read_text(struct ki_target *t)
{
	const struct ki_text_range *r;
	size_t n, total = 0;
	double start = now(), spent;

	r = ki_target_ranges(t, &n);
	for (size_t i = 0; i < n; i++) {
		size_t len = r[i].end - r[i].start;
		void *p = malloc(len);

		if (!p || ki_target_read(t, r[i].start, p, len, KI_VIEW_ORIG, &err))
			fail("read");
		total += len;
		free(p);
	}
	spent = now() - start;
	printf("read %zu bytes of %zu ranges in %.3f s\n", total, n, spent);
}

static int text(void)
{
	struct ki_target *t;
	const struct ki_info *info;
	size_t len;
	uint8_t *a, *b;
	double start;

	if (ki_target_new_live(&t, &err))
		fail("open");
	read_text(t);
	info = ki_target_info(t);
	len = info->text_end - info->text_start;
	a = malloc(len);
	b = malloc(len);
	if (!a || !b || ki_target_read(t, info->text_start, a, len, KI_VIEW_LIVE, &err))
		fail("read");
	start = now();
	if (ki_target_read_data(t, info->text_start, b, len, &err))
		fail("data");
	printf("data %zu bytes in %.3f s, %s\n", len, now() - start,
	       memcmp(a, b, len) ? "different" : "the same");
	free(a);
	free(b);
	ki_target_free(t);
	return 0;
}

static void refresh(struct ki_target *t, const char *module, const char *when)
{
	const struct ki_text_range *r;
	const struct ki_reserved_row *rows;
	size_t n, nrows = 0, found = 0;
	bool changed;
	char byte;

	if (ki_target_refresh(t, &changed, &err))
		fail("refresh");
	r = ki_target_ranges(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(r[i].module, module))
			continue;
		found++;
		if (ki_target_reserved(t, r[i].start, r[i].end, &rows, &nrows, &err) ||
		    ki_target_read_data(t, r[i].start, &byte, 1, &err))
			fail(module);
	}
	printf("%s: changed %d, %zu ranges, %s\n", when, changed, found,
	       nrows ? "rows" : "no rows");
}

static int modules(const char *module)
{
	const struct ki_reserved_row *rows;
	struct ki_target *t;
	char command[128];
	size_t n;

	if (ki_target_new_live(&t, &err) || ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, &err))
		fail("open");
	refresh(t, module, "before");
	snprintf(command, sizeof(command), "modprobe %s", module);
	if (system(command))
		fail(command);
	refresh(t, module, "loaded");
	refresh(t, module, "again");
	snprintf(command, sizeof(command), "rmmod %s", module);
	if (system(command))
		fail(command);
	refresh(t, module, "gone");
	ki_target_free(t);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "rows"))
		return compare(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "symbols"))
		return symbols(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "refresh"))
		return modules(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "text"))
		return text();
	fprintf(stderr, "usage: rows rows VMLINUX MAP | symbols MAP | refresh MODULE | text\n");
	return 1;
}
