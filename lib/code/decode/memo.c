/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code repeats itself: the 2.7 million instructions of a kernel begin with some 35,000 different
 * heads (prefixes, opcode, ModRM, SIB), and all that is told of an instruction follows from its
 * head, but for its address and displacement, and the count of a shift. So a record is kept for
 * each head, in a hash table whose key is the head itself.
 *
 * Where a head ends is found with a table of the opcodes' forms, which is a guess made from a
 * few decoded samples. Nothing wrong can come of a wrong guess. A record is only made when the
 * decoder agrees with the guessed length, and a decoder that reads byte after byte does the same
 * with any two inputs that begin with the same head. No head begins with another one, since
 * the guess, too, reads byte after byte; so heads that are filled up with zeros to eight bytes
 * are different keys. Near the end of the bytes zeros are put after them to find the head; a
 * record serves if all of its instruction is there.
 *
 * All else is decoded anew each time: what is no instruction, longer heads, and everything new once
 * the table is full (random bytes must not eat memory).
 */
#include "code/decode/memo.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INSN    15
#define MAX_HEAD    8
#define FIRST_SLOTS 8192
#define MAX_SLOTS   (128u * 1024)
#define MAX_RECORDS (MAX_SLOTS / 2)

/* Half a cache line. */
struct record {
	uint64_t key;
	ki_regset use, def;
	uint16_t reason;
	uint8_t len; /* 0: nothing here */
	uint8_t kind, flags, field, traits;
	uint8_t count_mask;
};

struct ki_memo {
	struct record *slots;
	uint32_t nslots, nrecords;
	unsigned int shift; /* 64 - log2(nslots) */
};

/* What an opcode byte of one of the first two maps begins. */
enum form {
	FORM_SLOW, /* not known */
	FORM_PLAIN,
	FORM_MODRM,
	FORM_PREFIX,
	FORM_0F,
	FORM_MAP,  /* another opcode byte, always with a ModRM */
	FORM_VEX2, /* a prefix of 2, 3, 4 bytes and an opcode */
	FORM_VEX3,
	FORM_EVEX,
};

static uint8_t forms[2][256]; /* of one opcode byte, and after 0F */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	uint8_t map, byte, form;
} fixed_forms[] = {
	{0, 0x26, FORM_PREFIX}, {0, 0x2e, FORM_PREFIX}, {0, 0x36, FORM_PREFIX},
	{0, 0x3e, FORM_PREFIX}, {0, 0x64, FORM_PREFIX}, {0, 0x65, FORM_PREFIX},
	{0, 0x66, FORM_PREFIX}, {0, 0x67, FORM_PREFIX}, {0, 0xf0, FORM_PREFIX},
	{0, 0xf2, FORM_PREFIX}, {0, 0xf3, FORM_PREFIX}, {0, 0x0f, FORM_0F},
	{0, 0xc5, FORM_VEX2},	{0, 0xc4, FORM_VEX3},	{0, 0x62, FORM_EVEX},
	{0, 0x8f, FORM_SLOW},						      /* pop, or XOP */
	{1, 0x38, FORM_MAP},	{1, 0x3a, FORM_MAP},	{1, 0x0f, FORM_SLOW}, /* 3DNow */
};

/* The form of an opcode, by decoding it with each mandatory prefix, its operand in memory and
   in a register. The bytes after are a ModRM only if they must be. Numbers are not 0: of a shift
   by 0 no head is told. */
static uint8_t guess_form(unsigned int map, uint8_t opcode)
{
	static const uint8_t prefixes[] = {0x2e, 0x66, 0xf3, 0xf2};
	static const uint8_t modrms[] = {0x00, 0xc0, 0xfa};
	uint8_t bytes[MAX_INSN];
	struct ki_decoded d;
	struct ki_head head;

	memset(bytes, 1, sizeof(bytes));
	for (unsigned int i = 0; i < sizeof(prefixes) * sizeof(modrms); i++) {
		unsigned int n = 0;

		bytes[n++] = prefixes[i / sizeof(modrms)];
		if (map == 1)
			bytes[n++] = 0x0f;
		bytes[n++] = opcode;
		bytes[n] = modrms[i % sizeof(modrms)];
		ki_decode_head(bytes, sizeof(bytes), 0, &d, &head);
		if (d.in.kind != KI_INSN_BAD && head.len)
			return head.len > n ? FORM_MODRM : FORM_PLAIN;
	}
	return FORM_SLOW;
}

static void init(void)
{
	for (unsigned int map = 0; map < 2; map++)
		for (unsigned int byte = 0; byte < 256; byte++)
			forms[map][byte] = guess_form(map, (uint8_t)byte);
	for (unsigned int byte = 0x40; byte < 0x50; byte++)
		forms[0][byte] = FORM_PREFIX;
	for (size_t i = 0; i < sizeof(fixed_forms) / sizeof(*fixed_forms); i++)
		forms[fixed_forms[i].map][fixed_forms[i].byte] = fixed_forms[i].form;
}

/* The form of the opcode that p[*n] .. begins, with *n moved after the last byte of it. */
static inline uint8_t opcode_form(const uint8_t *p, unsigned int *n)
{
	uint8_t form = forms[0][p[*n]], map;

	while (form == FORM_PREFIX && *n < MAX_HEAD)
		form = forms[0][p[++*n]];
	(*n)++;
	if (form == FORM_0F) {
		form = forms[1][p[(*n)++]];
		if (form != FORM_MAP)
			return form;
		(*n)++;
		return FORM_MODRM;
	}
	if (form < FORM_VEX2)
		return form;
	map = form == FORM_VEX2 ? 1 : p[*n] & (form == FORM_VEX3 ? 0x1f : 7);
	*n += form - FORM_VEX2 + 2;
	return map == 1 ? forms[1][p[*n - 1]] : FORM_MODRM;
}

