// SPDX-License-Identifier: GPL-2.0-only
#include "cover/cover_output.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli.h"

bool cover_output_option(struct cover_output *o, int option, const char *arg)
{
	switch (option) {
	case 'o':
		o->file = arg;
		return true;
	case COVER_LCOV:
		o->lcov = arg;
		return true;
	case COVER_HTML:
		o->html = arg;
		return true;
	case COVER_PCS:
		o->pcs = arg;
		return true;
	case COVER_JSON:
		o->json = true;
		return true;
	case COVER_DEBUG:
		o->no_debug = !strcmp(arg, "none");
		return o->no_debug || !ki_vec_push(&o->debug, arg);
	case 'v':
		o->verbose = true;
		return true;
	case 'q':
		o->quiet = true;
		return true;
	default:
		return false;
	}
}

void cover_output_free(struct cover_output *o)
{
	ki_vec_free(&o->debug);
}

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

static int add_debug(const struct cover_output *o, struct ki_cover_lines *l, const char *path)
{
	struct cli_progress p;
	struct ki_err err = {0};
	int ret;

	cli_progress_start(&p, "reading source lines", 1, o->quiet);
	ret = ki_cover_lines_add(l, path, &err) ? cli_fail(&err) : CLI_OK;
	cli_progress_end(&p);
	return ret;
}

/* *out is NULL if there are none. */
static int open_lines(const struct cover_output *o, const struct ki_coverage *c,
		      struct ki_cover_lines **out)
{
	struct ki_err err = {0};
	char path[512];
	int ret = CLI_OK;

	*out = NULL;
	if (o->no_debug || (!o->lcov && !o->html) ||
	    (!o->debug.n && !find_debug(c, path, sizeof(path))))
		return CLI_OK;
	if (ki_cover_lines_open(c, out, &err))
		return cli_fail(&err);
	if (!o->debug.n)
		return add_debug(o, *out, path);
	for (size_t i = 0; i < o->debug.n && !ret; i++)
		ret = add_debug(o, *out, o->debug.v[i]);
	return ret;
}

struct job {
	const struct ki_coverage *c;
	const struct ki_cover_lines *lines;
	struct ki_err err;
};

static int write_lcov(struct job *j, FILE *out)
{
	return ki_coverage_write_lcov(j->c, j->lines, out, &j->err);
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
	FILE *out;
	int ret;

	if (!path)
		return CLI_OK;
	out = fopen(path, "we");
	if (!out)
		return cli_error("%s: %s", path, strerror(errno));
	ret = write(j, out);
	if (fclose(out) || (ret && !j->err.code))
		return cli_error("%s: writing it failed", path);
	return ret ? cli_error("%s: %s", path, j->err.msg) : CLI_OK;
}

static int write_stdout(const struct cover_output *o, const struct ki_coverage *c)
{
	int ret = o->json ? ki_coverage_write_json(c, stdout)
			  : ki_cover_text(c, o->verbose, cli_bold(stdout), stdout);

	return ret ? cli_error("writing the result failed") : CLI_OK;
}

static void show_pages(void *arg, size_t done, size_t all)
{
	struct cli_progress *p = arg;

	p->total = all;
	cli_progress_at(p, done);
}

static int write_html(const struct cover_output *o, const struct ki_coverage *c,
		      const struct ki_cover_lines *lines, struct ki_target *t)
{
	struct cli_progress p;
	const struct ki_cover_html_options how = {.size = sizeof(how),
						  .dir = o->html,
						  .lines = lines,
						  .target = t,
						  .progress = show_pages,
						  .arg = &p};
	struct ki_err err = {0};
	int ret;

	cli_progress_start(&p, "pages of functions", 0, o->quiet);
	ret = ki_cover_html(c, &how, &err);
	cli_progress_end(&p);
	return ret ? cli_fail(&err) : CLI_OK;
}

int cover_output_write(const struct cover_output *o, const struct ki_coverage *c,
		       struct ki_target *t)
{
	struct ki_cover_lines *lines = NULL;
	struct job j = {.c = c};
	int ret = open_lines(o, c, &lines);

	j.lines = lines;
	ret = ret ? ret : to_file(o->file, &j, write_json);
	ret = ret ? ret : to_file(o->lcov, &j, write_lcov);
	ret = ret ? ret : to_file(o->pcs, &j, write_pcs);
	if (!ret && o->html)
		ret = write_html(o, c, lines, t);
	ki_cover_lines_close(lines);
	return ret ? ret : write_stdout(o, c);
}
