// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A snippet as text. Each simple statement is a line; `if`, `} else {` and `}` are lines of their
 * own. What contains statements numbers its lines in the same way (ki_node_number).
 */
#include <errno.h>
#include <stdlib.h>

#include "snippet/node.h"

void ki_format_expr(FILE *f, const struct ki_node *n, unsigned int outside)
{
	ki_ops(n)->write(f, n, outside);
}

void ki_format_kids(FILE *f, const struct ki_node *n, const char *before)
{
	for (unsigned int i = 0; i < n->nkids; i++) {
		fputs(i ? ", " : before, f);
		ki_format_expr(f, n->kid[i], 0);
	}
	fputc(')', f);
}

void ki_format_args(FILE *f, const struct ki_node *n)
{
	fputc('(', f);
	ki_format_kids(f, n, "");
}

void ki_format_var(FILE *f, const struct ki_node *n, const struct ki_node *index)
{
	fputs(n->var.name, f);
	if (!index)
		return;
	fputc('[', f);
	ki_format_expr(f, index, 0);
	fputc(']', f);
}

void ki_format_indent(FILE *f, unsigned int depth)
{
	while (depth--)
		fputc('\t', f);
}

void ki_format_simple(FILE *f, const struct ki_node *n, const char *end)
{
	if (n->unless)
		fprintf(f, "unless (local%u) ", n->unless - 1u);
	ki_ops(n)->write(f, n, 0);
	fputs(end, f);
}

void ki_format_stmt(FILE *f, const struct ki_node *n, unsigned int depth)
{
	if (ki_ops(n)->lines) {
		ki_ops(n)->lines(f, n, depth);
		return;
	}
	ki_format_indent(f, depth);
	ki_format_simple(f, n, ";\n");
}

int ki_snippet_format(const struct ki_snippet *s, char **out, struct ki_err *err)
{
	int ret = ki_snippet_check(s, NULL, err);
	size_t len;
	FILE *f;

	*out = NULL;
	if (ret)
		return ret;
	f = open_memstream(out, &len);
	if (!f)
		return ki_err_set(err, -ENOMEM, 0, "snippet: out of memory");
	ki_format_stmt(f, s->body, 0);
	ret = ferror(f);
	if (fclose(f) || ret) {
		free(*out);
		*out = NULL;
		return ki_err_set(err, -ENOMEM, 0, "snippet: out of memory");
	}
	return 0;
}
