/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may: the token, the Host that must be ours (a page elsewhere cannot reach us by a name of
 * its own), the Origin.
 */
#ifndef KERNINSTD_GUARD_H
#define KERNINSTD_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#define TOKEN_LEN 32 /* 128 bits in hex */

struct guard {
	char token[TOKEN_LEN + 1];
	char address[64]; /* listened to, without brackets */
	uint16_t port;
	bool any; /* that is all addresses: Host may be any address */
	bool read_only;
};

/* A new one. 0, or -errno. */
int guard_make_token(char token[TOKEN_LEN + 1]);

/* The token in a file, which is made if it is not there, for its owner only. 0; -errno; -EINVAL:
   what is there is no token. */
int guard_token_file(const char *path, char token[TOKEN_LEN + 1]);

bool guard_is_token(const struct guard *g, const char *said); /* NULL: nothing was said */
bool guard_is_host(const struct guard *g, const char *host);
bool guard_is_origin(const char *origin, const char *host);

#endif
