// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks in recordings: chunks as a writer makes them, and such as none would make.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common_kept.h"
#include "kerninst/record.h"
#include "record/format.h"
#include "record/recording.h"
#include "origin_fixture.h"

static size_t put_piece(char *to, size_t at, uint32_t type, uint32_t number, const void *payload,
			uint32_t len)
{
	struct chunk c = {.magic = CHUNK_MAGIC, .type = type, .length = len, .number = number};

	c.check = ki_chunk_check(&c, payload);
	memcpy(to + at, &c, sizeof(c));
	memcpy(to + at + sizeof(c), payload, len);
	return at + sizeof(c) + len;
}

/* A recording's header is all that it takes. */
static int make(void **state)
{
	struct ki_record_file *f;
	int ret = kept_make(state);

	if (!ret)
		ret = ki_record_new(kept_path, &(struct ki_recorded){.origin = &origin}, &f, NULL);
	if (!ret)
		ret = ki_record_finish(f, 0, 9999, NULL);
	kept_read(1 << 20);
	return ret;
}

/* The recording with these stacks and users after its header. */
static struct ki_recording *with_stacks(const void *stacks, uint32_t nstacks, const void *users,
					uint32_t nusers)
{
	static _Alignas(8) char file[8192];
	const struct chunk *first = (const void *)kept_bytes;
	size_t at = sizeof(*first) + first->length;
	struct ki_recording *r;
	struct ki_err err = {0};

	memcpy(file, kept_bytes, at);
	at = put_piece(file, at, CHUNK_STACKS, 1, stacks, nstacks);
	at = put_piece(file, at, CHUNK_USERS, 2, users, nusers);
	assert_int_equal(ki_recording_of(file, at, "stacks", &r, &err), 0);
	return r;
}

static const uint64_t two_stacks[] = {7, 3ull << 32 | 5, 0x400010, 0x400020, 0x400030,
				      2, 1ull << 32,	 0x1004};
static const struct {
	struct file_user u;
	char text[24];
} one_user = {{5, 0, 0x40001f, 0x101f, 0xf}, "main\0/bin/x\0abcd"};

static void stacks_are_read(void **state)
{
	struct ki_recording *r =
		with_stacks(two_stacks, sizeof(two_stacks), &one_user, sizeof(one_user));
	struct ki_user_frame f;
	struct ki_stack s;

	(void)state;
	assert_int_equal(ki_recording_stack(r, 1, &s), -ENOENT);
	assert_int_equal(ki_recording_stack(r, 2, &s), 0);
	assert_true(!s.tgid && s.n == 1 && s.addrs[0] == 0x1004);
	assert_int_equal(ki_recording_frame(r, &s, 0, &f), -ENOENT); /* no symbols */
	assert_string_equal(f.symbol, "");
	assert_int_equal(ki_recording_stack(r, 7, &s), 0);
	assert_true(s.tgid == 5 && s.n == 3 && s.addrs[2] == 0x400030);
	assert_int_equal(ki_recording_frame(r, &s, 0, &f), -ENOENT);
	assert_int_equal(ki_recording_frame(r, &s, 1, &f), 0);
	assert_string_equal(f.symbol, "main");
	assert_string_equal(f.path, "/bin/x");
	assert_string_equal(f.build, "abcd");
	assert_true(f.offset == 0x10 && f.file_offset == 0x1020);
	ki_recording_free(r);
}

static void wrong_stacks_are_not_read(void **state)
{
	struct ki_recording *r;
	uint64_t bad[sizeof(two_stacks) / 8];
	struct ki_stack s;

	(void)state;
	for (uint64_t frames = 0; frames <= 200; frames++) { /* of the second: one is right */
		memcpy(bad, two_stacks, sizeof(bad));
		bad[6] = frames << 32;
		r = with_stacks(bad, sizeof(bad), &one_user, sizeof(one_user));
		assert_int_equal(ki_recording_stack(r, 7, &s), frames == 1 ? 0 : -ENOENT);
		ki_recording_free(r);
	}
	/* strings without an end */
	memset(bad, 'x', sizeof(bad));
	r = with_stacks(two_stacks, sizeof(two_stacks), bad, sizeof(bad));
	assert_true(ki_recording_state(r)->cut);
	ki_recording_free(r);
}

/* A chunk that no reader would take is not written. */
static void too_large_a_chunk(void **state)
{
	const size_t length = CHUNK_MOST + 16;
	char *name = calloc(1, length);
	const struct ki_instrument in = {.id = 1, .name = name, .point = "p"};
	struct ki_record_file *f = NULL;

	(void)state;
	assert_non_null(name);
	memset(name, 'x', length - 1);
	assert_int_equal(
		ki_record_new(kept_path, &(struct ki_recorded){&origin, NULL, &in, 1}, &f, NULL),
		-EMSGSIZE);
	assert_null(f);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_read),
		cmocka_unit_test(wrong_stacks_are_not_read),
		cmocka_unit_test(too_large_a_chunk),
	};

	return cmocka_run_group_tests(tests, make, kept_remove);
}
