/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as a recording. Checksums are made good first, or nothing after them would
 * ever be reached; the last byte of the input says whether.
 */
#include <stdlib.h>
#include <string.h>

#include "record/format.h"
#include "record/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void mend(char *bytes, size_t size)
{
	uint32_t number = 0;

	for (size_t at = 0; at + sizeof(struct chunk) <= size; number++) {
		struct chunk *c = (void *)(bytes + at);

		at += sizeof(*c);
		c->magic = CHUNK_MAGIC;
		c->number = number;
		c->length &= ~7u;
		if (c->length > size - at)
			c->length = (uint32_t)(size - at) & ~7u;
		c->check = ki_chunk_check(c, bytes + at);
		at += c->length;
	}
}

struct seen {
	struct ki_recording *r;
	uint64_t n, tsc;
};

static int see(void *arg, const struct ki_record *rec, const uint64_t *values, unsigned int cpu)
{
	struct seen *s = arg;
	const struct ki_instrument *in = ki_recording_instrument(s->r, rec->id);
	uint64_t sum = cpu, offset;

	check(in && in->nfields == rec->words && rec->tsc >= s->tsc);
	for (unsigned int i = 0; i < in->nfields; i++) {
		const char *name = ki_recording_symbol(s->r, values[i], &offset);

		sum += values[i] + strlen(in->fields[i].name) + (name ? strlen(name) : 0);
	}
	s->tsc = rec->tsc;
	s->n++;
	return sum == 1 ? 0 : 0;
}

/* Strings end inside of the file. */
static void look_at_code(const struct ki_recording *r, size_t size)
{
	size_t n, len = 0;
	const struct ki_record_function *fn = ki_recording_functions(r, &n);
	const struct ki_record_module *m;

	for (size_t i = 0; i < n; i++)
		len += strlen(fn[i].name) + strlen(fn[i].module);
	m = ki_recording_modules(r, &n);
	for (size_t i = 0; i < n; i++)
		len += strlen(m[i].name) + strlen(m[i].build);
	check(len < size);
}

static void look(struct ki_recording *r, size_t size)
{
	const struct ki_recording_state *state = ki_recording_state(r);
	struct seen s = {.r = r};
	const struct ki_record_event *e;
	size_t n;

	check(state->good && state->good <= size);
	e = ki_recording_events(r, &n);
	for (size_t i = 0; i < n; i++)
		check(ki_recording_instrument(r, e[i].id) != NULL);
	look_at_code(r, size);
	check(!ki_recording_each(r, see, &s));
	check(s.n == state->records);
	ki_recording_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ki_recording *r;
	char *bytes = malloc(size + 1);
	int ret;

	check(bytes != NULL);
	if (size)
		memcpy(bytes, data, size);
	if (size && data[size - 1] & 1)
		mend(bytes, size);
	ret = ki_recording_of(bytes, size, "input", &r, NULL);
	check(!ret == !!r);
	if (r)
		look(r, size);
	free(bytes);
	return 0;
}
