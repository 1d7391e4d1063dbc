#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Lines of measurements to a table with ratios, JSON, and charts.

    report.py LINES FOLDER [DOCUMENT]

Prints the table; writes result.json, table.txt and the charts (SVG) to FOLDER, and the tables
to the places in DOCUMENT that are marked for them.
"""
import collections
import json
import math
import os
import re
import sys

# What is judged: scenario, words for it, the figure, whether more is better, what it must be in
# relation to rxe, the scenario of TCP that it may not fall below, and the bound: how often the
# bytes are copied (and summed) at least.
TARGETS = [
    ('local_write', 'same host, WRITE of 64 KiB', 'mb_s', True, 8, None, (1, 'memcpy_65536')),
    ('local_send', 'same host, SEND of 64 KiB', 'mb_s', True, 8, None, (1, 'memcpy_65536')),
    ('local_read', 'same host, READ of 64 KiB', 'mb_s', True, 8, None, (1, 'memcpy_65536')),
    ('wire4096_write', 'veth, PMTU 4096, WRITE', 'mb_s', True, 4, 'wire4096_tcp',
     (2, 'memcpy_crc_4096')),
    ('wire4096_send', 'veth, PMTU 4096, SEND', 'mb_s', True, 4, 'wire4096_tcp',
     (2, 'memcpy_crc_4096')),
    ('wire4096_read', 'veth, PMTU 4096, READ', 'mb_s', True, 4, 'wire4096_tcp',
     (2, 'memcpy_crc_4096')),
    ('wire1024_write', 'veth, PMTU 1024, WRITE', 'mb_s', True, 4, 'wire1024_tcp',
     (2, 'memcpy_crc_1024')),
    ('wire1024_send', 'veth, PMTU 1024, SEND', 'mb_s', True, 4, 'wire1024_tcp',
     (2, 'memcpy_crc_1024')),
    ('wire1024_read', 'veth, PMTU 1024, READ', 'mb_s', True, 4, 'wire1024_tcp',
     (2, 'memcpy_crc_1024')),
    ('lat_send', 'same host, SEND of 8 bytes', 'ns_per_op', False, 0.5, None, None),
    ('lat_write', 'same host, WRITE of 8 bytes', 'ns_per_op', False, 0.5, None, None),
    ('lat_wire_send', 'veth, SEND of 8 bytes', 'ns_per_op', False, None, None, None),
    ('ops_send', 'same host, SEND of 4 KiB', 'ops_s', True, 4, None, None),
    ('reg', 'REG_MR, LOCAL_INV', 'ops_s', True, 3, None, None),
    ('send_inv', 'REG_MR, SEND_WITH_INV', 'ops_s', True, None, None, None),
    ('nfs_write', 'NFS write', 'mb_s', True, 3, 'nfs_write', None),
    ('nfs_read', 'NFS read', 'mb_s', True, 3, 'nfs_read', None),
    ('nfs_meta', 'NFS create, unlink', 'ops_s', True, None, 'nfs_meta', None),
    ('connect', 'connect, 64 KiB, disconnect', 'ops_s', True, 2, None, None),
    ('idle_qps', 'memory of an idle QP', 'bytes_per_object', False, 0.5, None, None),
    ('idle_mrs', 'memory of a region, 16 pages', 'bytes_per_object', False, None, None, None),
    ('loss0.1_write', 'veth, 0.1% loss, WRITE', 'mb_s', True, None, None, None),
    ('loss1_write', 'veth, 1% loss, WRITE', 'mb_s', True, None, None, None),
    ('loss0.1_send', 'veth, 0.1% loss, SEND of 4 KiB', 'mb_s', True, None, None, None),
    ('loss1_send', 'veth, 1% loss, SEND of 4 KiB', 'mb_s', True, None, None, None),
]
BOUNDS = '''What bounds it (the column: one copy on the same host, two copies and two CRCs of packets
elsewhere), and TCP between threads of the kernel:
'''
UNITS = {'mb_s': 'MB/s', 'ns_per_op': 'ns', 'ops_s': '/s', 'bytes_per_object': 'bytes'}
COLOURS = {'ward': '#c0392b', 'rxe': '#2c3e50', 'tcp': '#7f8c8d', 'siw': '#2980b9',
           'bound': '#27ae60', 'tcp_user': '#95a5a6'}


def read(path):
    """{scenario: {kind: {key: [values of the rounds]}}}, and what failed"""
    data = collections.defaultdict(lambda: collections.defaultdict(
        lambda: collections.defaultdict(list)))
    failed = []
    with open(path, encoding='ascii', errors='replace') as lines:
        for line in lines:
            pairs = dict(re.findall(r'(\S+?)=(\S*)', line))
            if 'scenario' not in pairs:
                continue
            if pairs.get('error') != '0':
                failed.append(line.strip())
                continue
            values = data[pairs['scenario']][pairs['kind']]
            for key, value in pairs.items():
                if re.fullmatch(r'-?[0-9]+', value) and key != 'round':
                    values[key].append(int(value))
    return data, failed


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def figure(data, scenario, kind, key):
    """median, lowest, highest, or None"""
    values = data.get(scenario, {}).get(kind, {}).get(key)
    return (median(values), min(values), max(values), len(values)) if values else None


def number(value):
    if value is None:
        return '-'
    if value >= 100:
        return f'{value:,.0f}'
    return f'{value:.3g}'


def spread(fig):
    """how far the rounds are apart, in percent of the median"""
    return f'±{50 * (fig[2] - fig[1]) / fig[0]:.0f}%' if fig and fig[0] else ''


def rows(data):
    for scenario, words, key, more, target, tcp, bound in TARGETS:
        ward, rxe = figure(data, scenario, 'ward', key), figure(data, scenario, 'rxe', key)
        if not ward and not rxe:
            continue
        siw = figure(data, scenario, 'siw', key)
        stream = figure(data, tcp, 'tcp', key) if tcp else None
        ratio = ward[0] / rxe[0] if ward and rxe and rxe[0] else None
        met = None
        if target is not None and ratio is not None:
            met = ratio >= target if more else ratio <= target
            if stream and ward[0] < stream[0]:
                met = False
        least = figure(data, bound[1], 'bound', key) if bound else None
        cost = 'cpu_us_per_gb' if key == 'mb_s' else 'cpu_ns_per_op'
        yield {
            'scenario': scenario, 'words': words, 'unit': UNITS[key], 'key': key,
            'ward': ward, 'rxe': rxe, 'siw': siw, 'tcp': stream, 'ratio': ratio,
            'bound': least[0] / bound[0] if least else None, 'target': target, 'more_is_better': more, 'met': met, 'cost_key': cost,
            'ward_cost': figure(data, scenario, 'ward', cost),
            'rxe_cost': figure(data, scenario, 'rxe', cost),
        }


def cost(fig, key):
    if not fig:
        return '-'
    return f'{fig[0] / 1e6:.3f} s/GB' if key == 'cpu_us_per_gb' else f'{fig[0]:,.0f} ns'


def table(data):
    lines = [['measure', 'ward', '', 'rxe', '', 'siw', 'TCP', 'bound', 'ward/rxe', 'target', '',
              'CPU ward', 'CPU rxe']]
    for row in rows(data):
        first = lambda fig: number(fig[0]) if fig else '-'  # noqa: E731
        sign = '>=' if row['more_is_better'] else '<='
        lines.append([
            f"{row['words']} ({row['unit']})", first(row['ward']), spread(row['ward']),
            first(row['rxe']), spread(row['rxe']), first(row['siw']), first(row['tcp']),
            number(row['bound']),
            f"{row['ratio']:.2f}" if row['ratio'] is not None else '-',
            f"{sign} {row['target']}" if row['target'] else '-',
            {True: 'met', False: 'missed', None: ''}[row['met']],
            cost(row['ward_cost'], row['cost_key']), cost(row['rxe_cost'], row['cost_key'])])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = []
    for line in lines:
        text.append('  '.join(
            cell.ljust(width) if i in (0, 10) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))).rstrip())
    return '\n'.join(text)


def bounds(data):
    text = []
    for name, words in (('memcpy_65536', 'a copy of 64 KiB'),
                        ('crc_4096', 'a CRC of 4 KiB'), ('memcpy_crc_4096', 'both'),
                        ('crc_1024', 'a CRC of 1 KiB'), ('memcpy_crc_1024', 'both'),
                        ('local_tcp', 'a TCP stream on lo'),
                        ('wire4096_tcp', 'a TCP stream on veth, MTU 9000'),
                        ('wire1024_tcp', 'a TCP stream on veth, MTU 1500'),
                        ('loss0.1_tcp', 'a TCP stream on veth, 0.1% loss'),
                        ('loss1_tcp', 'a TCP stream on veth, 1% loss')):
        for kind in ('bound', 'tcp'):
            fig = figure(data, name, kind, 'mb_s')
            if fig:
                used = figure(data, name, kind, 'cpu_us_per_gb')
                text.append(f'{words:35} {number(fig[0]):>8} MB/s {spread(fig):>5}'
                            f'  {cost(used, "cpu_us_per_gb")}')
    return '\n'.join(text)


class Chart:
    """Lines over a logarithmic axis, without any library"""
    W, H, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 70, 110, 40, 50

    def __init__(self, title, x_label, y_label, log_y=True):
        self.title, self.x_label, self.y_label, self.log_y = title, x_label, y_label, log_y
        self.series = {}

    def add(self, name, colour, points, dashed=False):
        if points:
            self.series[name] = (colour, sorted(points), dashed)

    def write(self, path):
        every = [point for _, points, _ in self.series.values() for point in points]
        if not every:
            return
        xs = [x for x, _ in every]
        ys = [y for _, y in every if y > 0]
        x0, x1 = math.log2(min(xs)), math.log2(max(xs))
        x1 = x1 if x1 > x0 else x0 + 1
        if self.log_y:
            y0, y1 = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
            y1 = max(y1, y0 + 1)
        else:
            y0, y1 = 0, max(ys) * 1.1
        width, height = self.W - self.LEFT - self.RIGHT, self.H - self.TOP - self.BOTTOM

        def px(x):
            return self.LEFT + (math.log2(x) - x0) / (x1 - x0) * width

        def py(y):
            value = math.log10(y) if self.log_y else y
            return self.TOP + height - (value - y0) / (y1 - y0) * height

        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.W}" height="{self.H}" '
               'font-family="sans-serif" font-size="12">',
               f'<rect width="{self.W}" height="{self.H}" fill="white"/>',
               f'<text x="{self.LEFT}" y="22" font-size="15">{self.title}</text>',
               f'<text x="{self.LEFT + width / 2}" y="{self.H - 10}" text-anchor="middle">'
               f'{self.x_label}</text>',
               f'<text x="14" y="{self.TOP + height / 2}" text-anchor="middle" '
               f'transform="rotate(-90 14 {self.TOP + height / 2})">{self.y_label}</text>']
        ticks = ([10 ** n for n in range(y0, y1 + 1)] if self.log_y
                 else [y1 * n / 5 for n in range(6)])
        for tick in ticks:
            out.append(f'<line x1="{self.LEFT}" x2="{self.LEFT + width}" y1="{py(tick):.1f}" '
                       f'y2="{py(tick):.1f}" stroke="#ddd"/>'
                       f'<text x="{self.LEFT - 6}" y="{py(tick) + 4:.1f}" text-anchor="end">'
                       f'{short(tick)}</text>')
        for x in sorted(set(xs)):
            out.append(f'<text x="{px(x):.1f}" y="{self.TOP + height + 18}" text-anchor="middle" '
                       f'font-size="10">{short(x, 1024)}</text>')
        taken = []
        for name, (colour, points, dashed) in self.series.items():
            line = ' '.join(f'{px(x):.1f},{py(y):.1f}' for x, y in points if y > 0)
            style = ' stroke-dasharray="5 4"' if dashed else ''
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" '
                       f'stroke-width="2"{style}/>')
            out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" fill="{colour}"/>'
                    for x, y in points if y > 0]
            where = py(points[-1][1])
            while any(abs(where - other) < 13 for other in taken):
                where += 13
            taken.append(where)
            out.append(f'<text x="{self.LEFT + width + 6}" y="{where + 4:.1f}" fill="{colour}">'
                       f'{name}</text>')
        out.append('</svg>')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(out) + '\n')


def short(value, base=1000):
    for power, letter in ((3, 'G'), (2, 'M'), (1, 'K')):
        if value >= base ** power:
            return f'{value / base ** power:.3g}{letter}'
    return f'{value:.3g}'


def series(data, prefix, kind, key):
    """[(number in the name of the scenario, median)]"""
    points = []
    for scenario, kinds in data.items():
        match = re.fullmatch(re.escape(prefix) + r'_([0-9]+)', scenario)
        if match and kinds.get(kind, {}).get(key):
            points.append((max(int(match[1]), 1), median(kinds[kind][key])))
    return points


def charts(data, folder):
    for name, title, x_label, y_label, key, prefixes, log_y in (
            ('size', 'WRITE, one QP', 'bytes of a message', 'MB/s', 'mb_s',
             (('size', 'same host', False), ('wire_size', 'veth', True)), True),
            ('qps', 'WRITE of 64 KiB, same host', 'QPs', 'MB/s', 'mb_s',
             (('qps', '', False),), False),
            ('qps-small', 'SEND of 64 bytes, same host', 'QPs', 'operations per second', 'ops_s',
             (('qps_small', '', False),), False),
            ('mrs', 'REG_MR and LOCAL_INV', 'regions that take turns', 'cycles per second',
             'ops_s', (('mrs', '', False),), False),
            ('depth', 'SEND of 4 KiB, same host', 'requests under way', 'operations per second',
             'ops_s', (('depth', '', False),), False),
            ('cqe', 'SEND of 64 bytes, same host', 'additional CQ entries',
             'operations per second', 'ops_s', (('cqe', '', False),), False)):
        chart = Chart(title, x_label, y_label, log_y)
        for prefix, words, dashed in prefixes:
            for kind in ('ward', 'rxe'):
                chart.add(f'{kind} {words}'.strip(), COLOURS[kind],
                          series(data, prefix, kind, key), dashed)
        chart.write(os.path.join(folder, f'{name}.svg'))
    ratio_chart(data, os.path.join(folder, 'ratios.svg'))


def ratio_chart(data, path):
    """ward in relation to rxe; the mark is the target"""
    shown = [row for row in rows(data) if row['ratio'] and row['target']]
    if not shown:
        return
    height = 60 + 22 * len(shown)
    low, high = math.log2(0.25), math.log2(16)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="720" height="{height}" fill="white"/>',
           '<text x="10" y="22" font-size="15">ward in relation to rxe; marks are targets</text>']

    def px(value):
        return 290 + (min(max(math.log2(value), low), high) - low) / (high - low) * 400

    for tick in (0.25, 0.5, 1, 2, 4, 8, 16):
        out.append(f'<line x1="{px(tick):.0f}" x2="{px(tick):.0f}" y1="36" y2="{height - 20}" '
                   f'stroke="{"#888" if tick == 1 else "#ddd"}"/>'
                   f'<text x="{px(tick):.0f}" y="{height - 6}" text-anchor="middle">{tick}</text>')
    for i, row in enumerate(shown):
        y = 40 + 22 * i
        a, b = sorted((px(1), px(row['ratio'])))
        colour = '#27ae60' if row['met'] else '#c0392b'
        out.append(f'<text x="282" y="{y + 12}" text-anchor="end">{row["words"]}</text>'
                   f'<rect x="{a:.0f}" y="{y}" width="{max(b - a, 1):.0f}" height="15" '
                   f'fill="{colour}"/><line x1="{px(row["target"]):.0f}" '
                   f'x2="{px(row["target"]):.0f}" y1="{y - 2}" y2="{y + 17}" stroke="black" '
                   'stroke-width="2"/>')
    out.append('</svg>')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(out) + '\n')


def grid(lines):
    """A table of reStructuredText"""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rule = '  '.join('=' * width for width in widths)
    text = [rule]
    for line in lines:
        text.append('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if len(text) == 2:
            text.append(rule)
    return '\n'.join(text + [rule])


def document(data, path, machine):
    """The tables, shorter, between the marks in a document"""
    judged = [['measure', 'ward', 'rxe', 'ward/rxe', 'target', 'CPU ward', 'CPU rxe']]
    others = [['measure', 'siw', 'TCP', 'bound']]
    for row in rows(data):
        first = lambda fig: number(fig[0]) if fig else r'\-'  # noqa: E731
        words = f"{row['words']}, {row['unit']}"
        sign = '>=' if row['more_is_better'] else '<='
        verdict = {True: ', met', False: ', missed', None: ''}[row['met']]
        judged.append([
            words, f"{first(row['ward'])} {spread(row['ward'])}",
            f"{first(row['rxe'])} {spread(row['rxe'])}",
            f"{row['ratio']:.2f}" if row['ratio'] is not None else r'\-',
            f"{sign} {row['target']}{verdict}" if row['target'] else r'\-',
            cost(row['ward_cost'], row['cost_key']).replace('-', r'\-'),
            cost(row['rxe_cost'], row['cost_key']).replace('-', r'\-')])
        if row['siw'] or row['tcp'] or row['bound']:
            others.append([words, first(row['siw']), first(row['tcp']),
                           number(row['bound']).replace('-', r'\-')])
    growth = [['what', 'kind'] + [''] * 9]
    for prefix, words, key in (('size', 'bytes of a WRITE, same host: MB/s', 'mb_s'),
                               ('wire_size', 'bytes of a WRITE, veth: MB/s', 'mb_s'),
                               ('qps', 'QPs, WRITE of 64 KiB: MB/s', 'mb_s'),
                               ('qps_small', 'QPs, SEND of 64 bytes: 1000/s', 'ops_s'),
                               ('mrs', 'regions, REG_MR and LOCAL_INV: 1000/s', 'ops_s'),
                               ('depth', 'under way, SEND of 4 KiB: 1000/s', 'ops_s'),
                               ('cqe', 'more CQ entries, SEND of 64: 1000/s', 'ops_s')):
        points = {kind: sorted(series(data, prefix, kind, key)) for kind in ('ward', 'rxe')}
        if not points['ward']:
            continue
        xs = [x for x, _ in points['ward']]
        growth.append([words, ''] + [short(x, 1024 if 'size' in prefix else 1000)
                                     for x in xs] + [''] * (9 - len(xs)))
        for kind in ('ward', 'rxe'):
            have = dict(points[kind])
            growth.append(['', kind] + [
                number(have[x] / (1000 if key == 'ops_s' else 1)) if x in have else r'\-'
                for x in xs] + [''] * (9 - len(xs)))
    with open(path, encoding='utf-8') as file:
        text = file.read()
    block = '::\n\n' + '\n'.join('    ' + line if line else '' for line in bounds(data).split('\n'))
    for mark, content in (('judged', grid(judged)), ('others', grid(others)), ('bounds', block),
                          ('growth', growth_block(growth)), ('machine', machine)):
        text = re.sub(rf'(\.\. begin {mark}\n).*?(\.\. end {mark}\n)',
                      lambda m, content=content: f'{m[1]}\n{content}\n\n{m[2]}', text, flags=re.S)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def growth_block(lines):
    """Lines of different lengths are no table, but text"""
    if len(lines) < 2:
        return '(not measured)'
    text = ['::', '']
    for line in lines[1:]:
        head = f'{line[0]:38}' if line[1] == '' else f'{"":32}{line[1]:6}'
        text.append(('    ' + head + ''.join(f'{cell:>8}' for cell in line[2:])).rstrip())
    return '\n'.join(text)


def main():
    lines, folder = sys.argv[1:3]
    data, failed = read(lines)
    text = table(data) + '\n\n' + BOUNDS + bounds(data) + '\n'
    if failed:
        text += '\nFailed:\n' + '\n'.join(failed) + '\n'
    print(text)
    with open(os.path.join(folder, 'table.txt'), 'w', encoding='utf-8') as file:
        file.write(text)
    with open(os.path.join(folder, 'result.json'), 'w', encoding='utf-8') as file:
        json.dump({'table': list(rows(data)), 'failed': failed,
                   'scenarios': {scenario: {kind: dict(values) for kind, values in kinds.items()}
                                 for scenario, kinds in data.items()}}, file, indent=1)
    charts(data, folder)
    if len(sys.argv) > 3:
        with open(os.path.join(folder, 'machine'), encoding='utf-8') as file:
            machine = ' '.join(line.split(':')[-1].strip() for line in file)
        document(data, sys.argv[3], f'Measured on: {machine}.')


if __name__ == '__main__':
    main()
