// SPDX-License-Identifier: GPL-2.0
/*
 * How numbers are written for people.
 */
#include "wardstat.h"

const char *ago(unsigned long long us)
{
	if (us < 1000)
		return text_of("%llu us", us);
	if (us < 1000 * 1000)
		return text_of("%.1f ms", us / 1e3);
	if (us < 120ULL * 1000 * 1000)
		return text_of("%.1f s", us / 1e6);
	if (us < 7200ULL * 1000 * 1000)
		return text_of("%llu min", us / 60000000);
	return text_of("%.1f h", us / 3.6e9);
}

const char *bytes(unsigned long long n)
{
	if (n < 10 * 1024)
		return text_of("%llu B", n);
	if (n < 10ULL << 20)
		return text_of("%.1f KiB", n / 1024.0);
	if (n < 10ULL << 30)
		return text_of("%.1f MiB", n / 1048576.0);
	return text_of("%.1f GiB", n / 1073741824.0);
}

const char *plural(unsigned long long n, const char *one)
{
	return text_of("%llu %s%s", n, one, n == 1 ? "" : "s");
}
