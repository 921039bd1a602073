// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A coverage from a file: a line at a time, so that it takes the memory of the coverage and of one
 * function. The file may be anybody's; what contradicts itself is refused here or by
 * ki_coverage_append.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cover/coverage.h"
#include "util/vec.h"

#define LOAD_FLAGS JSON_REJECT_DUPLICATES

struct reader {
	FILE *in;
	const char *name;
	char *line;
	size_t cap, len;
	unsigned long number;
	struct ki_coverage *c;
	ki_vec(struct ki_cover_block) blocks;
	ki_vec(struct ki_cover_edge) edges;
	struct ki_err *err;
};

#define bad(r, ...) bad_code(r, -EINVAL, __VA_ARGS__)
static int __attribute__((format(printf, 3, 4)))
bad_code(const struct reader *r, int code, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ki_err_set(r->err, code, 0, "%s:%lu: %s", r->name, r->number, text);
}

/* The next line without its end: 0; -ENODATA: there is none; or reported. */
static int next_line(struct reader *r)
{
	ssize_t n;

	r->number++;
	errno = 0;
	n = getline(&r->line, &r->cap, r->in);
	if (n < 0 && errno)
		return bad_code(r, -errno, "%s", strerror(errno));
	if (n < 0)
		return -ENODATA;
	if (n && r->line[n - 1] == '\n')
		r->line[--n] = '\0';
	r->len = (size_t)n;
	return 0;
}

static json_t *load(const struct reader *r, const char *text, size_t len)
{
	json_error_t e;
	json_t *v = json_loadb(text, len, LOAD_FLAGS, &e);

	if (!v)
		bad(r, "column %d: %.150s", e.column, e.text);
	return v;
}

/* Numbers that not every reader holds exactly are strings of digits. */
static bool number(const json_t *v, uint64_t most, uint64_t *out)
{
	const char *s = json_string_value(v);
	char *end;

	if (json_is_integer(v)) {
		if (json_integer_value(v) < 0)
			return false;
		*out = (uint64_t)json_integer_value(v);
		return *out <= most;
	}
	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*out = strtoull(s, &end, strncmp(s, "0x", 2) ? 10 : 16);
	return !*end && !errno && *out <= most;
}

static int get_number(const struct reader *r, const json_t *o, const char *key, uint64_t most,
		      uint64_t *out)
{
	const json_t *v = json_object_get(o, key);

	if (!v)
		return bad(r, "no \"%s\"", key);
	return number(v, most, out) ? 0 : bad(r, "\"%s\" is no number that it can be", key);
}

/* A text; with `optional` it may be null or missing: then NULL. */
static int get_text(const struct reader *r, const json_t *o, const char *key, bool optional,
		    const char **out)
{
	const json_t *v = json_object_get(o, key);

	*out = json_string_value(v);
	if (*out || (optional && (!v || json_is_null(v))))
		return 0;
	return bad(r, "\"%s\" is no text", key);
}

typedef const char *name_of(unsigned int i);

static bool find_name(const json_t *v, name_of *name, unsigned int n, unsigned int *out)
{
	const char *s = json_string_value(v);

	for (*out = 0; s && *out < n; ++*out)
		if (!strcmp(name(*out), s))
			return true;
	return false;
}

static int get_reason(const struct reader *r, const json_t *v, unsigned int *out)
{
	const char *s = json_string_value(v);

	*out = KI_R_OK;
	if (!v || (s && !ki_reason_find(s, out)))
		return 0;
	return bad(r, "no reason '%.60s' is known", s ? s : "(no text)");
}

/* [offset, bytes, count, how, reason] */
static int read_block(struct reader *r, const json_t *v)
{
	unsigned int how = KI_COVER_PROBED, reason;
	size_t at = r->blocks.n, n = json_array_size(v);
	uint64_t off, len, count = 0;

	if (n < 2 || n > 5 || !number(json_array_get(v, 0), UINT32_MAX, &off) ||
	    !number(json_array_get(v, 1), UINT32_MAX, &len) ||
	    (n > 2 && !number(json_array_get(v, 2), UINT64_MAX, &count)) ||
	    (n > 3 &&
	     !find_name(json_array_get(v, 3), ki_cover_how_name, KI_COVER_UNKNOWN + 1, &how)))
		return bad(r, "block %zu is not [offset, bytes, count, how, reason]", at);
	if (get_reason(r, json_array_get(v, 4), &reason))
		return -EINVAL;
	if (ki_vec_push(&r->blocks, (struct ki_cover_block){.off = (uint32_t)off,
							    .len = (uint32_t)len,
							    .count = count,
							    .how = (uint8_t)how,
							    .reason = (uint16_t)reason}))
		return bad_code(r, -ENOMEM, "out of memory");
	return 0;
}

