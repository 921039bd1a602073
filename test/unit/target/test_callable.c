// SPDX-License-Identifier: GPL-2.0-only
/* Notes of modules: read as they should be, cut at each byte, and of another version. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "kerninst/callable.h"

struct note {
	Elf64_Nhdr h;
	char owner[12];
	uint32_t version;
	char text[44];
};

#define NOTE(kind, ver, words)                                                                     \
	{                                                                                          \
		{9, 4 + sizeof(words), kind}, "kerninst", ver, words                               \
	}

/* All texts have 41 to 44 bytes, so that each note takes one struct. */
static const struct note notes[] = {
	NOTE(2, 1, "two\0u32 a/hex,b,cccccccccccccccccccccccc"),
	NOTE(1, 1, "two\0(ki_id_t id, int (*f)(int, int))\0call"),
	NOTE(1, 1, "none\0(void)\0nothing at all, but so long.."),
	NOTE(1, 1, "all\0(ki_id_t id,struct ki_here h,int a)\0six"),
	NOTE(3, 1, "shown\0a number, with a sentence that is.."),
	NOTE(1, 9, "later\0of a version that nobody knows yet."),
	NOTE(7, 1, "what\0of a kind that nobody knows as yet.."),
};

static char dir[64], path[128];
static size_t at_once = SIZE_MAX;

/* In place of the C library's: as sysfs, never more at once. */
ssize_t read(int fd, void *buf, size_t n)
{
	return syscall(SYS_read, fd, buf, n < at_once ? n : at_once);
}

static struct ki_callables *read_first(size_t bytes)
{
	struct ki_callables *c = NULL;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(notes, 1, bytes, f), bytes);
	fclose(f);
	assert_int_equal(ki_callables_read(dir, &c, NULL), 0);
	return c;
}

static void notes_are_read(void **state)
{
	struct ki_callables *c = read_first(sizeof(notes));
	const struct ki_callable *f;
	struct ki_err err = {0};
	size_t n;

	(void)state;
	ki_callables_all(c, &n);
	assert_int_equal(n, 5);
	assert_int_equal(ki_callables_find(c, "two", &f, &err), 0);
	assert_string_equal(f->module, "mod");
	assert_string_equal(f->prototype, "(ki_id_t id, int (*f)(int, int))");
	assert_string_equal(f->records, "u32 a/hex,b,cccccccccccccccccccccccc");
	assert_true(f->takes_id && !f->takes_here && f->nparams == 2);
	assert_int_equal(ki_callables_find(c, "all", &f, &err), 0);
	assert_true(f->takes_id && f->takes_here && f->nparams == 4);
	assert_int_equal(ki_callables_find(c, "none", &f, &err), 0);
	assert_true(!f->takes_id && f->nparams == 0 && !*f->records);
	assert_int_equal(ki_callables_find(c, "shown", &f, &err), -ENOENT);
	ki_err_clear(&err);
	assert_int_equal(ki_callables_find(c, "later", &f, &err), -EPROTO);
	assert_int_equal(err.reason, KI_R_INSTRUMENT_VERSION);
	ki_callables_free(c);
}

static void they_come_in_pieces(void **state)
{
	for (at_once = 1; at_once < sizeof(notes); at_once += 7)
		notes_are_read(state);
	at_once = SIZE_MAX;
}

static void cut_ones_are_not(void **state)
{
	(void)state;
	for (size_t bytes = 0; bytes < sizeof(notes); bytes++) {
		struct ki_callables *c = read_first(bytes);
		size_t n;

		ki_callables_all(c, &n);
		assert_true(n <= bytes / (sizeof(Elf64_Nhdr) + 12 + 4 + 41));
		ki_callables_free(c);
	}
}

static int begin(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ki-callable.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/mod", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/mod/notes", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/mod/notes/.note.kerninst", dir);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	snprintf(path, sizeof(path), "%s/mod/notes", dir);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/mod", dir);
	rmdir(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_are_read),
		cmocka_unit_test(they_come_in_pieces),
		cmocka_unit_test(cut_ones_are_not),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
