// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of patches: an oops, a stack and perf say kerninst:vfs_read+0x12, the place in the original
 * where the patch begins, and not so many bytes of a heap.
 *
 * The kernel looks a module's symbols up in an array of the module's, from its beginning to its
 * end, without locks, in any context. While the heap has memory, the driver and the heap's
 * description (region.c) share one that is longer than what the driver was loaded with. After its
 * own symbols stands where the heap begins, and then a place for each of some thousand patches.
 * (Functions that are laid out together have one for each run of windows of the same function.) A
 * symbol without a name is passed over, so the first byte of the name is written last, and goes
 * first. A symbol's size is the distance to the next one. So a patch that has no name, because
 * there are more patches than places, would be taken for the one before it. While there is such a
 * one patches with a name also have a symbol where they end: what is after it, up to the next
 * patch with a name, is kerninst:unnamed. Of two symbols at one address the kernel takes the first
 * in the array, so all ends stand after all names.
 */
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "heap/rows.h"
#include "reach/reach.h"
#include "symbols.h"
#include "user.h"

#define KI_NAMES    4096
#define KI_NAME_LEN 64

static DEFINE_SPINLOCK(ki_names_lock);
static DECLARE_BITMAP(ki_names_taken, KI_NAMES);
static u32 ki_nameless; /* patches */
static struct mod_kallsyms ki_all_symbols;
static char *ki_name_text; /* of the first patch; KI_NAME_LEN bytes each */
static u32 ki_unnamed_at;  /* in the text: what ends are called */

static Elf_Sym *symbol_of(u32 slot)
{
	return &ki_all_symbols.symtab[THIS_MODULE->core_kallsyms.num_symtab + 1 + slot];
}

/* Where the patch ends whose first name is in that slot. */
static Elf_Sym *end_of(u32 slot)
{
	return symbol_of(KI_NAMES + slot);
}

/* ki_names_lock held. */
static void show_names(void)
{
	u32 n = THIS_MODULE->core_kallsyms.num_symtab;

	if (!bitmap_empty(ki_names_taken, KI_NAMES))
		n += 1 + (ki_nameless ? KI_NAMES : 0) + find_last_bit(ki_names_taken, KI_NAMES) + 1;
	else if (ki_nameless)
		n++;
	WRITE_ONCE(ki_all_symbols.num_symtab, n);
}

/* kerninst:FUNCTION+0xOFFSET */
static void make_name(char *out, unsigned long addr)
{
	char function[KSYM_NAME_LEN];
	unsigned long size, off = 0;

	ki_call(kallsyms_lookup_size_offset)(addr, &size, &off);
	snprintf(function, sizeof(function), "%ps", (void *)addr);
	function[strcspn(function, " ")] = '\0'; /* of a module: its name stands after */
	snprintf(out, KI_NAME_LEN, "kerninst:%.40s+0x%lx", function, off);
}

static void write_name(u32 slot, unsigned long at, unsigned long addr)
{
	char name[KI_NAME_LEN], *text = ki_name_text + slot * KI_NAME_LEN;

	make_name(name, addr);
	symbol_of(slot)->st_value = at;
	strscpy(text + 1, name + 1, KI_NAME_LEN - 1);
	smp_store_release(text, name[0]);
}

/*
 * The next name in a group's patch begins at a window's place; of what is laid out, wherever
 * another function's windows begin. Returns that place, or the group's number of windows.
 */
static u32 next_named(const struct ki_group *g, u32 place)
{
	if (!place)
		return 0;
	if (!g->order)
		return g->n;
	while (place < g->n &&
	       g->v[g->order[place]]->function == g->v[g->order[place - 1]]->function)
		place++;
	return place;
}

static u32 count_names(const struct ki_group *g)
{
	u32 place, n = 0;

	for (place = next_named(g, 0); place < g->n; place = next_named(g, place + 1))
		n++;
	return n;
}

static void write_names(const struct ki_patch *p, const struct ki_group *g, u32 slot)
{
	u32 place;

	for (place = next_named(g, 0); place < g->n; place = next_named(g, place + 1)) {
		u32 at = g->order ? g->order[place] : place;

		write_name(slot++, p->addr + (place ? g->next_at[at] : 0), g->v[at]->addr);
	}
}

static void write_end(const struct ki_patch *p, u32 slot)
{
	end_of(slot)->st_value = p->addr + p->len;
	smp_store_release(&end_of(slot)->st_name, ki_unnamed_at);
}

/* perf knows the names of the slots [from, to), or no more. */
static void tell_perf(const struct ki_patch *p, u32 from, u32 to, bool gone)
{
	u32 i;

	for (i = from; i < to; i++) {
		unsigned long at = symbol_of(i)->st_value, end = p->addr + p->len;

		if (i + 1 < to)
			end = symbol_of(i + 1)->st_value;
		ki_call(perf_event_ksymbol)(PERF_RECORD_KSYMBOL_TYPE_OOL, at, end - at, gone,
					    ki_name_text + i * KI_NAME_LEN);
	}
}

