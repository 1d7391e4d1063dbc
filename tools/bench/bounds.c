// SPDX-License-Identifier: GPL-2.0
/*
 * What nobody can beat in the same kernel: copying and summing the bytes.
 */
#include <crypto/hash.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "bench.h"

/**
 * bench_memory - copies, or sums, or both, @size bytes at a time
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_memory(struct bench *bench)
{
	const bool copy = *bench->params.op == 'm', crc = strcmp(bench->params.op, "memcpy");
	const u64 length = bench->params.ms * (u64)NSEC_PER_MSEC;
	const u32 size = bench->params.size;
	struct bench_sample begin = {}, now = {};
	struct crypto_shash *shash;
	u8 *from, *to;
	u8 sum[4];
	int i;

	/* the fastest CRC-32 of a kernel before 6.14 */
	shash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(shash))
		return PTR_ERR(shash);
	from = kvzalloc(size, GFP_KERNEL);
	to = kvzalloc(size, GFP_KERNEL);
	if (!size || !from || !to)
		goto out;
	bench_clocks(&begin);
	do {
		for (i = 0; i < 16; i++) {
			if (copy)
				memcpy(to, from, size);
			if (crc)
				crypto_shash_tfm_digest(shash, to, size, sum);
			barrier_data(to);
		}
		now.bytes += 16ULL * size;
		cond_resched();
		bench_clocks(&now);
	} while (now.wall - begin.wall < length);
	bench_report(bench, &begin, &now);
out:
	kvfree(from);
	kvfree(to);
	crypto_free_shash(shash);
	return now.bytes ? 0 : -ENOMEM;
}
