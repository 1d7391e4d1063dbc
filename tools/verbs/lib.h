/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For small programs that use a device as any program does, through libibverbs; and what that has
 * no call for, through the ioctls of the kernel. Both ends of a connection are in the one process,
 * so one device is enough, of whatever kind.
 */
#ifndef _TOOLS_VERBS_LIB_H
#define _TOOLS_VERBS_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Nothing here takes so long but what hangs */
#define PATIENCE_MS	60000

/**
 * struct end - one end of a connection
 * @pd:  of the QP
 * @cq:  of sends and receives
 * @qp:  the QP
 */
struct end {
	struct ibv_pd	*pd;
	struct ibv_cq	*cq;
	struct ibv_qp	*qp;
};

extern struct ibv_context *ctx;
extern struct ibv_pd *pd;
extern int gid_index;
extern union ibv_gid gid;
extern size_t page;

void open_device(const char *name);
void die(const char *what);

void end_open(struct end *e, struct ibv_pd *pd, enum ibv_qp_type type, struct ibv_srq *srq);
void end_close(struct end *e);
void connect_ends(struct end *a, struct end *b);
void pair_open(struct end *a, struct end *b, enum ibv_qp_type type);
void pair_close(struct end *a, struct end *b);
int to_error(struct end *e);

int post_recv(struct end *e, uint64_t id, void *at, uint32_t len, uint32_t lkey);
int post(struct end *e, struct ibv_send_wr *wr);
int post_op(struct end *e, enum ibv_wr_opcode op, void *at, uint32_t len, uint32_t lkey,
	    uint64_t remote, uint32_t rkey);
struct ibv_wc wait_wc(struct end *e);
int run_op(struct end *e, enum ibv_wr_opcode op, void *at, uint32_t len, uint32_t lkey,
	   uint64_t remote, uint32_t rkey);

/* What libibverbs has no call for, or librxe not. Return: 0 or a negative errno */
int rereg(uint32_t handle, int flags, void *at, size_t len, uint64_t iova, int access,
	  struct ibv_pd *pd);
int reg_dmabuf(struct ibv_pd *pd, uint64_t offset, uint64_t len, uint64_t iova, int fd, int access,
	       uint32_t *handle, uint32_t *key);
int dereg_handle(uint32_t handle);
int advise(struct ibv_pd *pd, int advice, uint32_t flags, struct ibv_sge *sge, int n);
int query_odp(struct ibv_odp_caps *caps);

/* A line for each test: ok, FAIL or skip. check() fails the one that is running */
struct test {
	const char	*name;
	void		(*run)(void);
};

bool check_at(bool good, const char *text, const char *file, int line);
void skip(const char *why);
int run_tests(const struct test *tests, size_t n, int argc, char **argv);

#define check(x)	check_at(x, #x, __FILE__, __LINE__)
/* Compares statuses, and says which came */
bool check_wc_at(int got, int want, const char *file, int line);
#define check_wc(got, want)	check_wc_at(got, want, __FILE__, __LINE__)

#endif /* _TOOLS_VERBS_LIB_H */
