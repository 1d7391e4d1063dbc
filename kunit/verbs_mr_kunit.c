// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registrations of scattered memory: pages of all sizes, odd offsets, gaps. Bytes land
 * where the scatterlist says, and nowhere else.
 */
#include <linux/gfp.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include "../drivers/ward/mem/copy.h"
#include "../drivers/ward/verbs/device.h"
#include "verbs.h"

#define PIECES		3
#define REMOTE		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)
#define NOT_OURS	0xee

static struct link wire;
static int b_end;	/* the end that B is on; A is on end 0 */

/**
 * struct scattered - B's memory: pieces of chunks that do not touch
 * @size:   bytes of each chunk, a power of two, aligned
 * @chunk:  the chunks
 * @offset: where in its chunk a piece begins
 * @len:    its length
 * @dma:    addresses of the chunks
 * @device: what they are mapped for
 * @sg:     the pieces
 */
struct scattered {
	u32			size;
	u8			*chunk[PIECES];
	u32			offset[PIECES];
	u32			len[PIECES];
	u64			dma[PIECES];
	struct ib_device	*device;
	struct scatterlist	sg[PIECES];
};

static void scattered_free(void *p)
{
	struct scattered *s = p;
	int i;

	for (i = 0; i < PIECES; i++) {
		if (!s->chunk[i])
			continue;
		ib_dma_unmap_single(s->device, s->dma[i], s->size, DMA_BIDIRECTIONAL);
		free_pages((unsigned long)s->chunk[i], get_order(s->size));
	}
}

static struct scattered *scatter(struct kunit *test, struct verbs *v, u32 size,
				 const u32 *offset, const u32 *len)
{
	struct scattered *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->size = size;
	s->device = v->b.link->ibdev;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, scattered_free, s), 0);
	sg_init_table(s->sg, PIECES);
	for (i = 0; i < PIECES; i++) {
		s->offset[i] = offset[i];
		s->len[i] = len[i];
		s->chunk[i] = (u8 *)__get_free_pages(GFP_KERNEL, get_order(size));
		KUNIT_ASSERT_NOT_NULL(test, s->chunk[i]);
		s->dma[i] = ib_dma_map_single(s->device, s->chunk[i], size, DMA_BIDIRECTIONAL);
		sg_set_buf(&s->sg[i], s->chunk[i] + offset[i], len[i]);
		sg_dma_address(&s->sg[i]) = s->dma[i] + offset[i];
		sg_dma_len(&s->sg[i]) = len[i];
	}
	return s;
}

/* Byte @at of the pieces in a row; NULL past their end. */
static u8 *byte_at(struct scattered *s, u64 at)
{
	int i;

	for (i = 0; i < PIECES; i++) {
		if (at < s->len[i])
			return s->chunk[i] + s->offset[i] + at;
		at -= s->len[i];
	}
	return NULL;
}

static u64 total(struct scattered *s)
{
	return (u64)s->len[0] + s->len[1] + s->len[2];
}

/* A writes @len random bytes at @at of B's region, reads them back, and B's memory is right. */
static void write_and_read(struct kunit *test, struct scattered *s, struct ib_mr *mr, u64 at,
			   u32 len)
{
	struct verbs *v = test->priv;
	u32 i, strays = 0, wrong = 0;

	for (i = 0; i < PIECES; i++)
		memset(s->chunk[i], NOT_OURS, s->size);
	get_random_bytes(v->a.buf, len);
	ASSERT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       v->a.pd->local_dma_lkey, len, mr->iova + at, mr->rkey),
		      IB_WC_SUCCESS);
	ASSERT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma + VERBS_BUF / 2,
				       v->a.pd->local_dma_lkey, len, mr->iova + at, mr->rkey),
		      IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->a.buf + VERBS_BUF / 2, len), 0);
	for (i = 0; i < len; i++) {
		u8 *byte = byte_at(s, at + i);

		wrong += *byte != v->a.buf[i];
		*byte = NOT_OURS;
	}
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "of %u bytes at %llu", len, at);
	for (i = 0; i < PIECES; i++)
		strays += !!memchr_inv(s->chunk[i], NOT_OURS, s->size);
	KUNIT_EXPECT_EQ_MSG(test, strays, 0, "pieces with strays, %u bytes at %llu", len, at);
}

/* Inside of a piece, across the seams, the first and the last byte, and one too many */
static void try_region(struct kunit *test, struct scattered *s, struct ib_mr *mr)
{
	const u32 half = VERBS_BUF / 2;
	struct verbs *v = test->priv;
	const u64 seams[] = { s->len[0], s->len[0] + s->len[1] };
	int i;

	write_and_read(test, s, mr, 0, 1);
	write_and_read(test, s, mr, total(s) - 1, 1);
	write_and_read(test, s, mr, 0, min_t(u64, total(s), half));
	for (i = 0; i < ARRAY_SIZE(seams); i++) {
		u32 before = min_t(u64, seams[i], 3000);
		u32 after = min_t(u64, total(s) - seams[i], 3001);

		write_and_read(test, s, mr, seams[i] - 1, 2);
		write_and_read(test, s, mr, seams[i], 1);
		write_and_read(test, s, mr, seams[i] - before, before + after);
	}
	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       v->a.pd->local_dma_lkey, 2, mr->iova + total(s) - 1,
				       mr->rkey), IB_WC_REM_ACCESS_ERR);
}

