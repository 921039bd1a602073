/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a client has seen since it began, as lines of JSON, in a file without a name. A disk that is
 * full costs samples, never a line that is half there: what is missing is said by an event "gap"
 * in front of the next sample that fits. What is no sample waits in memory meanwhile.
 */
#ifndef KERNINSTD_RECORDING_H
#define KERNINSTD_RECORDING_H

#include "text.h"

struct recording {
	int fd; /* -1: it could not be made; then every sample is missing */
	uint64_t size, max;
	uint64_t missing;
	struct text waiting;
};

/* In folder dir; up to max bytes. Without a file it takes nothing, and says so at the end. */
void recording_open(struct recording *r, const char *dir, uint64_t max);

/* {"t":..,"event":..,"data":..}; data is JSON. */
void recording_add(struct recording *r, double t, const char *event, const char *data, size_t n);

/* As much as can be: what waits, and the gap at the end. */
void recording_catch_up(struct recording *r, double t);
void recording_close(struct recording *r);

#endif