void ki_name_patch(const struct ki_patch *p, const struct ki_group *g)
{
	u32 slot, n = count_names(g);

	spin_lock(&ki_names_lock);
	slot = bitmap_find_next_zero_area(ki_names_taken, KI_NAMES, 0, n, 0);
	p->block->name = slot < KI_NAMES ? 1 + slot : 0;
	p->block->names = n;
	if (slot < KI_NAMES)
		bitmap_set(ki_names_taken, slot, n);
	else
		ki_nameless++;
	show_names();
	spin_unlock(&ki_names_lock);
	if (slot >= KI_NAMES)
		return;
	write_end(p, slot);
	write_names(p, g, slot); /* to find what they are called takes long */
	tell_perf(p, slot, slot + n, false);
}

void ki_name_drop(const struct ki_patch *p)
{
	u32 slot = p->block->name - 1, i, n = p->block->names;

	if (p->block->name)
		tell_perf(p, slot, slot + n, true);
	spin_lock(&ki_names_lock);
	if (p->block->name) {
		WRITE_ONCE(end_of(slot)->st_name, 0);
		for (i = slot; i < slot + n; i++)
			WRITE_ONCE(ki_name_text[i * KI_NAME_LEN], '\0');
		bitmap_clear(ki_names_taken, slot, n);
	} else {
		ki_nameless--;
	}
	show_names();
	spin_unlock(&ki_names_lock);
}

static size_t string_bytes(const struct mod_kallsyms *k)
{
	size_t end = 1;
	u32 i;

	for (i = 0; i < k->num_symtab; i++) {
		size_t at = k->symtab[i].st_name;

		end = max(end, at + strlen(k->strtab + at) + 1);
	}
	return end;
}

static const char ki_heap_name[] = "ki_heap_start", ki_unnamed[] = "kerninst:unnamed";

static void fill_symbols(size_t bytes)
{
	const struct mod_kallsyms *own = &THIS_MODULE->core_kallsyms;
	struct mod_kallsyms *all = &ki_all_symbols;
	u32 i, n = own->num_symtab;

	memcpy(all->symtab, own->symtab, n * sizeof(*all->symtab));
	memcpy(all->strtab, own->strtab, bytes);
	memcpy(all->typetab, own->typetab, n);
	memcpy(all->strtab + bytes, ki_heap_name, sizeof(ki_heap_name));
	ki_unnamed_at = bytes + sizeof(ki_heap_name);
	memcpy(all->strtab + ki_unnamed_at, ki_unnamed, sizeof(ki_unnamed));
	ki_name_text = all->strtab + ki_unnamed_at + sizeof(ki_unnamed);
	for (i = 0; i <= 2 * KI_NAMES; i++) {
		all->symtab[n + i] = (Elf_Sym){
			.st_value = (unsigned long)ki_reach_start(KI_REACH_HEAP),
			.st_info = STT_FUNC,
			.st_shndx = SHN_ABS,
		};
		all->typetab[n + i] = 't';
	}
	all->symtab[n].st_name = bytes;
	for (i = 0; i < KI_NAMES; i++)
		symbol_of(i)->st_name = ki_name_text - all->strtab + i * KI_NAME_LEN;
}

int ki_names_make(void)
{
	const struct mod_kallsyms *own = &THIS_MODULE->core_kallsyms;
	size_t bytes = string_bytes(own), n = own->num_symtab + 1 + 2 * KI_NAMES;
	struct mod_kallsyms *all = &ki_all_symbols;

	if (all->symtab) { /* hidden, not reclaimed */
		ki_region_names(all);
		return 0;
	}
	all->symtab = __vmalloc(array_size(n, sizeof(*all->symtab)), KI_GFP | __GFP_ZERO);
	all->strtab = __vmalloc(bytes + PAGE_SIZE + KI_NAMES * KI_NAME_LEN, KI_GFP | __GFP_ZERO);
	all->typetab = __vmalloc(n, KI_GFP | __GFP_ZERO);
	if (all->symtab && all->strtab && all->typetab) {
		fill_symbols(bytes);
		show_names();
		ki_region_names(all);
		return 0;
	}
	ki_names_reclaim();
	return -ENOMEM;
}

void ki_names_hide(void)
{
	ki_region_names(&THIS_MODULE->core_kallsyms);
}

void ki_names_reclaim(void)
{
	vfree(ki_all_symbols.symtab);
	vfree(ki_all_symbols.strtab);
	vfree(ki_all_symbols.typetab);
	ki_all_symbols = (struct mod_kallsyms){};
}
