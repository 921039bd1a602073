/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KERNINSTD_OPTIONS_H
#define KERNINSTD_OPTIONS_H

#include "engine.h"
#include "live.h"

#define SOCKET_DIR     "/run/kerninst"
#define SOCKET_DEFAULT SOCKET_DIR "/kperfmon.sock"

enum { EXIT_OK = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3 };

struct options {
	struct engine_options engine;
	const char *listen, *token_file;
	long port;	    /* negative: as listen says */
	long priority;	    /* of samples, in real time; 0: as everybody */
	const char *socket; /* NULL: SOCKET_DEFAULT, if that can be had; "none" */
	const char *replay;
	double speed; /* of the replay */
	live_exports exports;
};

/* Negative: go on; else the exit status. */
int options_take(struct options *o, int argc, char **argv);

/* "kerninstd: ..." on stderr. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
