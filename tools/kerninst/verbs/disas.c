// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst disas: the instructions of functions, as they were or as they stand now.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "open.h"
#include "out/json.h"
#include "select.h"
#include "kerninst/listing.h"

static const char usage[] =
	"Usage: kerninst disas [OPTION...] FUNCTION...\n"
	"Show the instructions of a function, block by block, and what must not be moved.\n"
	"FUNCTION is [MODULE:]NAME (a glob, too), NAME+OFFSET or an ADDRESS: from there on; of a\n"
	"process with PID/ before it.\n\n"
	"      --orig             the original code: what stands there without us (the default)\n"
	"      --live             what stands there now: lines that differ begin with '*' and\n"
	"                         say what they displace\n"
	"      --regs             the registers and flags that are free before each instruction:\n"
	"                         nobody reads their value any more (analyses all functions)\n"
	"      --bytes            the bytes of each instruction\n"
	"      --intel            Intel syntax (the default)\n"
	"      --att              AT&T syntax\n"
	"      --json             one object per function\n" OPEN_USAGE
	"  -h, --help             this text\n\n"
	"Jumps inside the function lead to +OFFSET. A word behind ';' is the reason why the\n"
	"instruction must stay where it is: kerninst explain TAG; or 'fixup', it has a row in the\n"
	"exception table, or 'bug', a row in the bug table: these may be displaced.\n\n"
	"Examples:\n"
	"  kerninst disas vfs_read\n"
	"  kerninst disas --bytes --live vfs_read+0x31\n"
	"  kerninst disas --regs --image vmlinux do_sys_openat2\n"
	"  kerninst disas --json 'ext4:ext4_file_*' | jq -r '.instructions[].text'\n";

struct disas {
	struct open_options open;
	bool live, regs, bytes, json;
	enum ki_syntax syntax;
	struct ki_target *t;
	struct ki_program *program; /* with regs */

	/* The function at hand. */
	struct ki_listing view;
	ki_regset *registers; /* live, one for each instruction; NULL without regs */
	int bytes_width, text_width;
};

#define TEXT_WIDTH_MAX 48

static void free_registers(const struct disas *d, const struct ki_listing_line *l, char *buf,
			   size_t len)
{
	ki_regset_format(KI_REGSET_ALL & ~d->registers[l->insn], buf, len);
}

static bool has_registers(const struct disas *d, const struct ki_listing_line *l)
{
	return d->registers && l->count && !ki_listing_is_padding(&d->view, l);
}

static void hex_bytes(const struct ki_listing *v, const struct ki_listing_line *l,
		      const char *between, char *buf, size_t len)
{
	const uint8_t *p = ki_listing_bytes(v, l);
	size_t at = 0;

	*buf = '\0';
	for (uint32_t i = 0; i < l->len && at + 4 < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%02x", i ? between : "", p[i]);
}

static void measure(struct disas *d)
{
	char text[KI_LISTING_TEXT];

	d->bytes_width = d->text_width = 0;
	for (size_t i = 0; i < d->view.lines.n; i++) {
		const struct ki_listing_line *l = &d->view.lines.v[i];
		int bytes = (int)l->len * 3 - 1, width;

		if (ki_listing_is_padding(&d->view, l))
			continue;
		ki_listing_text(&d->view, l, text);
		width = (int)strlen(text);
		if (bytes > d->bytes_width)
			d->bytes_width = bytes;
		if (width > d->text_width && width <= TEXT_WIDTH_MAX)
			d->text_width = width;
	}
}

/* "rax, cl" as "rax cl". */
static void without_commas(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ',')
			*to++ = *text;
	*to = '\0';
}

static void remark(char *buf, size_t len, const char *what, const char *text)
{
	size_t at = strlen(buf);

	snprintf(buf + at, len - at, "  %s%s%s", at ? "" : "; ", what, text);
}

/* Has it a row in a table in which the kernel finds it by its address? */
static bool has_row(const struct disas *d, const struct ki_listing_line *l, uint8_t flag)
{
	return l->kind == KI_LISTING_SAME && d->view.fn->insns[l->insn].flags & flag;
}

/* What stands behind ';': the reason, rows, what is displaced, the free registers. */
static void remarks(const struct disas *d, const struct ki_listing_line *l, char *buf, size_t len)
{
	unsigned int reason = ki_listing_reason(&d->view, l);
	char text[KI_LISTING_TEXT];

	*buf = '\0';
	if (reason)
		remark(buf, len, "", ki_reason_tag(reason));
	if (has_row(d, l, KI_INSN_EXTABLE))
		remark(buf, len, "", "fixup");
	if (has_row(d, l, KI_INSN_BUG))
		remark(buf, len, "", "bug");
	ki_listing_displaced(&d->view, l, text);
	if (*text)
		remark(buf, len, "was: ", text);
	if (!has_registers(d, l))
		return;
	free_registers(d, l, text, sizeof(text));
	without_commas(text);
	remark(buf, len, "free: ", text);
}

