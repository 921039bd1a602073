// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "record/read_code.h"

#include "record/format.h"

static int read_function(struct known_code *k, struct ki_rest *rest)
{
	const struct file_function *h = ki_rest_take(rest, sizeof(*h));
	struct ki_record_function fn = {0};

	fn.name = h ? ki_rest_string(rest) : NULL;
	fn.module = fn.name ? ki_rest_string(rest) : NULL;
	if (!fn.module)
		return -EBADMSG;
	fn.addr = h->addr;
	fn.cfg = h->cfg;
	ki_rest_align(rest);
	return ki_vec_push(&k->functions, fn);
}

int ki_known_functions_read(struct known_code *k, struct ki_rest rest)
{
	const size_t before = k->functions.n;
	int ret = 0;

	while (!ret && rest.at < rest.end)
		ret = read_function(k, &rest);
	if (ret)
		k->functions.n = before;
	return ret;
}

static int read_module(struct known_code *k, struct ki_rest *rest)
{
	struct ki_record_module m = {.name = ki_rest_string(rest)};

	m.build = m.name ? ki_rest_string(rest) : NULL;
	if (!m.build)
		return -EBADMSG;
	ki_rest_align(rest);
	return ki_vec_push(&k->modules, m);
}

int ki_known_modules_read(struct known_code *k, struct ki_rest rest)
{
	const size_t before = k->modules.n;
	int ret = 0;

	while (!ret && rest.at < rest.end)
		ret = read_module(k, &rest);
	if (ret)
		k->modules.n = before;
	return ret;
}

void ki_known_code_free(struct known_code *k)
{
	ki_vec_free(&k->functions);
	ki_vec_free(&k->modules);
}
