/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What kerninst evolve says: of a service, of a layout's expected and measured effect, of refusals.
 */
#ifndef KERNINST_EVOLVE_TEXT_H
#define KERNINST_EVOLVE_TEXT_H

#include "kerninst/evolve.h"
#include "kerninst/listener.h"
#include "kerninst/page.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_evolve_shown {
	const struct ki_page *page; /* a line, or an object, for each notice */
	const char *metric;	    /* of the trials */
	double time;		    /* seconds since the service began */
};

void ki_evolve_notice_show(const struct ki_evolve_notice *n, const struct ki_evolve_shown *how);

void ki_evolve_forecast_print(const struct ki_symbol *sym, const struct ki_evolve_forecast *f,
			      FILE *out);
void ki_evolve_verdict_print(const struct ki_evolve_trial *t, const struct ki_evolve_verdict *d,
			     FILE *out);

/* In what pages the layouts of this session stand, and why in small ones; of none, nothing. */
void ki_evolve_pages_print(const struct ki_target *t, FILE *out);

/* How many functions stand aside in the cache, and which (names); of none, nothing. */
void ki_evolve_aside_print(const struct ki_evolve *e, bool names, FILE *out);

/* Warn of functions that the driver refused: how many those are. */
size_t ki_evolve_warn_refused(const struct ki_evolve *e, const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
