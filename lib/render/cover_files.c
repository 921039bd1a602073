// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A coverage in files: JSON, lcov, addresses, pages. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kerninst/cover_report.h"
#include "util/listen.h"

/* Without room it says what would fit. */
void ki_cover_warn_room(const struct ki_coverage *c, const struct ki_listener *l)
{
	const struct ki_cover_totals *t = &c->totals;
	uint64_t memory = t->refused[KI_R_NO_MEMORY], heap = t->refused[KI_R_HEAP_FULL];
	uint64_t without = memory + heap + t->refused[KI_R_COUNTERS_FULL];

	if (without)
		ki_listener_warn(
			l, "there is room for %" PRIu64 " of %" PRIu64 " probes: %s", t->probes,
			t->probes + without,
			memory ? "this machine has too little free memory; name fewer functions"
			: heap ? "the driver's heap is full; its parameter 'heap' is the limit"
			       : "the driver has no more words; name fewer functions");
}

struct job {
	const struct ki_coverage *c;
	struct ki_cover_lines *lines; /* NULL: there are none */
	const struct ki_listener *listener;
	struct ki_err *err;
};

/* The debug file of the running kernel by its build id, as /usr/lib/debug has it; "" if none. */
static void by_build_id(char *path, size_t len)
{
	FILE *notes = fopen("/sys/kernel/notes", "re");
	struct {
		uint32_t name, desc, type;
	} head;
	unsigned char text[256];

	*path = '\0';
	while (notes && fread(&head, sizeof(head), 1, notes) == 1) {
		size_t name = (head.name + 3) & ~3u, n = name + ((head.desc + 3) & ~3u), at;

		if (n > sizeof(text) || fread(text, 1, n, notes) != n)
			break;
		if (head.type != 3 || head.name != 4 || memcmp(text, "GNU", 4) != 0 ||
		    head.desc < 2 || head.desc > 64)
			continue;
		at = (size_t)snprintf(path, len, "/usr/lib/debug/.build-id/%02x/", text[name]);
		for (size_t i = name + 1; i < name + head.desc; i++)
			at += (size_t)snprintf(path + at, len - at, "%02x", text[i]);
		snprintf(path + at, len - at, ".debug");
		break;
	}
	if (notes)
		fclose(notes);
}

/* Where Debian's packages put the kernel's debug file; true: path is it. */
static bool find_debug(const struct ki_coverage *c, char *path, size_t len)
{
	static const char *const places[] = {"/usr/lib/debug/boot/vmlinux-%s",
					     "/usr/lib/debug/lib/modules/%s/vmlinux"};
	struct utsname here;

	if (!c->release || strchr(c->release, '/'))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, len, places[i], c->release);
		if (!access(path, R_OK))
			return true;
	}
	if (uname(&here) || strcmp(here.release, c->release) != 0 || !c->version ||
	    strcmp(here.version, c->version) != 0)
		return false;
	by_build_id(path, len);
	return *path && !access(path, R_OK);
}

static int add_debug(struct job *j, const char *path)
{
	int ret;

	ki_listener_progress(j->listener, "reading source lines", 0, 1);
	ret = ki_cover_lines_add(j->lines, path, j->err);
	ki_listener_over(j->listener);
	return ret;
}

/* lines are NULL if there are none. */
static int open_lines(struct job *j, const struct ki_cover_files *o)
{
	char path[512];
	int ret;

	if (o->no_debug || (!o->lcov && !o->html) ||
	    (!o->debug.n && !find_debug(j->c, path, sizeof(path))))
		return 0;
	ret = ki_cover_lines_new(j->c, &j->lines, j->err);
	if (!ret && !o->debug.n)
		return add_debug(j, path);
	for (size_t i = 0; i < o->debug.n && !ret; i++)
		ret = add_debug(j, o->debug.v[i]);
	return ret;
}

static int write_lcov(struct job *j, FILE *out)
{
	return ki_coverage_write_lcov(j->c, j->lines, out, j->err);
}

static int write_json(struct job *j, FILE *out)
{
	return ki_coverage_write_json(j->c, out);
}

static int write_pcs(struct job *j, FILE *out)
{
	return ki_coverage_write_pcs(j->c, out);
}

static int to_file(const char *path, struct job *j, int (*write)(struct job *j, FILE *out))
{
	struct ki_err why = {0}, *err = j->err;
	FILE *out;
	int ret;

	if (!path)
		return 0;
	out = fopen(path, "we");
	if (!out)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	j->err = &why;
	ret = write(j, out);
	j->err = err;
	if (fclose(out) || (ret && !why.code))
		return ki_err_set(err, -EIO, 0, "%s: writing it failed", path);
	return ret ? ki_err_set(err, ret, 0, "%s: %s", path, why.msg) : 0;
}

static void show_pages(void *arg, size_t done, size_t all)
{
	const struct job *j = arg;

	ki_listener_progress(j->listener, "pages of functions", done, all);
}

static int write_html(struct job *j, const char *dir, struct ki_target *t)
{
	const struct ki_cover_html_options how = {.size = sizeof(how),
						  .dir = dir,
						  .lines = j->lines,
						  .target = t,
						  .progress = show_pages,
						  .arg = j};
	int ret;

	ki_listener_progress(j->listener, "pages of functions", 0, 0);
	ret = ki_cover_html(j->c, &how, j->err);
	ki_listener_over(j->listener);
	return ret;
}

int ki_cover_files_write(const struct ki_cover_files *o, const struct ki_coverage *c,
			 struct ki_target *t, const struct ki_listener *l, struct ki_err *err)
{
	struct job j = {.c = c, .listener = l, .err = err};
	int ret = open_lines(&j, o);

	if (!ret)
		ret = to_file(o->file, &j, write_json);
	if (!ret)
		ret = to_file(o->lcov, &j, write_lcov);
	if (!ret)
		ret = to_file(o->pcs, &j, write_pcs);
	if (!ret && o->html)
		ret = write_html(&j, o->html, t);
	ki_cover_lines_free(j.lines);
	return ret;
}
