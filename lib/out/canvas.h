/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A screen as text: lines of a width, each all plain, bold or inverse.
 */
#ifndef KI_OUT_CANVAS_H
#define KI_OUT_CANVAS_H

enum ki_look { KI_LOOK_PLAIN, KI_LOOK_BOLD, KI_LOOK_INVERSE };

struct ki_canvas {
	unsigned int width, height;
	char *text;	      /* height lines of width characters, each with a 0 after it */
	unsigned char *looks; /* enum ki_look of each line */
};

/* 0, or -ENOMEM. */
int ki_canvas_open(struct ki_canvas *c, unsigned int width, unsigned int height);
void ki_canvas_close(struct ki_canvas *c);

const char *ki_canvas_line(const struct ki_canvas *c, unsigned int n);

/* What does not fit is left out; what would not be one character is a question mark. A line that
   there is not is left out. */
void ki_canvas_put(struct ki_canvas *c, unsigned int n, enum ki_look look, const char *text);

#endif
