// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings: what is written is read, in the order of time; a file that ends anywhere, or in which
 * any byte is another, gives what stands before that; what cannot be written leaves a good file.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "common_kept.h"
#include "kerninst/record.h"
#include "record/format.h"
#include "record/recording.h"
#include "origin_fixture.h"

#define N 40

static const struct ki_record_field fields[] = {
	{"fd", "", KI_I32, KI_SHOW_DECIMAL},
	{"count", "bytes", KI_U64, KI_SHOW_DECIMAL},
	{"caller", "", KI_U64, KI_SHOW_CODE},
};
static const struct ki_instrument instruments[] = {
	{.id = 1,
	 .name = "vfs_read:entry",
	 .point = "vfs_read@0x1000:entry",
	 .addr = 0x1000,
	 .on = 0.5,
	 .off = 2,
	 .fields = fields,
	 .nfields = 3},
	{.id = 7, .name = "schedule", .point = "schedule@0x2000", .addr = 0x2000},
};

static struct ki_record_file *create(void)
{
	struct ki_record_file *f;
	struct ki_err err = {0};

	if (ki_record_new(kept_path, &(struct ki_recorded){&origin, NULL, instruments, 2}, &f,
			  &err))
		fail_msg("%s", err.msg);
	return f;
}

/* The time goes down in each four: four CPUs, one after the other. */
static uint64_t time_of(unsigned int i)
{
	return 2000 + 10 * (i / 4 * 4 + 3 - i % 4);
}

static void write_one(struct ki_record_file *f, unsigned int i)
{
	const struct ki_record a = {.id = 1, .words = 3, .tsc = time_of(i)};
	const struct ki_record b = {.id = 7, .tsc = time_of(i)};
	const uint64_t values[] = {(uint64_t)-1 - i, i * 100, 0x1000 + i};

	assert_int_equal(ki_record_write(f, i % 3 ? &a : &b, values, i % 4), 0);
}

static void write_all(void)
{
	const struct ki_record_event on = {1, KI_EVENT_ON, 1500, 0},
				     hits = {1, KI_EVENT_HITS, 9, 30};
	struct ki_record_file *f = create();
	struct ki_err err = {0};

	assert_int_equal(ki_record_event(f, &on), 0);
	for (unsigned int i = 0; i < N; i++) {
		write_one(f, i);
		if (i % 10 == 9)
			assert_int_equal(ki_record_flush(f, i / 10, &err), 0);
	}
	assert_int_equal(ki_record_event(f, &hits), 0);
	assert_int_equal(ki_record_finish(f, 5, 9999, &err), 0);
}

static void load(void)
{
	kept_read(1 << 20);
}

struct seen {
	unsigned int n;
	uint64_t tsc;
};

/* Whatever was read is what was written, in order of time. */
static int see(void *arg, const struct ki_record *rec, const uint64_t *values, unsigned int cpu)
{
	struct seen *s = arg;
	unsigned int at = (unsigned int)(rec->tsc - 2000) / 10, i = at / 4 * 4 + 3 - at % 4;

	assert_true(rec->tsc > s->tsc && i < N);
	assert_int_equal(cpu, i % 4);
	assert_int_equal(rec->id, i % 3 ? 1 : 7);
	assert_int_equal(rec->words, i % 3 ? 3 : 0);
	if (i % 3) {
		assert_int_equal(values[0], (uint64_t)-1 - i);
		assert_int_equal(values[1], i * 100);
		assert_int_equal(values[2], 0x1000 + i);
	}
	s->n++;
	s->tsc = rec->tsc;
	return 0;
}

static unsigned int count(struct ki_recording *r)
{
	struct seen s = {0};

	assert_int_equal(ki_recording_each(r, see, &s), 0);
	assert_int_equal(s.n, ki_recording_state(r)->records);
	return s.n;
}

static void all_is_read(void **state)
{
	const struct ki_instrument *in;
	const struct ki_record_event *e;
	struct ki_recording *r;
	struct ki_err err = {0};
	size_t n;

	(void)state;
	write_all();
	assert_int_equal(ki_recording_new(kept_path, &r, &err), 0);
	assert_memory_equal(ki_recording_origin(r), &origin, sizeof(origin));
	in = ki_recording_instruments(r, &n);
	assert_int_equal(n, 2);
	assert_string_equal(in[0].name, "vfs_read:entry");
	assert_string_equal(in[0].point, "vfs_read@0x1000:entry");
	assert_string_equal(in[0].fields[1].unit, "bytes");
	assert_int_equal(in[0].fields[2].show, KI_SHOW_CODE);
	assert_true(in[0].on == 0.5 && in[0].off == 2.0);
	assert_ptr_equal(ki_recording_instrument(r, 7), &in[1]);
	assert_null(ki_recording_instrument(r, 2));
	e = ki_recording_events(r, &n);
	assert_int_equal(n, 2);
	assert_true(e[0].kind == KI_EVENT_ON && e[0].tsc == 1500 && e[1].value == 30);
	assert_int_equal(count(r), N);
	assert_false(ki_recording_state(r)->cut);
	assert_int_equal(ki_recording_state(r)->lost, 5);
	assert_int_equal(ki_recording_state(r)->end, 9999);
	ki_recording_free(r);
}

