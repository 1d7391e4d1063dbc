/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that knows a kernel version. Kbuild puts this file in front of
 * every other one, so no other file tests a version.
 *
 * Rules for an item:
 * - It is named by meaning and begins with ward_ or WARD_, never with the name that the kernel
 *   uses: stable kernels of any version may bring that name tomorrow.
 * - It tells in which release what changed. A test of LINUX_VERSION_CODE is right for changed
 *   signatures, which are not backported; what may be backported must work either way.
 * - Macros expand where they are used, so that this file need not include what they name.
 */
#ifndef _WARD_COMPAT_COMPAT_H
#define _WARD_COMPAT_COMPAT_H

/* Not a matter of versions, but of every file */
#define pr_fmt(fmt)	"ward: " fmt

#include <linux/version.h>

/*
 * get_unaligned_*(), put_unaligned_*(): linux/unaligned.h since 6.12, asm/unaligned.h before.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * ib_device_ops.create_cq: its last argument is struct uverbs_attr_bundle * since 6.11, struct
 * ib_udata * before; NULL for kernel users. To be used after <rdma/uverbs_ioctl.h>.
 *
 *	int create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr, ward_cq_ctx_t *ctx)
 *	{
 *		struct ib_udata *udata = ward_cq_ctx_udata(ctx);
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define ward_cq_ctx_t		struct uverbs_attr_bundle
#define ward_cq_ctx_udata(ctx)	((ctx) ? &(ctx)->driver_udata : NULL)
#else
#define ward_cq_ctx_t		struct ib_udata
#define ward_cq_ctx_udata(ctx)	(ctx)
#endif

/*
 * ib_device_ops.resize_cq(cq, int cqe, udata) became resize_user_cq(cq, unsigned int cqe, udata)
 * in 7.1.
 *
 *	int resize_cq(struct ib_cq *cq, ward_resize_cqe_t cqe, struct ib_udata *udata)
 *	.ward_op_resize_cq = resize_cq,
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define ward_op_resize_cq	resize_user_cq
#define ward_resize_cqe_t	unsigned int
#else
#define ward_op_resize_cq	resize_cq
#define ward_resize_cqe_t	int
#endif

/*
 * ib_device_ops.reg_user_mr has an argument struct ib_dmah * before the udata since 6.17.
 *
 *	struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
 *				  int access, WARD_DMAH_ARG struct ib_udata *udata)
 *	{
 *		if (WARD_DMAH_GIVEN)
 *			return ERR_PTR(-EOPNOTSUPP);
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define WARD_DMAH_ARG		struct ib_dmah *dmah,
#define WARD_DMAH_GIVEN		(dmah)
#else
#define WARD_DMAH_ARG
#define WARD_DMAH_GIVEN		false
#endif

/*
 * ib_device_ops.reg_user_mr_dmabuf: its last argument is struct uverbs_attr_bundle * since 6.12, struct
 * ib_udata * before, and struct ib_dmah * comes before it since 6.17.
 *
 *	struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 virt_addr,
 *					 int fd, int access, WARD_DMAH_ARG ward_dmabuf_ctx_t *ctx)
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define ward_dmabuf_ctx_t	struct uverbs_attr_bundle
#else
#define ward_dmabuf_ctx_t	struct ib_udata
#endif

/*
 * Map a dma-buf into the kernel, without its lock: dma_buf_vmap_unlocked() since 6.2; before, what
 * is called dma_buf_vmap() takes none. The namespace of these symbols is a string since 6.13.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define ward_dma_buf_vmap(buf, map)	dma_buf_vmap_unlocked(buf, map)
#define ward_dma_buf_vunmap(buf, map)	dma_buf_vunmap_unlocked(buf, map)
#else
#define ward_dma_buf_vmap(buf, map)	dma_buf_vmap(buf, map)
#define ward_dma_buf_vunmap(buf, map)	dma_buf_vunmap(buf, map)
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define WARD_IMPORT_DMA_BUF		MODULE_IMPORT_NS("DMA_BUF")
#else
#define WARD_IMPORT_DMA_BUF		MODULE_IMPORT_NS(DMA_BUF)
#endif

/*
 * Pin user memory: ib_umem_get() up to 7.1, ib_umem_get_va() since 7.2.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#define ward_umem_get(dev, addr, size, access)	ib_umem_get_va(dev, addr, size, access)
#else
#define ward_umem_get(dev, addr, size, access)	ib_umem_get(dev, addr, size, access)
#endif

/*
 * An address in an ib_sge or scatterlist of a device without DMA is a kernel virtual address.
 * ib_virt_dma_to_ptr() says so since 6.3; it has been so before.
 */
#define ward_dma_to_ptr(addr)	((void *)(uintptr_t)(addr))

