// SPDX-License-Identifier: GPL-2.0-only
/*
 * What recordings say of the code: it is read as it was written, files without it are as good, and
 * what cannot be ends the file.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common_kept.h"
#include "kerninst/cfg.h"
#include "kerninst/record.h"
#include "record/format.h"
#include "record/recording.h"

#define MANY 20000

static const struct ki_instrument in[] = {
	{.id = 1, .name = "ext4_create", .point = "ext4_create@0x1000:entry", .addr = 0x1000}};
static const struct ki_record_origin origin = {.kernel = "6.1.0-test", .tsc_khz = 1000000};
static const struct ki_record_function functions[] = {
	{"ext4_create", "ext4", 0x1000, 0x123456789abcdef0},
	{"vfs_read", "", 0xffffffff81000000, 0},
};
static const struct ki_record_module modules[] = {{"ext4", "c0ffee00"}, {"own", ""}};

static struct ki_record_file *create(struct ki_target *t)
{
	struct ki_record_file *f;

	assert_int_equal(
		ki_record_new(kept_path, &(struct ki_recorded){&origin, t, in, 1}, &f, NULL), 0);
	return f;
}

static void finish(struct ki_record_file *f)
{
	const struct ki_record rec = {.id = 1, .tsc = 5};

	assert_int_equal(ki_record_write(f, &rec, NULL, 0), 0);
	assert_int_equal(ki_record_finish(f, 0, 9, NULL), 0);
	kept_read(4 << 20);
}

static void write_both(void)
{
	struct ki_record_file *f = create(NULL);

	assert_int_equal(ki_record_modules(f, modules, 2), 0);
	assert_int_equal(ki_record_functions(f, functions, 2), 0);
	finish(f);
}

static struct ki_recording *open_it(void)
{
	struct ki_recording *r;

	assert_int_equal(ki_recording_of(kept_bytes, kept_size, "test", &r, NULL), 0);
	return r;
}

static void is_read(void **state)
{
	const struct ki_record_function *fn;
	const struct ki_record_module *m;
	struct ki_recording *r;
	size_t n;

	(void)state;
	write_both();
	r = open_it();
	assert_false(ki_recording_state(r)->cut);
	fn = ki_recording_functions(r, &n);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(fn[i].name, functions[i].name);
		assert_string_equal(fn[i].module, functions[i].module);
		assert_true(fn[i].addr == functions[i].addr && fn[i].cfg == functions[i].cfg);
	}
	m = ki_recording_modules(r, &n);
	assert_int_equal(n, 2);
	assert_string_equal(m[0].name, "ext4");
	assert_string_equal(m[0].build, "c0ffee00");
	assert_string_equal(m[1].build, "");
	ki_recording_free(r);
}

/* More than one chunk holds. */
static void many(void **state)
{
	static struct ki_record_function all[MANY];
	const struct ki_record_function *fn;
	struct ki_record_file *f = create(NULL);
	struct ki_recording *r;
	size_t n;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		all[i] = (struct ki_record_function){"some_function", "", i, ~i};
	assert_int_equal(ki_record_functions(f, all, MANY), 0);
	finish(f);
	r = open_it();
	fn = ki_recording_functions(r, &n);
	assert_int_equal(n, MANY);
	for (size_t i = 0; i < n; i++)
		assert_true(fn[i].addr == i && fn[i].cfg == ~i);
	assert_int_equal(ki_recording_state(r)->records, 1);
	ki_recording_free(r);
}

static struct chunk *chunk_of(uint32_t type)
{
	for (size_t at = 0; at < kept_size;) {
		struct chunk *c = (void *)(kept_bytes + at);

		if (c->type == type)
			return c;
		at += sizeof(*c) + c->length;
	}
	fail_msg("no chunk of type %u", type);
	return NULL;
}

/* To who does not know the chunks the rest is as it was. */
static void may_be_unknown(void **state)
{
	struct ki_recording *r;
	struct chunk *c;
	size_t n;

	(void)state;
	write_both();
	for (uint32_t type = CHUNK_FUNCTIONS; type <= CHUNK_MODULES; type++) {
		c = chunk_of(type);
		c->type += 100;
		c->check = ki_chunk_check(c, c + 1);
	}
	r = open_it();
	ki_recording_functions(r, &n);
	assert_int_equal(n, 0);
	ki_recording_modules(r, &n);
	assert_int_equal(n, 0);
	assert_int_equal(ki_recording_state(r)->records, 1);
	assert_false(ki_recording_state(r)->cut);
	ki_recording_free(r);
}

/* A string without end, or a row that is not whole: the file ends before the chunk. */
static void must_be_whole(void **state)
{
	(void)state;
	for (uint32_t type = CHUNK_FUNCTIONS; type <= CHUNK_MODULES; type++) {
		struct ki_recording *r;
		struct chunk *c;
		size_t n;

		write_both();
		c = chunk_of(type);
		memset((char *)(c + 1) + c->length - 8, 'x', 8);
		c->check = ki_chunk_check(c, c + 1);
		r = open_it();
		assert_int_equal(ki_recording_state(r)->good, (char *)c - kept_bytes);
		assert_true(ki_recording_state(r)->cut);
		ki_recording_functions(r, &n);
		assert_int_equal(n, 0);
		ki_recording_free(r);
	}
}

/* What is found of a program's functions is what ki_cfg_hash says of each. */
static void is_found(void **state)
{
	const struct ki_symbol *syms[2], *all[100];
	struct ki_record_function found[2], many_found[100];
	struct ki_function *fn;
	struct ki_target *t;
	uint64_t hash;

	(void)state;
	assert_int_equal(ki_target_new_image("test/fuzz/corpus/image/program", &t, NULL), 0);
	syms[0] = ki_target_symbol_named(t, NULL, "one", NULL);
	syms[1] = ki_target_symbol_named(t, NULL, "two", NULL);
	assert_int_equal(ki_record_functions_find(t, syms, 2, found, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ki_function_analyze(t, syms[i], &fn, NULL), 0);
		assert_int_equal(ki_cfg_hash(fn, &hash), 0);
		ki_function_free(fn);
		assert_true(found[i].cfg == hash && found[i].addr == syms[i]->addr);
		assert_string_equal(found[i].name, syms[i]->name);
	}
	assert_true(found[0].cfg != found[1].cfg);
	for (size_t i = 0; i < 100; i++)
		all[i] = syms[i % 2];
	assert_int_equal(ki_record_functions_find(t, all, 100, many_found, NULL), 0);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(many_found[i].cfg, found[i % 2].cfg);
	ki_target_free(t);
}

static void no_such_module(void **state)
{
	char build[72] = "x";

	(void)state;
	ki_record_module_build("no_such_module", build, sizeof(build));
	assert_string_equal(build, "");
	strcpy(build, "x");
	ki_record_module_build("../../kernel", build, sizeof(build));
	assert_string_equal(build, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_read),	  cmocka_unit_test(many),
		cmocka_unit_test(may_be_unknown), cmocka_unit_test(must_be_whole),
		cmocka_unit_test(is_found),	  cmocka_unit_test(no_such_module),
	};

	return cmocka_run_group_tests(tests, kept_make, kept_remove);
}
