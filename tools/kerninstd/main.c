// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninstd: kperfmon's daemon.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "http.h"
#include "listen.h"
#include "notify.h"
#include "options.h"
#include "replay.h"

struct daemon {
	struct options options;
	struct guard guard;
	struct engine engine;
	struct http tcp, local;
	const char *socket; /* its path; NULL: there is none */
};

/* How long streams may take to say goodbye. */
#define GOODBYE_MS 500

static int open_source(struct daemon *d, struct source **out)
{
	struct ki_err err = {0};
	char why[256];

	if (d->options.replay) {
		if (!replay_open(&d->engine, d->options.replay, d->options.speed, out, why))
			return EXIT_OK;
		complain("%s: %s", d->options.replay, why);
		return EXIT_ERROR;
	}
	if (!live_open(&d->engine, &d->options.exports, out, &err))
		return EXIT_OK;
	complain("%s%s%s", err.msg, *ki_reason_hint(err.reason) ? "; " : "",
		 ki_reason_hint(err.reason));
	return err.reason ? EXIT_ENVIRONMENT : EXIT_ERROR;
}

static int listen_to_tcp(struct daemon *d)
{
	int fd;

	if (listen_parse(&d->guard, d->options.listen)) {
		complain("--listen %s: an address and a port: 127.0.0.1:7072, [::1]:7072",
			 d->options.listen);
		return EXIT_USAGE;
	}
	if (d->options.port >= 0)
		d->guard.port = (uint16_t)d->options.port;
	if (!listen_is_loopback(&d->guard))
		complain("%s is not this machine alone: the token goes over the network as it is",
			 d->options.listen);
	fd = listen_tcp(&d->guard);
	if (fd < 0) {
		complain("%s: %s", d->options.listen, strerror(-fd));
		return EXIT_ERROR;
	}
	d->tcp = (struct http){.engine = &d->engine, .guard = &d->guard};
	d->tcp.read_only = d->options.engine.read_only;
	return http_start(&d->tcp, fd) ? EXIT_ERROR : EXIT_OK;
}

/* The default one is had if it can be. */
static int listen_to_local(struct daemon *d)
{
	const char *path = d->options.socket ? d->options.socket : SOCKET_DEFAULT;
	int fd;

	if (!strcmp(path, "none"))
		return EXIT_OK;
	if (!d->options.socket && mkdir(SOCKET_DIR, 0755) && errno != EEXIST)
		return EXIT_OK;
	fd = listen_local(path);
	if (fd < 0) {
		if (!d->options.socket)
			return EXIT_OK;
		complain("%s: %s", path, strerror(-fd));
		return EXIT_ERROR;
	}
	d->socket = path;
	d->local = (struct http){.engine = &d->engine};
	d->local.read_only = d->options.engine.read_only;
	return http_start(&d->local, fd) ? EXIT_ERROR : EXIT_OK;
}

static int make_token(struct daemon *d)
{
	const char *path = d->options.token_file;
	int ret = path ? guard_token_file(path, d->guard.token) : guard_make_token(d->guard.token);

	if (!ret)
		return EXIT_OK;
	complain("%s: %s", path ? path : "the token",
		 ret == -EINVAL ? "that is no token: 32 hexadecimal digits"
		 : ret == -EACCES
			 ? "others may read or change it, or it cannot be read: chown, chmod 600"
			 : strerror(-ret));
	return EXIT_ERROR;
}

static void say_where(const struct daemon *d)
{
	bool v6 = strchr(d->guard.address, ':');

	printf("http://%s%s%s:%u/", v6 ? "[" : "", d->guard.address, v6 ? "]" : "", d->guard.port);
	if (d->options.token_file)
		printf("  (token: %s)\n", d->options.token_file);
	else
		printf("?token=%s\n", d->guard.token);
	fflush(stdout);
}

static bool streams_are_there(struct daemon *d)
{
	bool there = false;

	for (struct client *c = d->engine.clients.first; c; c = c->next)
		there = there || !client_is_unused(&d->engine.clients, c);
	return there;
}

static void stop(struct daemon *d)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	notify("STOPPING=1");
	http_quiesce(&d->tcp);
	http_quiesce(&d->local);
	engine_stop(&d->engine);
	for (int i = 0; i < GOODBYE_MS && streams_are_there(d); i++)
		nanosleep(&ms, NULL);
	http_stop(&d->tcp);
	http_stop(&d->local);
	if (d->socket)
		unlink(d->socket);
	engine_free(&d->engine);
}

static void wait_for_end(const sigset_t *ends)
{
	int number;

	notify("READY=1");
	sigwait(ends, &number);
}

/* The engine's samples come at their times; HTTP and D programs wait for the CPUs as anybody. */
static int hurry(struct daemon *d)
{
	struct sched_param param = {.sched_priority = (int)d->options.priority};
	int error;

	if (!param.sched_priority)
		return EXIT_OK;
	error = pthread_setschedparam(d->engine.thread, SCHED_RR | SCHED_RESET_ON_FORK, &param);
	if (!error)
		return EXIT_OK;
	complain("--priority %d: %s; it takes CAP_SYS_NICE, or a limit of that size (ulimit -r)",
		 param.sched_priority, strerror(error));
	return EXIT_ENVIRONMENT;
}

static int serve(struct daemon *d, const sigset_t *ends)
{
	struct source *source;
	int ret = open_source(d, &source);

	if (ret)
		return ret;
	if (engine_start(&d->engine, source, &d->options.engine)) {
		complain("no thread can be started");
		return EXIT_ERROR;
	}
	ret = hurry(d);
	if (!ret)
		ret = listen_to_tcp(d);
	if (!ret)
		ret = listen_to_local(d);
	if (!ret) {
		say_where(d);
		wait_for_end(ends);
	}
	stop(d);
	return ret;
}

/* Signals come to the main thread only, when it waits for them. */
static void block_signals(sigset_t *ends)
{
	sigset_t all;

	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGHUP);
	all = *ends;
	sigaddset(&all, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

int main(int argc, char **argv)
{
	static struct daemon d;
	sigset_t ends;
	int ret = options_take(&d.options, argc, argv);

	if (ret < 0) {
		block_signals(&ends);
		ret = make_token(&d);
		if (!ret)
			ret = serve(&d, &ends);
	}
	ki_vec_free(&d.options.exports);
	return ret;
}
