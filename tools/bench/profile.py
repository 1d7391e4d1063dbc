#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Addresses that perf has sampled in a user-mode Linux kernel to functions.

    perf script -F ip,sym | profile.py KALLSYMS
"""
import bisect
import collections
import sys


def main():
    symbols = []
    with open(sys.argv[1], encoding='ascii') as lines:
        for line in lines:
            fields = line.split()
            if fields[1] in 'tTwW':
                module = f' {fields[3]}' if len(fields) > 3 else ''
                symbols.append((int(fields[0], 16), fields[2] + module))
    symbols.sort()
    addresses = [address for address, _ in symbols]
    count = collections.Counter()
    for line in sys.stdin:
        fields = line.split()
        if not fields:
            continue
        address = int(fields[0], 16)
        if address >= 1 << 63:
            count['(the host)'] += 1
            continue
        index = bisect.bisect_right(addresses, address) - 1
        if index < 0 or address - addresses[index] > 1 << 16:
            count[' '.join(fields[1:]) or '?'] += 1
        else:
            count[symbols[index][1]] += 1
    total = sum(count.values())
    print(f'{total} samples')
    for name, samples in count.most_common():
        if samples * 200 > total:
            print(f'{100 * samples / total:5.1f} %  {name}')


if __name__ == '__main__':
    main()
