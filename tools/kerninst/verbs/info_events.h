/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KERNINST_INFO_EVENTS_H
#define KERNINST_INFO_EVENTS_H

#include <stdbool.h>

/* The table of events, and who counts some. An exit status. The driver need not be there. */
int info_events(bool json);

#endif
