// SPDX-License-Identifier: GPL-2.0-only
#include "library.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug.h"

#define BLANK " \t"

enum state { NEW, BEGUN, ADDED, LEFT_OUT };

struct file {
	char *name;	   /* as it is in the directory */
	char *path, *text; /* the path is owned by the options */
	enum state state;
};

struct library {
	struct options *o;
	const char *directory;
	struct file *files;
	int n;
};

char *library_read(const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	if (!f) {
		say("failed to open %s: %s", name, strerror(errno));
		return NULL;
	}
	n = getdelim(&text, &size, '\0', f);
	if (n < 0 && !ferror(f)) {
		free(text);
		text = strdup("");
	} else if (n < 0 || !feof(f)) {
		say("%s: %s", name, n < 0 ? strerror(errno) : "a 0 in the program");
		free(text);
		text = NULL;
	}
	if (f != stdin)
		fclose(f);
	return text;
}

/* ---- what one depends on ---- */

/* At the beginning of a line: `#pragma D depends_on CLASS NAME`. */
static bool dependence(const char *line, char class[16], char name[256])
{
	int end = 0;

	line += strspn(line, BLANK);
	return sscanf(line, "#%*[ \t]pragma D depends_on %15[a-z] %255[^ \t\n]%n", class, name,
		      &end) == 2 ||
	       sscanf(line, "#pragma D depends_on %15[a-z] %255[^ \t\n]%n", class, name, &end) == 2;
}

/* Those that the language has, whether they are files or not. */
static bool is_of_language(const char *name)
{
	static const char *const names[] = {
		"errno.d",  "io.d",   "ip.d",	 "lockstat.d", "net.d", "proc.d", "procfs.d",
		"psinfo.d", "regs.d", "sched.d", "signal.d",   "tcp.d", "udp.d",  "unistd.d"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool has_module(const char *name)
{
	char path[300];

	if (!strcmp(name, "vmlinux") || !strcmp(name, "kernel"))
		return true;
	snprintf(path, sizeof(path), "/sys/module/%.255s", name);
	return !access(path, F_OK);
}

static bool take(struct library *l, struct file *f);

/* A library that another one wants; false: that cannot be used. */
static bool take_named(struct library *l, struct file *of, const char *name)
{
	for (int i = 0; i < l->n; i++) {
		struct file *f = &l->files[i];

		if (strcmp(f->name, name) != 0)
			continue;
		if (f->state == BEGUN)
			say("-L %s: %s and %s depend on each other", l->directory, of->name, name);
		if (f->state == BEGUN || (f->state == NEW && !take(l, f)))
			return false;
		of->state = f->state == LEFT_OUT ? LEFT_OUT : of->state;
		return true;
	}
	if (is_of_language(name))
		return true;
	say("-L %s: %s depends on %s, which is not there", l->directory, of->name, name);
	return false;
}

/* Libraries that it wants come before it, and the lines that say so become blank. */
static bool take_dependences(struct library *l, struct file *f)
{
	char class[16], name[256];

	for (char *line = f->text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (!dependence(line, class, name))
			continue;
		if (!strcmp(class, "module") && !has_module(name))
			f->state = LEFT_OUT;
		if (strcmp(class, "library") != 0)
			continue;
		if (!take_named(l, f, name))
			return false;
		memset(line, ' ', strcspn(line, "\n"));
	}
	return true;
}

static bool take(struct library *l, struct file *f)
{
	if (f->state != NEW)
		return true;
	f->state = BEGUN;
	if (asprintf(&f->path, "%s/%s", l->directory, f->name) < 0 ||
	    ki_vec_push(&l->o->owned, f->path)) {
		say("out of memory");
		return false;
	}
	f->text = library_read(f->path);
	if (!f->text || !take_dependences(l, f))
		return false;
	if (f->state == LEFT_OUT)
		return true;
	f->state = ADDED;
	return piece_add(l->o, PIECE_LIBRARY, f->path, f->text);
}

/* ---- directories ---- */

static int is_program(const struct dirent *e)
{
	const char *end = strrchr(e->d_name, '.');

	return end && !strcmp(end, ".d");
}

/* All that have been taken, the last one first: each before those that it depends on. */
static void debug_order(const struct options *o)
{
	for (size_t i = o->pieces.n; i > 0; i--)
		if (!strcmp(o->pieces.v[i - 1].what, PIECE_LIBRARY))
			debug("library %s, piece %zu/%zu of the program", o->pieces.v[i - 1].name,
			      i, o->pieces.n);
}

bool library_add(struct options *o, const char *directory)
{
	struct dirent **all = NULL;
	struct library l = {.o = o, .directory = directory};
	bool done;

	l.n = scandir(directory, &all, is_program, alphasort);
	l.files = calloc(l.n > 0 ? (size_t)l.n : 1, sizeof(*l.files));
	done = l.n >= 0 && l.files;
	if (!done)
		say("-L %s: %s", directory, strerror(errno));
	for (int i = 0; done && i < l.n; i++)
		l.files[i].name = all[i]->d_name;
	for (int i = 0; done && i < l.n; i++)
		done = take(&l, &l.files[i]);
	debug_order(o);
	for (int i = 0; i < l.n; i++) {
		if (l.files)
			free(l.files[i].text);
		free(all[i]);
	}
	free(all);
	free(l.files);
	return done;
}
