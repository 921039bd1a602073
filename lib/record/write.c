// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writing a recording.
 *
 * Each chunk goes out by one write, and only whole ones are left in the file: what a failed write
 * has left of one is cut off again. If the writer is killed in the middle of one, or the machine
 * stops, its checksum tells. Symbols stand before the records that need them.
 *
 * There is no O_DIRECT: chunks have any length, and what a flush must give is not an empty page
 * cache but that the disk has it, which is what fdatasync says.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "kerninst/record.h"
#include "record/buffer.h"
#include "record/format.h"
#include "record/frames.h"
#include "record/users.h"

#define CHUNK_FULL (256u << 10) /* bytes of records */

struct ki_record_file {
	int fd;
	int failed; /* -errno */
	bool to_disk;
	char *path;
	uint32_t number; /* of the next chunk */
	off_t end;	 /* of the last whole chunk */
	uint64_t lost, records;
	ki_buffer waiting, symbols, out; /* records, symbols; a chunk that is made */
	ki_buffer stacks, users;
	struct ki_frames *frames; /* NULL: stacks are numbers only */
	struct ki_target *t;
	uint8_t *seen; /* symbols: a bit for each */
	struct known { /* instruments, in order of id */
		uint32_t id;
		unsigned int nfields;
		uint32_t code, stacks; /* fields shown as such: a bit for each */
	} * known;
	size_t nknown;
};

uint64_t ki_chunk_check(const struct chunk *c, const void *payload)
{
	uint64_t seed = XXH3_64bits(c, offsetof(struct chunk, check));

	return XXH3_64bits_withSeed(payload, c->length, seed);
}