static void print_line(const struct disas *d, const struct ki_listing_line *l)
{
	char text[KI_LISTING_TEXT], bytes[64], behind[3 * KI_LISTING_TEXT];

	printf("%c 0x%016" PRIx64 "  +0x%-5" PRIx64 " ", l->kind == KI_LISTING_SAME ? ' ' : '*',
	       l->addr, l->addr - d->view.fn->start);
	if (d->bytes) {
		hex_bytes(&d->view, l, " ", bytes, sizeof(bytes));
		printf("%-*s  ", d->bytes_width, bytes);
	}
	ki_listing_text(&d->view, l, text);
	remarks(d, l, behind, sizeof(behind));
	printf("%-*s%s\n", *behind ? d->text_width : 0, text, behind);
}

/* All padding from line i on is one line; returns the number of the line behind it. */
static size_t print_padding(const struct disas *d, size_t i)
{
	const struct ki_listing_line *first = &d->view.lines.v[i];
	uint32_t len = 0;

	for (; i < d->view.lines.n && ki_listing_is_padding(&d->view, &d->view.lines.v[i]); i++)
		len += d->view.lines.v[i].len;
	printf("\n  0x%016" PRIx64 "  +0x%-5" PRIx64 " (%u byte%s of padding)\n", first->addr,
	       first->addr - d->view.fn->start, len, len == 1 ? "" : "s");
	return i;
}

static void print_text(struct disas *d)
{
	const struct ki_function *fn = d->view.fn;
	bool bold = cli_bold(stdout);

	measure(d);
	printf("%s%s:%s  0x%" PRIx64 "  %" PRIu64 " bytes  %u block%s  %s%s%s\n",
	       bold ? "\033[1m" : "", cli_module(fn->symbol), fn->symbol->name, fn->start,
	       fn->end - fn->start, fn->nblocks, fn->nblocks == 1 ? "" : "s",
	       fn->reason ? ki_reason_tag(fn->reason) : "yes", d->live ? "  live" : "",
	       bold ? "\033[0m" : "");
	for (size_t i = 0; i < d->view.lines.n;) {
		const struct ki_listing_line *l = &d->view.lines.v[i];

		if (ki_listing_is_padding(&d->view, l)) {
			i = print_padding(d, i);
			continue;
		}
		if (l->block != KI_NONE)
			printf("%sblock %u:\n", i ? "\n" : "", l->block);
		print_line(d, l);
		i++;
	}
}

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[KI_INSN_PLAIN] = "plain", [KI_INSN_JCC] = "branch",
		[KI_INSN_JMP] = "jump",	   [KI_INSN_JMP_INDIRECT] = "jump indirect",
		[KI_INSN_CALL] = "call",   [KI_INSN_CALL_INDIRECT] = "call indirect",
		[KI_INSN_RET] = "return",  [KI_INSN_LOOP] = "loop",
		[KI_INSN_TRAP] = "trap",   [KI_INSN_PAD] = "padding",
		[KI_INSN_BAD] = "bad",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

static void json_registers(const struct disas *d, const struct ki_listing_line *l,
			   struct ki_json *j)
{
	char text[KI_LISTING_TEXT], *save = NULL;

	free_registers(d, l, text, sizeof(text));
	ki_json_open(j, "free", '[');
	for (char *s = strtok_r(text, ", ", &save); s; s = strtok_r(NULL, ", ", &save))
		if (strcmp(s, "-") != 0)
			ki_json_str(j, NULL, s);
	ki_json_close(j);
}

static void json_line(const struct disas *d, const struct ki_listing_line *l, struct ki_json *j)
{
	char text[KI_LISTING_TEXT];
	struct ki_insn in = {0};
	bool insn = ki_listing_insn(&d->view, l, &in);

	ki_json_open(j, NULL, '{');
	ki_json_hex(j, "address", l->addr);
	ki_json_u64(j, "offset", l->addr - d->view.fn->start);
	if (l->block != KI_NONE)
		ki_json_u64(j, "block", l->block);
	hex_bytes(&d->view, l, "", text, sizeof(text));
	ki_json_str(j, "bytes", text);
	ki_listing_text(&d->view, l, text);
	ki_json_str(j, "text", text);
	ki_json_str(j, "kind", insn ? kind_name(in.kind) : "rest");
	if (in.target)
		ki_json_hex(j, "target", in.target);
	ki_json_str(j, "reason", ki_reason_tag(ki_listing_reason(&d->view, l)));
	if (has_row(d, l, KI_INSN_EXTABLE))
		ki_json_bool(j, "fixup", true);
	if (has_row(d, l, KI_INSN_BUG))
		ki_json_bool(j, "bug", true);
	ki_listing_displaced(&d->view, l, text);
	if (*text)
		ki_json_str(j, "displaced", text);
	if (has_registers(d, l))
		json_registers(d, l, j);
	ki_json_close(j);
}

