/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the plugins use of QEMU's plugin interface, declared by ourselves: no Debian package
 * holds qemu-plugin.h. The functions are in the QEMU program and are bound when it loads the
 * plugin. Interface version 3 (QEMU 9.1) is the first with all of them as they are below; QEMU
 * checks `qemu_plugin_version` against the versions it still serves. Memory can be read since
 * QEMU 9.2. Lists and bytes are GLib's GArray and GByteArray.
 */
#ifndef KI_QEMU_API_H
#define KI_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_API_VERSION 3
#define QEMU_EXPORT	 __attribute__((visibility("default")))

struct qemu_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;

struct qemu_array {
	void *data;
	unsigned int len;
};
struct qemu_bytes {
	uint8_t *data;
	unsigned int len;
};
struct qemu_reg {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
};

/* A 64-bit member, at an offset, of a scoreboard's per-vCPU element. Passed by value. */
struct qemu_u64 {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

enum qemu_inline_op { QEMU_INLINE_ADD_U64, QEMU_INLINE_STORE_U64 };
enum qemu_cond {
	QEMU_COND_NEVER,
	QEMU_COND_ALWAYS,
	QEMU_COND_EQ,
	QEMU_COND_NE,
	QEMU_COND_LT,
	QEMU_COND_LE,
	QEMU_COND_GT,
	QEMU_COND_GE,
};
enum qemu_cb_flags { QEMU_CB_NO_REGS, QEMU_CB_R_REGS, QEMU_CB_RW_REGS };

typedef void (*qemu_tb_trans_fn)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_vcpu_fn)(unsigned int vcpu, void *data);
typedef void (*qemu_plain_fn)(uint64_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_tb_trans_fn fn);
void qemu_plugin_register_atexit_cb(uint64_t id, qemu_plain_fn fn, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_vcpu_fn fn,
					    enum qemu_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
							 enum qemu_inline_op op,
							 struct qemu_u64 counter, uint64_t imm);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_vcpu_fn fn,
					  enum qemu_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, qemu_vcpu_fn fn,
					       enum qemu_cb_flags flags, enum qemu_cond cond,
					       struct qemu_u64 left, uint64_t right, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *buf, size_t len);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

struct qemu_array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct qemu_bytes *buf);
bool qemu_plugin_read_memory_vaddr(uint64_t addr, struct qemu_bytes *data, size_t len);
struct qemu_bytes *g_byte_array_new(void);
struct qemu_bytes *g_byte_array_set_size(struct qemu_bytes *array, unsigned int len);

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *board, unsigned int vcpu);
uint64_t qemu_plugin_u64_sum(struct qemu_u64 counter);
uint64_t qemu_plugin_u64_get(struct qemu_u64 counter, unsigned int vcpu);
int qemu_plugin_num_vcpus(void);
void qemu_plugin_outs(const char *text);

#endif
