// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Many functions, each analysed as a single one is, in several threads that share the text and
 * keep their arrays and what they have decoded.
 *
 * What is taken in order is taken by the thread that has analysed it, when its turn has come: the
 * function with the lowest number that has not been taken is always in the hands of a thread
 * that need not wait.
 */
#include <pthread.h>
#include <string.h>

#include "code/function/function.h"
#include "code/decode/memo.h"
#include "util/parallel.h"

struct many {
	const struct ki_symbol *const *syms;
	ki_function_step *each, *whole, *take;
	void *arg;
	struct ki_err *err;
	struct ki_text text;
	struct ki_analysis *analyses; /* one for each thread */
	pthread_mutex_t lock;
	pthread_cond_t turn;
	size_t next; /* whose turn it is */
	bool failed, at_entries;
};

static int analyze_one(struct many *m, struct ki_analysis *a, size_t i)
{
	struct ki_err why = {0};
	int ret = ki_analysis_run(a, m->syms[i], &why);

	if (!ret)
		ret = m->at_entries ? ki_flags_at_entry(a) : ki_flags_live(a);
	if (ret && why.code) {
		pthread_mutex_lock(&m->lock);
		if (m->err && !m->err->code)
			*m->err = why;
		pthread_mutex_unlock(&m->lock);
	}
	if (!ret && m->each)
		ret = m->each(m->arg, i, a->fn);
	if (ret == KI_FUNCTION_WHOLE && m->whole)
		ret = ki_analysis_whole(a) ? -ENOMEM : m->whole(m->arg, i, a->fn);
	return ret;
}

/* Wait for the turn of number i even if it failed, or nobody's would come. */
static int take_in_turn(struct many *m, struct ki_analysis *a, size_t i, int ret)
{
	pthread_mutex_lock(&m->lock);
	while (m->next != i && !m->failed)
		pthread_cond_wait(&m->turn, &m->lock);
	if (!ret && !m->failed)
		ret = m->take(m->arg, i, a->fn);
	m->failed |= ret != 0;
	m->next = i + 1;
	pthread_cond_broadcast(&m->turn);
	pthread_mutex_unlock(&m->lock);
	return ret;
}

static int step(void *arg, unsigned int thread, size_t i)
{
	struct many *m = arg;
	struct ki_analysis *a = &m->analyses[thread];
	int ret = analyze_one(m, a, i);

	return m->take ? take_in_turn(m, a, i, ret) : ret;
}

static int init_threads(struct many *m, struct ki_target *t, unsigned int threads)
{
	int ret = 0;

	m->analyses = calloc(threads, sizeof(*m->analyses));
	if (!m->analyses)
		return -ENOMEM;
	for (unsigned int i = 0; !ret && i < threads; i++) {
		ret = ki_analysis_init(&m->analyses[i], t, m->err);
		m->analyses[i].text = &m->text;
		m->analyses[i].at_entry = m->at_entries;
		if (!ret)
			ret = ki_memo_new(&m->analyses[i].memo);
	}
	return ret;
}

static int read_target(struct many *m, struct ki_target *t)
{
	const struct ki_reserved_row *rows;
	const struct ki_facts *facts;
	size_t n;
	int ret = ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, m->err);

	if (!ret)
		ret = ki_text_read(t, &m->text, m->err);
	if (!ret)
		ret = ki_facts_complete(t, &m->text, &facts, m->err);
	return ret;
}

int ki_functions_analyze(struct ki_target *t, const struct ki_functions_job *job,
			 struct ki_err *err)
{
	struct many m = {.syms = job->syms,
			 .each = job->each,
			 .whole = job->at_entries ? job->whole : NULL,
			 .take = job->take,
			 .arg = job->arg,
			 .at_entries = job->at_entries,
			 .err = err};
	unsigned int threads = job->threads ? job->threads : ki_parallel_cpus();
	int ret;

	pthread_mutex_init(&m.lock, NULL);
	pthread_cond_init(&m.turn, NULL);
	ret = read_target(&m, t);
	if (!ret)
		ret = init_threads(&m, t, threads);
	if (!ret)
		ret = ki_parallel(job->n, threads, step, &m);
	for (unsigned int i = 0; m.analyses && i < threads; i++) {
		ki_memo_free(m.analyses[i].memo);
		ki_analysis_free(&m.analyses[i]);
	}
	free(m.analyses);
	ki_text_free(&m.text);
	pthread_cond_destroy(&m.turn);
	pthread_mutex_destroy(&m.lock);
	if (ret == -ENOMEM)
		ki_err_set(err, ret, 0, "out of memory for %zu functions", job->n);
	return ret;
}
