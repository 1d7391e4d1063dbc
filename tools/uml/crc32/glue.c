// SPDX-License-Identifier: GPL-2.0
/*
 * Gives user-mode Linux the "crc32" of the crypto API that x86-64 has: with carry-less
 * multiplication, which is five times as fast as the tables that are used otherwise. Whoever
 * measures a transport that sums every byte twice would else measure little more than that.
 */
#include <crypto/internal/hash.h>
#include <linux/align.h>
#include <linux/crc32.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/preempt.h>

#define BLOCK		16
#define SHORTEST	64

asmlinkage u32 crc32_pclmul_le_16(const u8 *buffer, size_t len, u32 crc);

static u32 crc32_fast(u32 crc, const u8 *p, size_t len)
{
	size_t head = PTR_ALIGN(p, BLOCK) - p, body;

	if (len < SHORTEST + BLOCK)
		return crc32_le(crc, p, len);
	crc = crc32_le(crc, p, head);
	body = ALIGN_DOWN(len - head, BLOCK);
	/* interrupts are signals of the host, which keeps the registers */
	preempt_disable();
	crc = crc32_pclmul_le_16(p + head, body, crc);
	preempt_enable();
	return crc32_le(crc, p + head + body, len - head - body);
}

static int crc32_init_tfm(struct crypto_tfm *tfm)
{
	*(u32 *)crypto_tfm_ctx(tfm) = 0;
	return 0;
}

static int crc32_setkey(struct crypto_shash *shash, const u8 *key, unsigned int len)
{
	if (len != sizeof(u32))
		return -EINVAL;
	*(u32 *)crypto_shash_ctx(shash) = le32_to_cpup((const __le32 *)key);
	return 0;
}

static int crc32_start(struct shash_desc *desc)
{
	*(u32 *)shash_desc_ctx(desc) = *(u32 *)crypto_shash_ctx(desc->tfm);
	return 0;
}

static int crc32_update(struct shash_desc *desc, const u8 *data, unsigned int len)
{
	u32 *crc = shash_desc_ctx(desc);

	*crc = crc32_fast(*crc, data, len);
	return 0;
}

static int crc32_final(struct shash_desc *desc, u8 *out)
{
	*(__le32 *)out = cpu_to_le32p(shash_desc_ctx(desc));
	return 0;
}

static int crc32_finup(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *out)
{
	*(__le32 *)out = cpu_to_le32(crc32_fast(*(u32 *)shash_desc_ctx(desc), data, len));
	return 0;
}

static int crc32_digest(struct shash_desc *desc, const u8 *data, unsigned int len, u8 *out)
{
	crc32_start(desc);
	return crc32_finup(desc, data, len, out);
}

static struct shash_alg alg = {
	.setkey = crc32_setkey,
	.init = crc32_start,
	.update = crc32_update,
	.final = crc32_final,
	.finup = crc32_finup,
	.digest = crc32_digest,
	.descsize = sizeof(u32),
	.digestsize = sizeof(u32),
	.base = {
		.cra_name = "crc32",
		.cra_driver_name = "crc32-pclmul",
		.cra_priority = 200,
		.cra_flags = CRYPTO_ALG_OPTIONAL_KEY,
		.cra_blocksize = 1,
		.cra_ctxsize = sizeof(u32),
		.cra_init = crc32_init_tfm,
		.cra_module = THIS_MODULE,
	},
};

static int __init crc32_init(void)
{
	return crypto_register_shash(&alg);
}
module_init(crc32_init);

static void __exit crc32_exit(void)
{
	crypto_unregister_shash(&alg);
}
module_exit(crc32_exit);

MODULE_ALIAS_CRYPTO("crc32");
MODULE_DESCRIPTION("CRC-32 by carry-less multiplication for user-mode Linux");
MODULE_LICENSE("GPL");
