// SPDX-License-Identifier: GPL-2.0
/*
 * A file read or written from beginning to end, on whatever file system it is: @count MiB, @size
 * bytes a call, without the copies and system calls of a process.
 */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "bench.h"

/**
 * bench_file - reads or writes the file @path; a write ends with fsync
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_file(struct bench *bench)
{
	const bool write = !strcmp(bench->params.op, "file_write");
	const u64 total = (u64)bench->params.count << 20;
	const u32 size = bench->params.size;
	struct bench_sample begin = {}, end = {};
	struct file *file;
	loff_t pos = 0;
	ssize_t n = 0;
	u8 *buf;

	buf = kvmalloc(size, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	memset(buf, 0x5a, size);
	bench_clocks(&begin);
	file = filp_open(bench->params.path, write ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0600);
	if (IS_ERR(file)) {
		kvfree(buf);
		return PTR_ERR(file);
	}
	while (pos < total) {
		n = write ? kernel_write(file, buf, size, &pos) :
			kernel_read(file, buf, size, &pos);
		if (n <= 0)
			break;
		cond_resched();
	}
	if (write && n > 0)
		n = vfs_fsync(file, 0) ?: n;
	filp_close(file, NULL);
	bench_clocks(&end);
	kvfree(buf);
	if (n <= 0)
		return n ?: -ENODATA;
	end.bytes = pos;
	bench_report(bench, &begin, &end);
	return 0;
}
