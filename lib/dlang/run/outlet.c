// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where output goes: to whoever runs the program, or to the file of freopen(); and what must come
 * in order with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/run/run.h"

static int open_text(struct ki_d_consumer *c)
{
	c->f = open_memstream(&c->text, &c->len);
	return c->f ? 0 : ki_d_no_memory(c->err);
}

int ki_d_outlet_begin(struct ki_d_consumer *c)
{
	c->text = NULL;
	return open_text(c);
}

static int give_out(struct ki_d_consumer *c)
{
	FILE *other = c->d->run->reopened;
	int ret = fclose(c->f) ? -ENOMEM : 0;

	c->f = NULL;
	if (!ret && c->len && other) {
		if (fwrite(c->text, 1, c->len, other) != c->len || fflush(other))
			ret = ki_err_set(c->err, -EIO, 0,
					 "D: freopen(): the file cannot be written");
	} else if (!ret && c->len) {
		c->out->print(c->out->arg, c->text, c->len);
	}
	free(c->text);
	c->text = NULL;
	return ret == -ENOMEM ? ki_d_no_memory(c->err) : ret;
}

int ki_d_outlet_end(struct ki_d_consumer *c)
{
	return c->f ? give_out(c) : 0;
}

int ki_d_outlet_flush(struct ki_d_consumer *c)
{
	int ret = give_out(c);

	return ret ? ret : open_text(c);
}

/* ---- what must come in order with it ---- */

int ki_d_outlet_system(struct ki_d_consumer *c, const char *command)
{
	int ret = ki_d_outlet_flush(c);

	/* What the command gives back is its own affair. */
	if (!ret && system(command) < 0)
		ret = ki_err_set(c->err, -errno, 0, "D: system(): %s", strerror(errno));
	return ret;
}

/* All is as it was: output is not lost, and the program goes on. */
static void not_reopened(struct ki_d_consumer *c, const char *name, const char *why)
{
	char text[256];

	if (!c->out->warn)
		return;
	snprintf(text, sizeof(text), "freopen(\"%.100s\"): %s; output goes where it went before",
		 name, why);
	c->out->warn(c->out->arg, text);
}

int ki_d_outlet_reopen(struct ki_d_consumer *c, const char *name)
{
	struct ki_d_run *r = c->d->run;
	int ret = ki_d_outlet_flush(c);
	FILE *f = NULL;

	if (ret)
		return ret;
	if (*name) {
		f = fopen(name, "we");
		if (!f) {
			not_reopened(c, name, strerror(errno));
			return 0;
		}
	}
	if (r->reopened)
		fclose(r->reopened);
	r->reopened = f;
	r->captures = false;
	return 0;
}

int ki_d_outlet_truncate(struct ki_d_consumer *c)
{
	FILE *f = c->d->run->reopened;
	int ret = ki_d_outlet_flush(c);

	if (ret)
		return ret;
	if (!f) {
		if (c->out->truncate)
			c->out->truncate(c->out->arg);
		return 0;
	}
	rewind(f);
	c->d->run->captures = false;
	if (ftruncate(fileno(f), 0) && errno != EINVAL) /* EINVAL: it is no file with a length */
		return ki_err_set(c->err, -errno, 0, "D: ftruncate(): %s", strerror(errno));
	return 0;
}

int ki_d_outlet_option(struct ki_d_consumer *c, uint32_t id, const char *name, const char *value)
{
	int ret = ki_d_option(&c->d->set, name, value, KI_D_RUNNING);

	if (ret && c->out->warn) {
		char text[256];

		snprintf(text, sizeof(text),
			 "error in dt_clause_%u for probe ID %u (%s): couldn't set option "
			 "\"%.60s\" to \"%.60s\": %s",
			 c->record - 1, id, c->name, name, value ? value : "1",
			 ki_d_option_why(ret));
		c->out->warn(c->out->arg, text);
	}
	return 0;
}
