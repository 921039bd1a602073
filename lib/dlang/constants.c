// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Constants that programs find declared: errors, signals, flags of open, kinds of faults.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "dlang/names.h"

#define C(name)                                                                                    \
	{                                                                                          \
#name, name                                                                        \
	}

static const struct {
	const char *name;
	int64_t value;
} constants[] = {
	{"DTRACEFLT_UNKNOWN", 0},
	{"DTRACEFLT_BADADDR", 1},
	{"DTRACEFLT_BADALIGN", 2},
	{"DTRACEFLT_ILLOP", 3},
	{"DTRACEFLT_DIVZERO", 4},
	{"DTRACEFLT_NOSCRATCH", 5},
	{"DTRACEFLT_KPRIV", 6},
	{"DTRACEFLT_UPRIV", 7},
	{"DTRACEFLT_TUPOFLOW", 8},
	{"DTRACEFLT_BADSTACK", 9},
	{"DTRACEFLT_BADSIZE", 10},
	{"DTRACEFLT_BADINDEX", 11},
	/* of uregs[] */
	{"R_R15", 0},
	{"R_R14", 1},
	{"R_R13", 2},
	{"R_R12", 3},
	{"R_RBP", 4},
	{"R_RBX", 5},
	{"R_R11", 6},
	{"R_R10", 7},
	{"R_R9", 8},
	{"R_R8", 9},
	{"R_RAX", 10},
	{"R_RCX", 11},
	{"R_RDX", 12},
	{"R_RSI", 13},
	{"R_RDI", 14},
	{"R_ORIG_RAX", 15},
	{"R_RIP", 16},
	{"R_CS", 17},
	{"R_RFL", 18},
	{"R_RSP", 19},
	{"R_SS", 20},
	C(EPERM),
	C(ENOENT),
	C(ESRCH),
	C(EINTR),
	C(EIO),
	C(ENXIO),
	C(E2BIG),
	C(ENOEXEC),
	C(EBADF),
	C(ECHILD),
	C(EAGAIN),
	C(EWOULDBLOCK),
	C(ENOMEM),
	C(EACCES),
	C(EFAULT),
	C(ENOTBLK),
	C(EBUSY),
	C(EEXIST),
	C(EXDEV),
	C(ENODEV),
	C(ENOTDIR),
	C(EISDIR),
	C(EINVAL),
	C(ENFILE),
	C(EMFILE),
	C(ENOTTY),
	C(ETXTBSY),
	C(EFBIG),
	C(ENOSPC),
	C(ESPIPE),
	C(EROFS),
	C(EMLINK),
	C(EPIPE),
	C(EDOM),
	C(ERANGE),
	C(EDEADLK),
	C(ENAMETOOLONG),
	C(ENOLCK),
	C(ENOSYS),
	C(ENOTEMPTY),
	C(ELOOP),
	C(ENOTSOCK),
	C(EADDRINUSE),
	C(EADDRNOTAVAIL),
	C(ENETDOWN),
	C(ENETUNREACH),
	C(ECONNABORTED),
	C(ECONNRESET),
	C(ENOBUFS),
	C(EISCONN),
	C(ENOTCONN),
	C(ETIMEDOUT),
	C(ECONNREFUSED),
	C(EHOSTDOWN),
	C(EHOSTUNREACH),
	C(EALREADY),
	C(EINPROGRESS),
	C(ESTALE),
	C(EDQUOT),
	C(ECANCELED),
	C(SIGHUP),
	C(SIGINT),
	C(SIGQUIT),
	C(SIGILL),
	C(SIGTRAP),
	C(SIGABRT),
	C(SIGBUS),
	C(SIGFPE),
	C(SIGKILL),
	C(SIGUSR1),
	C(SIGSEGV),
	C(SIGUSR2),
	C(SIGPIPE),
	C(SIGALRM),
	C(SIGTERM),
	C(SIGCHLD),
	C(SIGCONT),
	C(SIGSTOP),
	C(SIGTSTP),
	C(SIGTTIN),
	C(SIGTTOU),
	C(SIGURG),
	C(SIGXCPU),
	C(SIGXFSZ),
	C(SIGVTALRM),
	C(SIGPROF),
	C(SIGWINCH),
	C(SIGIO),
	C(SIGPWR),
	C(SIGSYS),
	C(O_RDONLY),
	C(O_WRONLY),
	C(O_RDWR),
	C(O_CREAT),
	C(O_EXCL),
	C(O_NOCTTY),
	C(O_TRUNC),
	C(O_APPEND),
	C(O_NONBLOCK),
	C(O_DSYNC),
	C(O_SYNC),
	C(O_DIRECTORY),
	C(O_NOFOLLOW),
	C(O_CLOEXEC),
	C(O_ACCMODE),
	C(AF_INET),
	C(AF_INET6),
	C(ARPHRD_ETHER),
	C(ARPHRD_INFINIBAND),
	C(IPPROTO_IP),
	C(IPPROTO_ICMP),
	C(IPPROTO_IGMP),
	C(IPPROTO_TCP),
	C(IPPROTO_UDP),
	C(IPPROTO_IPV6),
	C(IPPROTO_ICMPV6),
	C(IPPROTO_RAW),
};

int ki_d_constant_find(const char *name, struct ki_d_type *type, int64_t *value)
{
	*type = ki_d_int(KI_I32);
	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
		if (!strcmp(constants[i].name, name)) {
			*value = constants[i].value;
			return 0;
		}
	if (strcmp(name, "NULL") != 0)
		return -ENOENT;
	*type = (struct ki_d_type){.base = KI_D_VOID, .stars = 1};
	*value = 0;
	return 0;
}
