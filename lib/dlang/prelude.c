// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What programs find declared, as D: names of the kernel's data, orders of bytes, numbers of
 * devices. A program's inline of the same name stands in its place.
 */
#include "dlang/check.h"
#include "dlang/parse.h"

static const struct {
	const char *name, *text;
} rows[] = {
	{"ppid", "inline int ppid = curthread->real_parent->tgid;"},
	{"gid", "inline unsigned int gid = curthread->cred->gid.val;"},
	{"epid", "inline unsigned int epid = id;"},
	{"ipl", "inline unsigned int ipl = 0;"},
	{"htons", "inline uint16_t htons[int x] = (x & 0xff) << 8 | (x >> 8 & 0xff);"},
	{"ntohs", "inline uint16_t ntohs[int x] = (x & 0xff) << 8 | (x >> 8 & 0xff);"},
	{"htonl", "inline uint32_t htonl[int x] = (x & 0xff) << 24 | (x & 0xff00) << 8 |"
		  " (x >> 8 & 0xff00) | (x >> 24 & 0xff);"},
	{"ntohl", "inline uint32_t ntohl[int x] = (x & 0xff) << 24 | (x & 0xff00) << 8 |"
		  " (x >> 8 & 0xff00) | (x >> 24 & 0xff);"},
	{"htonll", "inline uint64_t htonll[int x] = (uint64_t)htonl(x) << 32 |"
		   " htonl((uint64_t)x >> 32);"},
	{"ntohll", "inline uint64_t ntohll[int x] = (uint64_t)htonl(x) << 32 |"
		   " htonl((uint64_t)x >> 32);"},
	{"getmajor", "inline uint32_t getmajor[int x] = (uint64_t)x >> 20;"},
	{"getminor", "inline uint32_t getminor[int x] = x & 0xfffff;"},
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