/*
 * Memory placement extensions and ATOMIC_WRITE came with 6.2, their bits in the capabilities of
 * on-demand paging with 6.16. Their numbers are user ABI, so
 * those who must name them without having them can.
 */
#define WARD_IB_WR_FLUSH		14
#define WARD_IB_WR_ATOMIC_WRITE		15
#define WARD_IB_WC_FLUSH		8
#define WARD_IB_WC_ATOMIC_WRITE		9
#define WARD_ODP_PLACEMENT		(WARD_HAS_PLACEMENT ? BIT(6) | BIT(7) : 0)
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define WARD_HAS_PLACEMENT		1
#define WARD_ACCESS_FLUSH_GLOBAL	IB_ACCESS_FLUSH_GLOBAL
#define WARD_ACCESS_FLUSH_PERSISTENT	IB_ACCESS_FLUSH_PERSISTENT
#define WARD_CAP_PLACEMENT		(IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_FLUSH_PERSISTENT | \
					 IB_DEVICE_ATOMIC_WRITE)
#else
#define WARD_HAS_PLACEMENT		0
#define WARD_ACCESS_FLUSH_GLOBAL	0
#define WARD_ACCESS_FLUSH_PERSISTENT	0
#define WARD_CAP_PLACEMENT		0
#endif

/*
 * The name that `rdma link add` gave is final, udev shall not change it: since 6.8.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define ward_mark_name_final(dev)	ib_mark_name_assigned_by_user(dev)
#else
#define ward_mark_name_final(dev)	((void)(dev))
#endif

/*
 * UDP tunnel sockets are passed as struct sock * since 7.1, as struct socket * before.
 * Their release waits for readers of sk_user_data up to 7.1; since 7.2 that is left to us.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define ward_tunnel_setup(net, sock, cfg)	setup_udp_tunnel_sock(net, (sock)->sk, cfg)
#define ward_tunnel_release(sock)				\
	do {							\
		udp_tunnel_sock_release((sock)->sk);		\
		synchronize_rcu();				\
	} while (0)
#else
#define ward_tunnel_setup(net, sock, cfg)	setup_udp_tunnel_sock(net, sock, cfg)
#define ward_tunnel_release(sock)		udp_tunnel_sock_release(sock)
#endif

/*
 * Type of service of an IPv4 flow: a dscp_t since 6.18, the byte without ECN before.
 * To be used after <net/inet_dscp.h>.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define ward_flow4_set_tos(fl4, tos)	((fl4)->flowi4_dscp = inet_dsfield_to_dscp(tos))
#else
#define ward_flow4_set_tos(fl4, tos)	((fl4)->flowi4_tos = (tos) & INET_DSCP_MASK)
#endif

/*
 * hrtimer_setup() replaced hrtimer_init() in 6.13.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define ward_hrtimer_setup(timer, fn, clock, mode)	hrtimer_setup(timer, fn, clock, mode)
#else
#define ward_hrtimer_setup(timer, fn, clock, mode)		\
	do {							\
		hrtimer_init(timer, clock, mode);		\
		(timer)->function = (fn);			\
	} while (0)
#endif

/*
 * A workqueue that is not WQ_UNBOUND has to say so since 7.2; the flag exists since 6.17.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define WARD_WQ_PERCPU		WQ_PERCPU
#else
#define WARD_WQ_PERCPU		0
#endif

/*
 * crc32_le() uses the CPU's carry-less multiplication since 6.14; before, only the shash
 * "crc32" does.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define WARD_CRC32_LE_IS_FAST	true
#else
#define WARD_CRC32_LE_IS_FAST	false
#endif

/*
 * __assign_str() of a trace point took the source a second time up to 6.9.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define ward_assign_str(field, from)	__assign_str(field)
#else
#define ward_assign_str(field, from)	__assign_str(field, from)
#endif

/*
 * ib_device_ops.counter_bind_qp and counter_unbind_qp have the port as last argument, and the
 * driver tells the size of struct rdma_counter with what it adds, since 6.17.
 *
 *	int unbind(struct ib_qp *qp WARD_COUNTER_PORT_ARG)
 *	.counter_unbind_qp = unbind,
 *	WARD_COUNTER_OBJ_SIZE(ward_rdma_counter, counter)
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define WARD_COUNTER_PORT_ARG		, u32 port
#define WARD_COUNTER_OBJ_SIZE(type, member) \
	INIT_RDMA_OBJ_SIZE(rdma_counter, type, member),
#else
#define WARD_COUNTER_PORT_ARG
#define WARD_COUNTER_OBJ_SIZE(type, member)
#endif

/*
 * ib_device_ops.fill_res_srq_entry: 6.12 has it, 6.1 has not.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define WARD_FILL_SRQ(fill)		.fill_res_srq_entry = (fill),
#else
#define WARD_FILL_SRQ(fill)
#endif

#endif /* _WARD_COMPAT_COMPAT_H */
