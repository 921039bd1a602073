// SPDX-License-Identifier: GPL-2.0-only
#include "stat/stat_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cli.h"
#include "text_words.h"

int stat_text_begin(struct stat_text *x, struct ki_target *t)
{
	struct ki_err err = {0};

	x->fd = memfd_create("text", MFD_CLOEXEC);
	if (x->fd < 0)
		return cli_error("text hash: no memory for the text: %s", strerror(errno));
	snprintf(x->path, sizeof(x->path), "/proc/self/fd/%d", x->fd);
	if (ki_target_text_hash(t, x->before, &err) ||
	    ki_target_text_keep(t, x->path, KI_VIEW_LIVE, &err))
		return cli_fail(&err);
	return CLI_OK;
}

int stat_text_end(struct stat_text *x, struct ki_target *t)
{
	struct ki_err err = {0};

	return ki_target_text_hash(t, x->after, &err) ? cli_fail(&err) : CLI_OK;
}

int stat_text_check(const struct stat_text *x, struct ki_target *t)
{
	struct ki_text_change c;
	struct ki_err err = {0};
	struct text_words w;

	if (!strcmp(x->before, x->after))
		return CLI_OK;
	if (ki_target_text_compare(t, x->path, &c, &err))
		return cli_fail(&err);
	if (!c.differing)
		return cli_error("text hash: %" PRIu64 " ranges of modules are not there any more",
				 c.gone);
	text_words(t, &c, &w);
	return cli_error("text hash: %" PRIu64 " of %" PRIu64
			 " bytes differ, the first at %s: %s was %s",
			 c.differing, c.compared, w.place, w.is, w.was);
}
