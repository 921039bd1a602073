// SPDX-License-Identifier: GPL-2.0-only
#include "made.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paths.h"

/* The script, the last one; NULL: there is none. */
static const char *script_of(const struct options *o)
{
	const char *name = NULL;

	for (size_t i = 0; i < o->pieces.n; i++)
		if (!strcmp(o->pieces.v[i].what, "script"))
			name = o->pieces.v[i].name;
	return name;
}

/* NAME.d? */
static bool is_named(const struct options *o)
{
	const char *name = script_of(o);
	const size_t len = name ? strlen(name) : 0;

	return len > 2 && !strcmp(name + len - 2, ".d");
}

/* The script's name without .d; NULL: there is none. */
static char *base_of(const struct options *o)
{
	const char *name = script_of(o), *slash = name ? strrchr(name, '/') : NULL;

	if (!name)
		return NULL;
	name = slash ? slash + 1 : name;
	return strndup(name, strlen(name) - (is_named(o) ? 2 : 0));
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

/* What is made, by the script's name; an object of a program that has none is d.out. */
static char *name_of(const struct options *o, const char *base)
{
	char *name = NULL;

	if (o->output)
		return strdup(o->output);
	if (o->makes == 'G' && (!base || !is_named(o)))
		return strdup("d.out");
	return asprintf(&name, "%s.%c", base, o->makes == 'G' ? 'o' : 'h') < 0 ? NULL : name;
}

/* Objects that are linked are there. */
static bool has_objects(const struct options *o, const char *base)
{
	for (size_t i = 0; o->makes == 'G' && i < o->args.n; i++)
		if (access(o->args.v[i], R_OK)) {
			say("failed to link script %s: failed to open %s: %s",
			    base ? base : "of -n", o->args.v[i], strerror(errno));
			return false;
		}
	return true;
}

/* The program that ldpath names as the linker is there, though nothing is left to be linked. */
static bool has_linker(const struct options *o, const char *base)
{
	const char *path = o->makes == 'G' ? paths_lacks_linker(o) : NULL;

	if (path)
		say("failed to link script %s: %s: %s", base ? base : "of -n", path,
		    strerror(errno));
	return !path;
}

int make_files(const struct options *o, const struct ki_dlang *d)
{
	char *base = base_of(o), *name = NULL;
	int status = has_objects(o, base) && has_linker(o, base) ? EXIT_DONE : EXIT_FAILED;

	if (!base && !o->output && o->makes == 'h') {
		say("-h wants a script, -s FILE, or the name of what it makes, -o FILE");
		status = EXIT_MISUSED;
	} else if (!status && !(name = name_of(o, base))) {
		say("out of memory");
		status = EXIT_FAILED;
	}
	if (!status && o->makes == 'G' && o->dof) {
		unlink(name);
		status = failed(o, base, "link type 1 (DOF) no longer supported");
	} else if (!status) {
		status = write_file(o, d, base, name);
	}
	free(base);
	free(name);
	return status;
}
