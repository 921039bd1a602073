// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reading a recording. The file is mapped and gone through once, chunk by chunk; where one is not
 * whole, or says what cannot be, it ends. After that all that was found is known to be sound, and
 * records are read in place.
 *
 * A file that somebody makes shorter while it is read kills the reader (SIGBUS), as it does every
 * reader that maps; so what is to be read is what was there when it was opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/format.h"
#include "record/read_code.h"
#include "record/read_stacks.h"
#include "record/recording.h"
#include "util/sort.h"
#include "util/vec.h"

struct known_symbol {
	uint64_t addr, size;
	const char *name;
};

struct ki_recording {
	const char *bytes;
	size_t size;
	bool mapped;
	struct ki_record_origin origin;
	struct ki_recording_state state;
	ki_vec(struct ki_instrument) instruments; /* in order of id */
	ki_vec(struct ki_record_event) events;
	ki_vec(struct ki_sort_item) records; /* time, place in bytes */
	ki_vec(struct known_symbol) symbols;
	struct known_stacks stacks;
	struct known_code code;
	bool in_order, ended;
};

/* 0; -EBADMSG: this cannot be. */
typedef int reader(struct ki_recording *r, struct ki_rest rest);

static int copy_string(struct ki_rest *r, char *to, size_t size)
{
	const char *s = ki_rest_string(r);

	if (!s || strlen(s) >= size)
		return -EBADMSG;
	strcpy(to, s);
	return 0;
}

static int read_header(struct ki_recording *r, struct ki_rest rest)
{
	const struct file_header *h = ki_rest_take(&rest, sizeof(*h));
	struct ki_record_origin *o = &r->origin;

	if (!h || r->state.good)
		return -EBADMSG;
	if (h->format != FORMAT)
		return -EPROTONOSUPPORT;
	o->cpus = h->cpus;
	o->tsc_khz = h->tsc_khz;
	o->tsc = h->tsc;
	o->time = h->time;
	r->state.end = o->tsc;
	if (copy_string(&rest, o->kernel, sizeof(o->kernel)) ||
	    copy_string(&rest, o->build, sizeof(o->build)) ||
	    copy_string(&rest, o->boot, sizeof(o->boot)) ||
	    copy_string(&rest, o->host, sizeof(o->host)))
		return -EBADMSG;
	return copy_string(&rest, o->command, sizeof(o->command));
}

static int read_fields(struct ki_rest *rest, const struct file_field *from, unsigned int n,
		       struct ki_record_field *to)
{
	for (unsigned int i = 0; i < n; i++) {
		to[i] = (struct ki_record_field){
			.name = ki_rest_string(rest), .type = from[i].type, .show = from[i].show};
		if (to[i].name)
			to[i].unit = ki_rest_string(rest);
		if (!to[i].unit || to[i].type >= KI_TYPES || to[i].show >= KI_SHOWS)
			return -EBADMSG;
	}
	return 0;
}

