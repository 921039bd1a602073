// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recordings that test/report.sh shows: written anew, they must be the files that are kept,
 * byte for byte, or the format has changed without a new number. KI_RECORDINGS=DIRECTORY writes
 * them there.
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

#define KEPT "test/fuzz/corpus/recording/"
#define MOST 65536

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

static const struct ki_record_origin origin = {.kernel = "6.1.0-example",
					       .build = "c0ffee",
					       .boot = "11111111-2222",
					       .host = "example",
					       .command = "record ksys_read",
					       .cpus = 2,
					       .tsc_khz = 1000000,
					       .tsc = 5000000000,
					       .time = 1700000000500000000};

static void write_row(struct ki_record_file *f, const struct ki_instrument *of, uint64_t us,
		      unsigned int cpu, const uint64_t *values)
{
	const struct ki_record rec = {
		.id = of->id, .words = (uint16_t)of->nfields, .tsc = origin.tsc + us * 1000};

	assert_int_equal(ki_record_write(f, &rec, values, cpu), 0);
}

static void write_some(struct ki_record_file *f, size_t nevents)
{
	const struct ki_record_event events[] = {
		{5, KI_EVENT_INSTALLING, 5000900000, 0}, {5, KI_EVENT_ON, 5000990000, 0},
		{5, KI_EVENT_REMOVING, 5002000000, 0},	 {5, KI_EVENT_OFF, 5002100000, 0},
		{1, KI_EVENT_HITS, 5003000000, 5},	 {1, KI_EVENT_SAMPLING, 5000103000, 4},
		{1, KI_EVENT_SAMPLING, 5001790000, 8},	 {4, KI_EVENT_SAMPLING, 5001000000, 0},
		{4, KI_EVENT_OFF, 5001000000, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		write_row(f, &instruments[rows[i].id - 1], rows[i].us, rows[i].cpu, rows[i].values);
	assert_int_equal(ki_record_flush(f, 2, NULL), 0);
	for (size_t i = 0; i < nevents; i++)
		assert_int_equal(ki_record_event(f, &events[i]), 0);
	assert_int_equal(ki_record_finish(f, 2, 5003000000, NULL), 0);
}

static void write_example(struct ki_record_file *f)
{
	write_some(f, 5);
}

static void write_sampled(struct ki_record_file *f)
{
	write_some(f, 9);
}

/* The rest is never lost, and lasts 10 s. */
static void finish(struct ki_record_file *f)
{
	assert_int_equal(ki_record_finish(f, 0, origin.tsc + 10000000000, NULL), 0);
}

static const struct ki_record_field differences[] = {{"ns", "", KI_I32, KI_SHOW_SECONDS},
						     {"ticks", "", KI_I64, KI_SHOW_TICKS},
						     {"n", "", KI_I32, KI_SHOW_DECIMAL}};
static const struct ki_instrument negative_in[] = {
	{1, "vfs_read:exit", "vfs_read@0x2000:exit", 0x2000, 0, 0, differences, 3}};

/* Below 0, at 0, above; their mean is below. */
static void write_negative(struct ki_record_file *f)
{
	for (int i = 0; i < 3; i++) {
		const uint64_t v = (uint64_t)((i - 2) * 100000 + 100);

		write_row(f, negative_in, (uint64_t)(i + 1) * 1000, 0, (uint64_t[]){v, 20 * v, v});
	}
	finish(f);
}

static const struct ki_record_field hits[] = {{"count", "hits", KI_U64, KI_SHOW_DECIMAL}};
static const struct ki_instrument totals_in[] = {
	{1, "vfs_read", "vfs_read@0x2000:entry", 0x2000, 0, 0, hits, 1},
	{2, "vfs_write", "vfs_write@0x3000:entry", 0x3000, 0, 0, hits, 1}};

/* 60 intervals of 0.1 s. */
static void write_totals(struct ki_record_file *f)
{
	for (uint64_t i = 0; i < 60; i++) {
		write_row(f, &totals_in[0], (i + 1) * 100000, 0, (uint64_t[]){i});
		write_row(f, &totals_in[1], (i + 1) * 100000, 0, (uint64_t[]){500});
	}
	finish(f);
}

static const struct ki_record_field who[] = {{"pid", "", KI_U32, KI_SHOW_DECIMAL},
					     {"comm", "", KI_U64, KI_SHOW_TEXT},
					     {"", "", KI_U64, KI_SHOW_TEXT}};
static const struct ki_instrument keys_in[] = {
	{1, "vfs_read", "vfs_read@0x2000:entry", 0x2000, 0, 0, who, 3}};

/* Three different ones: 40, 20 and 10 times. */
static void write_keys(struct ki_record_file *f)
{
	for (unsigned int i = 0; i < 70; i++) {
		const uint64_t n = i % 7 < 4 ? 0 : i % 7 < 6 ? 1 : 2;

		write_row(f, keys_in, 100 * i, n & 1, (uint64_t[]){100 + n, 0x687361 + n, 0});
	}
	finish(f);
}

static const struct ki_record_field tid[] = {{"tid", "", KI_U32, KI_SHOW_DECIMAL}};
static const struct ki_instrument pairs_in[] = {
	{1, "vfs_read", "vfs_read@0x2000:entry", 0x2000, 0, 0, tid, 1},
	{2, "vfs_read:exit", "vfs_read@0x2000:exit", 0x2000, 0, 0, out, 2}};

/* 30 calls of 1 us and 30 of 100 us, of two threads. */
static void write_pairs(struct ki_record_file *f)
{
	for (uint64_t i = 0; i < 60; i++) {
		const uint64_t at = 1000 * i, t = 7 + i % 2;

		write_row(f, &pairs_in[0], at, 0, &t);
		write_row(f, &pairs_in[1], at + (i < 30 ? 1 : 100), 0, (uint64_t[]){t, 512});
	}
	finish(f);
}

static const struct ki_record_field size[] = {{"len", "bytes", KI_U64, KI_SHOW_DECIMAL}};
static const struct ki_instrument values_in[] = {
	{1, "vfs_read", "vfs_read@0x2000:entry", 0x2000, 0, 0, size, 1}};

/* 51 different ones, one record more than are shown one by one. */
static void write_values(struct ki_record_file *f)
{
	for (uint64_t i = 0; i < 51; i++)
		write_row(f, values_in, i, 0, &i);
	finish(f);
}

/* As test/fuzz/corpus/image/object has them, but for `two`, and `gone`, which it has not. */
static const struct ki_record_function code[] = {
	{"one", "", 0x1000, 0xe8b3c6f06e518177},
	{"two", "", 0x1031, 0x3b1fd0bd43e1f4f2},
	{"quiet", "example", 0x1055, 0xc1138bea36067f34},
	{"gone", "example", 0x2000, 1},
	{"unknown", "", 0x3000, 0},
};
static const struct ki_record_module code_of[] = {{"example", "0123456789abcdef"}};

static void write_functions(struct ki_record_file *f)
{
	assert_int_equal(ki_record_modules(f, code_of, 1), 0);
	assert_int_equal(ki_record_functions(f, code, 5), 0);
	write_row(f, pairs_in, 1, 0, (uint64_t[]){7});
	finish(f);
}

static const struct ki_instrument paths_in[] = {
	{1, "ksys_read:entry", "ksys_read@0x1000:entry", 0x1000, 0, 0, tid, 1},
	{2, "ksys_read:exit", "ksys_read@0x1000:exit", 0x1000, 0, 0, tid, 1},
	{3, "ksys_read:block/3", "ksys_read@0x1000:block/3", 0x1030, 0, 0, tid, 1},
	{4, "ksys_read:block/4", "ksys_read@0x1000:block/4", 0x1040, 0, 0, tid, 1},
	{5, "vfs_read", "vfs_read@0x2000:entry/7", 0x2000, 0, 0, tid, 1},
	{6, "vfs_read:exit", "vfs_read@0x2000:exit:after", 0x2000, 0, 0, out, 2},
	{7, "schedule", "schedule@0x3000:entry", 0x3000, 0, 0, NULL, 0}};

/* Instruments one after the other, 10 us apart. */
static void walk(struct ki_record_file *f, uint64_t us, uint64_t thread, const char *ids)
{
	for (; *ids; ids++, us += 10)
		write_row(f, &paths_in[*ids - '1'], us, (unsigned int)(thread % 2),
			  (uint64_t[]){thread, 512});
}

/*
 * Two threads, at the same time: 12 calls with vfs_read in them, 6 that go round a loop twice or
 * three times, 3 that return at once. An exit without its entry, one whose entry has no exit, one
 * inside which an exit is missing, and records of no thread.
 */
static void write_paths(struct ki_record_file *f)
{
	walk(f, 1, 7, "2");
	for (uint64_t i = 0; i < 12; i++)
		walk(f, 100 + 200 * i, 7 + i % 2, "1562");
	for (uint64_t i = 0; i < 6; i++)
		walk(f, 203 + 200 * i, 9, i % 2 ? "1343434562" : "13434562");
	for (uint64_t i = 0; i < 3; i++)
		walk(f, 107 + 200 * i, 0, "12");
	walk(f, 5000, 7, "1");
	walk(f, 5003, 8, "152");
	walk(f, 5007, 8, "7777");
	finish(f);
}

/* How many records are missing is said, too. */
static void lose(struct ki_record_file *f, uint64_t lost)
{
	assert_int_equal(ki_record_finish(f, lost, origin.tsc + 10000000000, NULL), 0);
}

/* The exit of the first call is lost; of the tenth also that of what it calls. */
static void write_lossy(struct ki_record_file *f)
{
	for (uint64_t i = 0; i < 60; i++)
		walk(f, 100 * i, 7, i == 0 ? "156" : i == 9 ? "15" : "1562");
	lose(f, 3);
}

/* A function that calls itself, by another one, in a recording with all records. */
static void write_nested(struct ki_record_file *f)
{
	for (uint64_t i = 0; i < 60; i++)
		walk(f, 100 * i, 7, "151262");
	finish(f);
}

static const struct ki_instrument blocks_in[] = {
	{1, "f:block/0", "f@0x1000:block/0", 0x1000, 0, 0, tid, 1},
	{2, "f:block/1", "f@0x1000:block/1", 0x1010, 0, 0, tid, 1},
	{3, "f:block/2", "f@0x1000:block/2", 0x1020, 0, 0, tid, 1}};

/* No entry and no exit: 40 times block 0 and 1, 20 times 0 and 2. */
static void write_blocks(struct ki_record_file *f)
{
	for (uint64_t i = 0; i < 60; i++) {
		write_row(f, &blocks_in[0], 100 * i, 0, (uint64_t[]){7});
		write_row(f, &blocks_in[i % 3 ? 1 : 2], 100 * i + 5, 0, (uint64_t[]){7});
	}
	finish(f);
}

static const struct ki_record_origin slow_origin = {.kernel = "6.1.0-example",
						    .build = "c0ffee",
						    .host = "example",
						    .command = "x",
						    .tsc_khz = 1};

/* A clock so slow that a call takes more nanoseconds than a word holds. */
static void write_clock(struct ki_record_file *f)
{
	for (uint64_t i = 0; i < 2; i++) {
		const struct ki_record rec = {
			.id = (uint32_t)i + 1, .words = (uint16_t)(i + 1), .tsc = i << 62};

		assert_int_equal(ki_record_write(f, &rec, (uint64_t[]){7, 512}, 0), 0);
	}
	assert_int_equal(ki_record_finish(f, 0, UINT64_C(1) << 62, NULL), 0);
}

/* None of it is to reach a terminal as it is. */
#define HOSTILE "\033]0;x\a\r\177\302\233"

static const struct ki_record_field hostile_fields[] = {
	{"tid", "", KI_U32, KI_SHOW_DECIMAL}, {HOSTILE "f", HOSTILE "u", KI_U64, KI_SHOW_DECIMAL}};
static const struct ki_instrument hostile_in[] = {
	{1, HOSTILE "i", "f@0x1000:entry", 0x1000, 0, 0, hostile_fields, 2},
	{2, HOSTILE "i:exit", "f@0x1000:exit", 0x1000, 0, 0, hostile_fields, 2},
	{3, HOSTILE "b", "f@0x1000:block/1", 0x1010, 0, 0, hostile_fields, 2}};
static const struct ki_record_function hostile_code[] = {{HOSTILE "fn", HOSTILE "m", 0x1000, 1},
							 {"two", HOSTILE "m", 0x1031, 1}};
static const struct ki_record_module hostile_of[] = {{HOSTILE "m", HOSTILE "b"}};
static const struct ki_record_origin hostile_origin = {.kernel = HOSTILE "k",
						       .build = HOSTILE "b",
						       .boot = HOSTILE "o",
						       .host = HOSTILE "h",
						       .command = HOSTILE "c",
						       .cpus = 2,
						       .tsc_khz = 1000000,
						       .tsc = 5000000000,
						       .time = 1700000000500000000};

static void write_hostile(struct ki_record_file *f)
{
	assert_int_equal(ki_record_modules(f, hostile_of, 1), 0);
	assert_int_equal(ki_record_functions(f, hostile_code, 2), 0);
	for (uint64_t i = 0; i < 60; i++)
		for (unsigned int k = 0; k < 3; k++)
			write_row(f, &hostile_in[(unsigned int[]){0, 2, 1}[k]], 100 * i + k, 0,
				  (uint64_t[]){7, i});
	finish(f);
}

static const struct example {
	const char *name;
	const struct ki_instrument *instruments;
	size_t n;
	void (*write)(struct ki_record_file *f);
	const struct ki_record_origin *origin; /* NULL: as that of the others */
} examples[] = {
	{"example", instruments, 5, write_example, NULL},
	{"sampled", instruments, 5, write_sampled, NULL},
	{"negative", negative_in, 1, write_negative, NULL},
	{"totals", totals_in, 2, write_totals, NULL},
	{"keys", keys_in, 1, write_keys, NULL},
	{"pairs", pairs_in, 2, write_pairs, NULL},
	{"values", values_in, 1, write_values, NULL},
	{"functions", pairs_in, 2, write_functions, NULL},
	{"paths", paths_in, 7, write_paths, NULL},
	{"blocks", blocks_in, 3, write_blocks, NULL},
	{"lossy", paths_in, 7, write_lossy, NULL},
	{"nested", paths_in, 7, write_nested, NULL},
	{"clock", pairs_in, 2, write_clock, &slow_origin},
	{"hostile", hostile_in, 3, write_hostile, &hostile_origin},
};

#define MANY 100000

/* One name, as often as a file can say it. */
static void write_rows(struct ki_record_file *f)
{
	static struct ki_record_function all[MANY];

	for (size_t i = 0; i < MANY; i++)
		all[i] = (struct ki_record_function){"copy", "", i, 1};
	assert_int_equal(ki_record_functions(f, all, MANY), 0);
	finish(f);
}

static const struct ki_instrument deep_in[] = {
	{1, "a:entry", "a@0x1000:entry", 0x1000, 0, 0, tid, 1},
	{2, "a:exit", "a@0x1000:exit", 0x1000, 0, 0, tid, 1},
	{3, "b:entry", "b@0x2000:entry", 0x2000, 0, 0, tid, 1},
	{4, "b:exit", "b@0x2000:exit", 0x2000, 0, 0, tid, 1}};

/* One function is only entered, then another one only left; then each calls the other. */
static void write_deep(struct ki_record_file *f)
{
	static const uint64_t calls[] = {0, 2, 3, 1};

	for (uint64_t i = 0; i < 3 * MANY; i++) {
		const uint64_t k = i < MANY ? 0 : i < 2 * MANY ? 3 : calls[i % 4];

		write_row(f, &deep_in[k], i, 0, (uint64_t[]){7});
	}
	finish(f);
}

/* Too large to be kept: written for test/report.sh only. */
static const struct example large[] = {
	{"rows", pairs_in, 2, write_rows, NULL},
	{"deep", deep_in, 4, write_deep, NULL},
};

#define NLARGE	  (sizeof(large) / sizeof(*large))
#define NEXAMPLES (sizeof(examples) / sizeof(*examples))

static void write_file(const struct example *e, const char *path)
{
	struct ki_record_file *f;

	assert_int_equal(ki_record_new(path,
				       &(struct ki_recorded){e->origin ? e->origin : &origin, NULL,
							     e->instruments, e->n},
				       &f, NULL),
			 0);
	e->write(f);
}

static size_t load(const char *path, char *to)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(to, 1, MOST, f) : 0;

	if (f)
		fclose(f);
	return n;
}

static void is_as_ever(void **state)
{
	static char kept[MOST], now[MOST];
	const struct example *e = *state;
	char path[] = "/tmp/ki-example-XXXXXX", file[256];
	int fd = mkstemp(path);
	size_t n;

	assert_true(fd >= 0);
	close(fd);
	write_file(e, path);
	n = load(path, now);
	unlink(path);
	snprintf(file, sizeof(file), KEPT "%s", e->name);
	assert_int_equal(load(file, kept), n);
	assert_true(n > 0);
	assert_memory_equal(kept, now, n);
}

static void write_all(const char *directory)
{
	char path[4096];

	for (size_t i = 0; i < NEXAMPLES + NLARGE; i++) {
		const struct example *e = i < NEXAMPLES ? &examples[i] : &large[i - NEXAMPLES];

		snprintf(path, sizeof(path), "%s/%s", directory, e->name);
		write_file(e, path);
	}
}

int main(void)
{
	struct CMUnitTest tests[NEXAMPLES];
	const char *directory = getenv("KI_RECORDINGS");

	for (size_t i = 0; i < NEXAMPLES; i++)
		tests[i] = (struct CMUnitTest){.name = examples[i].name,
					       .test_func = is_as_ever,
					       .initial_state = (void *)(uintptr_t)&examples[i]};
	if (directory) {
		write_all(directory);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
