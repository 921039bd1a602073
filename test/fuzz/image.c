/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as an ELF image. What opens must be consistent and fit for use.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common_program.h"

#define MOST_TEXT (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How much text there is. */
static uint64_t walk_ranges(struct ki_target *t)
{
	const struct ki_text_range *r;
	uint64_t end = 0, total = 0;
	uint8_t byte;
	size_t n;

	r = ki_target_ranges(t, &n);
	check(n > 0);
	for (size_t i = 0; i < n; i++) {
		check(r[i].start >= end && r[i].start < r[i].end);
		end = r[i].end;
		total += end - r[i].start;
		check(!ki_target_read(t, r[i].start, &byte, 1, KI_VIEW_ORIG, NULL));
		check(!ki_target_read(t, r[i].end - 1, &byte, 1, KI_VIEW_LIVE, NULL));
		check(!ki_target_read_data(t, r[i].end - 1, &byte, 1, NULL));
	}
	return total;
}

static void walk_data(struct ki_target *t, const struct ki_text_range *r)
{
	uint8_t buf[256];

	for (int shift = 8; shift < 64; shift += 4) {
		ki_target_read_data(t, r->end + (1ull << shift), buf, sizeof(buf), NULL);
		ki_target_read_data(t, r->start - (1ull << shift), buf, sizeof(buf), NULL);
	}
}

static void walk_symbols(struct ki_target *t)
{
	const struct ki_symbol *s;
	size_t n;

	s = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n; i++) {
		check(!i || s[i].addr >= s[i - 1].addr);
		check(s[i].size && *s[i].name);
		check(ki_target_symbol_at(t, s[i].addr)->addr == s[i].addr);
		check(ki_target_symbol_named(t, "", s[i].name, NULL) != NULL);
	}
}

static void walk_rows(struct ki_target *t)
{
	const struct ki_reserved_row *row;
	size_t n;

	check(!ki_target_reserved(t, 0, UINT64_MAX, &row, &n, NULL));
	for (size_t i = 0; i < n; i++) {
		uint8_t byte;

		check(row[i].len && row[i].reason && row[i].reason < KI_R_COUNT);
		check(!ki_target_read(t, row[i].addr, &byte, 1, KI_VIEW_ORIG, NULL));
		check(!i || row[i].addr >= row[i - 1].addr);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], hash[KI_TEXT_HASH_LEN];
	struct ki_err err = {0};
	struct ki_target *t;
	uint64_t text;
	int ret, fd = memfd_create("image", MFD_CLOEXEC);
	size_t n;

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = ki_target_new_image(path, &t, &err);
	close(fd);
	if (ret) {
		check(ret < 0 && err.code == ret && *err.msg);
		return 0;
	}
	text = walk_ranges(t);
	walk_data(t, ki_target_ranges(t, &n));
	walk_rows(t);
	walk_symbols(t);
	if (text <= MOST_TEXT)
		check_target(t);
	check(!ki_target_text_hash(t, hash, NULL));
	ki_target_free(t);
	return 0;
}
