#!/usr/bin/env python3
"""quic.py - the way QUIC stacks use UDP: segmented sends, marks, no fragments

quic.py server IP PORT: prints "ready"; answers each request "N SIZE TOS", which
came with its own mark, by N datagrams of SIZE bytes in one segmented send that
carries TOS. The first bytes of each answer say how the request was marked.
quic.py client IP PORT ROUNDS: sends bursts of ten requests as one segmented
send, marks alternating, "don't fragment" set; checks number, size, content and
mark of all that comes back; exits 1 at the first difference.
"""

import socket
import struct
import sys

UDP_SEGMENT, UDP_GRO = 103, 104
V4 = dict(level=0, tos=1, recvtos=13, pmtu=10)
V6 = dict(level=41, tos=67, recvtos=66, pmtu=23)
BURST, SIZE = 10, 1200
MARKS = (2, 1, 3, 0xb8 | 2, 0)


def options(s):
    return V6 if s.family == socket.AF_INET6 else V4


def make(ip, port, is_server):
    info = socket.getaddrinfo(ip, port, 0, socket.SOCK_DGRAM, 0,
                              socket.AI_NUMERICHOST)[0]
    s = socket.socket(info[0], socket.SOCK_DGRAM)
    o = options(s)
    if s.family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
    s.setsockopt(o["level"], o["recvtos"], 1)
    s.setsockopt(o["level"], o["pmtu"], 2)
    s.settimeout(None if is_server else 2)
    (s.bind if is_server else s.connect)(info[4])
    return s


def send(s, datagrams, tos, to=None):
    o = options(s)
    control = [(o["level"], o["tos"], struct.pack("i", tos)),
               (socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", len(datagrams[0])))]
    s.sendmsg([b"".join(datagrams)], control, 0, *([to] if to else []))


def recv(s):
    """The datagrams of one buffer, their mark, their sender"""
    data, control, _, peer = s.recvmsg(65535, 256)
    size, tos = len(data) or 1, None
    for level, kind, value in control:
        if (level, kind) == (socket.IPPROTO_UDP, UDP_GRO):
            size = struct.unpack("i", value)[0]
        elif kind in (V4["tos"], V6["tos"]):
            tos = value[0]
    return [data[i:i + size] for i in range(0, len(data), size)], tos, peer


def server(s):
    print("ready", flush=True)
    while True:
        requests, was, peer = recv(s)
        for r in requests:
            n, size, tos = (int(x) for x in r.split(b" ")[:3])
            send(s, [(b"%d %d " % (was, i)).ljust(size, b"a") for i in range(n)], tos, peer)


def client(s, rounds):
    for k in range(rounds):
        mark, back = MARKS[k % len(MARKS)], MARKS[(k + 2) % len(MARKS)]
        send(s, [(b"1 %d %d " % (SIZE, back)).ljust(SIZE, b"q")] * BURST, mark)
        got = 0
        while got < BURST:
            answers, tos, _ = recv(s)
            got += len(answers)
            for a in answers:
                want = (b"%d 0 " % mark).ljust(SIZE, b"a")
                if a != want or tos != back:
                    sys.exit("round %d: mark %r (want %d), answer %r" % (k, tos, back, a[:16]))
    print("answered", rounds * BURST)


if __name__ == "__main__":
    sock = make(sys.argv[2], int(sys.argv[3]), sys.argv[1] == "server")
    server(sock) if sys.argv[1] == "server" else client(sock, int(sys.argv[4]))
