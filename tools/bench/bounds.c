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
	/* the clocks take microseconds */
	const int turns = DIV_ROUND_UP(4 << 20, size ?: 1);
	struct bench_sample begin = {}, now = {};
	struct crypto_shash *shash;
	struct shash_desc *desc;
	u8 *from, *to;
	int i;

	/* the fastest CRC-32 of a kernel before 6.14 */
	shash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(shash))
		return PTR_ERR(shash);
	desc = kzalloc(sizeof(*desc) + crypto_shash_descsize(shash), GFP_KERNEL);
	from = kvzalloc(size, GFP_KERNEL);
	to = kvzalloc(size, GFP_KERNEL);
	if (!size || !from || !to || !desc)
		goto out;
	desc->tfm = shash;
	crypto_shash_init(desc);
	bench_clocks(&begin);
	do {
		for (i = 0; i < turns; i++) {
			if (copy)
				memcpy(to, from, size);
			if (crc)
				crypto_shash_update(desc, to, size);
			barrier_data(to);
		}
		now.bytes += (u64)turns * size;
		cond_resched();
		bench_clocks(&now);
	} while (now.wall - begin.wall < length);
	bench_report(bench, &begin, &now);
out:
	kfree(desc);
	kvfree(from);
	kvfree(to);
	crypto_free_shash(shash);
	return now.bytes ? 0 : -ENOMEM;
}