/* [from, to, kind, count, how]; to may be null. */
static int read_edge(struct reader *r, const json_t *v)
{
	unsigned int kind = 0, how = KI_COVER_PROBED;
	size_t at = r->edges.n, n = json_array_size(v);
	uint64_t from, to = KI_NONE, count = 0;

	if (n < 3 || n > 5 || !number(json_array_get(v, 0), KI_NONE - 1, &from) ||
	    (!json_is_null(json_array_get(v, 1)) &&
	     !number(json_array_get(v, 1), KI_NONE - 1, &to)) ||
	    !find_name(json_array_get(v, 2), ki_edge_kind_name, KI_EDGE_RETURN + 1, &kind) ||
	    (n > 3 && !number(json_array_get(v, 3), UINT64_MAX, &count)) ||
	    (n > 4 &&
	     !find_name(json_array_get(v, 4), ki_cover_how_name, KI_COVER_UNKNOWN + 1, &how)))
		return bad(r, "edge %zu is not [from, to, kind, count, how]", at);
	if (ki_vec_push(&r->edges, (struct ki_cover_edge){.from = (uint32_t)from,
							  .to = (uint32_t)to,
							  .count = count,
							  .kind = (uint8_t)kind,
							  .how = (uint8_t)how}))
		return bad_code(r, -ENOMEM, "out of memory");
	return 0;
}

static int read_rows(struct reader *r, const json_t *o, const char *key, bool optional,
		     int (*row)(struct reader *r, const json_t *v))
{
	const json_t *rows = json_object_get(o, key);
	int ret = 0;

	if (!rows && optional)
		return 0;
	if (!json_is_array(rows))
		return bad(r, "\"%s\" is no array", key);
	for (size_t i = 0; i < json_array_size(rows) && !ret; i++)
		ret = row(r, json_array_get(rows, i));
	return ret;
}

static int read_function(struct reader *r, const json_t *o)
{
	struct ki_cover_function f = {0};
	struct ki_err why = {0};
	unsigned int reason;
	uint64_t size;
	int ret;

	r->blocks.n = r->edges.n = 0;
	ret = get_text(r, o, "name", false, &f.name);
	ret = ret ? ret : get_text(r, o, "module", true, &f.module);
	ret = ret ? ret : get_number(r, o, "addr", UINT64_MAX, &f.addr);
	ret = ret ? ret : get_number(r, o, "size", UINT32_MAX, &size);
	ret = ret ? ret : get_reason(r, json_object_get(o, "reason"), &reason);
	ret = ret ? ret : read_rows(r, o, "blocks", false, read_block);
	ret = ret ? ret : read_rows(r, o, "edges", true, read_edge);
	if (ret)
		return ret;
	f.size = (uint32_t)size;
	f.reason = (uint16_t)reason;
	f.nblocks = (uint32_t)r->blocks.n;
	f.nedges = (uint32_t)r->edges.n;
	ret = ki_coverage_append(r->c, &f, r->blocks.v, r->edges.v, &why);
	return ret ? bad_code(r, ret, "%.190s", why.msg) : 0;
}

static int read_totals(const struct reader *r, const json_t *head)
{
	const json_t *o = json_object_get(head, "totals");

	if (!json_is_object(o))
		return bad(r, "no \"totals\"");
	for (size_t i = 0; i < ki_cover_ntotals; i++) {
		const struct ki_cover_total *t = &ki_cover_total_names[i];
		const json_t *v = json_object_get(o, t->name);
		char *at = (char *)&r->c->totals + t->offset;

		if (t->kind != KI_TOTAL_SECONDS) {
			if (get_number(r, o, t->name, UINT64_MAX, (uint64_t *)at))
				return -EINVAL;
		} else if (!json_is_number(v) || !(json_number_value(v) >= 0)) {
			return bad(r, "\"%s\" is no time", t->name);
		} else {
			*(double *)at = json_number_value(v);
		}
	}
	return 0;
}

static int read_reasons(const struct reader *r, const json_t *head)
{
	json_t *o = json_object_get(head, "reasons"), *v;
	const char *tag;

	if (!json_is_object(o))
		return bad(r, "no \"reasons\"");
	json_object_foreach(o, tag, v)
	{
		unsigned int reason;

		if (ki_reason_find(tag, &reason))
			return bad(r, "no reason '%.60s' is known", tag);
		if (!number(v, UINT64_MAX, &r->c->totals.refused[reason]))
			return bad(r, "reason '%.60s' has no number", tag);
	}
	return 0;
}

static int read_texts(const struct reader *r, const json_t *head)
{
	struct ki_coverage *c = r->c;
	const char *release, *version, *program, *command;
	int ret = get_text(r, head, "release", true, &release);

	ret = ret ? ret : get_text(r, head, "version", true, &version);
	ret = ret ? ret : get_text(r, head, "program", true, &program);
	ret = ret ? ret : get_text(r, head, "command", true, &command);
	if (ret)
		return ret;
	c->release = ki_coverage_intern(c, release);
	c->version = ki_coverage_intern(c, version);
	c->program = ki_coverage_intern(c, program);
	c->command = ki_coverage_intern(c, command);
	if (!c->release != !release || !c->version != !version || !c->program != !program ||
	    !c->command != !command)
		return bad_code(r, -ENOMEM, "out of memory");
	return 0;
}

