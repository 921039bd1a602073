// SPDX-License-Identifier: GPL-2.0-only
#include "made.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The script's name without .d; NULL: there is none. */
static char *base_of(const struct options *o)
{
	const char *name = NULL, *slash;
	size_t len;

	for (size_t i = 0; i < o->pieces.n; i++)
		if (!strcmp(o->pieces.v[i].what, "script"))
			name = o->pieces.v[i].name;
	if (!name)
		return NULL;
	slash = strrchr(name, '/');
	name = slash ? slash + 1 : name;
	len = strlen(name);
	return strndup(name, len > 2 && !strcmp(name + len - 2, ".d") ? len - 2 : len);
}

static int failed(const struct options *o, const char *base, const char *why)
{
	say("failed to %s script %s: %s", o->makes == 'G' ? "link" : "create header file for",
	    base ? base : "of -n", why);
	return EXIT_FAILED;
}

static int write_file(const struct options *o, const struct ki_dlang *d, const char *base,
		      const char *name)
{
	struct ki_err err = {0};
	FILE *out = fopen(name, "w");
	bool bad = !out || (o->makes == 'G' ? ki_dlang_object(d, out, &err)
					    : ki_dlang_header(d, name, out, &err)) != 0;
	int status = EXIT_DONE;

	if (!bad)
		bad = fflush(out) || ferror(out);
	if (bad)
		status = failed(o, base, err.code ? err.msg : strerror(errno));
	if (out)
		fclose(out);
	if (out && bad)
		unlink(name);
	return status;
}

int make_files(const struct options *o, const struct ki_dlang *d)
{
	char *base = base_of(o), *name = NULL;
	int status = EXIT_DONE;

	for (size_t i = 0; !status && o->makes == 'G' && i < o->args.n; i++)
		if (access(o->args.v[i], R_OK)) {
			say("failed to link script %s: failed to open %s: %s",
			    base ? base : "of -n", o->args.v[i], strerror(errno));
			status = EXIT_FAILED;
		}
	if (!base && !o->output) {
		say("-%c wants a script, -s FILE, or the name of what it makes, -o FILE", o->makes);
		status = EXIT_MISUSED;
	} else if (!status &&
		   asprintf(&name, "%s.%c", base ? base : "", o->makes == 'G' ? 'o' : 'h') < 0) {
		say("out of memory");
		status = EXIT_FAILED;
	}
	if (!status)
		status = write_file(o, d, base, o->output ? o->output : name);
	free(base);
	free(name);
	return status;
}