/* The head's length and the head itself; 0: not known. MAX_INSN bytes can be read. */
static inline unsigned int head_of(const uint8_t *p, uint64_t *key)
{
	unsigned int n = 0;
	uint8_t form = opcode_form(p, &n);

	if (form == FORM_MODRM) {
		uint8_t modrm = p[n++];

		n += (modrm & 7) == 4 && modrm < 0xc0;
	} else if (form != FORM_PLAIN) {
		return 0;
	}
	if (n > MAX_HEAD)
		return 0;
	memcpy(key, p, sizeof(*key));
	*key &= ~0ull >> (64 - 8 * n);
	return n;
}

/* Where the record of key is, or belongs. */
static inline struct record *find(const struct ki_memo *m, uint64_t key)
{
	uint32_t i = (uint32_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15 >> m->shift);

	while (m->slots[i].len && m->slots[i].key != key)
		i = (i + 1) & (m->nslots - 1);
	return &m->slots[i];
}

static int grow(struct ki_memo *m, uint32_t nslots)
{
	struct record *old = m->slots, *slots = calloc(nslots, sizeof(*slots));
	uint32_t n = m->nslots;

	if (!slots)
		return -ENOMEM;
	m->slots = slots;
	m->nslots = nslots;
	m->shift = 64 - (unsigned int)__builtin_ctz(nslots);
	for (uint32_t i = 0; i < n; i++)
		if (old[i].len)
			*find(m, old[i].key) = old[i];
	free(old);
	return 0;
}

/* Room for one record more? Where memory is short, the table may become three quarters full. */
static bool has_room(struct ki_memo *m)
{
	if (m->nrecords < m->nslots / 2)
		return true;
	if (m->nslots < MAX_SLOTS && !grow(m, m->nslots * 2))
		return true;
	return m->nslots < MAX_SLOTS && m->nrecords < m->nslots / 4 * 3;
}

static void remember(struct ki_memo *m, uint64_t key, const struct ki_head *head,
		     const struct ki_decoded *d)
{
	struct record *r;

	if (!has_room(m))
		return;
	r = find(m, key);
	*r = (struct record){
		.key = key,
		.use = d->use,
		.def = d->def,
		/* A call's depends on where it leads: ki_decode_place. */
		.reason = d->in.kind == KI_INSN_CALL && d->in.reason == KI_R_STACK_CALL
				  ? KI_R_OK
				  : d->in.reason,
		.len = d->in.len,
		.kind = d->in.kind,
		.flags = d->in.flags,
		.field = d->in.field,
		.traits = d->traits,
		.count_mask = head->count_mask,
	};
	m->nrecords++;
}

static inline void recall(const struct record *r, const uint8_t *p, uint64_t addr,
			  struct ki_decoded *out)
{
	out->use = r->use;
	out->def = r->def;
	out->traits = r->traits;
	out->in.target = 0;
	out->in.len = r->len;
	out->in.kind = r->kind;
	out->in.flags = r->flags;
	out->in.block_start = 0;
	out->in.reason = r->reason;
	out->in.field = r->field;
	out->in.tail = r->flags & KI_INSN_RIP ? (uint8_t)(r->len - r->field - 4) : 0;
	ki_decode_place(p, addr, &out->in);
}

int ki_memo_new(struct ki_memo **out)
{
	struct ki_memo *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (!m || grow(m, FIRST_SLOTS)) {
		free(m);
		return -ENOMEM;
	}
	pthread_once(&once, init);
	*out = m;
	return 0;
}

void ki_memo_free(struct ki_memo *m)
{
	if (!m)
		return;
	free(m->slots);
	free(m);
}

static inline bool serves(const struct record *r, const uint8_t *p)
{
	return r->len && (!r->count_mask || p[r->len - 1] & r->count_mask);
}

/* What has no record yet, or none that serves. n: the head's length, as far as it is known. */
__attribute__((noinline)) static void decode_anew(struct ki_memo *m, const uint8_t *p, size_t avail,
						  uint64_t addr, struct ki_decoded *out,
						  unsigned int n, uint64_t key)
{
	struct ki_head head;

	if (!n) {
		ki_decode(p, avail, addr, out);
		return;
	}
	ki_decode_head(p, avail, addr, out, &head);
	if (head.len == n && !find(m, key)->len)
		remember(m, key, &head, out);
}

/* Near the end of the bytes. */
__attribute__((noinline)) static void decode_last(struct ki_memo *m, const uint8_t *p, size_t avail,
						  uint64_t addr, struct ki_decoded *out)
{
	uint8_t last[MAX_INSN] = {0};
	struct ki_decoded d;

	memcpy(last, p, avail);
	ki_memo_decode(m, last, sizeof(last), addr, &d);
	if (d.in.len <= avail)
		*out = d;
	else
		ki_decode(p, avail, addr, out);
}

void ki_memo_decode(struct ki_memo *m, const uint8_t *p, size_t avail, uint64_t addr,
		    struct ki_decoded *out)
{
	const struct record *r;
	unsigned int n;
	uint64_t key = 0;

	if (avail < MAX_INSN) {
		decode_last(m, p, avail, addr, out);
		return;
	}
	n = head_of(p, &key);
	r = n ? find(m, key) : NULL;
	if (r && serves(r, p))
		recall(r, p, addr, out);
	else
		decode_anew(m, p, avail, addr, out, n, key);
}
