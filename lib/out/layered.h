/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where to draw the boxes of a directed graph, and the lines between them: boxes in layers, lines
 * from top to bottom made of horizontal and vertical pieces. Edges that go back are drawn from the
 * bottom of a box, up beside the boxes, and into a box from above.
 *
 * The result depends on nothing but the input.
 */
#ifndef KI_OUT_LAYERED_H
#define KI_OUT_LAYERED_H

#include <stdbool.h>
#include <stdint.h>

struct ki_box {
	double width, height; /* given */
	double x, y;	      /* found: the upper left corner */
};

struct ki_spot {
	double x, y;
};

struct ki_line {
	uint32_t from, to; /* given: boxes */
	bool back;	   /* given: it goes back; the others must not form a cycle */
	uint32_t first, n; /* found: its corners, from one end to the other */
};

struct ki_layered {
	struct ki_box *boxes;  /* the caller's; box 0 is drawn at the top */
	struct ki_line *lines; /* the caller's */
	uint32_t nboxes, nlines;
	struct ki_spot *spots; /* found: corners of all lines; free them */
	double width, height;  /* found */
};

/*
 * 0; -EINVAL: an edge leads nowhere, or edges that do not go back form a cycle; -E2BIG: the
 * edges cross millions of layers; -ENOMEM.
 */
int ki_layered_draw(struct ki_layered *g);

#endif
