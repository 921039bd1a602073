// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading text: as it is, or as it was before our springboards.
 */
#include <linux/module.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "ki.h"
#include "symbols.h"
#include "text/site.h"

static bool in_core_text(unsigned long start, unsigned long end)
{
	static unsigned long stext, etext;

	if (!stext) {
		etext = ki_symbol("_etext");
		stext = ki_symbol("_stext");
	}
	return start >= stext && end <= etext;
}

/*
 * Whose text [start, end) is: *reason KI_R_OK and NULL for the kernel's own; a module with a
 * reference that the caller drops; or *reason says why it cannot be touched.
 */
struct module *ki_text_owner(unsigned long start, unsigned long end, u16 *reason)
{
	struct module *mod;

	lockdep_assert_held(&ki_lock);
	*reason = KI_R_NOT_TEXT;
	if (end < start)
		return NULL;
	if (in_core_text(start, end)) {
		*reason = KI_R_OK;
		return NULL;
	}
	preempt_disable();
	mod = ki_call(__module_address)(start);
	if (mod &&
	    (start < KI_MODULE_TEXT(mod) || end > KI_MODULE_TEXT(mod) + KI_MODULE_TEXT_SIZE(mod)))
		mod = NULL;
	if (mod) {
		*reason = KI_R_OK;
		if (mod->state != MODULE_STATE_LIVE || !try_module_get(mod)) {
			*reason = KI_R_MODULE_GOING;
			mod = NULL;
		}
	}
	preempt_enable();
	return mod;
}

static void mask_sites(unsigned long addr, u8 *buf, size_t len)
{
	unsigned long end = addr + len;
	struct ki_site *s;

	for (s = ki_site_touching(addr, end); s && s->addr < end; s = ki_site_next(s)) {
		unsigned long from = max(addr, s->addr);
		unsigned long to = min(end, s->addr + s->len);

		if (s->live)
			memcpy(buf + (from - addr), s->orig + (from - s->addr), to - from);
	}
}

int ki_text_read(unsigned long addr, void *buf, size_t len, enum ki_view view)
{
	lockdep_assert_held(&ki_lock);
	if (copy_from_kernel_nofault(buf, (void *)addr, len))
		return -EFAULT;
	if (view == KI_VIEW_ORIG)
		mask_sites(addr, buf, len);
	return 0;
}