static int read_instrument(struct ki_recording *r, struct ki_rest rest)
{
	const struct file_instrument *h = ki_rest_take(&rest, sizeof(*h));
	struct ki_instrument in;
	const struct file_field *from;
	struct ki_record_field *fields;
	int ret = -EBADMSG;

	if (!h || h->nfields > KI_RECORD_WORDS ||
	    (r->instruments.n && h->id <= r->instruments.v[r->instruments.n - 1].id))
		return -EBADMSG;
	from = ki_rest_take(&rest, h->nfields * sizeof(*from));
	in = (struct ki_instrument){
		.id = h->id, .nfields = h->nfields, .addr = h->addr, .on = h->on, .off = h->off};
	in.name = from ? ki_rest_string(&rest) : NULL;
	in.point = in.name ? ki_rest_string(&rest) : NULL;
	if (!in.point)
		return -EBADMSG;
	fields = calloc(h->nfields + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	in.fields = fields;
	ret = read_fields(&rest, from, in.nfields, fields);
	if (!ret)
		ret = ki_vec_push(&r->instruments, in);
	if (ret)
		free(fields);
	return ret;
}

static int read_symbols(struct ki_recording *r, struct ki_rest rest)
{
	while (rest.at < rest.end) {
		const struct file_symbol *s = ki_rest_take(&rest, sizeof(*s));
		struct known_symbol k;

		if (!s)
			return -EBADMSG;
		k = (struct known_symbol){s->addr, s->size, ki_rest_string(&rest)};
		if (!k.name)
			return -EBADMSG;
		if (ki_vec_push(&r->symbols, k))
			return -ENOMEM;
		ki_rest_align(&rest);
	}
	return 0;
}

static int read_record(struct ki_recording *r, const struct file_record *f, struct ki_rest *rest)
{
	const struct ki_instrument *in = ki_recording_instrument(r, f->id);
	struct ki_sort_item item = {f->tsc, (uint64_t)((const char *)f - r->bytes)};

	if (!in || f->words != in->nfields || !ki_rest_take(rest, f->words * sizeof(uint64_t)))
		return -EBADMSG;
	if (r->records.n && item.key < r->records.v[r->records.n - 1].key)
		r->in_order = false;
	r->state.end = f->tsc > r->state.end ? f->tsc : r->state.end;
	return ki_vec_push(&r->records, item);
}

/* All of a chunk or nothing: its checksum was good, so it is all or nothing that is wrong. */
static int read_records(struct ki_recording *r, struct ki_rest rest)
{
	size_t before = r->records.n;
	int ret = 0;

	while (!ret && rest.at < rest.end) {
		const struct file_record *f = ki_rest_take(&rest, sizeof(*f));

		ret = f ? read_record(r, f, &rest) : -EBADMSG;
	}
	if (ret)
		r->records.n = before;
	return ret;
}

static int read_event(struct ki_recording *r, struct ki_rest rest)
{
	const struct file_event *e = ki_rest_take(&rest, sizeof(*e));

	if (!e || e->kind >= KI_EVENTS || !ki_recording_instrument(r, e->id))
		return -EBADMSG;
	r->state.end = e->tsc > r->state.end ? e->tsc : r->state.end;
	return ki_vec_push(&r->events, (struct ki_record_event){e->id, e->kind, e->tsc, e->value});
}

static int read_stacks(struct ki_recording *r, struct ki_rest rest)
{
	return ki_known_stacks_read(&r->stacks, rest.at, rest.end);
}

static int read_users(struct ki_recording *r, struct ki_rest rest)
{
	return ki_known_users_read(&r->stacks, rest.at, rest.end);
}

static int read_functions(struct ki_recording *r, struct ki_rest rest)
{
	return ki_known_functions_read(&r->code, rest);
}

static int read_modules(struct ki_recording *r, struct ki_rest rest)
{
	return ki_known_modules_read(&r->code, rest);
}

static int read_lost(struct ki_recording *r, struct ki_rest rest)
{
	const struct file_lost *l = ki_rest_take(&rest, sizeof(*l));

	if (!l)
		return -EBADMSG;
	r->state.lost = l->lost;
	return 0;
}

static int read_end(struct ki_recording *r, struct ki_rest rest)
{
	const struct file_end *e = ki_rest_take(&rest, sizeof(*e));

	if (!e || e->records != r->records.n)
		return -EBADMSG;
	r->state.lost = e->lost;
	r->state.end = e->tsc;
	r->ended = true;
	return 0;
}

static reader *const readers[] = {
	[CHUNK_HEADER] = read_header,	[CHUNK_INSTRUMENT] = read_instrument,
	[CHUNK_SYMBOLS] = read_symbols, [CHUNK_RECORDS] = read_records,
	[CHUNK_EVENT] = read_event,	[CHUNK_LOST] = read_lost,
	[CHUNK_END] = read_end,		[CHUNK_STACKS] = read_stacks,
	[CHUNK_USERS] = read_users,	[CHUNK_FUNCTIONS] = read_functions,
	[CHUNK_MODULES] = read_modules,
};

#define NREADERS (sizeof(readers) / sizeof(*readers))

/* The next chunk, if it is whole. */
static const struct chunk *next_chunk(const struct ki_recording *r, uint32_t number)
{
	const struct chunk *c = (const void *)(r->bytes + r->state.good);
	size_t left = r->size - r->state.good;

	if (left < sizeof(*c) || c->magic != CHUNK_MAGIC || c->number != number ||
	    c->length > CHUNK_MOST || c->length % 8 || c->length > left - sizeof(*c))
		return NULL;
	return ki_chunk_check(c, c + 1) == c->check ? c : NULL;
}

/* Chunks of types that are not known are passed over: a later version may have more to say. */
static int read_chunk(struct ki_recording *r, const struct chunk *c)
{
	const char *payload = (const char *)(c + 1);
	const struct ki_rest rest = {payload, payload + c->length};
	int ret = 0;

	if (!c->number && c->type != CHUNK_HEADER)
		return -EBADMSG;
	if (c->type < NREADERS && readers[c->type])
		ret = readers[c->type](r, rest);
	if (!ret)
		r->state.good += sizeof(*c) + c->length;
	return ret;
}

static int read_all(struct ki_recording *r)
{
	const struct chunk *c;
	int ret = 0;

	for (uint32_t number = 0; !ret && !r->ended; number++) {
		c = next_chunk(r, number);
		if (!c)
			break;
		ret = read_chunk(r, c);
	}
	if (!r->state.good)
		return ret ? ret : -EBADMSG;
	r->state.cut = !r->ended || r->state.good != r->size;
	r->state.records = r->records.n;
	return ret == -EBADMSG ? 0 : ret;
}

static int by_address(const void *a, const void *b)
{
	const struct known_symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int explain(int ret, const char *name, struct ki_err *err)
{
	if (ret == -EBADMSG)
		return ki_err_set(err, ret, 0, "%s: this is no recording of kerninst record", name);
	if (ret == -EPROTONOSUPPORT)
		return ki_err_set(err, ret, 0, "%s: a recording of another version of kerninst",
				  name);
	return ret ? ki_err_set(err, ret, 0, "%s: %s", name, strerror(-ret)) : 0;
}

int ki_recording_of(const void *bytes, size_t size, const char *name, struct ki_recording **out,
		    struct ki_err *err)
{
	struct ki_recording *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!r)
		return ki_err_set(err, -ENOMEM, 0, "%s: out of memory", name);
	r->bytes = bytes;
	r->size = size;
	r->in_order = true;
	ret = read_all(r);
	if (!ret && !r->in_order)
		ret = ki_sort(r->records.v, r->records.n);
	if (ret) {
		ki_recording_free(r);
		return explain(ret, name, err);
	}
	if (r->symbols.n)
		qsort(r->symbols.v, r->symbols.n, sizeof(*r->symbols.v), by_address);
	ki_known_stacks_sort(&r->stacks);
	*out = r;
	return 0;
}

/* An empty file cannot be mapped, and is no recording. */
static int map_file(const char *path, void **bytes, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = fd < 0 ? -errno : 0;

	if (!ret && fstat(fd, &st))
		ret = -errno;
	if (!ret && (!S_ISREG(st.st_mode) || !st.st_size))
		ret = S_ISDIR(st.st_mode) ? -EISDIR : -EBADMSG;
	if (!ret) {
		*size = (size_t)st.st_size;
		*bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (*bytes == MAP_FAILED)
			ret = -errno;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

int ki_recording_new(const char *path, struct ki_recording **out, struct ki_err *err)
{
	void *bytes;
	size_t size;
	int ret = map_file(path, &bytes, &size);

	*out = NULL;
	if (ret)
		return explain(ret, path, err);
	ret = ki_recording_of(bytes, size, path, out, err);
	if (ret)
		munmap(bytes, size);
	else
		(*out)->mapped = true;
	return ret;
}

void ki_recording_free(struct ki_recording *r)
{
	union {
		const char *from;
		void *to;
	} bytes;

	if (!r)
		return;
	bytes.from = r->bytes;
	if (r->mapped)
		munmap(bytes.to, r->size);
	for (size_t i = 0; i < r->instruments.n; i++) {
		union {
			const struct ki_record_field *from;
			void *to;
		} fields = {r->instruments.v[i].fields};

		free(fields.to);
	}
	ki_vec_free(&r->instruments);
	ki_vec_free(&r->events);
	ki_vec_free(&r->records);
	ki_vec_free(&r->symbols);
	ki_known_stacks_free(&r->stacks);
	ki_known_code_free(&r->code);
	free(r);
}

const struct ki_record_origin *ki_recording_origin(const struct ki_recording *r)
{
	return &r->origin;
}

const struct ki_recording_state *ki_recording_state(const struct ki_recording *r)
{
	return &r->state;
}

const struct ki_instrument *ki_recording_instruments(const struct ki_recording *r, size_t *n)
{
	*n = r->instruments.n;
	return r->instruments.v;
}

const struct ki_instrument *ki_recording_instrument(const struct ki_recording *r, uint32_t id)
{
	size_t low = 0, high = r->instruments.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->instruments.v[mid].id == id)
			return &r->instruments.v[mid];
		if (r->instruments.v[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct ki_record_event *ki_recording_events(const struct ki_recording *r, size_t *n)
{
	*n = r->events.n;
	return r->events.v;
}

const struct ki_record_function *ki_recording_functions(const struct ki_recording *r, size_t *n)
{
	*n = r->code.functions.n;
	return r->code.functions.v;
}

const struct ki_record_module *ki_recording_modules(const struct ki_recording *r, size_t *n)
{
	*n = r->code.modules.n;
	return r->code.modules.v;
}

const char *ki_recording_symbol(const struct ki_recording *r, uint64_t addr, uint64_t *offset)
{
	size_t low = 0, high = r->symbols.n;
	const struct known_symbol *s;

	while (low < high) { /* the first that begins after it */
		size_t mid = (low + high) / 2;

		if (r->symbols.v[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	s = low ? &r->symbols.v[low - 1] : NULL;
	if (!s || addr - s->addr >= s->size)
		return NULL;
	*offset = addr - s->addr;
	return s->name;
}

int ki_recording_stack(const struct ki_recording *r, uint64_t number, struct ki_stack *out)
{
	return ki_known_stack(&r->stacks, number, out);
}

int ki_recording_frame(const struct ki_recording *r, const struct ki_stack *s, uint32_t i,
		       struct ki_user_frame *out)
{
	const char *symbol;

	*out = (struct ki_user_frame){.symbol = "", .path = "", .build = ""};
	if (s->tgid)
		return ki_known_user(&r->stacks, s, i, out);
	symbol = ki_recording_symbol(r, ki_frame_place(s, i), &out->offset);
	if (!symbol)
		return -ENOENT;
	out->symbol = symbol;
	out->offset += i > 0;
	return 0;
}

int ki_recording_each(struct ki_recording *r, ki_record_each *each, void *arg)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < r->records.n; i++) {
		const struct file_record *f = (const void *)(r->bytes + r->records.v[i].value);
		const struct ki_record rec = {.id = f->id, .words = f->words, .tsc = f->tsc};

		ret = each(arg, &rec, (const uint64_t *)(f + 1), f->cpu);
	}
	return ret;
}
