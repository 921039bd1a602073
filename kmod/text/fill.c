// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filled springboards: no task is waited for.
 *
 * A springboard that covers more than one instruction has places inside at which a task may have
 * been preempted. The driver need not wait until it has left (text.c, step 3). Its patch is put
 * where the bytes of the jump's displacement trap at all of these places. A late task then comes,
 * however late, into its own instruction's place in the patch, before the chunks that stand before
 * that instruction. Each of these places is a swap of its own, of one byte. It is an int3 from
 * step 2 on, and its byte of the displacement from step 5 on. When the springboard goes it is an
 * int3 again until step 5, when the original stands there again. So there is no moment at which it
 * does not trap. The table (trap.c) knows the place from before the first to after the last of
 * them.
 *
 * What traps: int3, and bytes that no instruction may begin with in 64-bit mode, which raise an
 * invalid opcode. Only the latter are near enough to each other: the third byte of a distance
 * takes 65 values in a heap of 4 MiB, and one of them must be among the bytes. (With int3 alone a
 * quarter of the windows with a place there found room, with these all do.) Three kinds of bytes
 * are left out. Some begin an instruction on some processor (62, c4, c5, d5). QEMU 10 executes
 * others all the same (ce, d4). Later kernels use the last for warnings of their own (d6, ea). The
 * fourth byte says how far away the heap is, in steps of 16 MiB; whether it traps is the boot's
 * choice.
 *
 * An invalid opcode is no problem where an int3 would be none: late tasks come from a preemption
 * or from below an interrupt that let others in, so never with interrupts off, and never in an NMI.
 * A CPU that is inside with interrupts off is waited for by the round of interrupts after step 2.
 *
 * In detail:
 *
 *   - A task that is inside stays there as long as it likes. When the patch is built anew, it may
 *     still be there: so the next must be filled too, or it is waited for after all; unless a
 *     wait that has begun after the installation has ended meanwhile (ki_quiesced).
 *   - When the springboard goes it may run the original, which stands there again. An exception
 *     that was raised before is handled before the table changes. It is handled with interrupts
 *     off, and every change is followed by a round of interrupts. It then is in a patch that is
 *     retired after that, and given back after a wait.
 *   - Filling takes a place somewhere in the heap and leaves gaps. It is done only for small
 *     requests, and if it spares their wait: if all their windows that must wait can be filled.
 */
#include <linux/kernel.h>

#include "ki.h"

#define KI_FILL_MAX 16 /* changes of one request */

static const u8 ki_trapping[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27,
				 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x82, 0x9a, 0xcc};

static u32 ki_filled;

/* The next one from b on; after the last the first, of the next round. */
static u64 next_trapping(u64 b)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ki_trapping); i++)
		if (ki_trapping[i] >= b)
			return ki_trapping[i];
	return 0x100 + ki_trapping[0];
}

u64 ki_fill_distance(u64 d, u8 inner)
{
	u64 from;
	int k;

	do {
		from = d;
		for (k = KI_FILL; k--;) {
			u64 high = d >> (8 * k), byte = high & 0xff;

			if ((inner >> k & 1) && next_trapping(byte) != byte)
				d = (high - byte + next_trapping(byte)) << (8 * k);
		}
	} while (d != from);
	return d;
}

static bool fillable(const struct ki_group *g)
{
	return g->n == 1 && g->v[0]->boarded && g->v[0]->board == KI_BOARD_JMP && g->v[0]->wait &&
	       !g->v[0]->calls;
}

/* Would a new window make the request wait? (change.c: what becomes of it) */
static bool waits(const struct ki_win *w)
{
	bool in_host = w->board == KI_BOARD_BOUNCE && !w->bounce.filler;

	return w->boarded && (w->wait || in_host);
}

void ki_fill_decide(struct ki_change *changes, u32 n)
{
	bool fill = n <= KI_FILL_MAX;
	u32 i, k;

	lockdep_assert_held(&ki_lock);
	for (i = 0; fill && i < n; i++) {
		const struct ki_group *g = changes[i].group;

		for (k = 0; g->fresh && k < g->n; k++)
			fill &= !waits(g->v[k]) || fillable(g);
	}
	for (i = 0; i < n; i++)
		changes[i].group->fill =
			fill && changes[i].group->fresh && fillable(changes[i].group);
}

void ki_fill_stop(struct ki_change *changes, u32 n)
{
	lockdep_assert_held(&ki_lock);
	while (n--)
		changes[n].group->fill = false;
}

bool ki_fill_wanted(const struct ki_group *g)
{
	if (g->fresh)
		return g->fill;
	return g->patch.filled && !ki_quiesced(g->patch.since);
}

bool ki_fill_waits(const struct ki_group *g, const struct ki_patch *next)
{
	if (g->fresh)
		return !next->filled;
	return next->addr && g->patch.filled && !next->filled && !ki_quiesced(g->patch.since);
}

u32 ki_fill_swaps(const struct ki_group *g, const struct ki_patch *next, struct ki_swap *jmp,
		  struct ki_swap *out)
{
	const struct ki_patch *p = next->filled ? next : &g->patch;
	u32 i, n = 0;

	for (i = 0; p->filled && i < KI_FILL; i++) {
		struct ki_swap *s = &out[n];

		if (!p->inner[i])
			continue;
		n++;
		*s = (struct ki_swap){.addr = jmp->addr + 1 + i, .len = 1, .fresh = g->fresh};
		s->via = p->addr + p->inner[i];
		s->late = true;
		s->trap = next->filled;
		s->now[0] = jmp->now[1 + i];
		s->then[0] = jmp->then[1 + i];
		jmp->then[1 + i] = KI_INT3; /* until the last step */
	}
	return n;
}

void ki_fill_record(const struct ki_patch *old, struct ki_patch *new)
{
	lockdep_assert_held(&ki_lock);
	ki_filled += new->filled;
	ki_filled -= old->filled;
	if (new->filled && !old->filled)
		new->since = ki_quiesce_count();
	else
		new->since = old->since;
}

u32 ki_fill_count(void)
{
	return ki_filled;
}
