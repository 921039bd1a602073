// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's tables say of patches: collected while a patch is linked, published before
 * anybody runs it, and gone when its memory is given back.
 *
 * The tables themselves are three arrays of the module that the kernel was told of when it loaded
 * the module. When the module starts, each is replaced by a larger one. A reader takes the array
 * and the count of its rows one after the other, with preemption off; it must not get one of
 * the old and one of the new. So the counts go to zero first (then nobody looks into an array),
 * all readers are waited for, the arrays are replaced, all readers are waited for again, and the
 * counts are set. Meanwhile the module has no rows: nothing but its start runs.
 *
 * Nothing is put back when the module ends: the arrays are its own memory, and go with it.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "rows.h"

static const struct {
	int (*prepare)(struct module *mod, unsigned long heap_start, unsigned long heap_end);
	void (*hide)(struct module *mod);
	void (*point)(struct module *mod);
	void (*show)(struct module *mod);
} ki_tables[] = {
	{ki_orc_prepare, ki_orc_hide, ki_orc_point, ki_orc_show},
	{ki_extable_prepare, ki_extable_hide, ki_extable_point, ki_extable_show},
	{ki_bugs_prepare, ki_bugs_hide, ki_bugs_point, ki_bugs_show},
};

/*
 * Where the stack is found from %rsp, it lies `pushed` bytes further. Where it is found through
 * a word at %rsp, that word is no longer there: such a row becomes one that says nothing.
 */
static void move_stack(struct orc_entry *e, u32 pushed)
{
	if (e->sp_reg == ORC_REG_SP)
		e->sp_offset += pushed;
	else if (pushed && e->sp_reg == ORC_REG_SP_INDIRECT)
		memset(e, 0, sizeof(*e));
}

void ki_rows_start(struct ki_rows *r)
{
	r->norc = r->nex = r->nbug = 0;
}

int ki_rows_room(struct ki_rows *r)
{
	r->orc = kvmalloc_array(r->norc + 1, sizeof(*r->orc), GFP_KERNEL);
	r->ex = kvmalloc_array(r->nex + 1, sizeof(*r->ex), GFP_KERNEL);
	r->bug = kvmalloc_array(r->nbug + 1, sizeof(*r->bug), GFP_KERNEL);
	return r->orc && r->ex && r->bug ? 0 : -ENOMEM;
}

void ki_rows_free(struct ki_rows *r)
{
	kvfree(r->orc);
	kvfree(r->ex);
	kvfree(r->bug);
}

void ki_rows_stack(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed)
{
	struct orc_entry e;

	ki_orc_find(r->owner, addr, &e);
	move_stack(&e, pushed);
	if (r->norc && !memcmp(&r->last, &e, sizeof(e)))
		return;
	r->last = e;
	if (r->orc)
		r->orc[r->norc] = (struct ki_orc_row){.off = off, .entry = e};
	r->norc++;
}

void ki_rows_code(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, u64 words, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (!i || ((words >> i) & 1) != ((words >> (i - 1)) & 1))
			ki_rows_stack(r, off + i, addr, pushed + ((words >> i) & 1) * 8);
}

void ki_rows_depth(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, const u8 *depth,
		   u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (!i || depth[i] != depth[i - 1])
			ki_rows_stack(r, off + i, addr, pushed + depth[i] * 8);
}

void ki_rows_copy(struct ki_rows *r, u32 off, unsigned long addr, const u8 *code,
		  unsigned long fixup)
{
	const struct exception_table_entry *ex = ki_extable_find(r->owner, addr);
	struct bug_entry *bug = NULL;

	if (code[0] == 0x0f && code[1] == 0x0b) /* ud2 */
		bug = ki_bugs_find(r->owner, addr);
	if (ex && r->ex)
		r->ex[r->nex] = (struct ki_ex_row){off, fixup, ex};
	if (bug && r->bug)
		r->bug[r->nbug] = (struct ki_bug_row){off, bug};
	r->nex += ex != NULL;
	r->nbug += bug != NULL;
}

bool ki_rows_publish(const struct ki_rows *r, const struct ki_block *b, bool reserve)
{
	unsigned long base = ki_heap_addr(b);

	if (r->nbug && !ki_bugs_take(base, r->bug, r->nbug, reserve))
		return false;
	ki_orc_put(b->at.orcs, base, r->orc, r->norc);
	ki_extable_put(b->at.exs, base, r->ex, r->nex);
	return true;
}

int ki_rows_init(void)
{
	struct ki_info heap;
	size_t i;
	int err;

	ki_heap_info(&heap);
	ki_origin_start(heap.heap_start);
	for (i = 0; i < ARRAY_SIZE(ki_tables); i++) {
		err = ki_tables[i].prepare(THIS_MODULE, heap.heap_start, heap.heap_end);
		if (err) {
			pr_err("kerninst: the module has too many rows of its own\n");
			return err;
		}
	}
	for (i = 0; i < ARRAY_SIZE(ki_tables); i++)
		ki_tables[i].hide(THIS_MODULE);
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(ki_tables); i++)
		ki_tables[i].point(THIS_MODULE);
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(ki_tables); i++)
		ki_tables[i].show(THIS_MODULE);
	return 0;
}