/* After a failure nothing is written: what stands there is whole. */
static int fail(struct ki_record_file *f, int code)
{
	if (!f->failed) {
		f->failed = code;
		if (ftruncate(f->fd, f->end))
			return code; /* the checksum of the last chunk is not good then */
	}
	return f->failed;
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static int put_chunk(struct ki_record_file *f, enum chunk_type type, const void *payload, size_t n)
{
	struct chunk c = {
		.magic = CHUNK_MAGIC, .type = type, .length = (uint32_t)n, .number = f->number};
	int ret;

	if (f->failed)
		return f->failed;
	if (n > CHUNK_MOST)
		return fail(f, -EMSGSIZE);
	c.check = ki_chunk_check(&c, payload);
	f->out.n = 0;
	ret = ki_buffer_add(&f->out, &c, sizeof(c));
	if (!ret)
		ret = ki_buffer_add(&f->out, payload, n);
	if (!ret)
		ret = write_all(f->fd, f->out.v, f->out.n);
	if (ret)
		return fail(f, ret);
	f->number++;
	f->end += (off_t)f->out.n;
	return 0;
}

static int put_buffer(struct ki_record_file *f, enum chunk_type type, ki_buffer *b)
{
	int ret = b->n ? put_chunk(f, type, b->v, b->n) : 0;

	b->n = 0;
	return ret;
}

/* Records, and before them the symbols that they need. */
static int put_waiting(struct ki_record_file *f)
{
	int ret = f->failed;

	if (!ret)
		ret = put_buffer(f, CHUNK_SYMBOLS, &f->symbols);
	if (!ret)
		ret = put_buffer(f, CHUNK_USERS, &f->users);
	if (!ret)
		ret = put_buffer(f, CHUNK_STACKS, &f->stacks);
	return ret ? ret : put_buffer(f, CHUNK_RECORDS, &f->waiting);
}

static int put_header(struct ki_record_file *f, const struct ki_record_origin *o)
{
	const struct file_header h = {.format = FORMAT,
				      .cpus = o->cpus,
				      .tsc_khz = o->tsc_khz,
				      .tsc = o->tsc,
				      .time = o->time};
	const char *const strings[] = {o->kernel, o->build, o->boot, o->host, o->command};
	ki_buffer b = {0};
	int ret = ki_buffer_add(&b, &h, sizeof(h));

	for (size_t i = 0; !ret && i < sizeof(strings) / sizeof(*strings); i++)
		ret = ki_buffer_string(&b, strings[i]);
	if (!ret)
		ret = ki_buffer_pad(&b);
	if (!ret)
		ret = put_buffer(f, CHUNK_HEADER, &b);
	ki_vec_free(&b);
	return ret;
}

static int add_instrument(ki_buffer *b, const struct ki_instrument *in)
{
	const struct file_instrument h = {in->id, in->nfields, in->addr, in->on, in->off};
	int ret = ki_buffer_add(b, &h, sizeof(h));

	for (unsigned int i = 0; !ret && i < in->nfields; i++) {
		const struct file_field field = {in->fields[i].type, in->fields[i].show, {0}};

		ret = ki_buffer_add(b, &field, sizeof(field));
	}
	if (!ret)
		ret = ki_buffer_string(b, in->name);
	if (!ret)
		ret = ki_buffer_string(b, in->point);
	for (unsigned int i = 0; !ret && i < in->nfields; i++) {
		ret = ki_buffer_string(b, in->fields[i].name);
		if (!ret)
			ret = ki_buffer_string(b, in->fields[i].unit);
	}
	return ret ? ret : ki_buffer_pad(b);
}

static int put_instrument(struct ki_record_file *f, const struct ki_instrument *in)
{
	struct known *k = &f->known[f->nknown];
	ki_buffer b = {0};
	int ret;

	if (in->nfields > KI_RECORD_WORDS || (f->nknown && in->id <= k[-1].id))
		return -EINVAL;
	*k = (struct known){.id = in->id, .nfields = in->nfields};
	for (unsigned int i = 0; i < in->nfields; i++) {
		k->code |= (uint32_t)(in->fields[i].show == KI_SHOW_CODE) << i;
		k->stacks |= (uint32_t)(in->fields[i].show == KI_SHOW_STACK) << i;
	}
	f->nknown++;
	ret = add_instrument(&b, in);
	if (!ret)
		ret = put_buffer(f, CHUNK_INSTRUMENT, &b);
	ki_vec_free(&b);
	return ret;
}

static int start(struct ki_record_file *f, const struct ki_record_origin *origin,
		 const struct ki_instrument *v, size_t n)
{
	size_t symbols = 0;
	int ret;

	if (f->t)
		ki_target_symbols(f->t, &symbols);
	f->seen = calloc(1, symbols / 8 + 1);
	f->known = calloc(n + 1, sizeof(*f->known));
	if (!f->path || !f->seen || !f->known)
		return -ENOMEM;
	f->fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return -errno;
	ret = put_header(f, origin);
	for (size_t i = 0; !ret && i < n; i++)
		ret = put_instrument(f, &v[i]);
	return ret;
}

static int report(const struct ki_record_file *f, int code, struct ki_err *err)
{
	if (!code)
		return 0;
	return ki_err_set(err, code, 0, "%s: %s", f->path ? f->path : "recording", strerror(-code));
}

int ki_record_new(const char *path, const struct ki_recorded *what, struct ki_record_file **out,
		  struct ki_err *err)
{
	struct ki_record_file *f = calloc(1, sizeof(*f));
	int ret;

	*out = NULL;
	if (!f)
		return ki_err_set(err, -ENOMEM, 0, "%s: out of memory", path);
	f->fd = -1;
	f->t = what->t;
	f->path = strdup(path);
	ret = report(f, start(f, what->origin, what->instruments, what->n), err);
	if (ret)
		ki_record_free(f);
	else
		*out = f;
	return ret;
}

static int add_function(ki_buffer *b, const void *row)
{
	const struct ki_record_function *fn = row;
	const struct file_function h = {fn->addr, fn->cfg};
	int ret = ki_buffer_add(b, &h, sizeof(h));

	if (!ret)
		ret = ki_buffer_string(b, fn->name);
	if (!ret)
		ret = ki_buffer_string(b, fn->module);
	return ret ? ret : ki_buffer_pad(b);
}

static int add_module(ki_buffer *b, const void *row)
{
	const struct ki_record_module *m = row;
	int ret = ki_buffer_string(b, m->name);

	if (!ret)
		ret = ki_buffer_string(b, m->build);
	return ret ? ret : ki_buffer_pad(b);
}

/* Rows of one kind, in as many chunks as they take. */
static int put_rows(struct ki_record_file *f, enum chunk_type type,
		    int (*add)(ki_buffer *b, const void *row), const void *rows, size_t n,
		    size_t size)
{
	ki_buffer b = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		ret = add(&b, (const char *)rows + i * size);
		if (!ret && b.n >= CHUNK_FULL)
			ret = put_buffer(f, type, &b);
	}
	if (!ret)
		ret = put_buffer(f, type, &b);
	ki_vec_free(&b);
	return ret ? fail(f, ret) : 0;
}

int ki_record_functions(struct ki_record_file *f, const struct ki_record_function *v, size_t n)
{
	return put_rows(f, CHUNK_FUNCTIONS, add_function, v, n, sizeof(*v));
}

int ki_record_modules(struct ki_record_file *f, const struct ki_record_module *v, size_t n)
{
	return put_rows(f, CHUNK_MODULES, add_module, v, n, sizeof(*v));
}

void ki_record_to_disk(struct ki_record_file *f)
{
	f->to_disk = true;
}

static int by_id(const void *key, const void *row)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct known *)row)->id;

	return (a > b) - (a < b);
}

