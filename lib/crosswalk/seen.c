// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What stacks say of who calls whom: where threads begin, and callees of functions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crosswalk/walk.h"

/* Functions of the C library in which threads begin, before those of the program. */
static const char *const starters[] = {
	"_start",  "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3",
	"__clone", "__clone3",		"_dl_start_user",	  "start"};

static bool is_starter(const char *name)
{
	char base[64];

	snprintf(base, sizeof(base), "%.*s", (int)strcspn(name, "@"), name);
	for (size_t i = 0; i < sizeof(starters) / sizeof(*starters); i++)
		if (!strcmp(base, starters[i]))
			return true;
	return !strncmp(base, "__libc_start_", strlen("__libc_start_"));
}

static const struct ki_symbol *frame_function(const struct ki_crosswalk *w,
					      const struct ki_thread_stack *u, size_t i)
{
	return ki_stack_frame_symbol(w->process, &u->v[i]);
}

static int no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
}

static int add(struct ki_crosswalk *w, const struct ki_symbol *sym, bool kernel, uint32_t from,
	       enum ki_crosswalk_how how)
{
	return ki_crosswalk_add(&w->graph, sym, kernel, &(struct ki_crosswalk_seen){from, how, 0});
}

/* The outermost function that is the program's own. */
static int add_root_of(struct ki_crosswalk *w, const struct ki_thread_stack *u, struct ki_err *err)
{
	for (size_t i = u->n; i-- > 0;) {
		const struct ki_symbol *sym = frame_function(w, u, i);

		if (sym && !is_starter(sym->name) && strncmp(sym->name, "sub_", 4))
			return add(w, sym, false, KI_NONE, KI_CROSSWALK_ROOT) ? no_memory(err) : 0;
	}
	return 0;
}

/* Without stacks: main, which is running. */
static int add_main(struct ki_crosswalk *w, struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_named(w->process, NULL, "main", NULL);

	if (!sym)
		return ki_err_set(err, -ENOENT, 0,
				  "process %d: neither its stacks nor a function main are known: "
				  "there is nothing to begin with",
				  (int)w->pid);
	if (add(w, sym, false, KI_NONE, KI_CROSSWALK_ROOT))
		return no_memory(err);
	w->graph.nodes.v[0].share = 1;
	w->graph.nodes.v[0].truth = KI_CROSSWALK_TRUE;
	return 0;
}

int ki_crosswalk_add_roots(struct ki_crosswalk *w, struct ki_err *err)
{
	int ret = ki_crosswalk_stand_take(w, true, &w->now, err);

	for (size_t i = 0; !ret && i < w->now.stacks.n; i++)
		ret = add_root_of(w, &w->now.stacks.v[i], err);
	return ret || w->graph.nodes.n ? ret : add_main(w, err);
}

static bool is_among(const ki_crosswalk_numbers *of, uint32_t n)
{
	for (size_t i = 0; i < of->n; i++)
		if (of->v[i] == n)
			return true;
	return false;
}

/* Frame i calls frame i - 1. */
static int add_frames(struct ki_crosswalk *w, const ki_crosswalk_numbers *of,
		      const struct ki_thread_stack *u, struct ki_err *err)
{
	for (size_t i = u->n; i-- > 1;) {
		const struct ki_symbol *by = frame_function(w, u, i);
		const struct ki_symbol *to = frame_function(w, u, i - 1);
		const uint32_t from = by ? ki_crosswalk_find(&w->graph, false, by->addr) : KI_NONE;

		if (to && is_among(of, from) && add(w, to, false, from, KI_CROSSWALK_STACK))
			return no_memory(err);
	}
	return 0;
}

/* ---- the kernel's: text, a line for each function, the innermost first ---- */

static const char *const entries[] = {"do_syscall_64",	    "entry_SYSCALL_64_after_hwframe",
				      "x64_sys_call",	    "exc_page_fault",
				      "asm_exc_page_fault", "do_user_addr_fault"};

static bool is_entry(const char *name)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
		if (!strcmp(name, entries[i]))
			return true;
	return false;
}

/* The name of a line "[<0>] do_nanosleep+0x6d/0xf0"; false: it has none. */
static bool name_of_line(const char *line, char *name, size_t size)
{
	const char *at = strstr(line, "] ");
	const size_t len = at ? strcspn(at + 2, "+\n") : 0;

	if (!len || len >= size || at[2 + len] != '+')
		return false;
	memcpy(name, at + 2, len);
	name[len] = '\0';
	return true;
}

static const struct ki_symbol *kernel_function(const struct ki_crosswalk *w, const char *line)
{
	char name[256];

	if (!name_of_line(line, name, sizeof(name)) || is_entry(name))
		return NULL;
	return ki_target_symbol_named(w->kernel, NULL, name, NULL);
}

static bool is_fault(const struct ki_symbol *sym)
{
	return !strcmp(sym->name, "handle_mm_fault");
}

/* Each line is called by the next one; the last by the program's innermost frame. */
static int add_lines(struct ki_crosswalk *w, const ki_crosswalk_numbers *of,
		     const struct ki_crosswalk_thread *t, struct ki_err *err)
{
	const struct ki_symbol *callee = NULL, *sym;
	uint32_t from;

	for (const char *line = t->kernel; *line; line += strcspn(line, "\n") + 1) {
		sym = kernel_function(w, line);
		from = sym ? ki_crosswalk_find(&w->graph, true, sym->addr) : KI_NONE;
		if (callee && is_among(of, from) && add(w, callee, true, from, KI_CROSSWALK_STACK))
			return no_memory(err);
		callee = sym ? sym : callee;
		if (!strchr(line, '\n'))
			break;
	}
	sym = callee && t->user && t->user->n ? frame_function(w, t->user, 0) : NULL;
	from = sym ? ki_crosswalk_find(&w->graph, false, sym->addr) : KI_NONE;
	return is_among(of, from) &&
			       add(w, callee, true, from,
				   is_fault(callee) ? KI_CROSSWALK_FAULT : KI_CROSSWALK_SYSCALL)
		       ? no_memory(err)
		       : 0;
}

int ki_crosswalk_add_standing(struct ki_crosswalk *w, const ki_crosswalk_numbers *of,
			      struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < w->now.threads.n; i++) {
		const struct ki_crosswalk_thread *t = &w->now.threads.v[i];

		if (t->user)
			ret = add_frames(w, of, t->user, err);
		if (!ret && w->kernel)
			ret = add_lines(w, of, t, err);
	}
	return ret;
}
