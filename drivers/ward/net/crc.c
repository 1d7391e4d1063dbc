// SPDX-License-Identifier: GPL-2.0
/*
 * The fastest CRC-32 of this kernel on this machine.
 *
 * There are two to choose from: the library's crc32_le(), and the shash "crc32"
 * of the crypto API, which uses carry-less multiplication in kernels whose
 * library does not. The shash is taken when it gives the same results and a
 * measurement shows that it is clearly faster. It cares by itself for contexts
 * in which vector registers may not be used.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/err.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../proto/icrc.h"
#include "crc.h"

/* Below this the library is faster anyway */
#define SHASH_MIN	256

#define BENCH_LEN	4096
#define BENCH_RUNS	32

static DEFINE_STATIC_KEY_FALSE(use_shash);
static struct crypto_shash *shash;

/* The state of "crc32" is the running CRC in host order: self_test() makes sure */
static u32 shash_crc32(u32 crc, const void *p, size_t len)
{
	u8 buf[sizeof(struct shash_desc) + sizeof(u32)] __aligned(__alignof__(struct shash_desc));
	struct shash_desc *desc = (struct shash_desc *)buf;
	u32 *state = shash_desc_ctx(desc);

	desc->tfm = shash;
	*state = crc;
	crypto_shash_update(desc, p, len);
	return *state;
}

/**
 * ward_crc32() - CRC-32, little-endian, neither inverted before nor after
 * @crc: CRC of what stands before
 * @p:   bytes
 * @len: number of bytes
 *
 * Context: any but hard interrupt.
 * Return: the CRC so far.
 */
u32 ward_crc32(u32 crc, const void *p, size_t len)
{
	if (static_branch_unlikely(&use_shash) && len >= SHASH_MIN)
		return shash_crc32(crc, p, len);
	return crc32_le(crc, p, len);
}

/* Lengths and alignments on both sides of every block size, and odd ones */
static bool self_test(const u8 *buf)
{
	static const u16 lens[] = { 256, 257, 263, 511, 1024, 1028, 2047, 4000 };
	u32 crc = ~0U;
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		u32 want = crc32_le(crc, buf + i, lens[i]);

		if (shash_crc32(crc, buf + i, lens[i]) != want)
			return false;
		crc = want;
	}
	return true;
}

/* The shortest of many runs, in ns */
static u64 measure(u32 (*fn)(u32 crc, const void *p, size_t len), const u8 *buf)
{
	u64 best = U64_MAX;
	u32 crc = ~0U;
	int i;

	for (i = 0; i < BENCH_RUNS; i++) {
		u64 t;

		preempt_disable();
		t = ktime_get_ns();
		crc = fn(crc, buf, BENCH_LEN);
		t = ktime_get_ns() - t;
		preempt_enable();
		best = min(best, t);
	}
	/* keep the results from being optimised away */
	return best + (crc == 0 && best == 0);
}

static u32 library_crc32(u32 crc, const void *p, size_t len)
{
	return crc32_le(crc, p, len);
}

/**
 * ward_crc_init() - choose
 *
 * Context: module init; may sleep and load modules. Before ward_crc32() is used.
 */
void ward_crc_init(void)
{
	u8 *buf;

	if (WARD_CRC32_LE_IS_FAST || !IS_REACHABLE(CONFIG_CRYPTO_HASH))
		return;

	shash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(shash)) {
		shash = NULL;
		return;
	}
	buf = kmalloc(BENCH_LEN, GFP_KERNEL);
	if (buf && crypto_shash_descsize(shash) == sizeof(u32)) {
		get_random_bytes(buf, BENCH_LEN);
		/* both warm up in the test */
		if (self_test(buf) &&
		    measure(shash_crc32, buf) * 4 < measure(library_crc32, buf) * 3)
			static_branch_enable(&use_shash);
	}
	kfree(buf);
	if (!static_key_enabled(&use_shash))
		ward_crc_exit();
}

/**
 * ward_crc_exit() - let go of what was chosen
 *
 * Context: may sleep. Nobody calls ward_crc32() any more.
 */
void ward_crc_exit(void)
{
	if (!IS_REACHABLE(CONFIG_CRYPTO_HASH))
		return;
	crypto_free_shash(shash);
	shash = NULL;
}

/**
 * ward_crc32_name() - what was chosen, for people
 *
 * Context: any.
 * Return: the name of the routine.
 */
const char *ward_crc32_name(void)
{
	if (static_key_enabled(&use_shash))
		return crypto_shash_driver_name(shash);
	return "crc32_le";
}
