// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst reset: everything of every session is taken out, and the text is looked at.
 *
 * What the text is to be is asked of the driver while all is still in: the bytes that windows have
 * displaced. So what is compared is not what the driver says of itself when it has finished.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"
#include "kerninst/special.h"
#include "out/json.h"
#include "kerninst/facts.h"

static const char usage[] =
	"Usage: kerninst reset [OPTION...]\n"
	"Take out what all sessions have put into the kernel, say of each what went, and compare the\n"
	"text of the kernel and its modules with what it was before. Processes go on; they are told\n"
	"when they next change something. It takes CAP_SYS_ADMIN for sessions of other users.\n\n"
	"  -n, --dry-run    only say what would go\n"
	"      --json       a line for each session, and one for the text\n"
	"  -q, --quiet      say only what is wrong\n"
	"  -h, --help       this text\n\n"
	"Exit status 0: all is out, and the text is what it was; 1: it is not; 3: a session is\n"
	"another user's. kerninst evict takes out single sessions, and looks at nothing.\n\n"
	"Examples:\n"
	"  kerninst reset --dry-run\n"
	"  kerninst reset\n";

struct reset {
	bool dry, json, quiet, admin;
	struct ki_target *t;
	char kept[32]; /* a file of the text, as it is to be */
	unsigned int sessions, out;
	int status;
};

/* May it evict what is another user's? */
static bool is_admin(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	return !syscall(SYS_capget, &head, data) && data[0].effective >> CAP_SYS_ADMIN & 1;
}

/* KI_R_OK, or why it is not all out. */
static unsigned int put_out(const struct reset *r, const struct ki_session_row *s)
{
	struct ki_evict e = {.size = sizeof(e), .session = s->session};

	if (r->dry)
		return r->admin || s->uid == getuid() ? KI_R_OK : KI_R_NOT_YOURS;
	if (!ioctl(ki_target_fd(r->t), KI_IOC_EVICT, &e) || errno == ENOENT)
		return KI_R_OK;
	return e.reason ? e.reason : KI_R_BAD_REQUEST;
}

static const char *outcome(const struct reset *r, unsigned int reason)
{
	if (reason)
		return reason == KI_R_NOT_YOURS ? "stays" : "not all is out";
	return r->dry ? "would go" : "out";
}

static void tell_json(const struct reset *r, const struct ki_session_row *s, unsigned int reason)
{
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "session", s->session);
	ki_json_u64(&j, "pid", s->pid);
	ki_json_str(&j, "command", s->comm);
	ki_json_u64(&j, "uid", s->uid);
	ki_json_u64(&j, "windows", s->windows);
	ki_json_u64(&j, "chunks", s->chunks);
	ki_json_u64(&j, "replaced", s->replaced);
	ki_json_str(&j, "outcome", outcome(r, reason));
	ki_json_str(&j, "reason", reason ? ki_reason_tag(reason) : NULL);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void tell(const struct reset *r, const struct ki_session_row *s, unsigned int reason)
{
	char user[CLI_USER_NAME];

	if (r->json) {
		tell_json(r, s, reason);
		return;
	}
	if (r->quiet && !reason)
		return;
	cli_user_name(s->uid, user);
	printf("session %" PRIu64 " (%.*s, process %u, user %s): %u windows, %u chunks, "
	       "%u replaced: %s",
	       (uint64_t)s->session, KI_COMM_LEN, s->comm, s->pid, user, s->windows, s->chunks,
	       s->replaced, outcome(r, reason));
	if (reason)
		printf(" [%s]; %s", ki_reason_tag(reason), ki_reason_hint(reason));
	putchar('\n');
}

static void take(struct reset *r, const struct ki_session_row *s)
{
	unsigned int reason = put_out(r, s);

	tell(r, s, reason);
	r->sessions++;
	r->out += !reason;
	if (reason && r->status != CLI_ENVIRONMENT)
		r->status = reason == KI_R_NOT_YOURS ? CLI_ENVIRONMENT : CLI_ERROR;
}