static void print_json(const struct disas *d)
{
	const struct ki_function *fn = d->view.fn;
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "module", cli_module(fn->symbol));
	ki_json_str(&j, "function", fn->symbol->name);
	ki_json_hex(&j, "address", fn->start);
	ki_json_u64(&j, "size", fn->end - fn->start);
	ki_json_u64(&j, "blocks", fn->nblocks);
	ki_json_str(&j, "reason", ki_reason_tag(fn->reason));
	ki_json_str(&j, "view", d->live ? "live" : "original");
	ki_json_open(&j, "instructions", '[');
	for (size_t i = 0; i < d->view.lines.n; i++)
		json_line(d, &d->view.lines.v[i], &j);
	ki_json_close(&j);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static int find_registers(struct disas *d, const struct ki_function *fn, struct ki_err *err)
{
	if (!d->program)
		return 0;
	d->registers = calloc(fn->ninsns, sizeof(*d->registers));
	if (!d->registers)
		return ki_err_set(err, -ENOMEM, fn->start, "%s: out of memory", fn->symbol->name);
	return ki_program_live(d->program, fn, d->registers, err);
}

static int show(struct disas *d, const struct selected *s, bool first)
{
	struct ki_function *fn;
	struct ki_err err = {0};
	int ret;

	if (ki_function_analyze(d->t, s->sym, &fn, &err))
		return cli_fail(&err);
	ret = ki_listing_make(&d->view, fn, s->from, d->live, d->syntax, &err);
	if (!ret)
		ret = find_registers(d, fn, &err);
	if (ret) {
		ret = cli_fail(&err);
	} else if (d->json) {
		print_json(d);
	} else {
		fputs(first ? "" : "\n", stdout);
		print_text(d);
	}
	free(d->registers);
	d->registers = NULL;
	ki_listing_free(&d->view);
	ki_function_free(fn);
	return ret;
}

static int show_all(struct disas *d, const struct verb *self, char **args, int n)
{
	ki_selection functions = {0};
	int ret = select_functions(d->t, self, args, n, true, &functions);

	if (!ret && d->regs)
		ret = open_program(d->t, NULL, false, &d->program);
	for (size_t i = 0; !ret && i < functions.n && !ferror(stdout); i++)
		ret = show(d, &functions.v[i], i == 0);
	ki_vec_free(&functions);
	ki_program_free(d->program);
	return ret;
}

enum { OPT_ORIG = 1, OPT_LIVE, OPT_REGS, OPT_BYTES, OPT_INTEL, OPT_ATT };

static bool take_option(struct disas *d, int c)
{
	if (open_option(&d->open, c, optarg))
		return true;
	switch (c) {
	case OPT_ORIG:
	case OPT_LIVE:
		d->live = c == OPT_LIVE;
		return true;
	case OPT_INTEL:
	case OPT_ATT:
		d->syntax = c == OPT_ATT ? KI_SYNTAX_ATT : KI_SYNTAX_INTEL;
		return true;
	case OPT_REGS:
		d->regs = true;
		return true;
	case OPT_BYTES:
		d->bytes = true;
		return true;
	case 'j':
		d->json = true;
		return true;
	default:
		return false;
	}
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"orig", no_argument, NULL, OPT_ORIG},
						{"live", no_argument, NULL, OPT_LIVE},
						{"regs", no_argument, NULL, OPT_REGS},
						{"bytes", no_argument, NULL, OPT_BYTES},
						{"intel", no_argument, NULL, OPT_INTEL},
						{"att", no_argument, NULL, OPT_ATT},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						OPEN_OPTIONS,
						{0}};
	struct disas d = {0};
	int c, ret;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1)
		if (!take_option(&d, c))
			return cli_other_option(self, c, argv);
	if (optind == argc)
		return cli_misuse(self, "no FUNCTION is given");
	if (d.live && d.open.image)
		return cli_misuse(self, "--live: %s is a file and does not run", d.open.image);
	ret = open_process_prefix(&d.open, self, argv + optind, argc - optind);
	if (!ret)
		ret = open_or_fail(&d.open, &d.t);
	if (!ret)
		ret = show_all(&d, self, argv + optind, argc - optind);
	ki_target_close(d.t);
	return ret;
}

const struct verb verb_disas = {
	.name = "disas",
	.summary = "the instructions of a function, what is free in it and what must stay",
	.usage = usage,
	.run = run,
};
