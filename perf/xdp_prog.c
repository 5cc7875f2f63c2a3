/* xdp_prog.c - the programs of xdp, instruction by instruction
 *
 * One program per deed, from common parts. First the frame is looked at: a VLAN
 * tag at most, IPv4 or IPv6, UDP; everything else goes to "other", is counted
 * there and passes, so that neighbours still find each other. Then the counters,
 * then the deed.
 *
 * A program cannot see how a frame with several datagrams will be cut: that is
 * beside the frame. With a known size of datagram it can be derived from the
 * UDP length: payload / size, rounded up.
 *
 * Registers: r6 context, r7 begin and r8 end of the frame, r9 the counters,
 * r5 IP header, r4 UDP header; r0 to r3 scratch. The verifier follows each path
 * with the bounds tested on it, so each deed tests again what it touches.
 *
 * Jumps go forward to one of few labels, patched at the end. */

#include "xdp.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stddef.h>
#include <string.h>

enum label {
	L_OTHER,
	L_UNTAGGED,
	L_V4,
	L_V6,
	L_UDP,
	L_ONE,
	L_SWAP6,
	L_PORTS,
	L_IPIP,
	L_DROP,
	L_EXIT,
	L_COUNT
};

#define ETH_LEN 14
#define OUTER_LEN 20

struct writer {
	struct bpf_insn *insn;
	unsigned n;
	int label[L_COUNT]; /* instruction, -1: not yet */
	struct {
		unsigned at;
		enum label to;
	} jump[64];
	unsigned jumps;
};

/* ---- assembler -------------------------------------------------------- */

static void put(struct writer *w, struct bpf_insn i)
{
	assert(w->n < INSNS_MAX);
	w->insn[w->n++] = i;
}

static void mov(struct writer *w, unsigned dst, unsigned src)
{
	put(w, (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X,
				  .dst_reg = dst & 15,
				  .src_reg = src & 15 });
}

/* @op: BPF_ADD, BPF_MOV and so on, with a constant */
static void alu(struct writer *w, unsigned op, unsigned dst, int32_t imm)
{
	put(w, (struct bpf_insn){ .code = (uint8_t)(BPF_ALU64 | op | BPF_K),
				  .dst_reg = dst & 15,
				  .imm = imm });
}

static void alu_reg(struct writer *w, unsigned op, unsigned dst, unsigned src)
{
	put(w, (struct bpf_insn){ .code = (uint8_t)(BPF_ALU64 | op | BPF_X),
				  .dst_reg = dst & 15,
				  .src_reg = src & 15 });
}

/* @size: BPF_B, BPF_H, BPF_W or BPF_DW */
static void load(struct writer *w, unsigned size, unsigned dst, unsigned src,
		 int off)
{
	put(w, (struct bpf_insn){ .code = (uint8_t)(BPF_LDX | size | BPF_MEM),
				  .dst_reg = dst & 15,
				  .src_reg = src & 15,
				  .off = (int16_t)off });
}

static void store(struct writer *w, unsigned size, unsigned dst, int off,
		  unsigned src)
{
	put(w, (struct bpf_insn){ .code = (uint8_t)(BPF_STX | size | BPF_MEM),
				  .dst_reg = dst & 15,
				  .src_reg = src & 15,
				  .off = (int16_t)off });
}

static void store_imm(struct writer *w, unsigned size, unsigned dst, int off,
		      int32_t imm)
{
	put(w, (struct bpf_insn){ .code = (uint8_t)(BPF_ST | size | BPF_MEM),
				  .dst_reg = dst & 15,
				  .off = (int16_t)off,
				  .imm = imm });
}

/* Between the byte order of frames and ours, 16 bits */
static void swab16(struct writer *w, unsigned dst)
{
	put(w, (struct bpf_insn){ .code = BPF_ALU | BPF_END | BPF_TO_BE,
				  .dst_reg = dst & 15,
				  .imm = 16 });
}

static void call(struct writer *w, int helper)
{
	put(w, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = helper });
}

static void here(struct writer *w, enum label l)
{
	w->label[l] = (int)w->n;
}

static void note_jump(struct writer *w, enum label to)
{
	assert(w->jumps < sizeof(w->jump) / sizeof(w->jump[0]));
	w->jump[w->jumps].at = w->n;
	w->jump[w->jumps++].to = to;
}

static void jump(struct writer *w, enum label to)
{
	note_jump(w, to);
	put(w, (struct bpf_insn){ .code = BPF_JMP | BPF_JA });
}

/* @op: BPF_JEQ and so on, compared with a constant */
static void jump_if(struct writer *w, unsigned op, unsigned reg, int32_t imm,
		    enum label to)
{
	note_jump(w, to);
	put(w, (struct bpf_insn){ .code = (uint8_t)(BPF_JMP | op | BPF_K),
				  .dst_reg = reg & 15,
				  .imm = imm });
}