/* Those that have been evicted have nothing in. */
static int take_all(struct reset *r)
{
	struct ki_session_row s = {.size = sizeof(s)};

	while (!ioctl(ki_target_fd(r->t), KI_IOC_SESSION, &s)) {
		if (!(s.flags & (KI_SESSION_SELF | KI_SESSION_EVICTED)))
			take(r, &s);
		s = (struct ki_session_row){.size = sizeof(s), .session = s.session};
	}
	return errno == ENOENT ? r->status
			       : cli_error("sessions cannot be listed: %s", strerror(errno));
}

static void tell_text(const struct reset *r, const struct ki_text_change *c)
{
	const struct ki_symbol *s = ki_target_symbol_at(r->t, c->addr);
	struct ki_json j;

	if (r->json) {
		ki_json_init(&j, stdout);
		ki_json_open(&j, NULL, '{');
		ki_json_u64(&j, "sessions", r->sessions);
		ki_json_u64(&j, "out", r->out);
		ki_json_u64(&j, "compared", c->compared);
		ki_json_u64(&j, "differing", c->differing);
		ki_held_json(&j, r->t);
		ki_json_close(&j);
		ki_json_end_line(&j);
	} else if (c->differing) {
		printf("text: %" PRIu64 " of %" PRIu64
		       " bytes are not what they were, the first at %s+0x%" PRIx64 "\n",
		       c->differing, c->compared, s ? s->name : "",
		       s ? c->addr - s->addr : c->addr);
	} else if (!r->quiet) {
		printf("%u of %u sessions are out; text: equal, %" PRIu64 " bytes\n", r->out,
		       r->sessions, c->compared);
	}
	if (!r->json && (c->differing || !r->quiet))
		ki_held_print(r->t, stdout);
}

/* A session that stays has its windows in. */
static int look_at_text(struct reset *r)
{
	struct ki_text_change change;
	struct ki_err err = {0};

	if (ki_target_text_compare(r->t, r->kept, &change, &err))
		return cli_fail(&err);
	tell_text(r, &change);
	return change.differing && !r->status ? CLI_ERROR : r->status;
}

static int keep_text(struct reset *r)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct ki_err err = {0};

	if (fd < 0)
		return cli_error("no memory for the text: %s", strerror(errno));
	snprintf(r->kept, sizeof(r->kept), "/proc/self/fd/%d", fd);
	return ki_target_text_keep(r->t, r->kept, KI_VIEW_ORIG, &err) ? cli_fail(&err) : CLI_OK;
}

/* What kerninst specialize has left, where it was killed. */
static int unload_versions(struct reset *r)
{
	struct ki_err err = {0};
	size_t n;
	int ret = ki_special_clean(r->t, &n, &err);

	if (n && !r->quiet && !r->json)
		printf("%zu module%s of specialized functions %s unloaded\n", n, n == 1 ? "" : "s",
		       n == 1 ? "is" : "are");
	return ret ? cli_fail(&err) : r->status;
}

static int reset(struct reset *r)
{
	struct ki_err err = {0};
	int ret;

	if (ki_target_open_live(&r->t, &err)) {
		cli_warn("nothing is taken out; without symbols: kerninst evict --all");
		return cli_fail(&err);
	}
	ret = r->dry ? CLI_OK : keep_text(r);
	if (!ret)
		ret = take_all(r);
	if (!r->dry && (!ret || ret == r->status))
		ret = look_at_text(r);
	if (!r->dry && r->admin && ret == r->status)
		ret = unload_versions(r);
	if (r->dry && !ret && !r->quiet && !r->json)
		printf("%u sessions would go\n", r->out);
	ki_target_close(r->t);
	return ret;
}

static int take_option(const struct verb *v, int option, void *arg)
{
	struct reset *r = arg;

	(void)v;
	r->dry |= option == 'n';
	r->json |= option == 'j';
	r->quiet |= option == 'q';
	return CLI_OK;
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"dry-run", no_argument, NULL, 'n'},
						{"json", no_argument, NULL, 'j'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct reset r = {.admin = is_admin()};
	const struct cli_syntax syntax = {":nqh", options, take_option, &r};
	int status;

	if (!cli_take_options(self, argc, argv, &syntax, &status))
		return status;
	if (optind < argc)
		return cli_misuse(self, "'%s': reset takes no argument", argv[optind]);
	return reset(&r);
}

const struct verb verb_reset = {
	.name = "reset",
	.summary = "take out what all sessions have put in, and compare the text",
	.usage = usage,
	.run = run,
};
