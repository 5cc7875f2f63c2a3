#!/usr/bin/env python3
"""group.py - end points of the multicast and broadcast tests

Problem: what leaves for a group is seen only by who listens to the wire or is
a member, and who answers does so from anywhere.
Idea: one program, one sub-command per role; every datagram heard is one line
with its source, its destination as its header had it, and its TTL. Servers
print "ready" once they hear.

  sniff DEV PORT            UDP datagrams to PORT as they pass DEV
  hear DEV PORT GROUP...    join the groups on DEV (none: just listen)
  respond DEV PORT GROUP    the same, and answer each from another port; a
                            payload that begins with "multi" to the group
  say DEV IP PORT TEXT      send, then print what is answered until --wait
  dhcp DEV                  a frame from 0.0.0.0:68 to 255.255.255.255:67
"""

import argparse
import socket
import struct
import sys
import time

ANY = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}
ETH_P_ALL = 3


def say(*what):
    print(*what, flush=True)


def family_of(ip):
    return socket.AF_INET6 if ":" in ip else socket.AF_INET


def make(ip, port=0, bind="", shared=False):
    family = family_of(ip)
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    if shared:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
    else:
        s.setsockopt(socket.IPPROTO_IP, 8, 1)  # IP_PKTINFO
        s.setsockopt(socket.IPPROTO_IP, 12, 1)  # IP_RECVTTL
    s.bind((bind or ANY[family], port))
    return s


def join(s, dev, group):
    index = socket.if_nametoindex(dev)
    if ":" in group:
        mreq = socket.inet_pton(socket.AF_INET6, group) + struct.pack("@i", index)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, mreq)
    else:
        mreq = socket.inet_aton(group) + struct.pack("@4si", b"\0" * 4, index)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, mreq)


def leave_by(s, dev, ttl):
    index = socket.if_nametoindex(dev)
    if s.family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, ttl)
    else:
        mreq = struct.pack("@4s4si", b"\0" * 4, b"\0" * 4, index)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, mreq)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, ttl)
        s.setsockopt(socket.IPPROTO_IP, 50, struct.pack("!I", index))


def heard(s):
    data, control, _, peer = s.recvmsg(65535, 512)
    dst, ttl = "?", "?"
    for level, kind, value in control:
        if (level, kind) == (socket.IPPROTO_IP, 8):
            dst = socket.inet_ntoa(value[8:12])
        elif (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO):
            dst = socket.inet_ntop(socket.AF_INET6, value[:16])
        else:
            ttl = struct.unpack("@i", value)[0]
    say("got", data.decode(), "from", peer[0].split("%")[0], peer[1], "to", dst, "ttl", ttl)
    return data, peer


def cmd_hear(o):
    groups = o.word[2:] or ["0.0.0.0"]
    s = make(groups[0], int(o.word[1]), o.bind, o.shared)
    for g in o.word[2:]:
        join(s, o.word[0], g)
    say("ready")
    while True:
        heard(s)


def cmd_respond(o):
    dev, port, group = o.word
    s = make(group, int(port), shared=o.shared)
    other = make(group, o.port)
    join(s, dev, group)
    leave_by(s, dev, 4)
    say("ready")
    while True:
        data, peer = heard(s)
        if data.startswith(b"multi") and peer[1] == int(port):
            s.sendto(b"answer to all", (group, int(port)))
        elif not data.startswith(b"answer"):
            other.sendto(b"answer", peer)


def cmd_say(o):
    dev, ip, port, text = o.word
    s = make(ip, o.port, o.bind, o.shared)
    if o.join:
        join(s, dev, o.join)
    leave_by(s, dev, o.ttl)
    for _ in range(o.count):
        s.sendto(text.encode(), (ip, int(port)))
    end = time.monotonic() + o.wait
    while end > time.monotonic():
        s.settimeout(max(end - time.monotonic(), 0.001))
        try:
            heard(s)
        except socket.timeout:
            break


def cmd_sniff(o):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    s.bind((o.word[0], ETH_P_ALL))
    say("ready")
    while True:
        p, a = s.recvfrom(65535)
        if a[2] == 4:  # our own
            continue
        if p[0] >> 4 == 4 and p[9] == 17:
            src, dst = socket.inet_ntoa(p[12:16]), socket.inet_ntoa(p[16:20])
            ttl, l4 = p[8], p[(p[0] & 15) * 4 :]
        elif p[0] >> 4 == 6 and p[6] == 17:
            src = socket.inet_ntop(socket.AF_INET6, p[8:24])
            dst = socket.inet_ntop(socket.AF_INET6, p[24:40])
            ttl, l4 = p[7], p[40:]
        else:
            continue
        sport, dport = struct.unpack("!HH", l4[:4])
        if dport == int(o.word[1]):
            say("seen", src, sport, "to", dst, "ttl", ttl)


def csum(b):
    n = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    n = (n >> 16) + (n & 0xFFFF)
    return ~(n + (n >> 16)) & 0xFFFF


def cmd_dhcp(o):
    """What a client without an address sends first"""
    udp = struct.pack("!HHHH", 68, 67, 8 + 12, 0) + b"#discover-me"
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0)
    ip += b"\0" * 4 + b"\xff" * 4
    ip = ip[:10] + struct.pack("!H", csum(ip)) + ip[12:]
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((o.word[0], 0))
    s.send(b"\xff" * 6 + b"\x02\0\0\0\0\x02" + b"\x08\0" + ip + udp)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cmd")
    p.add_argument("word", nargs="+")
    p.add_argument("-b", "--bind", default="")
    p.add_argument("-B", "--port", type=int, default=0)
    p.add_argument("-n", "--count", type=int, default=1)
    p.add_argument("-t", "--ttl", type=int, default=1)
    p.add_argument("-w", "--wait", type=float, default=0)
    p.add_argument("-j", "--join", default="")
    p.add_argument("-s", "--shared", action="store_true")
    o = p.parse_args()
    globals()["cmd_" + o.cmd](o)


try:
    main()
except KeyboardInterrupt:
    sys.exit(0)
