// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls of instruments, which are functions of modules loaded in this machine now.
 */
#include <stdlib.h>
#include <string.h>

#include "kerninst/callable.h"
#include "predicate/predicate.h"

static int note_records(struct ki_predicate *p, struct ki_parser *parser, struct ki_ast *e,
			const struct ki_callable *c)
{
	if (!*c->records || (p->recording && !strcmp(p->recording, c->name))) {
		e->op |= *c->records ? KI_RECORDS : 0;
		return 0;
	}
	if (p->recording)
		return ki_lex_error(&parser->lex, e->at,
				    "%s and %s both write records: one of them in one expression",
				    p->recording, c->name);
	e->op |= KI_RECORDS;
	p->recording = strdup(c->name);
	p->records = strdup(c->records);
	return p->recording && p->records
		       ? 0
		       : ki_err_set(parser->lex.err, -ENOMEM, 0, "predicate: out of memory");
}

static int check_arguments(struct ki_parser *parser, const struct ki_ast *e,
			   const struct ki_callable *c)
{
	unsigned int hidden = c->takes_id + (c->takes_here ? 2 : 0), n = hidden;

	for (const struct ki_ast *a = e->kid[0]; a; a = a->next)
		n++;
	if (n == c->nparams)
		return 0;
	return ki_lex_error(&parser->lex, e->at, "%s%s: %u arguments, not %u%s%s", c->name,
			    c->prototype, c->nparams - hidden, n - hidden,
			    c->takes_id ? "; the id is not given" : "",
			    c->takes_here ? "; the place is not given" : "");
}

/* The error, with its place in the text. */
static int explain(struct ki_parser *parser, const struct ki_ast *e, const struct ki_err *why)
{
	const char *hint = ki_reason_hint(why->reason);
	struct ki_err *err = parser->lex.err;
	bool first = err && !err->code;

	ki_lex_error(&parser->lex, e->at, "%s%s%s", why->msg, *hint ? "; " : "", hint);
	if (first) {
		err->code = why->code;
		err->reason = why->reason;
		err->addr = why->addr;
	}
	return why->code;
}

int ki_predicate_find_instrument(struct ki_predicate *p, struct ki_parser *parser,
				 struct ki_callables **loaded, struct ki_ast *e)
{
	const struct ki_callable *c;
	struct ki_err err = {0};
	int ret = *loaded ? 0 : ki_callables_read(NULL, loaded, &err);

	if (!ret)
		ret = ki_callables_find(*loaded, e->text, &c, &err);
	if (ret == -ENOENT)
		return ki_lex_error(
			&parser->lex, e->at,
			"no function '%.32s': there are inside(FUNCTION), str, ustr, starts, "
			"ntohs, ntohl, ntohll, and what kerninst instruments lists",
			e->text);
	if (ret)
		return explain(parser, e, &err);
	ret = check_arguments(parser, e, c);
	if (!ret)
		ret = note_records(p, parser, e, c);
	if (ret)
		return ret;
	e->meaning = KI_MEANS_INSTRUMENT;
	e->op |= (c->takes_id ? KI_TAKES_ID : 0) | (c->takes_here ? KI_TAKES_HERE : 0);
	return ki_callable_locate(c, &e->value, &err) ? explain(parser, e, &err) : 0;
}
