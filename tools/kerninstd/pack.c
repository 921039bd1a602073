// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <zlib.h>

#include "routes.h"

#define GZIP_WINDOW (15 + 16)

void pack(struct reply *r)
{
	z_stream z = {0};
	uLong room;
	char *out;

	if (r->status != 200 ||
	    deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	room = deflateBound(&z, r->body.n);
	out = malloc(room);
	z.next_in = (unsigned char *)r->body.v;
	z.avail_in = (unsigned int)r->body.n;
	z.next_out = (unsigned char *)out;
	z.avail_out = (unsigned int)room;
	if (!out || deflate(&z, Z_FINISH) != Z_STREAM_END) {
		free(out);
	} else {
		text_free(&r->body);
		r->body = (struct text){.v = out, .n = z.total_out, .cap = room};
		r->packed = true;
	}
	deflateEnd(&z);
}