/* The records that stand before byte `end`: of whole chunks, counted without the reader. */
static unsigned int records_before(size_t end)
{
	unsigned int n = 0;

	for (size_t at = 0; at < end;) {
		const struct chunk *c = (const void *)(kept_bytes + at);

		at += sizeof(*c) + c->length;
		if (at <= end && c->type == CHUNK_RECORDS)
			n += 10;
	}
	return n;
}

/* Where the chunk with this byte begins. */
static size_t chunk_of(size_t byte)
{
	size_t at = 0;

	for (;;) {
		const struct chunk *c = (const void *)(kept_bytes + at);

		if (byte < at + sizeof(*c) + c->length)
			return at;
		at += sizeof(*c) + c->length;
	}
}

static void is_good_up_to(const char *what, size_t length, size_t good)
{
	struct ki_recording *r;
	struct ki_err err = {0};
	int ret = ki_recording_of(what, length, "test", &r, &err);

	if (!good) {
		assert_int_equal(ret, -EBADMSG);
		return;
	}
	assert_int_equal(ret, 0);
	assert_true(ki_recording_state(r)->cut);
	assert_int_equal(ki_recording_state(r)->good, good);
	assert_int_equal(count(r), records_before(good));
	ki_recording_free(r);
}

static void cut_anywhere(void **state)
{
	(void)state;
	write_all();
	load();
	for (size_t n = 0; n < kept_size; n++) {
		char *part = malloc(n + 1); /* not a byte more can be read */

		memcpy(part, kept_bytes, n);
		is_good_up_to(part, n, chunk_of(n));
		free(part);
	}
}

static void any_byte_another(void **state)
{
	char *copy;

	(void)state;
	write_all();
	load();
	copy = malloc(kept_size);
	for (size_t i = 0; i < kept_size; i++) {
		memcpy(copy, kept_bytes, kept_size);
		copy[i] ^= (char)(1 << i % 8);
		is_good_up_to(copy, kept_size, chunk_of(i));
	}
	free(copy);
}

static void something_behind_the_end(void **state)
{
	struct ki_recording *r;
	char *more;

	(void)state;
	write_all();
	load();
	more = calloc(1, kept_size + 8);
	memcpy(more, kept_bytes, kept_size);
	assert_int_equal(ki_recording_of(more, kept_size + 8, "test", &r, NULL), 0);
	assert_true(ki_recording_state(r)->cut);
	assert_int_equal(count(r), N);
	ki_recording_free(r);
	free(more);
}

/* A chunk of a type that comes later is passed over; an impossible one ends the file. */
static void other_chunks(void **state)
{
	struct chunk *c;
	struct ki_recording *r;

	(void)state;
	write_all();
	load();
	c = (void *)(kept_bytes + chunk_of(kept_size - 1)); /* the end */
	assert_int_equal(c->type, CHUNK_END);
	c->type = 77;
	c->check = ki_chunk_check(c, c + 1);
	assert_int_equal(ki_recording_of(kept_bytes, kept_size, "test", &r, NULL), 0);
	assert_int_equal(ki_recording_state(r)->good, kept_size);
	assert_true(ki_recording_state(r)->cut);
	ki_recording_free(r);
	c->type = CHUNK_HEADER;
	c->check = ki_chunk_check(c, c + 1);
	is_good_up_to(kept_bytes, kept_size, (size_t)((char *)c - kept_bytes));
	c = (void *)kept_bytes;
	((struct file_header *)(c + 1))->format = FORMAT + 1;
	c->check = ki_chunk_check(c, c + 1);
	assert_int_equal(ki_recording_of(kept_bytes, kept_size, "test", &r, NULL),
			 -EPROTONOSUPPORT);
}

