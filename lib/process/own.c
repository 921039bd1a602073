// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A process inherits its group at fork, so nobody has to be followed, and the condition costs the
 * same for a command with one process and with thousands. Not told apart is who goes to another
 * group by himself: containers, services that systemd starts.
 *
 * The group is named for our process. One that was killed leaves its group behind, which does no
 * harm; whoever makes the next one takes away those that are empty and whose tool has ended.
 */
#include "kerninst/own.h"

#include <dirent.h>
#include <errno.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "kerninst-"

static char group[512], above[400]; /* directories; empty: none */

static int find_mount(void)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	while (f && !above[0] && (m = getmntent(f)))
		if (!strcmp(m->mnt_type, "cgroup2") && strlen(m->mnt_dir) < sizeof(above))
			strcpy(above, m->mnt_dir);
	if (f)
		endmntent(f);
	return above[0] ? 0 : -ENODEV;
}

/* Of tools that have ended: the group of one that begins is empty, too. rmdir takes no others. */
static void remove_empty(void)
{
	DIR *d = opendir(above);
	struct dirent *e;
	char path[sizeof(above) + sizeof(e->d_name) + 1];

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, NAME, strlen(NAME)) &&
		    kill(atoi(e->d_name + strlen(NAME)), 0) && errno == ESRCH) {
			snprintf(path, sizeof(path), "%s/%s", above, e->d_name);
			rmdir(path);
		}
	if (d)
		closedir(d);
}

int ki_own_new(uint64_t *id)
{
	struct stat st;
	int error = find_mount();

	if (error)
		return error;
	remove_empty();
	snprintf(group, sizeof(group), "%s/" NAME "%d", above, (int)getpid());
	if ((!mkdir(group, 0755) || errno == EEXIST) && !stat(group, &st)) {
		*id = st.st_ino;
		return 0;
	}
	error = -errno;
	group[0] = 0;
	return error;
}

static int move_to(const char *directory, pid_t pid)
{
	char path[sizeof(group) + 16];
	FILE *f;
	int error;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fprintf(f, "%d", (int)pid);
	error = fclose(f) ? -errno : 0;
	return error;
}

int ki_own_take(pid_t pid)
{
	return group[0] ? move_to(group, pid) : 0;
}

/* Those that fork meanwhile are met at the next look. */
void ki_own_free(void)
{
	char path[sizeof(group) + 16];
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	for (int looks = 0; group[0] && rmdir(group) && errno == EBUSY && looks < 100; looks++) {
		FILE *f = fopen(path, "re");

		while (f && fscanf(f, "%d", &pid) == 1)
			move_to(above, pid);
		if (f)
			fclose(f);
		usleep(1000);
	}
	group[0] = 0;
}
