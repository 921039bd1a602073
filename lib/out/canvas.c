// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "out/canvas.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ki_canvas_open(struct ki_canvas *c, unsigned int width, unsigned int height)
{
	*c = (struct ki_canvas){.width = width, .height = height};
	c->text = malloc(((size_t)width + 1) * height + 1);
	c->looks = malloc(height + 1);
	if (c->text && c->looks)
		return 0;
	ki_canvas_close(c);
	return -ENOMEM;
}

void ki_canvas_close(struct ki_canvas *c)
{
	free(c->text);
	free(c->looks);
	*c = (struct ki_canvas){0};
}

static char *line_at(const struct ki_canvas *c, unsigned int n)
{
	return c->text + ((size_t)c->width + 1) * n;
}

const char *ki_canvas_line(const struct ki_canvas *c, unsigned int n)
{
	return line_at(c, n);
}

/* What does not fit is left out; what would not be one character is a question mark. */
void ki_canvas_put(struct ki_canvas *c, unsigned int n, enum ki_look look, const char *text)
{
	char *to;
	unsigned int i = 0;

	if (n >= c->height)
		return;
	to = line_at(c, n);
	for (; i < c->width && text[i]; i++)
		to[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	memset(to + i, ' ', c->width - i);
	to[c->width] = 0;
	c->looks[n] = (unsigned char)look;
}
