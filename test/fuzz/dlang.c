/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any text as a D program. It is compiled, or refused in one line that says where.
 */
#include <stdlib.h>
#include <string.h>

#include "kerninst/dlang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const args[] = {"1", "name"};
	const struct ki_dlang_options o = {
		.size = sizeof(o), .args = args, .nargs = 2, .target = 1};
	char *text = malloc(size + 1);
	struct ki_dlang *d = NULL;
	struct ki_err err = {0};

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (ki_dlang_new(text, &o, &d, &err)) {
		if (d || err.code >= 0 || !*err.msg || strchr(err.msg, '\n'))
			abort();
	} else if (!d || err.code) {
		abort();
	}
	ki_dlang_free(d);
	free(text);
	return 0;
}
