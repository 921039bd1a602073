// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the functions that are recorded are like, so that a reader can tell if code is still that.
 */
#include <errno.h>

#include "kerninst/cfg.h"
#include "kerninst/record.h"

#define FEW 64 /* functions for which it is not worth while to read all text */

static int hash_one(void *arg, size_t i, const struct ki_function *fn)
{
	struct ki_record_function *out = arg;

	return fn->nblocks ? ki_cfg_hash(fn, &out[i].cfg) : 0;
}

static int hash_few(struct ki_target *t, const struct ki_symbol *const *syms, size_t n,
		    struct ki_record_function *out, struct ki_err *err)
{
	struct ki_function *fn;
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		ret = ki_function_analyze(t, syms[i], &fn, err);
		if (ret)
			break;
		ret = hash_one(out, i, fn);
		ki_function_free(fn);
	}
	return ret;
}

int ki_record_functions_find(struct ki_target *t, const struct ki_symbol *const *syms, size_t n,
			     struct ki_record_function *out, struct ki_err *err)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (struct ki_record_function){
			.name = syms[i]->name, .module = syms[i]->module, .addr = syms[i]->addr};
	if (n <= FEW)
		return hash_few(t, syms, n, out, err);
	return ki_functions_analyze(
		t, &(struct ki_functions_job){.syms = syms, .n = n, .each = hash_one, .arg = out},
		err);
}