/* Leaves for @to unless the frame has @len bytes from @reg on */
static void need(struct writer *w, unsigned reg, int len, enum label to)
{
	mov(w, 1, reg);
	alu(w, BPF_ADD, 1, len);
	note_jump(w, to);
	put(w, (struct bpf_insn){ .code = BPF_JMP | BPF_JGT | BPF_X,
				  .dst_reg = 1,
				  .src_reg = 8 });
}

static void finish(struct writer *w)
{
	for (unsigned i = 0; i < w->jumps; i++) {
		int to = w->label[w->jump[i].to];

		assert(to > (int)w->jump[i].at);
		w->insn[w->jump[i].at].off = (int16_t)(to - (int)w->jump[i].at -
						       1);
	}
}

/* ---- parts ------------------------------------------------------------ */

static void write_begin(struct writer *w, int map_fd)
{
	mov(w, 6, 1);
	store_imm(w, BPF_W, 10, -4, 0);
	mov(w, 2, 10);
	alu(w, BPF_ADD, 2, -4);
	put(w, (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM,
				  .dst_reg = 1,
				  .src_reg = BPF_PSEUDO_MAP_FD,
				  .imm = map_fd });
	put(w, (struct bpf_insn){ 0 }); /* the upper half */
	call(w, BPF_FUNC_map_lookup_elem);
	jump_if(w, BPF_JEQ, 0, 0, L_DROP);
	mov(w, 9, 0);
	load(w, BPF_W, 7, 6, offsetof(struct xdp_md, data));
	load(w, BPF_W, 8, 6, offsetof(struct xdp_md, data_end));
}

/* Sets r5 and r4, or leaves */
static void write_look(struct writer *w, bool with_tag)
{
	need(w, 7, ETH_LEN + 4, L_OTHER);
	load(w, BPF_H, 3, 7, 12);
	mov(w, 5, 7);
	alu(w, BPF_ADD, 5, ETH_LEN);
	if (with_tag) {
		jump_if(w, BPF_JNE, 3, htons(0x8100), L_UNTAGGED);
		load(w, BPF_H, 3, 7, 16);
		alu(w, BPF_ADD, 5, 4);
		here(w, L_UNTAGGED);
	}
	jump_if(w, BPF_JEQ, 3, htons(0x0800), L_V4);
	jump_if(w, BPF_JEQ, 3, htons(0x86dd), L_V6);
	jump(w, L_OTHER);

	here(w, L_V4);
	need(w, 5, 20, L_OTHER);
	load(w, BPF_B, 3, 5, 9);
	jump_if(w, BPF_JNE, 3, IPPROTO_UDP, L_OTHER);
	load(w, BPF_B, 3, 5, 0);
	alu(w, BPF_AND, 3, 15);
	alu(w, BPF_LSH, 3, 2);
	mov(w, 4, 5);
	alu_reg(w, BPF_ADD, 4, 3);
	jump(w, L_UDP);

	here(w, L_V6);
	need(w, 5, 40, L_OTHER);
	load(w, BPF_B, 3, 5, 6);
	jump_if(w, BPF_JNE, 3, IPPROTO_UDP, L_OTHER);
	mov(w, 4, 5);
	alu(w, BPF_ADD, 4, 40);
	here(w, L_UDP);
	need(w, 4, 8, L_OTHER);
}

/* Adds a register, or 1 if it is r10, to a counter */
static void write_add(struct writer *w, size_t counter, unsigned reg)
{
	load(w, BPF_DW, 1, 9, (int)counter);
	if (reg == 10)
		alu(w, BPF_ADD, 1, 1);
	else
		alu_reg(w, BPF_ADD, 1, reg);
	store(w, BPF_DW, 9, (int)counter, 1);
}

static void write_count(struct writer *w, uint16_t seg)
{
	write_add(w, offsetof(struct counters, frames), 10);
	mov(w, 3, 8);
	alu_reg(w, BPF_SUB, 3, 7);
	write_add(w, offsetof(struct counters, bytes), 3);
	alu(w, BPF_MOV, 3, 1);
	if (seg) {
		load(w, BPF_H, 2, 4, 4);
		swab16(w, 2);
		/* Empty, or no length at all: one datagram */
		jump_if(w, BPF_JLT, 2, 8 + 1, L_ONE);
		alu(w, BPF_ADD, 2, seg - 1 - 8);
		alu(w, BPF_DIV, 2, seg);
		mov(w, 3, 2);
		here(w, L_ONE);
	}
	write_add(w, offsetof(struct counters, datagrams), 3);
}

static void write_exchange(struct writer *w, unsigned size, unsigned reg, int a,
			   int b)
{
	load(w, size, 1, reg, a);
	load(w, size, 2, reg, b);
	store(w, size, reg, a, 2);
	store(w, size, reg, b, 1);
}

