// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is known of arguments by other ways than types.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/probe/hook.h"
#include "dlang/words/names.h"

#define OWN_FIELDS 5 /* of the event: those of all events, and the call's number */

unsigned int ki_d_syscall_args(const char *name)
{
	char event[96], *text;
	unsigned int n = 0;

	snprintf(event, sizeof(event), "syscalls/sys_enter_%.64s/format", name);
	text = *name && !strpbrk(name, "*?[/") ? ki_d_hook_event_file(event) : NULL;
	for (const char *p = text; p && (p = strstr(p, "field:")); p++)
		n++;
	free(text);
	return n >= OWN_FIELDS && n - OWN_FIELDS < KI_D_SYSCALL_ARGS ? n - OWN_FIELDS
								     : KI_D_SYSCALL_ARGS;
}

bool ki_d_is_lone_syscall(struct ki_d_checker *c, const char *const f[4])
{
	char name[160];

	if (*f[0] || *f[1] || !*f[2] || (strcmp(f[3], "entry") != 0 && strcmp(f[3], "return") != 0))
		return false;
	snprintf(name, sizeof(name), "__x64_sys_%.140s", f[2]);
	return ki_d_function_type(&c->d->types, "", name) &&
	       !ki_d_function_type(&c->d->types, "", f[2]);
}

bool ki_d_arg_is_meant(const struct ki_d_checker *c)
{
	const struct ki_d_pattern *p = &c->d->patterns.v[c->clause->first];

	for (uint32_t i = 0; i < c->clause->n; i++)
		if (strcmp(p[i].field[0], "proc") != 0 || strcmp(p[i].field[3], "exit") != 0)
			return false;
	return c->clause->n;
}

int ki_d_check_meant(struct ki_d_checker *c, struct ki_d_node *n)
{
	n->kid[1] = ki_d_node_new(&c->d->pool, KI_D_NUMBER, n->at, 0);
	if (!n->kid[1])
		return ki_d_no_memory(c->err);
	n->kid[1]->type = ki_d_int(KI_I32);
	return ki_d_check_args(c, n);
}

int ki_d_no_arg_types(struct ki_d_checker *c, const struct ki_d_node *n, const char *const f[4])
{
	const char *hint = ki_d_elsewhere_probe(f);

	return ki_d_fail(c->d, c->err, n->at, "D_ARGS_NONE",
			 "the types of %.20s:%.40s:%.60s:%.40s's arguments are not known: %s", f[0],
			 f[1], f[2], f[3], hint ? hint : "arg0 to arg9 are there");
}
