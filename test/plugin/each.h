/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Part of fetch.c, for the test: the first level as QEMU's own plugin models it, instruction by
 * instruction as they are executed, each by the line in which it begins; and how that differs from
 * what fetch.c does, which is to fetch all lines of a block when it begins:
 *
 *	turns	blocks that fetch.c leaves out: one more turn of a repeated instruction
 *	cut	instructions of blocks that an exception, or QEMU, ended before them
 *	extra	lines of blocks in which no instruction was begun: after what was cut, or the second
 *		line of a block's last instruction, if control goes elsewhere then
 *
 * So each = instructions + turns - cut, and a block's lines are those of its instructions, in the
 * same order, and the extra ones. A line more costs at most ways + 1 misses: itself, and one for
 * each time that it stands before what would have stayed, which lets it sink by one. It saves at
 * most one: from then on both caches are the same.
 */
#ifndef KI_TEST_PLUGIN_EACH_H
#define KI_TEST_PLUGIN_EACH_H

/* The block before has ended, and `next` begins (NULL: nothing more). */
static void each_settle(struct cpu *c, const struct block *next)
{
	const struct block *b = c->before;

	for (size_t i = 0; b && i < b->nlines; i++)
		c->n[EXTRA] +=
			b->lines[i].first >= b->insns - c->owed &&
			!(next && i + 1 == b->nlines && next->lines[0].key == b->lines[i].key);
	c->n[CUT] += c->owed;
	c->before = NULL;
	c->owed = 0;
}

static void each_block(struct cpu *c, const struct block *b, bool turn)
{
	each_settle(c, b);
	c->n[TURNS] += turn;
	c->owed = b->insns;
	c->before = turn ? NULL : b;
}

static void on_each(unsigned int vcpu, void *data)
{
	struct cpu *c = &cpus[vcpu % VCPUS];

	c->n[EACH]++;
	c->n[EACH_MISSES] += !lru_use(&c->l1_each, (uintptr_t)data, 0);
	c->owed -= c->owed != 0;
}

#endif
