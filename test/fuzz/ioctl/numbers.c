// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests for what sessions own by number: counters, variables, words of threads.
 */
#include "fuzz.h"

void request_make_counters(struct request *q, const struct session *s, struct arena *a,
			   struct rng *r)
{
	struct ki_counters *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_COUNTERS;
	req->size = sizeof(*req);
	req->count = 1 + rng_below(r, 8);
}

void request_make_globals(struct request *q, const struct session *s, struct arena *a,
			  struct rng *r)
{
	request_make_counters(q, s, a, r); /* which looks the same */
	q->cmd = KI_IOC_GLOBALS;
}

/* Sometimes one of another session, or none. */
void request_make_global(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_global *req = request_piece(q, a, sizeof(*req));

	q->cmd = KI_IOC_GLOBAL;
	*req = (struct ki_global){.size = sizeof(*req),
				  .number = s->first_global + rng_below(r, 3),
				  .value = rng_next(r)};
}

void request_make_words(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	request_make_counters(q, s, a, r);
	q->cmd = KI_IOC_WORDS;
}

void request_make_inside(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_inside *req = request_piece(q, a, sizeof(*req));
	uint32_t count = 1 + rng_below(r, 2);

	q->cmd = KI_IOC_INSIDE;
	*req = (struct ki_inside){
		.size = sizeof(*req),
		.clock = rng_below(r, KI_CLOCKS),
		.first = s->first_word + rng_below(r, 2),
		.count = count,
		.rows = (uintptr_t)request_piece(q, a, count * sizeof(struct ki_inside_row)),
	};
}

void request_make_ring(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_ring *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_RING;
	*req = (struct ki_ring){.size = sizeof(*req),
				.flags = rng_below(r, 2),
				.pages = 1u << rng_below(r, 3),
				.wake = rng_below(r, 4096)};
}

void request_make_stacks(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_stacks *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_STACKS;
	*req = (struct ki_stacks){.size = sizeof(*req),
				  .frames = 1 + rng_below(r, KI_STACK_FRAMES),
				  .rows = 1u << rng_below(r, 10)};
}

void request_make_texts(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_texts *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_TEXTS;
	*req = (struct ki_texts){.size = sizeof(*req),
				 .most = 8 + rng_below(r, 300),
				 .rows = 512u << rng_below(r, 4),
				 .heap = 4096 * (1 + rng_below(r, 16)),
				 .scratch = rng_one_in(r, 2) ? rng_below(r, 20000) : 0};
}

/* Of all kinds, most of them ones that the driver opens. */
void request_make_event(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_event_req *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_EVENT;
	*req = (struct ki_event_req){.size = sizeof(*req),
				     .type = rng_one_in(r, 4) ? rng_below(r, 6) : 1,
				     .config = rng_below(r, rng_one_in(r, 4) ? 0x20000 : 12),
				     .flags = rng_below(r, 16)};
}

void request_make_table(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_table_request *req = request_piece(q, a, sizeof(*req));
	uint32_t values = 1 + rng_below(r, 8);

	(void)s;
	q->cmd = KI_IOC_TABLE;
	*req = (struct ki_table_request){.size = sizeof(*req),
					 .flags = rng_below(r, 2),
					 .keys = 1 + rng_below(r, KI_TABLE_KEYS),
					 .values = values,
					 .rows = 1u << rng_below(r, 8)};
	if (rng_below(r, 2))
		req->init = (uintptr_t)request_piece(q, a, values * sizeof(uint64_t));
}
