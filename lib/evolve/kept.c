// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Who keeps layouts. What is put into the kernel is its session's, so somebody must hold one: a
 * process that sleeps, with a name of its own. It is found by that name among the driver's
 * sessions, so there is no file that could say something else.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "kerninst/evolve.h"
#include "kerninst/sessions.h"

#define UNDO_WAIT 100 /* times 50 ms until who was told to end is gone */

/* The session after number `after` of one who stays. */
static bool next_keeper(int fd, uint64_t after, struct ki_session_row *r)
{
	do {
		r->session = after;
		if (ki_session_next(fd, r) <= 0)
			return false;
		after = r->session;
	} while (strncmp(r->comm, KI_EVOLVE_NAME, sizeof(r->comm)) ||
		 r->flags & KI_SESSION_EVICTED);
	return true;
}

static void print_functions(struct ki_target *t, const struct ki_session_row *r, FILE *out)
{
	struct ki_session_window w = {0};

	for (; ki_session_window(ki_target_fd(t), r->session, 0, &w) > 0; w.addr++) {
		const struct ki_symbol *s = ki_target_symbol_at(t, w.addr);

		if (s)
			fprintf(out, "  %s%s%s\n", s->module, *s->module ? ":" : "", s->name);
	}
}

void ki_evolve_list(struct ki_target *t, FILE *out)
{
	struct ki_session_row r = {0};
	int n = 0;

	for (; next_keeper(ki_target_fd(t), r.session, &r); n++) {
		fprintf(out, "process %" PRIu32 ", for %.0f s, %" PRIu64 " bytes:\n", r.pid,
			(double)r.age / 1e9, (uint64_t)r.heap);
		print_functions(t, &r, out);
	}
	if (!n)
		fputs("nothing is laid out\n", out);
}

static bool gone(int fd, uint64_t session)
{
	struct ki_session_row r = {.session = session - 1};

	return ki_session_next(fd, &r) <= 0 || r.session != session;
}

int ki_evolve_undo_all(struct ki_target *t, size_t *n, struct ki_err *err)
{
	struct ki_session_row r = {0};
	int ret = 0;

	*n = 0;
	for (; next_keeper(ki_target_fd(t), r.session, &r); ++*n) {
		if (kill((pid_t)r.pid, SIGTERM) && errno != ESRCH)
			ret = ki_err_set(err, -EBUSY, 0,
					 "process %" PRIu32 ": %s: ask its user, or kerninst evict",
					 r.pid, strerror(errno));
		for (int i = 0; !ret && i < UNDO_WAIT && !gone(ki_target_fd(t), r.session); i++)
			usleep(50000);
		if (!ret && !gone(ki_target_fd(t), r.session))
			ret = ki_err_set(err, -EBUSY, 0,
					 "process %" PRIu32
					 " does not end: kerninst evict %" PRIu64,
					 r.pid, (uint64_t)r.session);
	}
	return ret;
}
