// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minimum and maximum of variables that all CPUs change at once: each thread gives a bit more than
 * what is there, and finds it there as soon as it has.
 */
#include "snippets.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define THREADS 4
#define CALLS	20000
#define LARGE	(1ull << 40) /* nobody else asks for so much */

static struct {
	struct ki_var max, min, here;
	int file; /* cannot be read */
} all;

static struct riser {
	pthread_t thread;
	unsigned int met, lost;
	uint64_t last;
} risers[THREADS];

static uint64_t least(void)
{
	return 0 - ki_global_read(globals, all.min.first);
}

static void *rise(void *arg)
{
	struct riser *r = arg;
	uint64_t now;
	char byte;

	for (unsigned int i = 0; i < CALLS; i++) {
		now = ki_global_read(globals, all.max.first);
		r->met += now > r->last;
		r->last = (now > LARGE ? now : LARGE) + 1 + (i & 7);
		if (read(all.file, &byte, r->last) >= 0)
			r->lost++;
		r->lost += ki_global_read(globals, all.max.first) < r->last || least() < r->last;
	}
	return NULL;
}

/* Of what vfs_read is asked for: the maximum, of all and of each CPU, and the minimum of -x. */
static struct ki_node *both(struct ki_snippet *s)
{
	const struct ki_var *maxima[] = {&all.max, &all.here};
	struct ki_node *list = NULL;

	for (unsigned int i = 0; i < 2; i++)
		list = ki_stmt_append(
			s, list,
			ki_stmt_update(s, KI_UPDATE_MAX, maxima[i], NULL, ki_expr_param(s, 2)));
	return ki_stmt_append(s, list,
			      ki_stmt_update(s, KI_UPDATE_MIN, &all.min, NULL,
					     ki_expr_unary(s, KI_NEG, ki_expr_param(s, 2))));
}

static uint64_t most_here(void)
{
	const unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t most = 0, v;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		v = ki_counter_read_cpu(counters, all.here.first, cpu);
		most = v > most ? v : most;
	}
	return most;
}

static void run_all(struct riser *sum)
{
	for (unsigned int i = 0; i < THREADS; i++) {
		risers[i] = (struct riser){0};
		if (pthread_create(&risers[i].thread, NULL, rise, &risers[i]))
			die("pthread_create", "no thread");
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(risers[i].thread, NULL);
		sum->met += risers[i].met;
		sum->lost += risers[i].lost;
		sum->last = risers[i].last > sum->last ? risers[i].last : sum->last;
	}
}

void minmax(bool known)
{
	struct ki_plan *plan = plan_new();
	struct ki_snippet *s = snippet_new();
	struct riser sum = {0};
	uint64_t max;

	all.max = var(KI_VAR_GLOBAL, take_globals(2), 1);
	all.min = var(KI_VAR_GLOBAL, all.max.first + 1, 1);
	all.min.type = KI_I64;
	all.here = var(KI_VAR_CPU, take_counters(1), 1);
	all.file = open("/dev/null", O_WRONLY);
	ki_snippet_body(s, both(s));
	put(plan, "vfs_read", KI_POINT_ENTRY, s, known);
	plan_apply(plan, target);
	run_all(&sum);
	take_out(plan);
	close(all.file);
	max = ki_global_read(globals, all.max.first);
	report("minmax", !sum.lost && max == sum.last && max == least() && max == most_here(),
	       "%u of %u values lost, %u of others met; %llx %llx %llx %llx", sum.lost,
	       THREADS * CALLS, sum.met, (unsigned long long)max, (unsigned long long)sum.last,
	       (unsigned long long)least(), (unsigned long long)most_here());
}
