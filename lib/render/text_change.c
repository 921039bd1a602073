// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/text_change.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "out/json.h"

static void hex(const uint8_t *bytes, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++)
		sprintf(out + 3 * i, "%02x%s", bytes[i], i + 1 < len ? " " : "");
}

void ki_text_words(const struct ki_target *t, const struct ki_text_change *c,
		   struct ki_text_words *w)
{
	const struct ki_symbol *s = ki_target_symbol_at(t, c->addr);

	_Static_assert(3 * sizeof(c->was) < sizeof(w->was), "each byte takes three");
	if (!s)
		snprintf(w->place, sizeof(w->place), "0x%" PRIx64, c->addr);
	else
		snprintf(w->place, sizeof(w->place), "%s%s%s+0x%" PRIx64, s->module,
			 *s->module ? ":" : "", s->name, c->addr - s->addr);
	*w->was = *w->is = 0;
	hex(c->was, c->len, w->was);
	hex(c->is, c->len, w->is);
}

static int print_json(const struct ki_text_change *c, const struct ki_text_words *w, FILE *out)
{
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "compared", c->compared);
	ki_json_u64(&j, "differing", c->differing);
	ki_json_u64(&j, "gone", c->gone);
	if (c->differing) {
		ki_json_open(&j, "first", '{');
		ki_json_str(&j, "place", w->place);
		ki_json_str(&j, "was", w->was);
		ki_json_str(&j, "is", w->is);
		ki_json_close(&j);
	}
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

int ki_text_change_show(const struct ki_target *t, const struct ki_text_change *c, bool quiet,
			const struct ki_page *page)
{
	struct ki_text_words w;

	ki_text_words(t, c, &w);
	if (page->json)
		return print_json(c, &w, page->out);
	if (c->differing)
		fprintf(page->out,
			"%" PRIu64 " of %" PRIu64 " bytes differ, the first at %s: %s was %s\n",
			c->differing, c->compared, w.place, w.is, w.was);
	else if (!quiet)
		fprintf(page->out, "equal: %" PRIu64 " bytes\n", c->compared);
	if (c->gone && !quiet)
		fprintf(page->out, "%" PRIu64 " ranges of modules are not there any more\n",
			c->gone);
	return 0;
}

int ki_text_watch_begin(struct ki_text_watch *x, struct ki_target *t, struct ki_err *err)
{
	int ret;

	x->fd = memfd_create("text", MFD_CLOEXEC);
	if (x->fd < 0)
		return ki_err_set(err, -errno, 0, "text hash: no memory for the text: %s",
				  strerror(errno));
	snprintf(x->path, sizeof(x->path), "/proc/self/fd/%d", x->fd);
	ret = ki_target_text_hash(t, x->before, err);
	return ret ? ret : ki_target_text_keep(t, x->path, KI_VIEW_LIVE, err);
}

int ki_text_watch_end(struct ki_text_watch *x, struct ki_target *t, struct ki_err *err)
{
	return ki_target_text_hash(t, x->after, err);
}

int ki_text_watch_check(const struct ki_text_watch *x, struct ki_target *t, struct ki_err *err)
{
	struct ki_text_change c;
	struct ki_text_words w;
	int ret;

	if (!strcmp(x->before, x->after))
		return 0;
	ret = ki_target_text_compare(t, x->path, &c, err);
	if (ret)
		return ret;
	if (!c.differing)
		return ki_err_set(err, -EIO, 0,
				  "text hash: %" PRIu64 " ranges of modules are not there any more",
				  c.gone);
	ki_text_words(t, &c, &w);
	return ki_err_set(err, -EIO, 0,
			  "text hash: %" PRIu64 " of %" PRIu64
			  " bytes differ, the first at %s: %s was %s",
			  c.differing, c.compared, w.place, w.is, w.was);
}
