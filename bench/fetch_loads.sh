# SPDX-License-Identifier: GPL-2.0-only
# Loads of fetch_guest.sh. Each is run by NAME N, in a window of the plugin, and prints how many
# operations that were. What it needs is made by NAME_begin.
# shellcheck shell=bash

prog=$top/build/test/prog

loop() { # of the program `calls`, which marks its window itself
	"$prog/calls" "$1" "$2" > /dev/null && echo "$2"
}

# Directories of the guest's root are two: an overlay's, and of the file system that is laid over.
mkdir_begin() { cd /dev/shm || exit; }

# nginx serves a small and a larger file to wrk, four connections: an operation is a request.
nginx_begin() {
	mkdir -p www /var/log/nginx /var/lib/nginx
	head -c 300 /dev/urandom > www/small
	head -c 20000 /dev/urandom > www/large
	cat > nginx.conf <<- END
		pid /tmp/nginx.pid;
		error_log /tmp/nginx.log;
		worker_processes 1;
		events {}
		http { access_log off; server { listen 127.0.0.1:8099; root /tmp/www; } }
	END
	echo 'n = 0; request = function() n = n + 1; return wrk.format(nil, n % 4 == 0 and "/large" or "/small") end' > wrk.lua
	chmod -R a+rX www
	ip link set lo up
	nginx -c /tmp/nginx.conf
}
nginx_run() {
	"$prog/window" wrk -t 1 -c 4 -d "$1s" -s wrk.lua http://127.0.0.1:8099/ | awk '/requests in/ { print $1 }'
}

# A compiler, an assembler and a linker: an operation is a program of one file.
compile_begin() {
	cat > one.c <<- END
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
		int main(int argc, char **argv)
		{
			qsort(argv + 1, argc - 1, sizeof(*argv), by_text);
			for (int i = 1; i < argc; i++)
				printf("%d %s\n", i, argv[i]);
			return 0;
		}
	END
	echo 'for _ in $(seq $1); do cc -O1 -o one one.c || exit; done' > compile.sh
}
compile_run() {
	"$prog/window" sh compile.sh "$1" && echo "$1"
}
