// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What programs find declared, as D: names of the kernel's data, orders of bytes, numbers of
 * devices. A program's inline of the same name stands in its place.
 */
#include "dlang/check/check.h"
#include "dlang/parse/parse.h"

static const struct {
	const char *name, *text;
} rows[] = {
	{"ppid", "inline int ppid = curthread->real_parent->tgid;"},
	{"gid", "inline unsigned int gid = curthread->cred->gid.val;"},
	{"ipl", "inline unsigned int ipl = 0;"},
	{"htons", "inline uint16_t htons[int __x] = __swap16(__x);"},
	{"ntohs", "inline uint16_t ntohs[int __x] = __swap16(__x);"},
	{"htonl", "inline uint32_t htonl[int __x] = __swap32(__x);"},
	{"ntohl", "inline uint32_t ntohl[int __x] = __swap32(__x);"},
	{"htonll", "inline uint64_t htonll[int __x] = __swap64(__x);"},
	{"ntohll", "inline uint64_t ntohll[int __x] = __swap64(__x);"},
	{"getmajor", "inline uint32_t getmajor[int __x] = (uint32_t)__x >> 20;"},
	{"getminor", "inline uint32_t getminor[int __x] = __x & 0xfffff;"},
};

int ki_d_prelude(struct ki_dlang *d, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(rows) / sizeof(*rows); i++) {
		struct ki_d_parser p = {.d = d};

		if (ki_d_inline_find(d, rows[i].name))
			continue;
		ret = ki_d_lex(&p, rows[i].text, err);
		if (!ret)
			ret = ki_d_parse_inline(&p);
		if (!ret)
			d->inlines.v[d->inlines.n - 1].known = true;
	}
	return ret;
}