static const struct size {
	const char *name;
	u32 size;
} sizes[] = {
	{ "4 KiB", SZ_4K }, { "8 KiB", SZ_8K }, { "64 KiB", SZ_64K }, { "1 MiB", SZ_1M },
};

KUNIT_ARRAY_PARAM_DESC(size, sizes, name);

/* The first piece begins anywhere, the last one ends anywhere, the rest are whole pages. */
static void pages_of_all_sizes(struct kunit *test)
{
	const u32 size = ((const struct size *)test->param_value)->size;
	static const u32 offsets[] = { 0, 1, 777, 4095 };
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[b_end], false);
	struct scattered *s;
	struct ib_mr *mr;
	int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		/* with large pages also far into the first one */
		u32 first = size > SZ_4K && i ? size / 2 + offsets[i] : offsets[i];
		const u32 offset[PIECES] = { first, 0, 0 };
		const u32 len[PIECES] = { size - first, size, size / 2 + 3 };

		s = scatter(test, v, size, offset, len);
		mr = verbs_mr(test, &v->b, 8);
		KUNIT_ASSERT_EQ(test, ib_map_mr_sg(mr, s->sg, PIECES, NULL, size), PIECES);
		KUNIT_EXPECT_EQ(test, mr->length, total(s));
		ASSERT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
		try_region(test, s, mr);
		verbs_connect(test, v);
	}
}

/* A hole inside of a page ends what a region without gaps can map. */
static void mapping_ends_at_a_hole(struct kunit *test)
{
	const u32 offset[PIECES] = { 0, 100, 0 }, len[PIECES] = { 4096, 500, 4096 };
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[b_end], false);
	struct scattered *s = scatter(test, v, SZ_4K, offset, len);
	struct ib_mr *mr = verbs_mr(test, &v->b, 8);

	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(mr, s->sg, PIECES, NULL, SZ_4K), 1);
	KUNIT_EXPECT_EQ(test, mr->length, 4096);
}

/* A region with gaps takes pieces of any length from anywhere. */
static void gaps(struct kunit *test)
{
	const u32 offset[PIECES] = { 7, 100, 4000 }, len[PIECES] = { 1, 3333, 5000 };
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[b_end], false);
	struct scattered *s = scatter(test, v, SZ_16K, offset, len);
	struct ib_mr *mr;

	if (!(v->b.link->ibdev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG))
		kunit_skip(test, "the device does not offer it");
	mr = verbs_mr_of(test, &v->b, IB_MR_TYPE_SG_GAPS, PIECES);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(mr, s->sg, PIECES, NULL, SZ_4K), PIECES);
	KUNIT_EXPECT_EQ(test, mr->length, total(s));
	EXPECT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	try_region(test, s, mr);
}

/* 8 bytes at once, of which only 4 are where the first one is: refused, nothing is stored. */
static void no_word_across_a_gap(struct kunit *test)
{
	const u32 offset[PIECES] = {}, len[PIECES] = { 12, 4096, 4096 };
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[b_end], false);
	struct scattered *s = scatter(test, v, SZ_4K, offset, len);
	struct ib_mr *mr = verbs_mr_of(test, &v->b, IB_MR_TYPE_SG_GAPS, PIECES);
	struct ward_access a = { .who = {
		.dev = to_ward(v->b.link->ibdev), .pd = v->b.pd, .qpn = v->b.qp->qp_num,
	} };
	u64 orig;

	memset(s->chunk[0], NOT_OURS, s->size);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(mr, s->sg, PIECES, NULL, SZ_4K), PIECES);
	ASSERT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	local_bh_disable();
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, ward_access_begin(&a, mr->rkey, mr->iova, 16,
						IB_ACCESS_REMOTE_WRITE), WARD_GRANTED);
	if (a.mr) {
		KUNIT_EXPECT_EQ(test, ward_access_store(&a, mr->iova + 8, 0), -EINVAL);
		KUNIT_EXPECT_EQ(test, ward_access_atomic(&a, mr->iova + 8, false, 0, 1, &orig),
				-EINVAL);
		KUNIT_EXPECT_NULL(test, memchr_inv(s->chunk[0], NOT_OURS, s->size));
		KUNIT_EXPECT_EQ(test, ward_access_store(&a, mr->iova, 0), 0);
	}
	ward_access_end(&a);
	rcu_read_unlock();
	local_bh_enable();
}

static int mr_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	b_end = !strstr(suite->name, "local");
	if (err)
		link_down(&wire);
	return err;
}

static void mr_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(pages_of_all_sizes, size_gen_params),
	KUNIT_CASE(mapping_ends_at_a_hole),
	KUNIT_CASE(gaps),
	KUNIT_CASE(no_word_across_a_gap),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "ward-regions",
	.suite_init = mr_init,
	.suite_exit = mr_exit,
	.exit = verbs_exit,
	.test_cases = mr_cases,
};

/* both ends on one device: from memory to memory */
static struct kunit_suite local_suite = {
	.name = "ward-regions-local",
	.suite_init = mr_init,
	.suite_exit = mr_exit,
	.exit = verbs_exit,
	.test_cases = mr_cases,
};

kunit_test_suites(&mr_suite, &local_suite);
