// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks as they are shown: the innermost frame first; of a process's the file where no function is
 * known.
 */
#include "chronicle_stack.h"

#include <string.h>

#define FRAME 512

bool chronicle_stack(const struct chronicle *c, const struct seen_record *e, unsigned int i,
		     struct ki_stack *out)
{
	return e->in->fields[i].show == KI_SHOW_STACK &&
	       !ki_recording_stack(c->r, e->values[i], out);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *chronicle_frame(const struct chronicle *c, const struct ki_stack *s, uint32_t i, bool offset,
		      char *text, size_t size)
{
	struct ki_user_frame f;

	if (ki_recording_frame(c->r, s, i, &f))
		return field_code(NULL, 0, s->addrs[i], text, size);
	if (!*f.symbol)
		return field_code(file_name(f.path), f.file_offset, 0, text, size);
	return field_code(f.symbol, offset ? f.offset : 0, 0, text, size);
}

void chronicle_stack_json(const struct chronicle *c, const struct seen_record *e, unsigned int i,
			  const char *name, struct ki_json *j)
{
	char frame[FRAME];
	struct ki_stack s;

	ki_json_open(j, name, '[');
	for (uint32_t k = 0; chronicle_stack(c, e, i, &s) && k < s.n; k++)
		ki_json_str(j, NULL, chronicle_frame(c, &s, k, true, frame, sizeof(frame)));
	ki_json_close(j);
}

/* Names of frames in a folded stack must have no semicolon and no blank. */
static void fold_frame(FILE *f, const char *frame)
{
	for (; *frame; frame++)
		fputc(*frame == ';' ? ':' : *frame == ' ' ? '_' : *frame, f);
}

int chronicle_stack_fold(const struct chronicle *c, const struct seen_record *e, FILE *f)
{
	char frame[FRAME];
	struct ki_stack s;
	int frames = 0;

	for (int user = 1; user >= 0; user--)
		for (unsigned int i = 0; i < e->in->nfields; i++) {
			if (!chronicle_stack(c, e, i, &s) || (s.tgid != 0) != user)
				continue;
			for (uint32_t k = s.n; k--; frames++) {
				fputs(frames ? ";" : "", f);
				fold_frame(f,
					   chronicle_frame(c, &s, k, false, frame, sizeof(frame)));
			}
		}
	return frames;
}