/* The symbol that covers an address, once. */
static int note_code(struct ki_record_file *f, uint64_t addr)
{
	const struct ki_symbol *sym = f->t ? ki_target_symbol_at(f->t, addr) : NULL, *all;
	struct file_symbol s;
	size_t n, i;
	int ret;

	if (!sym)
		return 0;
	all = ki_target_symbols(f->t, &n);
	i = (size_t)(sym - all);
	if (sym < all || i >= n || f->seen[i / 8] & 1 << i % 8)
		return 0;
	f->seen[i / 8] |= (uint8_t)(1 << i % 8);
	s = (struct file_symbol){sym->addr, sym->size};
	ret = ki_buffer_add(&f->symbols, &s, sizeof(s));
	if (!ret && *sym->module) {
		ret = ki_buffer_add(&f->symbols, sym->module, strlen(sym->module));
		if (!ret)
			ret = ki_buffer_add(&f->symbols, ":", 1);
	}
	if (!ret)
		ret = ki_buffer_string(&f->symbols, sym->name);
	return ret ? ret : ki_buffer_pad(&f->symbols);
}

int ki_record_stacks(struct ki_record_file *f, const struct ki_stacks_map *map)
{
	return f->frames ? -EEXIST : ki_frames_new(map, &f->frames);
}

int ki_record_places(struct ki_record_file *f, uint32_t tgid, const uint64_t *addrs, size_t n)
{
	struct ki_users *u;
	int ret = ki_users_new(&u);

	for (size_t i = 0; !ret && i < n; i++)
		ret = ki_frames_add_user(u, tgid, addrs[i], &f->users);
	ki_users_free(u);
	return ret;
}

void ki_record_look(struct ki_record_file *f)
{
	if (f->frames)
		ki_frames_look(f->frames);
}

static int note_stack(struct ki_record_file *f, uint64_t number)
{
	struct ki_stack s;
	int ret;

	if (!f->frames)
		return 0;
	ret = ki_frames_note(f->frames, number, &f->stacks, &f->users, &s);
	for (uint32_t i = 0; !ret && !s.tgid && i < s.n; i++)
		ret = note_code(f, ki_frame_place(&s, i));
	return ret;
}

static int note_fields(struct ki_record_file *f, const struct known *k, const uint64_t *values)
{
	int ret = 0;

	for (uint32_t left = k->code; !ret && left; left &= left - 1)
		ret = note_code(f, values[__builtin_ctz(left)]);
	for (uint32_t left = k->stacks; !ret && left; left &= left - 1)
		ret = note_stack(f, values[__builtin_ctz(left)]);
	return ret;
}

int ki_record_write(struct ki_record_file *f, const struct ki_record *rec, const uint64_t *values,
		    unsigned int cpu)
{
	const struct file_record r = {rec->id, rec->words, (uint16_t)cpu, rec->tsc};
	const struct known *k;
	int ret;

	if (f->failed)
		return f->failed;
	k = bsearch(&rec->id, f->known, f->nknown, sizeof(*k), by_id);
	if (!k || rec->words != k->nfields || cpu > UINT16_MAX)
		return -EINVAL;
	ret = note_fields(f, k, values);
	if (!ret)
		ret = ki_buffer_add(&f->waiting, &r, sizeof(r));
	if (!ret)
		ret = ki_buffer_add(&f->waiting, values, rec->words * sizeof(*values));
	if (ret)
		return fail(f, ret);
	f->records++;
	return f->waiting.n + f->stacks.n < CHUNK_FULL && f->users.n < CHUNK_FULL ? 0
										  : put_waiting(f);
}

int ki_record_event(struct ki_record_file *f, const struct ki_record_event *e)
{
	const struct file_event v = {e->id, e->kind, e->tsc, e->value};

	if (!bsearch(&e->id, f->known, f->nknown, sizeof(*f->known), by_id))
		return -EINVAL;
	return put_chunk(f, CHUNK_EVENT, &v, sizeof(v));
}

int ki_record_flush(struct ki_record_file *f, uint64_t lost, struct ki_err *err)
{
	const struct file_lost l = {lost};
	off_t before = f->end;
	int ret = put_waiting(f);

	if (!ret && lost != f->lost)
		ret = put_chunk(f, CHUNK_LOST, &l, sizeof(l));
	f->lost = lost;
	if (!ret && f->to_disk && f->end != before && fdatasync(f->fd))
		ret = fail(f, -errno);
	return report(f, ret, err);
}

void ki_record_free(struct ki_record_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	ki_vec_free(&f->waiting);
	ki_vec_free(&f->symbols);
	ki_vec_free(&f->out);
	ki_vec_free(&f->stacks);
	ki_vec_free(&f->users);
	ki_frames_free(f->frames);
	free(f->known);
	free(f->seen);
	free(f->path);
	free(f);
}

int ki_record_finish(struct ki_record_file *f, uint64_t lost, uint64_t tsc, struct ki_err *err)
{
	struct file_end e;
	int ret;

	if (!f)
		return 0;
	e = (struct file_end){lost, f->records, tsc};
	ret = put_waiting(f);
	if (!ret)
		ret = put_chunk(f, CHUNK_END, &e, sizeof(e));
	if (!ret && f->to_disk && fdatasync(f->fd))
		ret = -errno;
	if (close(f->fd) && !ret)
		ret = -errno;
	f->fd = -1;
	ret = report(f, ret, err);
	ki_record_free(f);
	return ret;
}
