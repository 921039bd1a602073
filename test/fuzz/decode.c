/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as instructions. The decoder with memory tells the same as the one
 * without, looks at no byte that is not there, and what it tells makes sense and has a text.
 *
 * The first byte says how many bytes may be looked at; the rest is decoded from each of its
 * first bytes on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"
#include "code/decode/memo.h"

#define LONGEST 15
#define BEGINS	64
#define ADDR	0xffffffff81000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* Lives as long as the process, so that what it remembers comes from other inputs. */
static struct ki_memo *memo(void)
{
	static struct ki_memo *m;

	if (!m)
		check(!ki_memo_new(&m));
	return m;
}

static void check_same(const struct ki_decoded *x, const struct ki_decoded *y)
{
	check(x->in.addr == y->in.addr && x->in.target == y->in.target);
	check(x->in.len == y->in.len && x->in.kind == y->in.kind && x->in.flags == y->in.flags);
	check(x->in.reason == y->in.reason && x->in.block_start == y->in.block_start);
	check(x->in.field == y->in.field && x->in.tail == y->in.tail);
	check(x->use == y->use && x->def == y->def && x->traits == y->traits);
}

static void check_sense(const struct ki_decoded *d, size_t avail)
{
	check(d->in.len >= 1 && d->in.len <= LONGEST && d->in.len <= avail);
	check(d->in.kind <= KI_INSN_BAD && d->in.kind != KI_INSN_PAD);
	check(d->in.kind != KI_INSN_BAD || d->in.len == 1);
	check(d->in.reason < KI_R_COUNT);
	check(!((d->use | d->def) & ~KI_REGSET_ALL));
	check(!d->in.field || d->in.field < d->in.len);
	check(!d->in.tail || d->in.flags & KI_INSN_RIP);
	if (d->in.flags & KI_INSN_RIP)
		check(d->in.field + 4u + d->in.tail == d->in.len);
}

/* The most that a text of a set can have, and less room than it needs. */
static void check_set(ki_regset set)
{
	char whole[2048], cut[2048];
	size_t len;

	ki_regset_format(set, whole, sizeof(whole));
	len = strlen(whole);
	check(len && len + 1 < sizeof(whole));
	for (size_t room = 0; room <= len + 1; room += 1 + room / 4) {
		memset(cut, '#', sizeof(cut));
		check(ki_regset_format(set, cut, room) == cut);
		check(cut[room] == '#');
		if (room)
			check(!strncmp(cut, whole, room - 1) && strlen(cut) < room);
	}
}

static bool name(const void *ctx, uint64_t addr, char *buf, size_t len)
{
	check(len > 0);
	if (addr & 1)
		return false;
	snprintf(buf, len, "%s", (const char *)ctx);
	return true;
}

static void check_text(const uint8_t *p, size_t avail, const struct ki_decoded *d)
{
	static const char *const names[] = {"f", "a_name_of_a_function_that_takes_much_room_"
						 "a_name_of_a_function_that_takes_much_room_"
						 "a_name_of_a_function_that_takes_much_room_"
						 "a_name_of_a_function_that_takes_much_room_"
						 "a_name_of_a_function_that_takes_much_room_"
						 "a_name_of_a_function_that_takes_much_room_"
						 "a_name_of_a_function_that_takes_much_room"};

	for (unsigned int i = 0; i < 2; i++) {
		char text[KI_DECODE_TEXT];
		int ret = ki_decode_text(p, avail, d->in.addr,
					 i & 1 ? KI_SYNTAX_ATT : KI_SYNTAX_INTEL,
					 &(struct ki_namer){name, names[*p & 1]}, text);

		check(ret == (d->in.kind == KI_INSN_BAD ? -EILSEQ : 0));
		check(ret || (*text && memchr(text, 0, sizeof(text))));
	}
}

/* What is not to be read is not there: the sanitizer sees each byte too much. */
static void decode_copy(const uint8_t *data, size_t avail, uint64_t addr)
{
	uint8_t *p = malloc(avail);
	struct ki_decoded slow, fast, again;
	struct ki_head head;

	check(p != NULL);
	memcpy(p, data, avail);
	memset(&fast, 0xff, sizeof(fast));
	ki_decode(p, avail, addr, &slow);
	ki_memo_decode(memo(), p, avail, addr, &fast);
	check_same(&slow, &fast);
	ki_memo_decode(memo(), p, avail, addr, &again);
	check_same(&slow, &again);
	ki_decode_head(p, avail, addr, &again, &head);
	check_same(&slow, &again);
	check_sense(&slow, avail);
	check(ki_decode_len(p, avail) == slow.in.len);
	check_text(p, avail, &slow);
	check_set(slow.use);
	check_set(slow.def);
	free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t most;

	if (size < 2)
		return 0;
	most = 1 + data[0] % 32;
	for (size_t i = 1; i < size && i <= BEGINS; i++)
		decode_copy(data + i, size - i < most ? size - i : most, ADDR + i);
	if (size >= 9) {
		ki_regset set;

		memcpy(&set, data + 1, sizeof(set));
		check_set(set & KI_REGSET_ALL);
	}
	return 0;
}
