// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a program is compiled to: its variables, and at each place the statements of its clauses,
 * with the instructions of each.
 */
#include <stdlib.h>

#include "dlang/print/print.h"
#include "dlang/run/run.h"

#define FIRST_ID 0x500 /* of variables that are the program's, as in the reference */

static void variable(FILE *f, struct ki_dlang *d, const struct ki_d_var *v, unsigned int id)
{
	static const char *const scopes[] = {
		[KI_D_GLOBAL_SCOPE] = "glb", [KI_D_SELF_SCOPE] = "tls", [KI_D_THIS_SCOPE] = "loc"};
	char type[160];

	ki_d_type_base(&d->types, v->type, type, sizeof(type));
	fprintf(f, "%-16s %x  %s  %s  %s%s%.*s\n", v->name, id, v->nkeys ? "arr" : "scl",
		scopes[v->scope], type, v->type.stars ? " " : "", v->type.stars, "********");
}

void ki_d_list_variables(struct ki_dlang *d)
{
	FILE *f = d->o.listing;

	fputs("NAME             ID   KND  SCP  TYPE\n", f);
	for (unsigned int i = 0; i < d->vars.n; i++)
		variable(f, d, d->vars.v[i], FIRST_ID + i);
	for (unsigned int i = 0; i < d->aggs.n; i++)
		fprintf(f, "@%-15s %x  agg  glb  %s(), %u keys\n", d->aggs.v[i]->name, i + 1,
			d->aggs.v[i]->fn->name, d->aggs.v[i]->nkeys);
}

int ki_d_list_code(struct ki_dlang *d, const struct ki_d_site *site, const struct ki_snippet *s,
		   struct ki_err *err)
{
	const struct ki_d_probe *p = &d->probes.v[site->probe];
	struct ki_long_code code;
	char *text = NULL;
	int ret = site->to ? 0 : ki_snippet_compile(s, site->regs, &code, err);

	if (ret || site->to) /* strings of the program are put in their table: no clause's code */
		return ret;
	ret = ki_snippet_listing(s, &code, &text, err);
	if (!ret)
		fprintf(d->o.listing, "\n%s:%s:%s:%s, %u clauses, at 0x%llx: %u bytes\n%s",
			ki_d_provider_name(p), p->module, p->function, p->name, p->n,
			(unsigned long long)site->regs->addr, code.len, text);
	free(text);
	ki_long_code_free(&code);
	return ret;
}
