// SPDX-License-Identifier: GPL-2.0-only
#include "select.h"

#include <errno.h>

int select_named(struct ki_target *t, const struct verb *self, const char *text, bool offsets,
		 ki_selection *out)
{
	struct ki_pointspec spec;
	struct ki_err err = {0};

	switch (ki_select(t, text, offsets, out, &spec, &err)) {
	case 0:
		return CLI_OK;
	case -ENOMEM:
		return cli_no_memory();
	case -EILSEQ:
		return cli_misuse(self, "'%s': %s", text, err.msg);
	case -EISDIR:
		return cli_misuse(self, "'%s': %s takes functions, not points", text, self->name);
	case -ENOENT:
		return cli_nothing(t, &spec);
	default:
		return cli_fail(&err);
	}
}

int select_functions(struct ki_target *t, const struct verb *self, char **args, int n, bool offsets,
		     ki_selection *out)
{
	int ret = CLI_OK;

	for (int i = 0; !ret && i < n; i++)
		ret = select_named(t, self, args[i], offsets, out);
	ki_selection_sort(out);
	return ret;
}

int select_chosen(struct ki_target *t, const struct verb *self, bool all, char **args, int n,
		  ki_selection *out)
{
	if (!all)
		return select_functions(t, self, args, n, false, out);
	return ki_selection_all(out, t) ? cli_no_memory() : CLI_OK;
}
