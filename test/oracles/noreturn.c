// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that do not return. Two witnesses: the names that the kernel's own checker is given,
 * since it cannot find out by itself; and the compiler, which puts code after the call of what
 * it does not know to be one. The second is a weak one: the compiler of a caller sees only a
 * declaration. So those of which some caller believes that they return are all named here, and
 * have been read.
 */
#include <string.h>

#include "oracles.h"

/*
 * Known to 6.1's objtool, but for three that nobody can know: arch_cpu_idle_dead and
 * machine_real_restart end in a jump by a pointer, and xen_start_kernel returns if it is called
 * without Xen.
 */
static const char *const known[] = {
	"__invalid_creds",
	"__module_put_and_kthread_exit",
	"__stack_chk_fail",
	"arch_call_rest_init",
	"cpu_bringup_and_idle",
	"cpu_startup_entry",
	"do_exit",
	"do_group_exit",
	"do_task_dead",
	"ex_handler_msr_mce",
	"fortify_panic",
	"hlt_play_dead",
	"kthread_complete_and_exit",
	"kthread_exit",
	"make_task_dead",
	"nmi_panic_self_stop",
	"panic",
	"panic_smp_self_stop",
	"rest_init",
	"rewind_stack_and_make_dead",
	"sev_es_terminate",
	"snp_abort",
	"start_kernel",
	"stop_this_cpu",
	"usercopy_abort",
	"x86_64_start_kernel",
	"x86_64_start_reservations",
	"xen_cpu_bringup_again",
	"start_secondary",
	"secondary_startup_64",
};

/* Called from assembly, or by a pointer, which do not know. Each has been read. */
static const char *const read_by_hand[] = {
	"handle_stack_overflow",
	"__sysvec_reboot",
	"sysvec_reboot",
	"exc_xen_unknown_trap",
};

static bool is_in(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

#define IS_IN(names, name) is_in(names, sizeof(names) / sizeof(*(names)), name)

static void check_known(struct oracles *o)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct ki_symbol *s = ki_target_symbol_named(o->t, "", known[i], NULL);
		uint32_t f = s ? ki_program_function_at(o->p, s->addr) : KI_NONE;

		if (f == KI_NONE)
			continue;
		looked(o, 1);
		if (!(o->functions[f].flags & KI_FUNCTION_NORETURN))
			differ(o, CAUSE_NORETURN, s->addr, "does not return, says the kernel");
	}
}

/* Is there code after call number `c` that is reached by it alone? */
static bool goes_on(const struct oracles *o, const struct ki_program_call *c)
{
	size_t i = listing_from(&o->listing, c->from) + 1;
	const struct line *l = &o->listing.lines.v[i];

	if (i >= o->listing.lines.n || l->kind == LINE_PAD || l->kind == LINE_TRAP)
		return false;
	return ki_program_block_at(o->p, l->addr) == ki_program_block_at(o->p, c->from);
}

void check_noreturn(struct oracles *o)
{
	struct ki_program_call c;

	/* In stripped programs, what stands after a call may be another function. */
	if (!o->map && !o->image.relocatable)
		return;
	check_known(o);
	for (uint32_t f = 0; f < o->nfunctions; f++) {
		const struct ki_program_function *pf = &o->functions[f];
		const uint32_t *callers;
		uint32_t n;

		if (!(pf->flags & KI_FUNCTION_NORETURN))
			continue;
		looked(o, 1);
		callers = ki_program_callers(o->p, f, &n);
		if (IS_IN(known, pf->symbol->name))
			continue;
		for (uint32_t i = 0; i < n; i++) {
			if (ki_program_call(o->p, callers[i], &c) || c.kind != KI_EDGE_CALL ||
			    !goes_on(o, &c))
				continue;
			differ(o,
			       IS_IN(read_by_hand, pf->symbol->name) ? CAUSE_BELIEVED
								     : CAUSE_NORETURN,
			       pf->symbol->addr, "somebody goes on behind a call");
			break;
		}
	}
}
