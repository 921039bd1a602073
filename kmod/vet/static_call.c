// SPDX-License-Identifier: GPL-2.0-only
/*
 * Static calls in layouts.
 *
 * The kernel writes a static call as its key is: a call of the key's function, or a nop if there is
 * none. In place of a function that returns 0 it writes an instruction that clears %eax. It knows
 * the call in the text, and no copies. But each key has a trampoline, for calls from where the
 * kernel writes nothing: a jump to that function, or a return. So a copy calls that:
 *
 *	call trampoline
 *
 * Both do the same. When a key changes, the kernel writes the trampoline first, then the calls one
 * after another. Each write ends with all CPUs interrupted. Until all is done each call may do the
 * old or the new, and code that changes a key has to live with that. The trampoline is one more
 * such place, the first. When the change is done, it is, too.
 *
 * A nop leaves the flags and the bytes below the stack. A trampoline that returns may not. Both are
 * free: to a compiler a call changes them, and so does all assembler code. What a compiler made is
 * known by its ftrace site; hand-written code is refused.
 *
 * Which trampoline it is, is proved. The kernel's table says which key the call has. Keys and
 * trampolines are pairs of global names, __SCK__NAME and __SCT__NAME, in the kernel's own image.
 * And the trampoline does now what the key says. (While the kernel changes the key, perhaps it does
 * not: then it is refused.) Calls of modules are refused, too: their keys may be modules'.
 */
#include <linux/kallsyms.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/text-patching.h>

#include "ki.h"
#include "symbols.h"
#include "vet/function.h"

static unsigned long start, stop; /* of the kernel's table */

static bool find_table(void)
{
	if (!start) {
		stop = ki_symbol("__stop_static_call_sites");
		start = ki_symbol("__start_static_call_sites");
	}
	return start && stop;
}

/* Of a call; a jump at a function's end is another thing. */
static const struct static_call_key *find_key(unsigned long addr)
{
	const struct static_call_site *s, *end;
	unsigned long key;

	if (!find_table())
		return NULL;
	end = (const struct static_call_site *)stop;
	for (s = (const struct static_call_site *)start; s < end; s++) {
		if ((long)&s->addr + s->addr != addr)
			continue;
		key = (long)&s->key + s->key;
		return key & STATIC_CALL_SITE_FLAGS ? NULL : (const void *)key;
	}
	return NULL;
}

/* By the name of the key, which begins there. After a module's stands the module's name. */
static unsigned long trampoline_of(const struct static_call_key *key)
{
	char name[KSYM_SYMBOL_LEN], *end;

	sprint_symbol(name, (unsigned long)key);
	end = strchr(name, '+');
	if (!end || !strstarts(end, "+0x0/") || strchr(end, '[') ||
	    !strstarts(name, STATIC_CALL_KEY_PREFIX_STR))
		return 0;
	*end = '\0';
	memcpy(name, STATIC_CALL_TRAMP_PREFIX_STR, STATIC_CALL_TRAMP_PREFIX_LEN);
	return ki_symbol(name);
}

static bool is_kernels(unsigned long addr)
{
	struct module *owner;
	u16 reason;

	owner = ki_text_owner(addr, addr + KI_TRAMPOLINE_LEN, &reason);
	module_put(owner);
	return !reason && !owner;
}

/* Where all functions return, if that is no instruction of their own. */
static unsigned long return_thunk(void)
{
	const unsigned long *now = (const unsigned long *)ki_symbol("x86_return_thunk");

	return now ? *now : ki_symbol("__x86_return_thunk");
}

static bool does_as(unsigned long addr, unsigned long func)
{
	u8 code[KI_TRAMPOLINE_LEN];
	unsigned long to;
	s32 rel;

	if (ki_text_read(addr, code, sizeof(code), KI_VIEW_ORIG) || !ki_is_trampoline(code))
		return false;
	memcpy(&rel, code + 1, sizeof(rel));
	to = code[0] == KI_JMP ? addr + KI_JMP_LEN + rel : 0;
	if (func)
		return to == func;
	return code[0] == RET_INSN_OPCODE || (to && to == return_thunk());
}

u16 ki_static_call_verify(const struct ki_verifier *v, struct ki_win *w)
{
	u16 reason = ki_written_row(w, KI_R_STATIC_CALL);
	const struct static_call_key *key;

	lockdep_assert_held(&ki_lock);
	if (reason)
		return reason;
	key = v->body < KI_JMP_LEN || w->owner ? NULL : find_key(w->addr);
	w->target = key ? trampoline_of(key) : 0;
	if (!w->target || !is_kernels(w->target) ||
	    !does_as(w->target, (unsigned long)READ_ONCE(key->func)))
		return KI_R_STATIC_CALL;
	return KI_R_OK;
}
