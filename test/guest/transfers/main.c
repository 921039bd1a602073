// SPDX-License-Identifier: GPL-2.0-only
/*
 * check_transfers: is everything that QEMU saw the kernel execute in our graph of its code?
 *
 *	check_transfers dump				the live kernel's graph, to stdout
 *	check_transfers dump IMAGE SYSTEM_MAP		an image's
 *	check_transfers check TRACE LIVE [IMAGE]	compare: exit status 1 if something is
 *							not in the graph
 *	check_transfers selftest TRACE LIVE [IMAGE]	spoil the graph, and see if that is found
 *
 * TRACE comes from the plugin test/plugin/transfers.c. Its first phase, the boot, runs code
 * that is rewritten or freed later: there, what either graph foresees is good. All else must be
 * in LIVE.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static void dump(char **args, int n)
{
	struct ki_err err = {0};
	struct ki_target *t;
	int ret;

	ret = n ? ki_target_new_with_map(args[0], args[1], &t, &err) : ki_target_new_live(&t, &err);
	if (ret)
		test_die("open", err.msg);
	graph_dump(t, n ? args[0] : NULL, stdout);
	ki_target_free(t);
	if (fflush(stdout))
		test_die("cannot write", "");
}

int main(int argc, char **argv)
{
	struct check c = {0};
	int status;

	if ((argc == 2 || argc == 4) && !strcmp(argv[1], "dump")) {
		dump(argv + 2, argc - 2);
		return 0;
	}
	if ((argc != 4 && argc != 5) || (strcmp(argv[1], "check") && strcmp(argv[1], "selftest"))) {
		fprintf(stderr, "usage: check_transfers dump [IMAGE SYSTEM_MAP]\n"
				"       check_transfers check|selftest TRACE LIVE [IMAGE]\n");
		return 2;
	}
	check_open(&c, argv[2], argv[3], argv[4]);
	status = strcmp(argv[1], "check") ? check_selftest(&c) : check_report(&c);
	check_close(&c);
	return status;
}
