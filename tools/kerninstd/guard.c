// SPDX-License-Identifier: GPL-2.0-only
#include "guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int guard_make_token(char token[TOKEN_LEN + 1])
{
	unsigned char raw[TOKEN_LEN / 2];

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		return -EIO;
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(token + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

/* A group may read it, Prometheus' say; who may write it makes the token. */
static int check_owner(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return -EACCES;
	return st.st_mode & (S_IRWXO | S_IWGRP) ? -EACCES : 0;
}

static int read_token(const char *path, char token[TOKEN_LEN + 1])
{
	char buf[TOKEN_LEN + 2];
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	ssize_t n;

	if (fd < 0)
		return -errno;
	ret = check_owner(fd);
	if (ret) {
		close(fd);
		return ret;
	}
	n = read(fd, buf, sizeof(buf));
	close(fd);
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	if (n != TOKEN_LEN)
		return -EINVAL;
	buf[n] = '\0';
	if (strspn(buf, "0123456789abcdef") != TOKEN_LEN)
		return -EINVAL;
	memcpy(token, buf, TOKEN_LEN + 1);
	return 0;
}

int guard_token_file(const char *path, char token[TOKEN_LEN + 1])
{
	char line[TOKEN_LEN + 2];
	int fd, ret = read_token(path, token);

	if (ret != -ENOENT)
		return ret;
	ret = guard_make_token(token);
	if (ret)
		return ret;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	snprintf(line, sizeof(line), "%s\n", token);
	ret = write(fd, line, TOKEN_LEN + 1) == TOKEN_LEN + 1 ? 0 : -EIO;
	close(fd);
	if (ret)
		unlink(path);
	return ret;
}

/* It takes the same time wherever they differ. */
bool guard_is_token(const struct guard *g, const char *said)
{
	unsigned char differs = 0;

	if (!said || strlen(said) != TOKEN_LEN)
		return false;
	for (size_t i = 0; i < TOKEN_LEN; i++)
		differs |= (unsigned char)(said[i] ^ g->token[i]);
	return !differs;
}

static bool is_address(const char *name)
{
	unsigned char buf[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, name, buf) == 1 || inet_pton(AF_INET6, name, buf) == 1;
}

/* "NAME:PORT" or "[NAME]:PORT", the port only if it is 80. */
static bool take_apart(const char *host, char name[256], long *port)
{
	const char *from = host + (*host == '['), *end, *rest;
	char *behind;

	end = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":");
	if (!end || end == from || end - from > 255)
		return false;
	memcpy(name, from, (size_t)(end - from));
	name[end - from] = '\0';
	rest = *end == ']' ? end + 1 : end;
	*port = 80;
	if (!*rest)
		return true;
	if (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1) || !rest[1])
		return false;
	*port = strtol(rest + 1, &behind, 10);
	return !*behind;
}

bool guard_is_host(const struct guard *g, const char *host)
{
	char name[256];
	long port;

	if (!host || !take_apart(host, name, &port) || port != g->port)
		return false;
	return !strcasecmp(name, "localhost") || !strcmp(name, g->address) ||
	       (g->any && is_address(name));
}

bool guard_is_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return !origin || (!strncasecmp(origin, scheme, sizeof(scheme) - 1) &&
			   !strcasecmp(origin + sizeof(scheme) - 1, host));
}