static int make_coverage(struct reader *r, const json_t *head)
{
	unsigned int mode;
	uint64_t version;
	int ret = get_number(r, head, "kerninst_coverage", UINT64_MAX, &version);

	if (ret)
		return ret;
	if (version != KI_COVERAGE_VERSION)
		return bad(r, "version %" PRIu64 " of the format; %d is known", version,
			   KI_COVERAGE_VERSION);
	if (!find_name(json_object_get(head, "mode"), ki_cover_mode_name, KI_COVER_MODES, &mode))
		return bad(r, "\"mode\" is not hit, count or edges");
	ret = ki_coverage_new(mode, &r->c, r->err);
	ret = ret ? ret : read_totals(r, head);
	ret = ret ? ret : read_reasons(r, head);
	return ret ? ret : read_texts(r, head);
}

/* The first line, as if the object ended there. */
static int read_head(struct reader *r)
{
	static const char open[] = KI_COVERAGE_FUNCTIONS, close[] = KI_COVERAGE_END;
	size_t n = sizeof(open) - 1;
	json_t *head;
	char *whole;
	int ret = next_line(r);

	if (ret && ret != -ENODATA)
		return ret;
	if (ret || r->len < n || strcmp(r->line + r->len - n, open) != 0)
		return bad(r, "no coverage of kerninst cover, or its lines have been changed");
	whole = malloc(r->len + sizeof(close));
	if (!whole)
		return bad_code(r, -ENOMEM, "out of memory");
	memcpy(whole, r->line, r->len);
	memcpy(whole + r->len, close, sizeof(close));
	head = load(r, whole, r->len + sizeof(close) - 1);
	free(whole);
	if (!head)
		return -EINVAL;
	ret = make_coverage(r, head);
	json_decref(head);
	return ret;
}

/* Lines of functions up to the end; after each but the last is a comma. */
static int read_functions(struct reader *r)
{
	bool more = true, comma;
	int ret = 0;

	for (;;) {
		json_t *o;

		ret = next_line(r);
		if (ret == -ENODATA)
			return bad(r, "it ends before its end: cut off?");
		if (ret)
			return ret;
		if (!strcmp(r->line, KI_COVERAGE_END))
			return more && r->c->nfunctions
				       ? bad(r, "a comma, and no function behind it")
				       : 0;
		comma = r->len && r->line[r->len - 1] == ',';
		if (!more)
			return bad(r, "no comma before this line");
		o = load(r, r->line, r->len - comma);
		if (!o)
			return -EINVAL;
		ret = read_function(r, o);
		json_decref(o);
		if (ret)
			return ret;
		more = comma;
	}
}

/* Do the totals of the file say what its functions say? */
static int check_totals(const struct reader *r)
{
	struct ki_cover_totals said = r->c->totals;

	ki_coverage_total(r->c);
	for (size_t i = 0; i < ki_cover_ntotals; i++) {
		const struct ki_cover_total *t = &ki_cover_total_names[i];
		uint64_t a, b;

		if (t->kind != KI_TOTAL_SUM)
			continue;
		a = *(uint64_t *)((char *)&said + t->offset);
		b = *(uint64_t *)((char *)&r->c->totals + t->offset);
		if (a != b)
			return ki_err_set(r->err, -EINVAL, 0,
					  "%s: \"%s\" is said to be %" PRIu64
					  ", but its functions say %" PRIu64,
					  r->name, t->name, a, b);
	}
	for (unsigned int i = 0; i < KI_R_COUNT; i++)
		if (said.refused[i] != r->c->totals.refused[i])
			return ki_err_set(r->err, -EINVAL, 0,
					  "%s: %s is said to be the reason of %" PRIu64
					  " blocks, but is of %" PRIu64,
					  r->name, ki_reason_tag(i), said.refused[i],
					  r->c->totals.refused[i]);
	return 0;
}

int ki_coverage_parse(FILE *in, const char *name, struct ki_coverage **out, struct ki_err *err)
{
	struct reader r = {.in = in, .name = name, .err = err};
	int ret = read_head(&r);

	ret = ret ? ret : read_functions(&r);
	if (!ret && next_line(&r) != -ENODATA)
		ret = bad(&r, "something stands behind the end");
	ret = ret ? ret : check_totals(&r);
	if (ret)
		ki_coverage_free(r.c);
	else
		*out = r.c;
	free(r.line);
	ki_vec_free(&r.blocks);
	ki_vec_free(&r.edges);
	return ret;
}

int ki_coverage_read_json(const char *path, struct ki_coverage **out, struct ki_err *err)
{
	FILE *in = fopen(path, "re");
	int ret;

	if (!in)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	ret = ki_coverage_parse(in, path, out, err);
	fclose(in);
	return ret;
}
