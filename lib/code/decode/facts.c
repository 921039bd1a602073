/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "code/decode/facts.h"

#include <string.h>

#include "code/decode/memo.h"
#include "util/search.h"

/* Functions, one by one, after which it is cheaper to remember instructions; to know all entries.
 */
#define OFTEN	   64
#define VERY_OFTEN 1024

/*
 * __x86_indirect_thunk_rax, __x86_indirect_call_thunk_rax, __x86_indirect_its_thunk_rax;
 * __x86_return_thunk, srso_return_thunk, srso_alias_return_thunk, its_return_thunk ...
 */
static enum ki_thunk_kind thunk_kind(const char *name)
{
	static const char indirect[] = "__x86_indirect_", ret[] = "return_thunk";
	size_t len = strlen(name);

	if (strncmp(name, indirect, sizeof(indirect) - 1) == 0)
		return strstr(name, "thunk_") ? KI_THUNK_INDIRECT : KI_THUNK_NONE;
	if (len >= sizeof(ret) - 1 && strcmp(name + len - (sizeof(ret) - 1), ret) == 0)
		return KI_THUNK_RETURN;
	return KI_THUNK_NONE;
}

/* "__x86_indirect_thunk_r11" */
static uint8_t thunk_register(const char *name)
{
	static const char *const names[] = {"_rax", "_rcx", "_rdx", "_rbx", "_rsp", "_rbp",
					    "_rsi", "_rdi", "_r8",  "_r9",  "_r10", "_r11",
					    "_r12", "_r13", "_r14", "_r15"};
	size_t len = strlen(name);

	for (uint8_t r = 0; r < 16; r++) {
		size_t n = strlen(names[r]);

		if (len > n && strcmp(name + len - n, names[r]) == 0)
			return r;
	}
	return KI_THUNK_NO_REG;
}

/* Of the bytes before a function, in which a kernel may count calls. */
static bool is_prefix(const char *name)
{
	return strncmp(name, "__pfx_", 6) == 0;
}

static int find_thunks(struct ki_target *t, struct ki_facts *f)
{
	for (size_t i = 0; i < t->nsymbols + t->nexternals; i++) {
		const char *name = t->symbols[i].name;
		struct ki_thunk k = {t->symbols[i].addr, thunk_kind(name), KI_THUNK_NO_REG};

		f->prefixed |= is_prefix(name);
		if (k.kind == KI_THUNK_NONE)
			continue;
		k.reg = thunk_register(name);
		if (f->thunks.n && f->thunks.v[f->thunks.n - 1].addr == k.addr) {
			/* The first of an array has two names; one tells the register. */
			if (k.reg != KI_THUNK_NO_REG)
				f->thunks.v[f->thunks.n - 1].reg = k.reg;
			continue;
		}
		if (ki_vec_push(&f->thunks, k))
			return -ENOMEM;
	}
	return 0;
}

static void facts_free(void *facts)
{
	struct ki_facts *f = facts;

	ki_vec_free(&f->thunks);
	ki_vec_free(&f->entries);
	ki_vec_free(&f->branches);
	ki_memo_free(f->memo);
	ki_vec_free(&f->covers);
	ki_vec_free(&f->static_calls);
	free(f);
}

static bool is_kernel(const struct ki_target *t)
{
	return ki_target_symbol_named(t, "", "__fentry__", NULL) ||
	       ki_target_symbol_named(t, "", "entry_SYSCALL_64", NULL);
}

int ki_facts_get(struct ki_target *t, const struct ki_facts **out, struct ki_err *err)
{
	struct ki_facts *f = t->facts;
	int ret;

	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return ki_err_set(err, -ENOMEM, 0, "out of memory");
		ret = find_thunks(t, f);
		if (ret)
			ki_err_set(err, ret, 0, "out of memory for the thunks");
		else
			ret = ki_covers_find(t, f, err);
		if (!ret)
			ret = ki_entries_scan(t, f, err);
		f->kernel = is_kernel(t);
		if (ret) {
			facts_free(f);
			return ret;
		}
		t->facts = f;
		t->facts_free = facts_free;
	}
	*out = f;
	return 0;
}

static int complete_entries(struct ki_target *t, struct ki_facts *f, const struct ki_text *text,
			    struct ki_memo *memo, struct ki_err *err)
{
	int ret = ki_entries_complete(t, f, text, memo);

	return ret ? ki_err_set(err, ret, 0, "out of memory for the entries") : 0;
}

int ki_facts_complete(struct ki_target *t, const struct ki_text *text, struct ki_memo *memo,
		      const struct ki_facts **out, struct ki_err *err)
{
	struct ki_memo *own = NULL;
	int ret = ki_facts_get(t, out, err);

	if (ret || !(*out)->branches.n)
		return ret;
	if (!memo && ki_memo_new(&own))
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
	ret = complete_entries(t, t->facts, text, memo ? memo : own, err);
	ki_memo_free(own);
	return ret;
}

int ki_facts_ask(struct ki_target *t, const struct ki_facts **out, struct ki_err *err)
{
	int ret = ki_facts_get(t, out, err);
	struct ki_facts *f = t->facts;

	if (ret || f->asked == VERY_OFTEN)
		return ret;
	f->asked++;
	if (f->asked == OFTEN && ki_memo_new(&f->memo))
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
	return f->asked == VERY_OFTEN ? complete_entries(t, f, NULL, f->memo, err) : 0;
}

static const struct ki_thunk *find_thunk(const struct ki_facts *f, uint64_t addr)
{
	size_t lo;

	/* They stand together, and nearly everything is elsewhere. */
	if (!f->thunks.n || addr < f->thunks.v[0].addr || addr > f->thunks.v[f->thunks.n - 1].addr)
		return NULL;
	lo = KI_FIRST(i, f->thunks.n, f->thunks.v[i].addr >= addr);
	return lo < f->thunks.n && f->thunks.v[lo].addr == addr ? &f->thunks.v[lo] : NULL;
}

uint64_t ki_facts_callee(const struct ki_target *t, const struct ki_facts *f, uint64_t target)
{
	const struct ki_symbol *s = f->prefixed ? ki_target_symbol_at(t, target) : NULL;

	return s && is_prefix(s->name) ? s->addr + s->size : target;
}

enum ki_thunk_kind ki_facts_thunk(const struct ki_facts *f, uint64_t addr)
{
	const struct ki_thunk *t = find_thunk(f, addr);

	return t ? t->kind : KI_THUNK_NONE;
}

uint8_t ki_facts_thunk_register(const struct ki_facts *f, uint64_t addr)
{
	const struct ki_thunk *t = find_thunk(f, addr);

	return t ? t->reg : KI_THUNK_NO_REG;
}

/* Number of the first entry at or above addr. */
static size_t entry_from(const struct ki_facts *f, uint64_t addr)
{
	return KI_FIRST(i, f->entries.n, f->entries.v[i] >= addr);
}

const uint64_t *ki_facts_entries(const struct ki_facts *f, uint64_t start, uint64_t end,
				 size_t *count)
{
	size_t first = entry_from(f, start + 1), last = entry_from(f, end);

	*count = last > first ? last - first : 0;
	return *count ? f->entries.v + first : NULL;
}