/* A frame back to where it came from; no checksum changes by that */
static void write_swap(struct writer *w)
{
	write_exchange(w, BPF_W, 7, 0, 6);
	write_exchange(w, BPF_H, 7, 4, 10);
	load(w, BPF_B, 3, 5, 0);
	alu(w, BPF_RSH, 3, 4);
	jump_if(w, BPF_JEQ, 3, 6, L_SWAP6);
	write_exchange(w, BPF_W, 5, 12, 16);
	jump(w, L_PORTS);
	here(w, L_SWAP6);
	need(w, 5, 40, L_DROP);
	write_exchange(w, BPF_DW, 5, 8, 24);
	write_exchange(w, BPF_DW, 5, 16, 32);
	here(w, L_PORTS);
	write_exchange(w, BPF_H, 4, 0, 2);
	alu(w, BPF_MOV, 0, XDP_TX);
	jump(w, L_EXIT);
}

/* Moves the MAC addresses before the new header, swapped */
static void write_outer_eth(struct writer *w)
{
	load(w, BPF_W, 1, 7, OUTER_LEN + 0);
	load(w, BPF_H, 2, 7, OUTER_LEN + 4);
	load(w, BPF_W, 3, 7, OUTER_LEN + 6);
	load(w, BPF_H, 4, 7, OUTER_LEN + 10);
	store(w, BPF_W, 7, 0, 3);
	store(w, BPF_H, 7, 4, 4);
	store(w, BPF_W, 7, 6, 1);
	store(w, BPF_H, 7, 10, 2);
	store_imm(w, BPF_H, 7, 12, htons(0x0800));
}

/* IPv4 around it, with the checksum summed up from constants and the length */
static void write_outer_ip(struct writer *w, const uint8_t *outer)
{
	int32_t sum = 0x4500 + 0x4000 + (64 << 8), word;

	for (int i = 0; i < 8; i += 2)
		sum += outer[i] << 8 | outer[i + 1];
	store_imm(w, BPF_W, 7, ETH_LEN + 0, 0x45);
	store_imm(w, BPF_W, 7, ETH_LEN + 4, 0x40 << 16);
	for (int i = 0; i < 2; i++) {
		memcpy(&word, outer + 4 * i, sizeof(word));
		store_imm(w, BPF_W, 7, ETH_LEN + 12 + 4 * i, word);
	}
	mov(w, 3, 8);
	alu_reg(w, BPF_SUB, 3, 7);
	alu(w, BPF_SUB, 3, ETH_LEN);
	mov(w, 2, 3);
	swab16(w, 3);
	store(w, BPF_H, 7, ETH_LEN + 2, 3);
	/* r1: what is inside */
	load(w, BPF_B, 3, 7, ETH_LEN + OUTER_LEN);
	alu(w, BPF_RSH, 3, 4);
	alu(w, BPF_MOV, 1, IPPROTO_IPIP);
	jump_if(w, BPF_JEQ, 3, 4, L_IPIP);
	alu(w, BPF_MOV, 1, IPPROTO_IPV6);
	here(w, L_IPIP);
	store_imm(w, BPF_B, 7, ETH_LEN + 8, 64);
	store(w, BPF_B, 7, ETH_LEN + 9, 1);
	alu_reg(w, BPF_ADD, 2, 1);
	alu(w, BPF_ADD, 2, sum);
	for (int i = 0; i < 2; i++) {
		mov(w, 3, 2);
		alu(w, BPF_RSH, 3, 16);
		alu(w, BPF_AND, 2, 0xffff);
		alu_reg(w, BPF_ADD, 2, 3);
	}
	alu(w, BPF_XOR, 2, 0xffff);
	swab16(w, 2);
	store(w, BPF_H, 7, ETH_LEN + 10, 2);
}

static void write_wrap(struct writer *w, const uint8_t *outer)
{
	mov(w, 1, 6);
	alu(w, BPF_MOV, 2, -OUTER_LEN);
	call(w, BPF_FUNC_xdp_adjust_head);
	jump_if(w, BPF_JNE, 0, 0, L_DROP);
	load(w, BPF_W, 7, 6, offsetof(struct xdp_md, data));
	load(w, BPF_W, 8, 6, offsetof(struct xdp_md, data_end));
	need(w, 7, ETH_LEN + OUTER_LEN + 1, L_DROP);
	write_outer_eth(w);
	write_outer_ip(w, outer);
	alu(w, BPF_MOV, 0, XDP_TX);
	jump(w, L_EXIT);
}

unsigned prog_write(const struct recipe *r, struct bpf_insn *ret)
{
	struct writer w = { .insn = ret };

	write_begin(&w, r->map_fd);
	write_look(&w, r->deed != DEED_WRAP);
	write_count(&w, r->seg);
	if (r->deed == DEED_SWAP)
		write_swap(&w);
	else if (r->deed == DEED_WRAP)
		write_wrap(&w, r->outer);
	if (r->deed == DEED_PASS) {
		alu(&w, BPF_MOV, 0, XDP_PASS);
		jump(&w, L_EXIT);
	}
	here(&w, L_DROP);
	alu(&w, BPF_MOV, 0, XDP_DROP);
	jump(&w, L_EXIT);
	here(&w, L_OTHER);
	write_add(&w, offsetof(struct counters, others), 10);
	alu(&w, BPF_MOV, 0, XDP_PASS);
	here(&w, L_EXIT);
	put(&w, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
	finish(&w);
	return w.n;
}
