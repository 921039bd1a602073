/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Restartable sequences of a process: code that the kernel lets begin again, at another place, if
 * its thread was preempted or got a signal in the middle of it (rseq(2)). The kernel knows them by
 * their addresses, so a copy of them would not begin again: they stay as they are.
 *
 * Who makes one describes it in the section __rseq_cs (struct rseq_cs of linux/rseq.h, 32 bytes
 * each), whose addresses the loader has adapted; so they are read from the process. Where the
 * kernel goes on instead, four bytes of a signature stand before an instruction; it looks at both.
 */
#include "target/process.h"

#include <string.h>

#include "target/elf.h"

#define SECTION	  "__rseq_cs"
#define SIGNATURE 4
#define MOST	  (1 << 20) /* bytes of a section */

struct described {
	uint32_t version, flags;
	uint64_t start, len, abort;
};

int ki_process_note_rseq(struct ki_process *p, const struct ki_elf *e, uint64_t bias)
{
	for (uint32_t i = 0; i < e->nsh; i++) {
		const struct ki_process_area a = {e->sh[i].sh_addr + bias, e->sh[i].sh_size};

		if ((e->sh[i].sh_flags & SHF_ALLOC) && a.len <= MOST &&
		    !strcmp(ki_elf_name(e, i), SECTION) && ki_vec_push(&p->rseq, a))
			return -ENOMEM;
	}
	return 0;
}

static int add(struct ki_rows *rows, size_t *room, const struct ki_reserved_row *row)
{
	if (rows->n == *room) {
		struct ki_reserved_row *v = realloc(rows->v, (2 * *room + 16) * sizeof(*v));

		if (!v)
			return -ENOMEM;
		rows->v = v;
		*room = 2 * *room + 16;
	}
	rows->v[rows->n++] = *row;
	return 0;
}

static int add_sequence(struct ki_rows *rows, size_t *room, uint64_t addr, uint64_t len)
{
	return add(rows, room,
		   &(struct ki_reserved_row){
			   .addr = addr, .len = (uint32_t)len, .reason = KI_R_RESTARTABLE});
}

/* Goroutines return to the byte after the beginning of runtime.goexit; calls are longer. */
static int add_exit(struct ki_rows *rows, size_t *room, uint64_t addr)
{
	return add(rows, room,
		   &(struct ki_reserved_row){.addr = addr, .len = 2, .reason = KI_R_GO_RESUMED});
}

static int add_described(struct ki_rows *rows, size_t *room, const struct described *d)
{
	int ret = 0;

	if (d->version || !d->start || d->len > INT32_MAX)
		return 0;
	ret = add_sequence(rows, room, d->start, d->len);
	return ret ? ret : add_sequence(rows, room, d->abort - SIGNATURE, SIGNATURE + 1);
}

int ki_process_reserved(struct ki_target *t, struct ki_rows *rows, struct ki_err *err)
{
	const struct ki_process *p = t->own;
	size_t room = 0;
	int ret = 0;

	rows->n = 0;
	for (size_t i = 0; i < p->rseq.n; i++)
		for (uint64_t at = 0; !ret && at + sizeof(struct described) <= p->rseq.v[i].len;
		     at += sizeof(struct described)) {
			struct described d;

			if (!ki_process_peek(p->mem, p->rseq.v[i].addr + at, &d, sizeof(d)))
				ret = add_described(rows, &room, &d);
		}
	if (!ret && p->vdso.len)
		ret = add(rows, &room,
			  &(struct ki_reserved_row){.addr = p->vdso.addr,
						    .len = (uint32_t)p->vdso.len,
						    .reason = KI_R_PROCESS_TEXT});
	for (size_t i = 0; !ret && i < p->go_exits.n; i++)
		ret = add_exit(rows, &room, p->go_exits.v[i]);
	return ret ? ki_err_set(err, ret, 0, "out of memory for the reserved text") : 0;
}
