// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel that the driver does not know well enough to write its text.
 *
 * What must not be moved is known by names (kerninst_reserved.def). A name tells nothing of a
 * kernel that has another one for the same thing. So when the driver is loaded two questions are
 * asked. Are all names there that a kernel with this configuration has? And does a breakpoint run
 * anything on its way to our handler and back that is on no list: neither reserved, nor known to
 * be off that way? Each answer that is not known is logged, and then requests that lead to other
 * text are refused. Reading and analysis go on.
 *
 * With force=1 they are granted all the same, by the one that has loaded the driver so. The kernel
 * is tainted then, as if the module itself had been forced upon a kernel that it was not made for
 * (TAINT_FORCED_MODULE): that is what has been done. (TAINT_USER is user space's own, and
 * TAINT_LIVEPATCH says that a function is replaced, which is not known yet.)
 */
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/panic.h>

#include "ki.h"
#include "text/unknown.h"

#define KI_UNKNOWN_LINES 64 /* in the log */

static bool ki_force;
module_param_named(force, ki_force, bool, 0400);
MODULE_PARM_DESC(force, "write the text of a kernel that is not known well enough (taints)");

static u32 ki_unknowns;
static char ki_first_unknown[sizeof_field(struct ki_info, unknown)];

#ifdef KI_TEST_FAIL
static char *ki_pretend = "";
module_param(ki_pretend, charp, 0400);

bool ki_pretends(const char *name)
{
	return !strcmp(name, ki_pretend);
}
#endif

void ki_unknown_note(const char *fmt, ...)
{
	char what[sizeof(ki_first_unknown)];
	va_list args;

	va_start(args, fmt);
	vscnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (!ki_unknowns++)
		strscpy(ki_first_unknown, what, sizeof(ki_first_unknown));
	if (ki_unknowns <= KI_UNKNOWN_LINES)
		pr_warn("kerninst: not known of this kernel: %s\n", what);
}

bool ki_unknown_refuses(void)
{
	return ki_unknowns && !ki_force;
}

void ki_unknown_info(struct ki_info *info)
{
	info->unknowns = ki_unknowns;
	if (ki_unknowns && ki_force)
		info->features |= KI_FEATURE_FORCED;
	strscpy_pad(info->unknown, ki_first_unknown, sizeof(info->unknown));
}

static void say_what_follows(void)
{
	if (!ki_unknowns)
		return;
	if (!ki_force) {
		pr_warn("kerninst: %u things are not known: text is read, not written (force=1)\n",
			ki_unknowns);
		return;
	}
	pr_warn("kerninst: %u things are not known, but text is written: forced\n", ki_unknowns);
	add_taint(TAINT_FORCED_MODULE, LOCKDEP_STILL_OK);
}

int ki_unknown_init(void)
{
	const struct ki_reserved_row *rows;
	u32 count;
	int err;

	mutex_lock(&ki_lock);
	err = ki_reserved_get(&rows, &count);
	if (!err) {
		ki_names_check();
		err = ki_trap_path_check();
	}
	mutex_unlock(&ki_lock);
	if (!err)
		say_what_follows();
	return err;
}
