// SPDX-License-Identifier: GPL-2.0-only
#include "stat/stat_points.h"

#include "cli.h"
#include "open.h"

static char everything[] = "*";

static struct stat_asked *asked_of(struct stat_points *p, pid_t pid)
{
	for (size_t i = 0; i < p->of.n; i++)
		if (p->of.v[i].pid == pid)
			return &p->of.v[i];
	return ki_vec_push(&p->of, (struct stat_asked){.pid = pid}) ? NULL : &p->of.v[p->of.n - 1];
}

int stat_points_read(struct stat_points *p, const struct verb *self, const struct stat_options *o)
{
	int ret = asked_of(p, 0) ? CLI_OK : cli_no_memory();
	pid_t first = 0;

	for (int i = 0; !ret && i < o->npoints; i++) {
		struct stat_asked *a;
		char *rest;
		const pid_t pid = open_prefix(o->points[i], &rest);

		if (i && pid != first && !ki_aggregate_wanted(&o->by))
			return cli_misuse(self,
					  "'%s': points of one process at a time, but with --by",
					  o->points[i]);
		first = pid;
		a = asked_of(p, pid);
		ret = a ? points_ask(&a->asked, self, *rest ? rest : everything) : cli_no_memory();
		if (!ret && a->pid == OPEN_COMMAND && !o->command)
			ret = cli_misuse(self, "command/POINT: the command stands behind --");
	}
	return ret;
}

void stat_points_free(struct stat_points *p)
{
	for (size_t i = 0; i < p->of.n; i++)
		ki_asked_free(&p->of.v[i].asked);
	ki_vec_free(&p->of);
	ki_opened_close(&p->processes);
}

struct ki_asked *stat_points_kernel(struct stat_points *p)
{
	return &p->of.v[0].asked;
}

pid_t stat_points_process(const struct stat_points *p, const struct stat_options *o)
{
	if (p->of.n != 2 || p->of.v[0].asked.n || ki_aggregate_wanted(&o->by))
		return 0;
	return p->of.v[1].pid;
}

int stat_points_open(struct stat_points *p, const struct verb *self, const struct stat_options *o,
		     struct command *command)
{
	int ret = CLI_OK;

	if (p->of.n > 1 && (o->cost || o->budget > 0 || o->moving == KI_MOVING_ALWAYS))
		return cli_misuse(self, "%s: that is not built for processes yet",
				  o->cost	  ? "--cost"
				  : o->budget > 0 ? "--budget"
						  : "--move");
	for (size_t i = 1; !ret && i < p->of.n; i++)
		ret = process_open(&p->processes, p->of.v[i].pid, command, o->command);
	return ret;
}

int stat_points_resolve(const struct stat_points *p, struct ki_points *points, struct ki_target *t,
			struct ki_points_how *how, bool quiet)
{
	struct ki_points_how own = *how;
	int ret = CLI_OK;

	if (p->of.v[0].asked.n)
		ret = points_resolve(points, t, &p->of.v[0].asked, how, quiet);
	own.kernel = t;
	own.moving = KI_MOVING_NEVER;
	for (size_t i = 1; !ret && i < p->of.n; i++) {
		const struct ki_opened_process *of = ki_opened_find(&p->processes, p->of.v[i].pid);

		own.prefix = of->prefix;
		ret = points_resolve(points, of->t, &p->of.v[i].asked, &own, quiet);
	}
	return ret;
}

bool stat_points_over(const struct stat_points *p, const struct ki_measure *m)
{
	bool over = !p->of.v[0].asked.n;

	for (size_t i = 0; over && i < p->processes.n; i++) {
		const struct ki_splice_process *s = ki_measure_process_of(m, p->processes.v[i].t);

		over = !s || process_has_ended(s);
	}
	return over;
}
