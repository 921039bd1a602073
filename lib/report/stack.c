// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Stacks as they are shown: the innermost frame first; of a process's the file where no function is
 * known.
 */
#include "report/stack.h"

#include <stdlib.h>
#include <string.h>

#define FRAME 512

bool ki_report_stack(const struct ki_report *c, const struct ki_report_record *e, unsigned int i,
		     struct ki_stack *out)
{
	return e->in->fields[i].show == KI_SHOW_STACK &&
	       !ki_recording_stack(c->r, e->values[i], out);
}

uint32_t ki_report_process(const struct ki_report *c, const struct ki_instrument *in,
			   struct ki_user_frame *out)
{
	char *end;
	const unsigned long pid = strtoul(in->point, &end, 10);
	const struct ki_stack at = {.tgid = (uint32_t)pid, .n = 1, .addrs = &in->addr};

	*out = (struct ki_user_frame){.symbol = "", .path = "", .build = ""};
	if (end == in->point || *end != '/')
		return 0;
	ki_recording_frame(c->r, &at, 0, out);
	return at.tgid;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *ki_report_frame(const struct ki_report *c, const struct ki_stack *s, uint32_t i, bool offset,
		      char *text, size_t size)
{
	struct ki_user_frame f;

	if (ki_recording_frame(c->r, s, i, &f))
		return ki_field_code(NULL, 0, s->addrs[i], text, size);
	if (!*f.symbol)
		return ki_field_code(file_name(f.path), f.file_offset, 0, text, size);
	return ki_field_code(f.symbol, offset ? f.offset : 0, 0, text, size);
}

void ki_report_stack_json(const struct ki_report *c, const struct ki_report_record *e,
			  unsigned int i, const char *name, struct ki_json *j)
{
	char frame[FRAME];
	struct ki_stack s;

	ki_json_open(j, name, '[');
	for (uint32_t k = 0; ki_report_stack(c, e, i, &s) && k < s.n; k++)
		ki_json_str(j, NULL, ki_report_frame(c, &s, k, true, frame, sizeof(frame)));
	ki_json_close(j);
}

/* Names of frames in a folded stack must have no semicolon and no blank. */
static void fold_frame(FILE *f, const char *frame)
{
	for (; *frame; frame++)
		fputc(*frame == ';' ? ':' : *frame == ' ' ? '_' : *frame, f);
}

int ki_report_stack_fold(const struct ki_report *c, const struct ki_report_record *e, FILE *f)
{
	char frame[FRAME];
	struct ki_stack s;
	int frames = 0;

	for (int user = 1; user >= 0; user--)
		for (unsigned int i = 0; i < e->in->nfields; i++) {
			if (!ki_report_stack(c, e, i, &s) || (s.tgid != 0) != user)
				continue;
			for (uint32_t k = s.n; k--; frames++) {
				fputs(frames ? ";" : "", f);
				fold_frame(f,
					   ki_report_frame(c, &s, k, false, frame, sizeof(frame)));
			}
		}
	return frames;
}
