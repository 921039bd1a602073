// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a program is compiled to: its variables, and at each place the statements of its clauses,
 * with the instructions of each.
 */
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"
#include "dlang/words/names.h"
#include "dlang/run/run.h"

#define FIRST_BUILTIN 0x100
#define FIRST_ID      0x500 /* of variables that are the program's, as in the reference */

#define BYTES_SHOWN 8 /* before the text of an instruction, with blanks where it has fewer */
#define LEAST_ALIGN 8 /* of a struct or a string */

/* ---- what the program reads and changes ---- */

/* A variable, the program's or one that is built in. */
struct used {
	const char *name;
	const struct ki_d_var *var; /* NULL: built in */
	struct ki_d_type type;
	bool read, changed;
};

struct uses {
	ki_vec(struct used) list;
};

/* As the reference orders those that are built in. */
static const char *const order[] = {
	"args",	      "regs",	"curthread", "timestamp",     "vtimestamp", "ipl",
	"epid",	      "id",	"arg0",	     "arg1",	      "arg2",	    "arg3",
	"arg4",	      "arg5",	"arg6",	     "arg7",	      "arg8",	    "arg9",
	"stackdepth", "caller", "probeprov", "probemod",      "probefunc",  "probename",
	"pid",	      "tid",	"execname",  "walltimestamp", "ucaller",    "ustackdepth",
	"ppid",	      "uid",	"gid",	     "errno",
};

static struct used *use_of(struct uses *u, const char *name, const struct ki_d_var *var,
			   struct ki_d_type type)
{
	for (size_t i = 0; i < u->list.n; i++)
		if (u->list.v[i].var == var && (var || !strcmp(u->list.v[i].name, name)))
			return &u->list.v[i];
	if (ki_vec_push(&u->list, ((struct used){.name = name, .var = var, .type = type})))
		return NULL;
	return &u->list.v[u->list.n - 1];
}

static void note(struct uses *u, const struct ki_d_node *n, bool read, bool changed)
{
	const struct ki_d_var *v = n->is_builtin ? NULL : n->sym.var;
	const char *name = v ? v->name : n->sym.builtin->name;
	struct used *use = use_of(u, name, v, v ? v->type : n->type);

	if (!use)
		return;
	use->read |= read;
	use->changed |= changed;
}

static bool is_variable(const struct ki_d_node *n)
{
	return n->kind == KI_D_SELF || n->kind == KI_D_THIS || n->kind == KI_D_INDEX ||
	       n->kind == KI_D_NAME;
}

/* An assignment to a part of a variable reads where it is. */
static void look(struct uses *u, const struct ki_d_node *list)
{
	for (const struct ki_d_node *n = list; n; n = n->next) {
		const bool assigns = n->kind == KI_D_ASSIGN || n->kind == KI_D_STEP;
		const struct ki_d_node *to = assigns && is_variable(n->kid[0]) ? n->kid[0] : NULL;

		if (to)
			note(u, to, n->kind == KI_D_STEP || n->op != KI_BINARIES, true);
		else if (is_variable(n))
			note(u, n, true, false);
		for (unsigned int i = 0; i < 3; i++)
			if (n->kid[i] && n->kid[i] != to && !(n->kind == KI_D_INDEX && !i))
				look(u, n->kid[i]);
		if (to && to->kind == KI_D_INDEX)
			look(u, to->kid[1]);
	}
}

/* ---- the table ---- */

/* Bytes to the end of the last member; of the kernel's, with what is behind it. */
static uint64_t size_of(struct ki_dlang *d, struct ki_d_type t)
{
	const struct ki_d_def *def = ki_d_is_struct(t) ? ki_d_def_of(&d->types, t) : NULL;
	uint64_t end = 0;

	if (ki_d_is_string(t))
		return ki_d_strsize(d);
	for (size_t i = 0; def && !def->btf && i < def->members.n; i++) {
		const struct ki_d_member *m = &def->members.v[i];
		const uint64_t bits = m->width ? m->width : 8 * ki_d_sizeof(&d->types, m->type);

		end = m->bit + bits > end ? m->bit + bits : end;
	}
	return end ? (end + 7) / 8 : ki_d_is_scalar(t) ? ki_d_size(t) : ki_d_sizeof(&d->types, t);
}

static uint64_t align_of(struct ki_dlang *d, struct ki_d_type t)
{
	while (ki_d_is_array(t))
		t = ki_d_pointed(&d->types, t);
	return ki_d_is_scalar(t) ? ki_d_size(t) : LEAST_ALIGN;
}

/* Where it would stand in memory with those before it. Those of a thread are by themselves. */
static uint64_t offset_of(struct ki_dlang *d, const struct ki_d_var *v)
{
	uint64_t end = 0, at = 0;

	for (size_t i = 0; i < d->vars.n && v->scope != KI_D_SELF_SCOPE; i++) {
		const struct ki_d_var *k = d->vars.v[i];
		const uint64_t align = align_of(d, k->type);

		if (k->scope != v->scope || k->nkeys)
			continue;
		at = (end + align - 1) / align * align;
		end = at + size_of(d, k->type);
		if (k == v)
			break;
	}
	return at;
}

