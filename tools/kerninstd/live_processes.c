// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that can be looked at, and those that somebody looks at.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live_inside.h"

#define ARGS_MOST 120

struct ki_target *live_process_open(pid_t pid, struct ki_err *err)
{
	struct ki_target *t = NULL;

	if (pid == getpid())
		ki_err_set(err, -EINVAL, 0, "process %d is this daemon: name another one",
			   (int)pid);
	else if (ki_target_new_process(pid, &t, err) == -ESRCH && !err->reason)
		err->reason = KI_R_PROCESS_GONE;
	return t;
}

static struct ki_target *look_again(struct looked *at, struct ki_err *err)
{
	struct ki_target *t;

	if (!at->stale)
		return at->t;
	t = live_process_open(at->pid, err);
	if (!t)
		return NULL;
	ki_target_free(at->t);
	at->t = t;
	at->stale = false;
	return t;
}

struct ki_target *live_process_look(struct live *l, pid_t pid, struct ki_err *err)
{
	struct looked at = {.pid = pid};

	for (size_t i = 0; i < l->looked.n; i++)
		if (l->looked.v[i].pid == pid)
			return look_again(&l->looked.v[i], err);
	at.t = live_process_open(pid, err);
	if (!at.t)
		return NULL;
	if (l->looked.n == LOOKED_MOST) {
		ki_target_free(l->looked.v[0].t);
		memmove(l->looked.v, l->looked.v + 1, --l->looked.n * sizeof(at));
	}
	if (ki_vec_push(&l->looked, at)) {
		ki_target_free(at.t);
		ki_err_set(err, -ENOMEM, 0, "out of memory");
		return NULL;
	}
	return at.t;
}

/* Does this batch measure it? */
static bool has_function(const struct batch *b, const struct ki_pointspec *spec)
{
	for (size_t i = 0; i < b->curves.n; i++) {
		const char *module = strchr(b->curves.v[i].module, '/');

		if (module && !strcmp(b->curves.v[i].function, spec->function) &&
		    (!*spec->module || !strcmp(module + 1, spec->module)))
			return true;
	}
	return false;
}

struct ki_target *live_process_function(struct live *l, pid_t pid, const struct ki_pointspec *spec,
					struct ki_err *err)
{
	for (struct client *c = l->engine->clients.first; c; c = c->next) {
		const struct owner *o = c->own;

		for (struct batch *b = o ? o->batches : NULL; b; b = b->next)
			if (b->session->pid == pid && has_function(b, spec))
				return b->session->t;
	}
	return live_process_look(l, pid, err);
}

void live_process_forget(struct live *l, pid_t pid)
{
	for (size_t i = 0; i < l->looked.n; i++) {
		if (!pid)
			ki_target_free(l->looked.v[i].t);
		else if (l->looked.v[i].pid == pid)
			l->looked.v[i].stale = true;
	}
	if (!pid)
		ki_vec_free(&l->looked);
}

/* What /proc says of it, as text of one line; false: nothing. */
static bool read_line(const char *pid, const char *what, char *to, size_t size)
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, what);
	f = fopen(path, "re");
	n = f ? fread(to, 1, size - 1, f) : 0;
	if (f)
		fclose(f);
	while (n && (!to[n - 1] || to[n - 1] == '\n'))
		n--;
	for (size_t i = 0; i < n; i++)
		if (!isprint((unsigned char)to[i]))
			to[i] = to[i] ? '?' : ' ';
	to[n] = '\0';
	return n;
}

/* Threads of the kernel have no arguments. */
static void put_process(struct ki_json *j, const char *pid)
{
	char name[32], args[ARGS_MOST];

	if (atoi(pid) == getpid() || !read_line(pid, "comm", name, sizeof(name)) ||
	    !read_line(pid, "cmdline", args, sizeof(args)))
		return;
	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "pid", strtoul(pid, NULL, 10));
	ki_json_str(j, "comm", name);
	ki_json_str(j, "args", args);
	ki_json_close(j);
}

void live_processes(struct source *s, struct reply *r)
{
	DIR *all = opendir("/proc");
	struct dirent *e;
	struct doc d;

	(void)s;
	if (!all || doc_begin(&d)) {
		if (all)
			closedir(all);
		reply_no_memory(r);
		return;
	}
	ki_json_open(&d.j, NULL, '{');
	ki_json_open(&d.j, "processes", '[');
	while ((e = readdir(all)))
		if (isdigit((unsigned char)*e->d_name))
			put_process(&d.j, e->d_name);
	ki_json_close(&d.j);
	ki_json_close(&d.j);
	closedir(all);
	doc_reply(&d, r);
}
