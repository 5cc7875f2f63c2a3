#!/usr/bin/env python3
"""dns.py - a name server with UDP and TCP, on ports 53 and 853

dns.py NAME ADDR...: every TXT query is answered with NAME; one for "big.…"
with 60 records that do not fit a datagram, so that by UDP it is only told to
come again by TCP. "853" is plain DNS, too: what counts here is the way.
"""

import socket
import struct
import sys
import threading

name = sys.argv[1].encode()


def answer(q, udp):
    end = q.index(0, 12) + 5
    big = q[13:16] == b"big"
    texts = [b"%d " % i + b"x" * 90 for i in range(60)] if big else [name]
    if big and udp:
        texts = []
    flags = 0x8380 if big and udp else 0x8180
    body = q[:2] + struct.pack("!HHHHH", flags, 1, len(texts), 0, 0) + q[12:end]
    for t in texts:
        body += struct.pack("!HHHIHB", 0xC00C, 16, 1, 60, len(t) + 1, len(t)) + t
    return body


def by_udp(s):
    while True:
        q, peer = s.recvfrom(4096)
        s.sendto(answer(q, True), peer)


def by_tcp(s):
    f = s.makefile("rb")
    while size := f.read(2):
        a = answer(f.read(struct.unpack("!H", size)[0]), False)
        s.sendall(struct.pack("!H", len(a)) + a)
    s.close()


def accept(s):
    while True:
        threading.Thread(target=by_tcp, args=(s.accept()[0],)).start()


for ip in sys.argv[2:]:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    for port in 53, 853:
        u = socket.socket(family, socket.SOCK_DGRAM)
        u.bind((ip, port))
        threading.Thread(target=by_udp, args=(u,)).start()
        t = socket.create_server((ip, port), family=family)
        threading.Thread(target=accept, args=(t,)).start()
print("ready", flush=True)