static const char *kind_of(struct ki_dlang *d, struct ki_d_type t)
{
	const struct ki_d_def *def = ki_d_def_of(&d->types, t);

	if (ki_d_is_string(t))
		return "string (unknown) by ref";
	if (t.stars)
		return "D type (pointer)";
	if (ki_d_is_array(t))
		return "D type (array) by ref";
	if (ki_d_is_struct(t))
		return def && def->kind == KI_D_DEF_UNION ? "D type (union) by ref"
							  : "D type (struct) by ref";
	if (t.base == KI_D_INT)
		return def && def->kind == KI_D_DEF_ENUM ? "D type (enum)" : "D type (integer)";
	return "any (unknown) by ref";
}

static void row(FILE *f, struct ki_dlang *d, const struct used *u, unsigned int id)
{
	static const char *const scopes[] = {
		[KI_D_GLOBAL_SCOPE] = "glb", [KI_D_SELF_SCOPE] = "tls", [KI_D_THIS_SCOPE] = "loc"};
	const struct ki_d_var *v = u->var;
	const bool is_array = v ? v->nkeys != 0 : !strcmp(u->name, "regs");
	char offset[24] = "";

	if (v && !is_array)
		snprintf(offset, sizeof(offset), "%llu", (unsigned long long)offset_of(d, v));
	fprintf(f, "%-16s %-4x %-6s %-3s %-3s %-11s %-4s %s (size %llu)\n", u->name, id, offset,
		is_array ? "arr" : "scl", v ? scopes[v->scope] : "glb", "[all]",
		u->read && u->changed ? "r/w"
		: u->changed	      ? "w"
				      : "r",
		kind_of(d, u->type), (unsigned long long)size_of(d, u->type));
}

static void head(FILE *f)
{
	fprintf(f, "\n%-16s %-4s %-6s %-3s %-3s %-11s %-4s %s\n", "NAME", "ID", "OFFSET", "KND",
		"SCP", "RANGE", "FLAG", "TYPE");
}

static void rows(FILE *f, struct ki_dlang *d, const struct uses *u)
{
	for (unsigned int i = 0; i < sizeof(order) / sizeof(*order); i++)
		for (size_t k = 0; k < u->list.n; k++)
			if (!u->list.v[k].var && !strcmp(u->list.v[k].name, order[i]))
				row(f, d, &u->list.v[k], FIRST_BUILTIN + i);
	for (unsigned int i = 0; i < d->vars.n; i++)
		for (size_t k = 0; k < u->list.n; k++)
			if (u->list.v[k].var == d->vars.v[i])
				row(f, d, &u->list.v[k], FIRST_ID + i);
}

void ki_d_list_variables(struct ki_dlang *d)
{
	FILE *f = d->o.listing;
	struct uses u = {0};

	for (size_t i = 0; i < d->clauses.n; i++) {
		look(&u, d->clauses.v[i].predicate);
		look(&u, d->clauses.v[i].body);
	}
	if (u.list.n || d->aggs.n)
		head(f);
	rows(f, d, &u);
	for (unsigned int i = 0; i < d->aggs.n; i++)
		fprintf(f, "@%-15s %-4x %-6s agg glb %-11s w    %s(), %u keys\n",
			d->aggs.v[i]->name, i + 1, "", "[all]", d->aggs.v[i]->fn->name,
			d->aggs.v[i]->nkeys);
	if (u.list.n || d->aggs.n)
		fputc('\n', f);
	ki_vec_free(&u.list);
}

/* ---- code ---- */

/* The description that a clause at the place stands under. */
static void list_clause(FILE *f, const struct ki_dlang *d, uint32_t use)
{
	const struct ki_d_clause *c = &d->clauses.v[d->uses.v[use]];
	const struct ki_d_pattern *p = &d->patterns.v[c->first];

	fprintf(f, "\nDisassembly of clause %s:%s:%s:%s\n", p->field[0], p->field[1], p->field[2],
		p->field[3]);
}

/* "  1f  mov rax, 1", an instruction; other lines are the program's statements. */
static void list_line(FILE *f, const struct ki_long_code *code, const char *line, int len,
		      unsigned int *n)
{
	unsigned int off = 0, bytes;
	int text = 0;

	if (strncmp(line, "  ", 2) != 0 || sscanf(line, "%x  %n", &off, &text) != 1 || !text ||
	    off >= code->len) {
		fprintf(f, "%.*s\n", len, line);
		return;
	}
	fprintf(f, "%04u %05u:", (*n)++, off);
	bytes = (unsigned int)ki_decode_len(code->code + off, code->len - off);
	for (unsigned int i = 0; i < bytes; i++)
		fprintf(f, " %02x", code->code[off + i]);
	fprintf(f, "%*s%.*s\n", bytes < BYTES_SHOWN ? 3 * (int)(BYTES_SHOWN - bytes) + 2 : 2, "",
		len - text, line + text);
}

static void list_text(FILE *f, const struct ki_long_code *code, const char *text)
{
	unsigned int n = 0;

	while (*text) {
		const int len = (int)strcspn(text, "\n");

		list_line(f, code, text, len, &n);
		text += len + (text[len] == '\n');
	}
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
	for (uint32_t i = p->first; !ret && i < p->first + p->n; i++)
		list_clause(d->o.listing, d, i);
	if (!ret) {
		fprintf(d->o.listing, "%s:%s:%s:%s, %u clauses, at 0x%llx: %u bytes\n",
			ki_d_provider_name(p), p->module, p->function, p->name, p->n,
			(unsigned long long)site->regs->addr, code.len);
		list_text(d->o.listing, &code, text);
	}
	free(text);
	ki_long_code_free(&code);
	return ret;
}
