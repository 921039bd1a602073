// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Many functions, each analysed as a single one is, in several threads that share the text and
 * keep their arrays and what they have decoded.
 *
 * What is taken in order is taken by the thread that has analysed it, when its turn has come: the
 * function with the lowest number that has not been taken is always in the hands of a thread
 * that need not wait. A thread takes some functions in one turn: to wait for a turn, and to wake
 * who waits, costs more than to analyse a small function.
 */
#include <pthread.h>
#include <string.h>

#include "code/function/function.h"
#include "code/decode/memo.h"
#include "util/parallel.h"

#define SOME  16 /* functions, at most, that are taken in one turn */
#define TURNS 8	 /* of each thread, at least, if there are so many functions */

struct many {
	const struct ki_symbol *const *syms;
	size_t n, some;
	ki_function_step *each, *whole, *take;
	void *arg;
	struct ki_err *err;
	struct ki_text text;
	struct ki_analysis *analyses; /* `some` for each thread */
	struct ki_memo **memos;	      /* one for each */
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

/* Take functions [first, end), of which these are the analyses. Wait for the turn even if one
   failed, or nobody's would come. */
static int take_in_turn(struct many *m, const struct ki_analysis *a, size_t first, size_t end,
			int ret)
{
	pthread_mutex_lock(&m->lock);
	while (m->next != first && !m->failed)
		pthread_cond_wait(&m->turn, &m->lock);
	for (size_t i = first; !ret && !m->failed && i < end; i++)
		ret = m->take(m->arg, i, a[i - first].fn);
	m->failed |= ret != 0;
	m->next = end;
	pthread_cond_broadcast(&m->turn);
	pthread_mutex_unlock(&m->lock);
	return ret;
}

static int step(void *arg, unsigned int thread, size_t turn)
{
	struct many *m = arg;
	struct ki_analysis *a = &m->analyses[thread * m->some];
	const size_t first = turn * m->some, end = first + m->some < m->n ? first + m->some : m->n;
	int ret = 0;

	for (size_t i = first; !ret && i < end; i++) {
		if (i > first)
			a[i - first].near = a[i - first - 1].near;
		ret = analyze_one(m, &a[i - first], i);
	}
	return m->take ? take_in_turn(m, a, first, end, ret) : ret;
}

static int init_threads(struct many *m, struct ki_target *t, unsigned int threads)
{
	int ret = 0;

	m->analyses = calloc(threads * m->some, sizeof(*m->analyses));
	m->memos = calloc(threads, sizeof(*m->memos));
	if (!m->analyses || !m->memos)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < threads * m->some; i++) {
		struct ki_memo **memo = &m->memos[i / m->some];

		ret = ki_analysis_init(&m->analyses[i], t, m->err);
		if (!ret && !*memo)
			ret = ki_memo_new(memo);
		m->analyses[i].text = &m->text;
		m->analyses[i].at_entry = m->at_entries;
		m->analyses[i].memo = *memo;
	}
	return ret;
}

static void free_threads(struct many *m, unsigned int threads)
{
	for (size_t i = 0; m->analyses && i < threads * m->some; i++)
		ki_analysis_free(&m->analyses[i]);
	for (size_t i = 0; m->memos && i < threads; i++)
		ki_memo_free(m->memos[i]);
	free(m->analyses);
	free(m->memos);
}

/* How many functions a thread takes in a turn. */
static size_t some_of(const struct ki_functions_job *job, unsigned int threads)
{
	const size_t some = job->n / threads / TURNS;

	if (!job->take || threads == 1 || !some)
		return 1;
	return some < SOME ? some : SOME;
}

static int read_target(struct many *m, struct ki_target *t)
{
	const struct ki_reserved_row *rows;
	size_t n;
	int ret = ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, m->err);

	return ret ? ret : ki_text_read(t, &m->text, m->err);
}

/* What is decoded to know all entries need not be decoded again by the first thread. */
static int complete_facts(struct many *m, struct ki_target *t)
{
	const struct ki_facts *facts;

	return ki_facts_complete(t, &m->text, m->memos[0], &facts, m->err);
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
			 .n = job->n,
			 .err = err};
	unsigned int threads = job->threads ? job->threads : ki_parallel_cpus();
	int ret;

	m.some = some_of(job, threads);
	pthread_mutex_init(&m.lock, NULL);
	pthread_cond_init(&m.turn, NULL);
	ret = read_target(&m, t);
	if (!ret)
		ret = init_threads(&m, t, threads);
	if (!ret)
		ret = complete_facts(&m, t);
	if (!ret)
		ret = ki_parallel((m.n + m.some - 1) / m.some, threads, step, &m);
	free_threads(&m, threads);
	ki_text_free(&m.text);
	pthread_cond_destroy(&m.turn);
	pthread_mutex_destroy(&m.lock);
	if (ret == -ENOMEM)
		ki_err_set(err, ret, 0, "out of memory for %zu functions", job->n);
	return ret;
}
