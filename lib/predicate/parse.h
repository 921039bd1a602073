/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Expressions from tokens. Operators bind as strongly as ki_ops_binary says:
 *
 *	expression: operand [? expression : expression]
 *
 *	operand: unary {OPERATOR unary | in ( expression {, expression} )}
 *
 *	unary: - ~ ! + unary | ( TYPE ) unary | * ( TYPE * ) unary | primary
 *
 *	primary: number | string | $register | NAME | ( expression )
 *		| NAME ( [expression {, expression}] ) | inside ( anything )
 *		| str ( expression [, number] ) | ustr (the same)
 *		| starts ( expression , string )
 */
#ifndef KI_PREDICATE_PARSE_H
#define KI_PREDICATE_PARSE_H

#include "predicate/ast.h"
#include "predicate/lex.h"

struct ki_parser {
	struct ki_lexer lex;
	struct ki_ast_pool pool;
	unsigned int level; /* of nesting now */
};

/* An expression from the token at hand; after it, whatever could not be part of it. 0, -EINVAL,
   -ENOMEM. The node belongs to the pool. */
int ki_parse_expr(struct ki_parser *p, struct ki_ast **out);

#endif
