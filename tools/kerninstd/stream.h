/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream: a connection that reads a client. Suspended while there is nothing to read.
 */
#ifndef KERNINSTD_STREAM_H
#define KERNINSTD_STREAM_H

#include "client.h"

/* Under the lock: go on, if it is suspended. */
void stream_wake(struct stream *s);

size_t client_take(struct client *c, char *buf, size_t max);

#endif
