#!/usr/bin/env python3
"""mark.py - header bits and errors of single datagrams

mark.py say IP PORT...: sends one datagram with the header bits asked for from a
connected socket and prints what became of it: "sent", "answered", or the name
of the error that the socket had, with the MTU it knows.
mark.py see DEV PORT: prints "ready", then for each UDP datagram to PORT that
passes DEV "tos ttl df length", df and length of what is on the wire.
"""

import argparse
import errno
import socket
import struct
import sys

V4 = dict(level=0, tos=1, ttl=2, pmtu=10, mtu=14, recverr=11)
V6 = dict(level=41, tos=67, ttl=16, pmtu=23, mtu=24, recverr=25)


def cmd_say(o):
    info = socket.getaddrinfo(o.what, o.port, 0, socket.SOCK_DGRAM, 0,
                              socket.AI_NUMERICHOST)[0]
    opt = V6 if info[0] == socket.AF_INET6 else V4
    s = socket.socket(info[0], socket.SOCK_DGRAM)
    if o.recverr:
        s.setsockopt(opt["level"], opt["recverr"], 1)
    for name in "tos", "ttl", "pmtu":
        if getattr(o, name) is not None:
            s.setsockopt(opt["level"], opt[name], getattr(o, name))
    s.settimeout(o.wait)
    s.connect(info[4])
    word = "sent"
    try:
        for _ in range(o.count):
            s.send(b"#" * o.size)
            try:
                s.recv(65535)
                word = "answered"
            except socket.timeout:
                pass
    except OSError as e:
        word = errno.errorcode.get(e.errno, str(e))
    try:
        mtu = s.getsockopt(opt["level"], opt["mtu"])
    except OSError:
        mtu = 0
    print(word, mtu)


def cmd_see(o):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    s.bind((o.what, 3))
    print("ready", flush=True)
    while True:
        data, where = s.recvfrom(65535)
        if where[2] == socket.PACKET_OUTGOING or len(data) < 28:
            continue
        if data[0] >> 4 == 4:
            head, proto, frag = (data[0] & 15) * 4, data[9], data[6:8]
            tos, ttl, df = data[1], data[8], frag[0] >> 6 & 1
        else:
            head, proto, frag = 40, data[6], b"\0\0"
            tos = struct.unpack("!H", data[:2])[0] >> 4 & 255
            ttl, df = data[7], 0
        if proto != 17 or struct.unpack("!H", frag)[0] & 0x1FFF:
            continue
        if struct.unpack_from("!H", data, head + 2)[0] == o.port:
            print(tos, ttl, df, len(data), flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cmd")
    p.add_argument("what", help="address or device")
    p.add_argument("port", type=int)
    p.add_argument("--tos", type=lambda x: int(x, 0))
    p.add_argument("--ttl", type=int)
    p.add_argument("--pmtu", type=int, help="IP_MTU_DISCOVER")
    p.add_argument("--recverr", action="store_true")
    p.add_argument("-s", "--size", type=int, default=10)
    p.add_argument("-n", "--count", type=int, default=1)
    p.add_argument("-w", "--wait", type=float, default=1)
    o = p.parse_args()
    globals()["cmd_" + o.cmd](o)


try:
    sys.exit(main())
except KeyboardInterrupt:
    pass
