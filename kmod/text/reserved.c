// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that must not be moved, read from the running kernel's own tables.
 *
 * One table, in order of address, serves the driver's own checks and, through
 * KI_IOC_RESERVED, the library's analysis. It is made anew when it is asked for and modules have
 * come or gone since, and given back some seconds after the last session.
 *
 * ftrace sites are not in it: their table is not reachable by name; verify.c asks ftrace.
 */
#include <linux/bug.h>
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "ki.h"
#include "reach/reach.h"
#include "symbols.h"
#include "text/hits.h"
#include "text/unknown.h"
#include "yield.h"

#define KI_RESERVED_REST (5 * HZ)

struct ki_rows {
	struct ki_reserved_row *v;
	u64 *reach; /* the highest end of rows 0..i: what lets a search stop */
	u32 n, room;
};

static struct ki_rows ki_rows;
static atomic_t ki_modules_changed = ATOMIC_INIT(1);
static void rest(struct work_struct *unused);
static DECLARE_DELAYED_WORK(ki_rest_work, rest);

static void add(struct ki_rows *r, unsigned long addr, u32 len, u32 reason, u64 target)
{
	if (r->n < r->room)
		r->v[r->n] = (struct ki_reserved_row){addr, len, reason, target};
	r->n++; /* beyond the room: only counted; the caller comes again with more */
}

