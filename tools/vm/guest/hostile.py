#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Sends RoCEv2 packets that nobody should: every opcode, many lengths and pads, right and wrong ICRC.

usage: hostile.py SOURCE DESTINATION QPN...
"""
import socket
import struct
import sys
import zlib

PORT = 50000


def icrc(src, dst, body):
    """Annex A17: the CRC of the pseudo headers with the changing fields set to ones."""
    length = 8 + len(body) + 4
    ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0xff, 20 + length, 0, 0x4000, 0xff, 17, 0xffff,
                     socket.inet_aton(src), socket.inet_aton(dst))
    udp = struct.pack('!HHHH', PORT, 4791, length, 0xffff)
    body = body[:4] + b'\xff' + body[5:]
    return struct.pack('<I', zlib.crc32(b'\xff' * 8 + ip + udp + body))


def main():
    src, dst = sys.argv[1:3]
    qpns = [0, 1, 2, 0xffffff] + [int(q) for q in sys.argv[3:]]
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IP, 10, 2)   # IP_MTU_DISCOVER, IP_PMTUDISC_DO: ID 0, DF
    sock.bind((src, PORT))
    sent = 0
    for opcode in range(256):
        for qpn in qpns:
            for length in (0, 3, 4, 8, 16, 20, 24, 28, 64, 1024, 1028):
                pad = (opcode + length) & 3
                bth = struct.pack('!BBHII', opcode, pad << 4, 0xffff, qpn, 0x80000000 | opcode)
                body = bth + b'\xa5' * length
                good = icrc(src, dst, body)
                sock.sendto(body + (good if length % 3 else b'\0\0\0\0'), (dst, 4791))
                sent += 1
    for length in range(16):                    # no whole header
        sock.sendto(b'\x04' * length, (dst, 4791))
        sent += 1
    print(sent)


main()