static void not_a_recording(void **state)
{
	struct ki_recording *r;
	struct ki_err err = {0};

	(void)state;
	assert_int_equal(ki_recording_new("/nonexistent", &r, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/nonexistent"));
	assert_int_equal(ki_recording_new("/dev/null", &r, NULL), -EBADMSG);
	assert_int_equal(ki_recording_new("/", &r, NULL), -EISDIR);
	assert_int_equal(ki_recording_new("/proc/self/exe", &r, NULL), -EBADMSG);
}

static void wrong_records(void **state)
{
	struct ki_record_file *f = create();
	const struct ki_record unknown = {.id = 2}, longer = {.id = 7, .words = 1};
	const struct ki_record_event e = {.id = 3};
	const struct ki_instrument twice[] = {instruments[0], instruments[0]};
	const uint64_t value = 0;
	struct ki_record_file *g;

	(void)state;
	assert_int_equal(ki_record_write(f, &unknown, NULL, 0), -EINVAL);
	assert_int_equal(ki_record_write(f, &longer, &value, 0), -EINVAL);
	assert_int_equal(ki_record_event(f, &e), -EINVAL);
	ki_record_free(f);
	assert_int_equal(
		ki_record_new(kept_path, &(struct ki_recorded){&origin, NULL, twice, 2}, &g, NULL),
		-EINVAL);
	assert_null(g);
	ki_record_free(NULL);
	assert_int_equal(ki_record_finish(NULL, 0, 0, NULL), 0);
	ki_recording_free(NULL);
}

/* No room for the rest of a chunk: the file ends before it, and says so to everybody. */
static void full(void **state)
{
	struct rlimit old, limit;
	struct ki_record_file *f = create();
	struct ki_recording *r;
	struct ki_err err = {0};

	(void)state;
	for (unsigned int i = 0; i < 10; i++)
		write_one(f, i);
	assert_int_equal(ki_record_flush(f, 0, &err), 0);
	load();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){kept_size + 100, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit);
	for (unsigned int i = 10; i < 20; i++)
		write_one(f, i);
	assert_int_equal(ki_record_flush(f, 0, &err), -EFBIG);
	assert_non_null(strstr(err.msg, kept_path));
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(ki_record_flush(f, 0, NULL), -EFBIG);
	assert_int_equal(ki_record_finish(f, 0, 0, NULL), -EFBIG);
	assert_int_equal(ki_recording_new(kept_path, &r, &err), 0);
	assert_int_equal(ki_recording_state(r)->good, kept_size);
	load();
	assert_int_equal(ki_recording_state(r)->good, kept_size);
	assert_int_equal(count(r), 10);
	ki_recording_free(r);
}

/* Addresses of code are read as names, without the image. */
static void symbols(void **state)
{
	struct ki_record_file *f;
	struct ki_target *t;
	struct ki_err err = {0};
	const struct ki_symbol *sym;
	struct ki_recording *r;
	uint64_t offset;
	size_t n;

	(void)state;
	assert_int_equal(ki_target_new_image("/proc/self/exe", &t, &err), 0);
	sym = ki_target_symbols(t, &n);
	while (n && strcmp(sym->name, "ki_recording_each")) {
		sym++;
		n--;
	}
	assert_true(n > 0);
	assert_int_equal(ki_record_new(kept_path, &(struct ki_recorded){&origin, t, instruments, 1},
				       &f, &err),
			 0);
	for (unsigned int i = 0; i < 3; i++) {
		const uint64_t values[] = {0, 0, sym->addr + i};
		const struct ki_record rec = {.id = 1, .words = 3, .tsc = i};

		assert_int_equal(ki_record_write(f, &rec, values, 0), 0);
	}
	assert_int_equal(ki_record_finish(f, 0, 1, &err), 0);
	assert_int_equal(ki_recording_new(kept_path, &r, &err), 0);
	assert_string_equal(ki_recording_symbol(r, sym->addr + 2, &offset), sym->name);
	assert_int_equal(offset, 2);
	assert_null(ki_recording_symbol(r, sym->addr + sym->size, &offset));
	assert_null(ki_recording_symbol(r, sym->addr - 1, &offset));
	ki_recording_free(r);
	ki_target_free(t);
}

/* More than one chunk of records, without flushing. */
static void long_file(void **state)
{
	struct ki_record_file *f = create();
	struct ki_recording *r;
	struct ki_err err = {0};

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		const struct ki_record rec = {.id = 7, .tsc = i};

		assert_int_equal(ki_record_write(f, &rec, NULL, 0), 0);
	}
	ki_record_free(f); /* killed: what had not been flushed is gone, and no more */
	assert_int_equal(ki_recording_new(kept_path, &r, &err), 0);
	assert_true(ki_recording_state(r)->cut);
	assert_true(ki_recording_state(r)->records > 100000 - (256 << 10) / 16 - 1);
	ki_recording_free(r);
}

static void origin_here(void **state)
{
	struct ki_record_origin o;

	(void)state;
	ki_record_origin_here(NULL, &o);
	assert_true(o.tsc && o.time > origin.time && o.cpus);
	assert_true(*o.kernel && *o.host);
	assert_int_equal(strlen(o.boot), 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_read),	    cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(any_byte_another), cmocka_unit_test(something_behind_the_end),
		cmocka_unit_test(other_chunks),	    cmocka_unit_test(not_a_recording),
		cmocka_unit_test(wrong_records),    cmocka_unit_test(full),
		cmocka_unit_test(symbols),	    cmocka_unit_test(long_file),
		cmocka_unit_test(origin_here),
	};

	return cmocka_run_group_tests(tests, kept_make, kept_remove);
}