static void add_function(struct ki_rows *r, unsigned long addr, u32 reason)
{
	unsigned long size, off;

	if (addr && ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		add(r, addr - off, size, reason, 0);
}

/*
 * Others that are told of breakpoints may be told before us. The chain changes only with
 * modules, and they make the table anew.
 */
static void add_die_notifiers(struct ki_rows *r)
{
	struct atomic_notifier_head *head = (void *)ki_symbol("die_chain");
	struct notifier_block *nb;

	if (!head)
		return;
	rcu_read_lock();
	for (nb = rcu_dereference(head->head); nb; nb = rcu_dereference(nb->next))
		add_function(r, (unsigned long)nb->notifier_call, KI_R_TRAP_PATH);
	rcu_read_unlock();
}

static void add_named(void *r, unsigned long addr, u32 len, u32 reason)
{
	add(r, addr, len, reason, 0);
}

/* The driver's text, but what is there to be spliced. */
static void add_own(struct ki_rows *r)
{
	unsigned long start = KI_MODULE_TEXT(THIS_MODULE);
	unsigned long end = start + KI_MODULE_TEXT_SIZE(THIS_MODULE);
	unsigned long from = (unsigned long)ki_hits[0], to = from + KI_HITS * KI_HIT_BYTES;

	add(r, start, from - start, KI_R_SELF, 0);
	add(r, to, end - to, KI_R_SELF, 0);
}

static void add_ranges(struct ki_rows *r)
{
	ki_names_each(add_named, r);
	add_die_notifiers(r);
	add_own(r);
	add(r, (unsigned long)ki_reach_start(KI_REACH_HEAP), KI_HEAP_SIZE, KI_R_SELF, 0);
}

static void add_blacklist(struct ki_rows *r)
{
	struct list_head *head = (struct list_head *)ki_symbol("kprobe_blacklist");
	struct mutex *lock = (struct mutex *)ki_symbol("kprobe_mutex");
	struct kprobe_blacklist_entry *e;

	if (!head || !lock)
		return;
	mutex_lock(lock);
	list_for_each_entry (e, head, list)
		add(r, e->start_addr, e->end_addr - e->start_addr, KI_R_KPROBES_BLACKLIST, 0);
	mutex_unlock(lock);
}

/* A static branch is a nop or a jmp, of 2 or of 5 bytes. */
static u32 jump_size(const u8 *code)
{
	return code[0] == 0xeb || (code[0] == 0x66 && code[1] == 0x90) ? 2 : 5;
}

static void add_jumps(struct ki_rows *r, struct jump_entry *from, struct jump_entry *to)
{
	for (; from < to; from++) {
		unsigned long code = jump_entry_code(from);

		/* init code is freed: its entries point nowhere */
		if (!jump_entry_is_init(from))
			add(r, code, jump_size((u8 *)code), KI_R_JUMP_LABEL,
			    jump_entry_target(from));
	}
}

static void add_static_calls(struct ki_rows *r, struct static_call_site *from,
			     struct static_call_site *to)
{
	for (; from < to; from++)
		if (!((unsigned long)from->key & STATIC_CALL_SITE_INIT))
			add(r, (long)&from->addr + from->addr, CALL_INSN_SIZE, KI_R_STATIC_CALL, 0);
}

/*
 * The kernel decodes the very instruction that faulted, and wants its end to be the fixup
 * (ex_handler_zeropad): so all of it must stay. Of other kinds the row is what counts.
 */
static u32 exception_len(const struct exception_table_entry *e)
{
	unsigned long addr = (unsigned long)&e->insn + e->insn;
	unsigned long fixup = (unsigned long)&e->fixup + e->fixup;
	bool decoded = (e->data & EX_DATA_TYPE_MASK) == EX_TYPE_ZEROPAD;

	return decoded && fixup > addr && fixup - addr <= MAX_INSN_SIZE ? fixup - addr : 1;
}

static void add_exceptions(struct ki_rows *r, const struct exception_table_entry *from,
			   const struct exception_table_entry *to)
{
	for (; from < to; from++)
		add(r, (unsigned long)&from->insn + from->insn, exception_len(from), KI_R_EXTABLE,
		    (unsigned long)&from->fixup + from->fixup);
}

static void add_bugs(struct ki_rows *r, const struct bug_entry *from, const struct bug_entry *to)
{
	for (; from < to; from++)
		add(r, (unsigned long)&from->bug_addr_disp + from->bug_addr_disp, 2, KI_R_BUG_SITE,
		    0);
}

/* Both ends of a table of the linker's; none, if one of them is not there. */
#define KI_TABLE(r, add_rows, start, stop)                                                         \
	do {                                                                                       \
		void *from = (void *)ki_symbol(start), *to = (void *)ki_symbol(stop);              \
                                                                                                   \
		if (from && to)                                                                    \
			add_rows(r, from, to);                                                     \
	} while (0)

static void add_core(struct ki_rows *r)
{
	add_ranges(r);
	add_blacklist(r);
	KI_TABLE(r, add_jumps, "__start___jump_table", "__stop___jump_table");
	KI_TABLE(r, add_static_calls, "__start_static_call_sites", "__stop_static_call_sites");
	KI_TABLE(r, add_exceptions, "__start___ex_table", "__stop___ex_table");
	KI_TABLE(r, add_bugs, "__start___bug_table", "__stop___bug_table");
}

static void add_module(struct ki_rows *r, struct module *mod)
{
	if (mod->state == MODULE_STATE_UNFORMED || mod == THIS_MODULE)
		return;
	add_jumps(r, mod->jump_entries, mod->jump_entries + mod->num_jump_entries);
	add_static_calls(r, mod->static_call_sites,
			 mod->static_call_sites + mod->num_static_call_sites);
	add_exceptions(r, mod->extable, mod->extable + mod->num_exentries);
	add_bugs(r, mod->bug_table, mod->bug_table + mod->num_bugs);
	if (mod->noinstr_text_start)
		add(r, (unsigned long)mod->noinstr_text_start, mod->noinstr_text_size, KI_R_NOINSTR,
		    0);
}

static void add_modules(struct ki_rows *r)
{
	struct list_head *head = (struct list_head *)ki_symbol("modules");
	struct mutex *lock = (struct mutex *)ki_symbol("module_mutex");
	struct module *mod;

	if (!head || !lock)
		return;
	mutex_lock(lock);
	list_for_each_entry (mod, head, list)
		add_module(r, mod);
	mutex_unlock(lock);
}

static int by_address(const void *a, const void *b)
{
	const struct ki_reserved_row *x = a, *y = b;

	ki_yield(); /* sort() lets no other task run */
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void rows_free(struct ki_rows *r)
{
	vfree(r->v);
	vfree(r->reach);
	*r = (struct ki_rows){};
	atomic_set(&ki_modules_changed, 1);
}

static int rows_alloc(struct ki_rows *r, u32 room)
{
	rows_free(r);
	r->v = vmalloc(array_size(room, sizeof(*r->v)));
	r->reach = vmalloc(array_size(room, sizeof(*r->reach)));
	if (!r->v || !r->reach) {
		rows_free(r);
		return -ENOMEM;
	}
	r->room = room;
	return 0;
}

static void rows_finish(struct ki_rows *r)
{
	u64 reach = 0;
	u32 i;

	sort(r->v, r->n, sizeof(*r->v), by_address, NULL);
	for (i = 0; i < r->n; i++) {
		reach = max(reach, r->v[i].addr + r->v[i].len);
		r->reach[i] = reach;
	}
}

static int rows_make(void)
{
	u32 need = 32768;
	int err;

	do {
		err = rows_alloc(&ki_rows, need);
		if (err)
			return err;
		atomic_set(&ki_modules_changed, 0); /* who comes or goes from now on is not in it */
		add_core(&ki_rows);
		add_modules(&ki_rows);
		need = ki_rows.n + 1024;
	} while (ki_rows.n > ki_rows.room);
	rows_finish(&ki_rows);
	return 0;
}

int ki_reserved_get(const struct ki_reserved_row **rows, u32 *count)
{
	lockdep_assert_held(&ki_lock);
	if (ki_reserved_stale()) {
		int err = rows_make();

		if (err)
			return err;
	}
	*rows = ki_rows.v;
	*count = ki_rows.n;
	return 0;
}

bool ki_reserved_stale(void)
{
	return atomic_read(&ki_modules_changed);
}

/* The first index whose rows so far reach beyond start. */
static u32 first_reaching(unsigned long start)
{
	u32 lo = 0, hi = ki_rows.n;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (ki_rows.reach[mid] > start)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

const struct ki_reserved_row *ki_reserved_next(unsigned long start, unsigned long end, u32 *from)
{
	u32 i = *from;

	lockdep_assert_held(&ki_lock);
	if (!i)
		i = first_reaching(start);
	for (; i < ki_rows.n && ki_rows.v[i].addr < end; i++) {
		if (ki_rows.v[i].addr + ki_rows.v[i].len > start) {
			*from = i + 1;
			return &ki_rows.v[i];
		}
	}
	return NULL;
}

static void rest(struct work_struct *unused)
{
	mutex_lock(&ki_lock);
	if (!ki_session_count())
		rows_free(&ki_rows);
	mutex_unlock(&ki_lock);
}

void ki_reserved_rest(void)
{
	schedule_delayed_work(&ki_rest_work, KI_RESERVED_REST);
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	atomic_set(&ki_modules_changed, 1);
	return NOTIFY_DONE;
}

static struct notifier_block ki_module_block = {.notifier_call = module_notify};

int ki_reserved_init(void)
{
	ki_reserved_rest();
	return register_module_notifier(&ki_module_block);
}

void ki_reserved_exit(void)
{
	unregister_module_notifier(&ki_module_block);
	cancel_delayed_work_sync(&ki_rest_work);
	rows_free(&ki_rows);
}
