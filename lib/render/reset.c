// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the text is to be is asked of the driver while all is still in: the bytes that windows have
 * displaced. So what is compared is not what the driver says of itself when it has finished.
 */
#include "kerninst/reset.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kerninst/overview.h"
#include "kerninst/sessions.h"
#include "kerninst/special.h"
#include "out/json.h"
#include "util/user.h"

/* May it evict what is another user's? */
static bool is_admin(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	return !syscall(SYS_capget, &head, data) && data[0].effective >> CAP_SYS_ADMIN & 1;
}

/* KI_R_OK, or why it is not all out. */
static unsigned int put_out(const struct ki_reset *r, const struct ki_session_row *s)
{
	struct ki_evict e = {.size = sizeof(e), .session = s->session};

	if (r->dry)
		return r->admin || s->uid == getuid() ? KI_R_OK : KI_R_NOT_YOURS;
	if (!ioctl(ki_target_fd(r->t), KI_IOC_EVICT, &e) || errno == ENOENT)
		return KI_R_OK;
	return e.reason ? e.reason : KI_R_BAD_REQUEST;
}

static const char *outcome(const struct ki_reset *r, unsigned int reason)
{
	if (reason)
		return reason == KI_R_NOT_YOURS ? "stays" : "not all is out";
	return r->dry ? "would go" : "out";
}

static void tell_json(const struct ki_reset *r, const struct ki_session_row *s, unsigned int reason)
{
	struct ki_json j;

	ki_json_init(&j, r->page.out);
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

static void tell(const struct ki_reset *r, const struct ki_session_row *s, unsigned int reason)
{
	char user[KI_USER_NAME];

	if (r->page.json) {
		tell_json(r, s, reason);
		return;
	}
	if (r->quiet && !reason)
		return;
	ki_user_name(s->uid, user);
	fprintf(r->page.out,
		"session %" PRIu64 " (%.*s, process %u, user %s): %u windows, %u chunks, "
		"%u replaced: %s",
		(uint64_t)s->session, KI_COMM_LEN, s->comm, s->pid, user, s->windows, s->chunks,
		s->replaced, outcome(r, reason));
	if (reason)
		fprintf(r->page.out, " [%s]; %s", ki_reason_tag(reason), ki_reason_hint(reason));
	putc('\n', r->page.out);
}

static void take(struct ki_reset *r, const struct ki_session_row *s)
{
	unsigned int reason = put_out(r, s);

	tell(r, s, reason);
	r->sessions++;
	r->out += !reason;
	r->others |= reason == KI_R_NOT_YOURS;
	r->wrong |= reason != KI_R_OK;
}

/* Those that have been evicted have nothing in. */
static int take_all(struct ki_reset *r, struct ki_err *err)
{
	struct ki_session_row s = {0};
	int more;

	while ((more = ki_session_next(ki_target_fd(r->t), &s)) > 0)
		if (!(s.flags & (KI_SESSION_SELF | KI_SESSION_EVICTED)))
			take(r, &s);
	return more ? ki_err_set(err, more, 0, "sessions cannot be listed: %s", strerror(-more))
		    : 0;
}

static void tell_text(const struct ki_reset *r, const struct ki_text_change *c)
{
	const struct ki_symbol *s = ki_target_symbol_at(r->t, c->addr);
	struct ki_json j;

	if (r->page.json) {
		ki_json_init(&j, r->page.out);
		ki_json_open(&j, NULL, '{');
		ki_json_u64(&j, "sessions", r->sessions);
		ki_json_u64(&j, "out", r->out);
		ki_json_u64(&j, "compared", c->compared);
		ki_json_u64(&j, "differing", c->differing);
		ki_held_json(&j, r->t);
		ki_json_close(&j);
		ki_json_end_line(&j);
	} else if (c->differing) {
		fprintf(r->page.out,
			"text: %" PRIu64 " of %" PRIu64
			" bytes are not what they were, the first at %s+0x%" PRIx64 "\n",
			c->differing, c->compared, s ? s->name : "",
			s ? c->addr - s->addr : c->addr);
	} else if (!r->quiet) {
		fprintf(r->page.out, "%u of %u sessions are out; text: equal, %" PRIu64 " bytes\n",
			r->out, r->sessions, c->compared);
	}
	if (!r->page.json && (c->differing || !r->quiet))
		ki_held_print(r->t, r->page.out);
}

/* A session that stays has its windows in. */
static int look_at_text(struct ki_reset *r, bool *differs, struct ki_err *err)
{
	struct ki_text_change change;
	int ret;

	ret = ki_target_text_compare(r->t, r->kept, &change, err);
	if (ret)
		return ret;
	tell_text(r, &change);
	*differs = change.differing != 0;
	return 0;
}

static int keep_text(struct ki_reset *r, struct ki_err *err)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0)
		return ki_err_set(err, -errno, 0, "no memory for the text: %s", strerror(errno));
	snprintf(r->kept, sizeof(r->kept), "/proc/self/fd/%d", fd);
	return ki_target_text_keep(r->t, r->kept, KI_VIEW_ORIG, err);
}

/* What kerninst specialize has left, where it was killed. */
static int unload_versions(struct ki_reset *r, struct ki_err *err)
{
	size_t n;
	int ret = ki_special_clean(r->t, &n, err);

	if (n && !r->quiet && !r->page.json)
		fprintf(r->page.out, "%zu module%s of specialized functions %s unloaded\n", n,
			n == 1 ? "" : "s", n == 1 ? "is" : "are");
	return ret;
}

int ki_reset(struct ki_reset *r, struct ki_target *t, struct ki_err *err)
{
	bool differs = false;
	int ret;

	r->t = t;
	r->admin = is_admin();
	ret = r->dry ? 0 : keep_text(r, err);
	if (!ret)
		ret = take_all(r, err);
	if (!ret && !r->dry)
		ret = look_at_text(r, &differs, err);
	if (!ret && !r->dry && r->admin && (r->wrong || !differs))
		ret = unload_versions(r, err);
	r->wrong |= differs;
	return ret;
}
