#!/usr/bin/env python3
"""raw.py - frames that no well-behaved socket would send

raw.py DEV SRC DST SPORT DPORT MAC CASE...: writes one frame per CASE to MAC on
the device. A case names its fault; "good" has none, so that a test can show
that its frames would arrive if they were right.
"""

import socket
import struct
import sys

PAYLOAD = b"#raw"


def csum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packed(ip):
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    return socket.inet_pton(family, ip)


def udp(src, dst, sport, dport, length=None, bad=False, zero=False):
    full = 8 + len(PAYLOAD)
    length = full if length is None else length
    pseudo = src + dst + struct.pack("!II", full, 17)
    head = struct.pack("!HHHH", sport, dport, length, 0)
    total = csum(pseudo + head + PAYLOAD) or 0xFFFF
    if bad:
        total ^= 0x5555
    if zero:
        total = 0
    return head[:6] + struct.pack("!H", total) + PAYLOAD


def ip(src, dst, body, cut=0, length=None, flags=0):
    if len(src) == 16:
        size = len(body) if length is None else length
        head = struct.pack("!IHBB", 6 << 28, size, 17, 64) + src + dst
    else:
        size = 20 + len(body) if length is None else length
        head = struct.pack("!BBHHHBBH", 0x45, 0, size, 1, flags, 64, 17, 0)
        head += src + dst
        head = head[:10] + struct.pack("!H", csum(head)) + head[12:]
    return (head + body)[: len(head + body) - cut]


def build(case, src, dst, sport, dport):
    good = udp(src, dst, sport, dport)
    table = {
        "good": lambda: ip(src, dst, good),
        "sport0": lambda: ip(src, dst, udp(src, dst, 0, dport)),
        "dport0": lambda: ip(src, dst, udp(src, dst, sport, 0)),
        "ports0": lambda: ip(src, dst, udp(src, dst, 0, 0)),
        "len4": lambda: ip(src, dst, udp(src, dst, sport, dport, 4)),
        "len0": lambda: ip(src, dst, udp(src, dst, sport, dport, 0)),
        "len60000": lambda: ip(src, dst, udp(src, dst, sport, dport, 60000)),
        "badsum": lambda: ip(src, dst, udp(src, dst, sport, dport, bad=True)),
        "nosum": lambda: ip(src, dst, udp(src, dst, sport, dport, zero=True)),
        "cut": lambda: ip(src, dst, good, cut=6),
        "nol4": lambda: ip(src, dst, b""),
        "iplen0": lambda: ip(src, dst, good, length=0),
        "iplen65535": lambda: ip(src, dst, good, length=65535),
        "lastfrag": lambda: ip(src, dst, good, flags=0x1FFF),
        "short": lambda: b"",
    }
    return table[case]()


def main():
    dev, src, dst, sport, dport = sys.argv[1:6]
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((dev, 0))
    kind = 0x86DD if ":" in src else 0x0800
    mac = s.getsockname()[4]
    to = bytes.fromhex(sys.argv[6].replace(":", ""))
    for case in sys.argv[7:]:
        body = build(case, packed(src), packed(dst), int(sport), int(dport))
        s.send(to + mac + struct.pack("!H", kind) + body)


main()
