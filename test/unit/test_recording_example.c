// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recordings that test/report.sh shows, the second of which a budget has thinned: written anew,
 * they must be the files that are kept, byte for byte, or the format has changed without a new
 * number. KI_EXAMPLE=FILE writes the first there, KI_SAMPLED=FILE the second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kerninst/record.h"

#define KEPT	"test/fuzz/corpus/recording/example"
#define SAMPLED "test/fuzz/corpus/recording/sampled"
#define MOST	65536

static const struct ki_record_field in[] = {{"tid", "", KI_U32, KI_SHOW_DECIMAL},
					    {"fd", "", KI_I64, KI_SHOW_HEX},
					    {"len", "bytes", KI_I64, KI_SHOW_DECIMAL}};
static const struct ki_record_field out[] = {{"tid", "", KI_U32, KI_SHOW_DECIMAL},
					     {"ret", "", KI_I64, KI_SHOW_DECIMAL}};
static const struct ki_record_field other[] = {{"comm", "", KI_U64, KI_SHOW_TEXT},
					       {"", "", KI_U64, KI_SHOW_TEXT},
					       {"from", "", KI_U64, KI_SHOW_CODE},
					       {"slept", "", KI_U64, KI_SHOW_SECONDS}};
static const struct ki_instrument instruments[] = {
	{1, "ksys_read", "ksys_read@0x1000:entry", 0x1000, 0, 0, in, 3},
	{2, "ksys_read:exit", "ksys_read@0x1000:exit", 0x1000, 0, 0, out, 2},
	{3, "vfs_read:entry", "vfs_read@0x2000:entry", 0x2000, 0, 0, in, 1},
	{4, "vfs_read:exit", "vfs_read@0x2000:exit", 0x2000, 0, 0, out, 2},
	{5, "schedule+0x10", "schedule@0x3000+0x10", 0x3010, 0.001, 0.002, other, 4},
};

static const struct {
	uint32_t id, cpu;
	uint64_t us; /* after the start */
	uint64_t values[4];
} rows[] = {
	{1, 0, 100, {7, 3, 4096}},
	{3, 0, 110, {7}},
	{1, 1, 105, {8, 0, 1}},
	{4, 0, 150, {7, 4096}},
	{2, 0, 160, {7, 4096}},
	{5, 1, 1500, {0x6174612f6e6962ULL, 0x72, 0x1234, 2500000}},
	{2, 1, 1700, {8, (uint64_t)-11}},
	{1, 0, 1800, {7, 3, 100000}},
};

static void write_example(const char *path, bool sampled)
{
	static const struct ki_record_origin origin = {.kernel = "6.1.0-example",
						       .build = "c0ffee",
						       .boot = "11111111-2222",
						       .host = "example",
						       .command = "record ksys_read",
						       .cpus = 2,
						       .tsc_khz = 1000000,
						       .tsc = 5000000000,
						       .time = 1700000000500000000};
	const struct ki_record_event events[] = {
		{5, KI_EVENT_INSTALLING, 5000900000, 0}, {5, KI_EVENT_ON, 5000990000, 0},
		{5, KI_EVENT_REMOVING, 5002000000, 0},	 {5, KI_EVENT_OFF, 5002100000, 0},
		{1, KI_EVENT_HITS, 5003000000, 5},	 {1, KI_EVENT_SAMPLING, 5000103000, 4},
		{1, KI_EVENT_SAMPLING, 5001790000, 8},	 {4, KI_EVENT_SAMPLING, 5001000000, 0},
		{4, KI_EVENT_OFF, 5001000000, 0}};
	const size_t nevents = sampled ? 9 : 5;
	struct ki_record_file *f;

	assert_int_equal(ki_record_create(path, &origin, NULL, instruments, 5, &f, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct ki_record rec = {.id = rows[i].id,
					      .words =
						      (uint16_t)instruments[rows[i].id - 1].nfields,
					      .tsc = origin.tsc + rows[i].us * 1000};

		assert_int_equal(ki_record_write(f, &rec, rows[i].values, rows[i].cpu), 0);
	}
	assert_int_equal(ki_record_flush(f, 2, NULL), 0);
	for (size_t i = 0; i < nevents; i++)
		assert_int_equal(ki_record_event(f, &events[i]), 0);
	assert_int_equal(ki_record_finish(f, 2, 5003000000, NULL), 0);
}

static size_t load(const char *path, char *to)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(to, 1, MOST, f) : 0;

	if (f)
		fclose(f);
	return n;
}

static void is_as_kept(const char *file, bool sampled)
{
	static char kept[MOST], now[MOST];
	char path[] = "/tmp/ki-example-XXXXXX";
	int fd = mkstemp(path);
	size_t n;

	assert_true(fd >= 0);
	close(fd);
	write_example(path, sampled);
	n = load(path, now);
	unlink(path);
	assert_int_equal(load(file, kept), n);
	assert_true(n > 0);
	assert_memory_equal(kept, now, n);
}

static void is_as_ever(void **state)
{
	(void)state;
	is_as_kept(KEPT, false);
}

static void sampled_is_as_ever(void **state)
{
	(void)state;
	is_as_kept(SAMPLED, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(is_as_ever),
					   cmocka_unit_test(sampled_is_as_ever)};
	const char *path = getenv("KI_EXAMPLE"), *sampled = getenv("KI_SAMPLED");

	if (path)
		write_example(path, false);
	if (sampled)
		write_example(sampled, true);
	if (path || sampled)
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
