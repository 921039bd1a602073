// SPDX-License-Identifier: GPL-2.0-only
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t make_address(const struct guard *g, union address *a)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, g->address, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons(g->port);
		return sizeof(a->v4);
	}
	if (inet_pton(AF_INET6, g->address, &a->v6.sin6_addr) != 1)
		return 0;
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons(g->port);
	return sizeof(a->v6);
}

int listen_parse(struct guard *g, const char *text)
{
	const char *colon = strrchr(text, ':'), *from = text + (*text == '[');
	union address a;
	size_t n;
	char *end;
	long port;

	if (!colon || colon == text || (*text == '[' && colon[-1] != ']'))
		return -EINVAL;
	n = (size_t)(colon - from) - (*text == '[');
	port = strtol(colon + 1, &end, 10);
	if (n >= sizeof(g->address) || end == colon + 1 || *end || port < 0 || port > UINT16_MAX)
		return -EINVAL;
	memcpy(g->address, from, n);
	g->address[n] = '\0';
	g->port = (uint16_t)port;
	g->any = !strcmp(g->address, "0.0.0.0") || !strcmp(g->address, "::");
	return make_address(g, &a) ? 0 : -EINVAL;
}

bool listen_is_loopback(const struct guard *g)
{
	return !strncmp(g->address, "127.", 4) || !strcmp(g->address, "::1");
}

static int fail(int fd)
{
	int ret = -errno;

	close(fd);
	return ret;
}

int listen_tcp(struct guard *g)
{
	union address a;
	socklen_t n = make_address(g, &a);
	int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) || bind(fd, &a.any, n) ||
	    listen(fd, BACKLOG) || getsockname(fd, &a.any, &n))
		return fail(fd);
	g->port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
	return fd;
}

/* Somebody may have died and left it. */
static bool is_left(const struct sockaddr_un *a)
{
	struct stat st;
	bool left;
	int fd;

	if (lstat(a->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	left = connect(fd, (const struct sockaddr *)a, sizeof(*a)) && errno == ECONNREFUSED;
	close(fd);
	return left;
}

static int allow_group(const char *path)
{
	const struct group *g = getgrnam(LISTEN_GROUP);

	if (g && chown(path, (uid_t)-1, g->gr_gid))
		return -errno;
	return chmod(path, 0660) ? -errno : 0;
}

int listen_local(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	mode_t mask;
	int fd, ret;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	if (is_left(&a))
		unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	ret = bind(fd, (struct sockaddr *)&a, sizeof(a));
	umask(mask);
	if (ret)
		return fail(fd);
	ret = allow_group(path);
	if (!ret && listen(fd, BACKLOG))
		ret = -errno;
	if (!ret)
		return fd;
	unlink(path);
	close(fd);
	return ret;
}
