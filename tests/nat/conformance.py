#!/usr/bin/env python3
"""conformance.py - requirements of RFC 4787, 5508 and 6888, one function each

Problem: "a NAT by the book" is a claim until each sentence of the book has been
tried, on this program or on another one.
Idea: a function per requirement. It returns what it observed and whether that
is what the RFC asks for, or says that the requirement is refused, and where
the reason is written down. The output is TAP, one line per requirement.

Sockets of all namespaces live in this one process: it enters a namespace, opens
a socket, and comes back. A function is given a family; what holds for IPv6 as
well, although the book was written about IPv4, is tried with both.

usage: conformance.py PREFIX BINARY   (from nat.sh, which makes the bench)
"""

import ctypes
import errno
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time

import adapters

X, BINARY = sys.argv[1:3]
SLOW = bool(os.environ.get("SLOW"))
CLONE_NEWNET = 0x40000000
WAIT = 2.0  # seconds for what must come
QUIET = 0.3  # seconds for what must not
libc = ctypes.CDLL(None, use_errno=True)
home = os.open("/proc/self/ns/net", os.O_RDONLY)
table = []
failures = []


class Refused(Exception):
    """Deliberately not done; the text says why and where that is written"""


class Untried(Exception):
    """Takes too long for an ordinary run"""


class Absent(Exception):
    """The binary under test has no option for this"""


def requirement(rfc, number, text, by_v6=False):
    """@by_v6: it is about IPv6, too"""
    def note(fn):
        table.append((rfc, number, text, v4, fn))
        if by_v6:
            table.append((rfc, number + " by IPv6", text, v6, fn))
        return fn
    return note


# ---- bench ---------------------------------------------------------------


def path(ns):
    return "/run/netns/%s%s" % (X, ns)


def enter(fd):
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


class inside:
    """with inside("c"): what is opened belongs to that namespace"""

    def __init__(self, ns):
        self.fd = os.open(path(ns), os.O_RDONLY)

    def __enter__(self):
        enter(self.fd)

    def __exit__(self, *_):
        enter(home)
        os.close(self.fd)


def heard(s, wait=WAIT):
    """(payload, sender), or (None, None) if nothing comes in time"""
    if not select.select([s], [], [], wait)[0]:
        return None, None
    try:
        data, peer = s.recvfrom(65535)
        return data, peer[:2]
    except OSError as e:
        return e, None


def seen(s, server, data=b"hello"):
    """Send to a server; from where does it see us?"""
    s.sendto(data, server.getsockname())
    return heard(server)[1]


def answered(server, peer, s, data=b"answer"):
    """Does what a server sends to an outer endpoint arrive?"""
    server.sendto(data, peer)
    return heard(s, WAIT)[0] == data


def blocked(server, peer, s):
    server.sendto(b"unasked", peer)
    return heard(s, QUIET)[0] is None


class nat:
    """with nat(wishes): the binary runs in h, attached to c"""

    def __init__(self, **wish):
        self.wish = wish

    def __enter__(self):
        pid = "/run/t/nat.pid"
        open(pid, "w").close()
        argv = adapters.find()(BINARY, path("c"), pid, **self.wish)
        if argv is None:
            raise Absent("no option for %s" % self.wish)
        self.log = open("/run/t/nat.log", "w+")
        self.p = subprocess.Popen(["nsenter", "--net=" + path("h")] + argv,
                                  stdout=self.log, stderr=self.log)
        end = time.monotonic() + 5
        while not os.path.getsize(pid):
            if time.monotonic() > end or self.p.poll() is not None:
                self.log.seek(0)
                raise RuntimeError("it did not start: " + self.log.read())
            time.sleep(0.02)  # sleep: between two looks
        return self

    def __exit__(self, *_):
        self.p.send_signal(signal.SIGTERM)
        self.p.wait()


def ip(ns, *words):
    subprocess.run(["ip", "-n", X + ns] + list(words), check=True,
                   stderr=subprocess.DEVNULL)


def csum(data):
    data += b"\0" * (len(data) % 2)
    n = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while n >> 16:
        n = (n >> 16) + (n & 0xFFFF)
    return ~n & 0xFFFF


def pending(s):
    """The error that a socket is told, waiting for it"""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        e = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if e:
            return errno.errorcode[e]
        time.sleep(0.02)  # sleep: between two looks
    return "nothing"


def told(s):
    """Type and code of the ICMP error in a socket's error queue, or None"""
    end = time.monotonic() + WAIT
    s.setblocking(False)
    while time.monotonic() < end:
        try:
            control = s.recvmsg(2048, 512, socket.MSG_ERRQUEUE)[1]
        except BlockingIOError:
            time.sleep(0.02)  # sleep: between two looks
            continue
        for level, kind, value in control:
            if (level, kind) in ((socket.IPPROTO_IP, 11), (socket.IPPROTO_IPV6, 25)):
                return struct.unpack("@IBBBB", value[:8])[2:4]
    return None


class Family:
    """What differs between IPv4 and IPv6: addresses, numbers, headers

    OPT: level and numbers of RECVERR, MTU_DISCOVER, MTU; types and codes of
    errors: REFUSED by a closed port, PROHIBITED by policy, TOO_LATE: hop limit
    """

    def udp(self, ns, addr=None, port=0, connect=None):
        s = self.unbound(ns)
        s.bind((addr or self.ANY, port))
        if connect:
            s.connect(connect)
        s.settimeout(WAIT)
        return s

    def unbound(self, ns, kind=socket.SOCK_DGRAM, proto=0):
        with inside(ns):
            return socket.socket(self.AF, kind, proto)

    def raw(self, ns):
        return self.unbound(ns, socket.SOCK_RAW, self.ICMP)

    def servers(self):
        """Two of one address, one of another"""
        return (self.udp("p", self.PEER, 9001), self.udp("p", self.PEER, 9003),
                self.udp("p", self.OTHER, 9002))

    def error(self, what, sport, dport, bad=0):
        """An ICMP error that quotes a datagram of the host's to PEER"""
        quote = self.header(17, 13) + struct.pack("!HHHH", sport, dport, 13, 0)
        msg = struct.pack("!BBHI", *what, 0, 0) + quote
        # The kernel fills in what ICMPv6 sums up
        return msg[:2] + struct.pack("!H", csum(msg) ^ bad) + msg[4:]


class Four(Family):
    AF, ICMP, ETH = socket.AF_INET, 1, b"\x08\x00"
    ANY, LO, PREFIX = "0.0.0.0", "127.0.0.1", 24
    HOST, PEER, OTHER = "192.0.2.1", "192.0.2.2", "192.0.2.3"
    GATE, SECOND, NOWHERE = "192.0.2.254", "192.0.2.77", "198.51.100.9"
    INSIDE = ("10.0.2.15", 24, "10.0.2.2")
    OPT = (socket.IPPROTO_IP, 11, 10, 14)
    REFUSED, PROHIBITED, TOO_LATE = (3, 3), (3, 13), (11, 0)
    ECHO, REPLY, UNREACHABLE = 8, 0, 3

    def header(self, proto, length, more=0, ident=1):
        h = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, ident, more, 64,
                        proto, 0)
        h += socket.inet_aton(self.HOST) + socket.inet_aton(self.PEER)
        return h[:10] + struct.pack("!H", csum(h)) + h[12:]

    def fragment(self, part, off, more):
        return self.header(17, len(part), 0x2000 * more | off // 8, 77) + part

    @staticmethod
    def icmp_of(data):
        return data[(data[0] & 15) * 4:]


class Six(Family):
    AF, ICMP, ETH = socket.AF_INET6, 58, b"\x86\xdd"
    ANY, LO, PREFIX = "::", "::1", 64
    HOST, PEER, OTHER = "2001:db8::1", "2001:db8::2", "2001:db8::3"
    GATE, SECOND, NOWHERE = "2001:db8::fe", "2001:db8::77", "2001:db8:9::9"
    INSIDE = ("2001:db8:5::15", 64, "2001:db8:5::2")
    OPT = (socket.IPPROTO_IPV6, 25, 23, 24)
    REFUSED, PROHIBITED, TOO_LATE = (1, 4), (1, 1), (3, 0)
    ECHO, REPLY, UNREACHABLE = 128, 129, 1

    def header(self, proto, length):
        return (struct.pack("!IHBB", 0x60000000, length, proto, 64) +
                socket.inet_pton(self.AF, self.HOST) +
                socket.inet_pton(self.AF, self.PEER))

    def fragment(self, part, off, more):
        return (self.header(44, 8 + len(part)) +
                struct.pack("!BBHI", 17, 0, off | more, 77) + part)

    @staticmethod
    def icmp_of(data):
        return data


v4, v6 = Four(), Six()


# ---- RFC 4787: NAT behavioural requirements for unicast UDP ----------------


@requirement(4787, "1", "endpoint-independent mapping", by_v6=True)
def _(v):
    with nat():
        a, b, c = v.servers()
        s = v.udp("c")
        got = [seen(s, x) for x in (a, b, c)]
        return "seen as %s" % (got,), None not in got and len(set(got)) == 1


@requirement(4787, "2", "paired address pooling", by_v6=True)
def _(v):
    with nat():
        a, b, c = v.servers()
        got = {seen(v.udp("c"), x)[0] for x in (a, b, c)}
        return "outer addresses %s" % sorted(got), len(got) == 1


@requirement(4787, "3", "no port overloading", by_v6=True)
def _(v):
    with nat():
        a, b, _c = v.servers()
        ip("c", "addr", "add", "%s/%d" % (v.SECOND, v.PREFIX), "dev", "hp",
           *(["nodad"] if v is v6 else []))
        s, t = v.udp("c", v.HOST, 7001), v.udp("c", v.SECOND, 7001)
        one, two = seen(s, a), seen(t, b)
        both = answered(a, one, s) and answered(b, two, t)
        return "two inner hosts at 7001: %s, %s" % (one, two), one != two and both


@requirement(4787, "3 b", "ports above 1023 stay above, and are kept if free", by_v6=True)
def _(v):
    with nat():
        a, _b, _c = v.servers()
        got = seen(v.udp("c", port=7002), a)[1]
        busy = v.unbound("h")
        busy.bind((v.HOST, 7003))
        other = seen(v.udp("c", port=7003), a)[1]
        return "7002 as %d, 7003 (taken) as %d" % (got, other), \
            got == 7002 and other > 1023


@requirement(4787, "3 a", "ports below 1024 stay below")
def _(v):
    with nat():
        a, _b, _c = v.servers()
        got = seen(v.udp("c", port=123), a)[1]
        if got < 1024:
            return "123 as %d" % got, True
        raise Refused("123 as %d; doc/decisions/0021: no right to low ports" % got)


@requirement(4787, "4", "port parity")
def _(v):
    with nat():
        a, _b, _c = v.servers()
        got = [seen(v.udp("c", port=p), a)[1] for p in (7010, 7011)]
        if [g % 2 for g in got] != [0, 1]:
            return "7010 and 7011 as %s" % got, False
        raise Refused("%s: kept with the number, not looked for if that is taken: "
                      "doc/decisions/0021" % got)


@requirement(4787, "5", "a mapping lasts two minutes at least")
def _(v):
    limit = 122 if SLOW else 4
    with nat() if SLOW else nat(timeout=5):
        a, _b, _c = v.servers()
        s = v.udp("c")
        peer = seen(s, a)
        time.sleep(limit)  # sleep: the silence that is tried
        return "alive after %d s of %s" % (limit, "the default" if SLOW else "5"), \
            answered(a, peer, s)


@requirement(4787, "5 a", "the time is configurable", by_v6=True)
def _(v):
    with nat(timeout=2):
        a, _b, _c = v.servers()
        s = v.udp("c")
        peer = seen(s, a)
        time.sleep(4.5)  # sleep: longer than the limit
        return "gone 4.5 s after the last datagram, set to 2", blocked(a, peer, s)


@requirement(4787, "5 b", "five minutes by default (recommended)")
def _(v):
    raise Refused("180 s, as callers know it: doc/decisions/0021")


@requirement(4787, "6", "outbound datagrams refresh, inbound ones too", by_v6=True)
def _(v):
    with nat(timeout=3):
        a, b, _c = v.servers()
        s, t = v.udp("c"), v.udp("c")
        out, into = seen(s, a), seen(t, b)
        alive = True
        for _i in range(5):
            time.sleep(1.2)  # sleep: shorter than the limit
            alive = alive and seen(s, a) == out and answered(b, into, t)
        return "6 s at 3 s: mappings %s" % ("kept" if alive else "lost"), alive


@requirement(4787, "7", "inner and outer addresses may overlap", by_v6=True)
def _(v):
    with nat():
        h = v.udp("h", v.LO, 9005)
        s = v.udp("c")
        s.sendto(b"hello", (v.GATE, 9005))
        _data, peer = heard(h)
        ok = peer is not None and answered(h, peer, s)
        return "guest and host are both %s, and speak by an alias" % v.HOST, ok


@requirement(4787, "8", "filtering: address-dependent", by_v6=True)
def _(v):
    with nat():
        a, b, c = v.servers()
        s = v.udp("c")
        peer = seen(s, a)
        port, addr = answered(b, peer, s), blocked(c, peer, s)
        return "another port %s, another address %s" % (
            "let in" if port else "blocked", "blocked" if addr else "let in"), \
            port and addr


@requirement(4787, "8 a", "filtering is configurable: endpoint-independent", by_v6=True)
def _(v):
    with nat(filter="endpoint"):
        a, _b, c = v.servers()
        s = v.udp("c")
        return "anybody is let in", answered(c, seen(s, a), s)


@requirement(4787, "9", "hairpinning, with the external source", by_v6=True)
def _(v):
    with nat(address=v.INSIDE, filter="endpoint"):
        a, _b, _c = v.servers()
        s, t = v.udp("c"), v.udp("c")
        one, two = seen(s, a), seen(t, a)
        s.sendto(b"hairpin", two)
        data, peer = heard(t)
        back = peer is not None and (t.sendto(b"back", peer), heard(s)[0] == b"back")[1]
        return "seen as %s, is %s, answered: %s" % (peer, one, back), \
            data == b"hairpin" and peer == one and back


@requirement(4787, "9 a", "hairpinning to a published port", by_v6=True)
def _(v):
    with nat(address=v.INSIDE, publish=5000):
        a, _b, _c = v.servers()
        server, s = v.udp("c", port=5000), v.udp("c")
        one = seen(s, a)
        s.sendto(b"hairpin", (v.HOST, 5000))
        data, peer = heard(server)
        back = peer is not None and (server.sendto(b"back", peer), heard(s))[1]
        return "seen as %s, answered from %s" % (peer, back and back[1]), \
            data == b"hairpin" and peer == one and back[1] == (v.HOST, 5000)


@requirement(4787, "10", "no application-level gateways")
def _(v):
    with nat():
        text = b"INVITE sip:x@192.0.2.2\r\nVia: SIP/2.0/UDP 192.0.2.1:7020;rport\r\n" \
               b"Contact: <sip:a@192.0.2.1:7020>\r\n\r\nc=IN IP4 192.0.2.1\r\n"
        server = v.udp("p", v.PEER, 5060)
        v.udp("c", port=7020).sendto(text, (v.PEER, 5060))
        return "a SIP message passes unchanged", heard(server)[0] == text


@requirement(4787, "11", "deterministic, under collisions too", by_v6=True)
def _(v):
    with nat():
        a, b, c = v.servers()
        busy = v.unbound("h")
        busy.bind((v.HOST, 7030))
        s = v.udp("c", port=7030)
        got = [seen(s, x) for x in (a, b, c)]
        d = v.udp("p", v.GATE, 9004)
        return "port taken: seen as %s" % sorted(set(got)), \
            len(set(got)) == 1 and blocked(d, got[0], s)


@requirement(4787, "12", "ICMP does not end a mapping", by_v6=True)
def _(v):
    with nat():
        a, _b, c = v.servers()
        s = v.udp("c")
        one = seen(s, a)
        s.sendto(b"nobody is there", (v.PEER, 9099))
        time.sleep(0.3)  # sleep: an error would be here by then
        two = seen(s, c)
        return "seen as %s, and after a refusal as %s" % (one, two), one == two


@requirement(4787, "12 a", "ICMP is not filtered by its source", by_v6=True)
def _(v):
    with nat():
        a, _b, _c = v.servers()
        s = v.udp("c", connect=a.getsockname())
        s.send(b"hello")
        peer = heard(a)[1]
        r = v.raw("p")
        r.bind((v.OTHER, 0))
        r.sendto(v.error(v.REFUSED, peer[1], 9001), (v.HOST, 0))
        e = pending(s)
        return "an error from another address: %s" % e, e == "ECONNREFUSED"


@requirement(4787, "12 b", "destination unreachable is supported", by_v6=True)
def _(v):
    with nat():
        s = v.udp("c", connect=(v.PEER, 9099))
        s.send(b"hello")
        e = pending(s)
        return "a closed port: %s" % e, e == "ECONNREFUSED"


@requirement(4787, "13", "too long with DF: fragmentation needed", by_v6=True)
def _(v):
    with nat():
        a, _b, _c = v.servers()
        s = v.udp("c", connect=a.getsockname())
        s.setsockopt(v.OPT[0], v.OPT[2], 2)  # MTU_DISCOVER, DO
        try:
            s.send(b"x" * 3000)
            e = pending(s)
        except OSError as error:
            e = errno.errorcode[error.errno]
        mtu = s.getsockopt(v.OPT[0], v.OPT[3])
        return "3000 bytes over 1500: %s, MTU %d" % (e, mtu), \
            e == "EMSGSIZE" and mtu == 1500


@requirement(4787, "13 a", "too long without DF: fragmented", by_v6=True)
def _(v):
    with nat():
        a, _b, _c = v.servers()
        s = v.udp("c")
        s.setsockopt(v.OPT[0], v.OPT[2], 0)  # DONT
        s.sendto(b"x" * 9000, a.getsockname())
        data = heard(a)[0]
        return "%s of 9000 bytes arrive" % (data and len(data)), data == b"x" * 9000


def fragments(v, data, sport, dport):
    body = struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data
    # IPv6 asks for a checksum
    pseudo = v.header(17, len(body))[8 if v is v6 else 12:] + \
        struct.pack("!II", len(body), 17)
    body = body[:6] + struct.pack("!H", csum(pseudo + body)) + body[8:]
    for off in range(0, len(body), 1000):
        yield v.fragment(body[off:off + 1000], off, off + 1000 < len(body))


@requirement(4787, "14", "fragments, in order and out of order", by_v6=True)
def _(v):
    with nat():
        a, _b, _c = v.servers()
        # As frames: no socket of the guest's kernel sends them out of order
        with inside("c"):
            r = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            r.bind(("hp", 0))
        ours = r.getsockname()[4]
        eth = b"\x9a\x55\x9a\x55\x9a\x55" + ours + v.ETH
        got = []
        for order in (1, -1):
            data = bytes(range(256)) * 12
            for f in list(fragments(v, data, 7040, 9001))[::order]:
                r.send(eth + f)
            got.append(heard(a)[0] == data)
        return "in order %s, reversed %s" % tuple(got), all(got)


# ---- RFC 5508: NAT behavioural requirements for ICMP -----------------------


def ping(v, ns, to, size=32, ident=None):
    s = v.raw(ns)
    s.settimeout(WAIT)
    ident = ident or os.getpid() & 0xFFFF
    msg = struct.pack("!BBHHH", v.ECHO, 0, 0, ident, 1) + b"x" * size
    s.sendto(msg[:2] + struct.pack("!H", csum(msg)) + msg[4:], (to, 0))
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        data, peer = heard(s, end - time.monotonic())
        if data is None:
            break
        kind, code, _sum, who, _seq = struct.unpack("!BBHHH", v.icmp_of(data)[:8])
        if kind == v.REPLY and who == ident:
            return "answered by %s" % peer[0]
        if kind == v.UNREACHABLE:
            return "unreachable, code %d, from %s" % (code, peer[0])
    return "nothing"


@requirement(5508, "1", "echo requests of the guest and their answers pass", by_v6=True)
def _(v):
    with nat():
        got = [ping(v, "c", v.PEER), ping(v, "c", v.OTHER, 1400)]
        return "%s; %s" % tuple(got), got == ["answered by " + v.PEER,
                                              "answered by " + v.OTHER]


def taken_ident(v, ident):
    """A program of the host that has an identifier, so that ours is another"""
    s = v.unbound("h", proto=v.ICMP)
    s.bind((v.ANY, ident))
    return s


def outer_ident(v, r, to, ident):
    """The identifier that a peer sees for an echo request of the guest"""
    ping(v, "c", to, ident=ident)
    while True:
        data, _peer = heard(r, QUIET)
        if data is None:
            return None
        msg = v.icmp_of(data)
        if msg[0] == v.ECHO:
            return struct.unpack("!H", msg[4:6])[0]


@requirement(5508, "1 a", "one identifier outside for all destinations", by_v6=True)
def _(v):
    with nat():
        r, busy = v.raw("p"), taken_ident(v, 501)
        got = [outer_ident(v, r, to, 501) for to in (v.PEER, v.OTHER)]
        busy.close()
        return "501 (taken) as %s" % got, None not in got and got[0] == got[1] != 501


@requirement(5508, "2", "a query's mapping lasts 60 s at least")
def _(v):
    if not SLOW:
        raise Untried("takes a minute: SLOW=1")
    with nat():
        r, busy = v.raw("p"), taken_ident(v, 502)
        one = outer_ident(v, r, v.PEER, 502)
        time.sleep(59)  # sleep: the silence that is tried
        two = outer_ident(v, r, v.PEER, 502)
        busy.close()
        return "502 (taken) as %s, 59 s later as %s" % (one, two), \
            one is not None and one == two != 502


@requirement(5508, "3", "an ICMP error with a bad checksum is dropped")
def _(v):
    with nat():
        a, _b, _c = v.servers()
        s = v.udp("c", connect=a.getsockname())
        s.send(b"hello")
        peer = heard(a)[1]
        r = v.raw("p")
        r.sendto(v.error(v.REFUSED, peer[1], 9001, bad=0x55), (v.HOST, 0))
        time.sleep(QUIET)  # sleep: it would be here by then
        e = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return "the guest is told %s" % (errno.errorcode.get(e, "nothing")), e == 0


@requirement(5508, "4", "an error from outside: embedded packet reverted", by_v6=True)
def _(v):
    with nat():
        busy = v.unbound("h")
        busy.bind((v.HOST, 7050))
        s = v.udp("c", port=7050, connect=(v.PEER, 9099))
        s.send(b"hello")
        e = pending(s)
        return "inner port 7050, outer another: %s" % e, e == "ECONNREFUSED"


@requirement(5508, "4, no mapping", "an error without a mapping is dropped", by_v6=True)
def _(v):
    with nat():
        s = v.udp("c", port=7051, connect=(v.PEER, 9001))
        v.raw("p").sendto(v.error(v.REFUSED, 7051, 9001), (v.HOST, 0))
        time.sleep(QUIET)  # sleep: it would be here by then
        e = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return "the guest is told %s" % (errno.errorcode.get(e, "nothing")), e == 0


@requirement(5508, "5", "an error from inside is sent on")
def _(v):
    raise Refused("no socket without privileges can send ICMP errors; it ends the "
                  "flow and is counted: doc/decisions/0022")


@requirement(5508, "6", "an error about a query neither refreshes nor ends it", by_v6=True)
def _(v):
    with nat():
        ip("p", "route", "add", "blackhole", v.NOWHERE)
        one = ping(v, "c", v.PEER, ident=77)
        ping(v, "c", v.NOWHERE, ident=77)
        two = ping(v, "c", v.PEER, ident=77)
        return "%s, then %s" % (one, two), one == two == "answered by " + v.PEER


@requirement(5508, "7", "hairpinned errors")
def _(v):
    with nat(address=v.INSIDE, filter="endpoint"):
        a, _b, _c = v.servers()
        t = v.udp("c")
        two = seen(t, a)
        t.close()
        s = v.udp("c", connect=two)
        s.send(b"hello")
        e = pending(s)
        if e == "nothing":
            raise Refused("an error from inside is not sent on, nor is this one: "
                          "doc/decisions/0022")
        return "a closed port behind a mapping: %s" % e, e == "ECONNREFUSED"


@requirement(5508, "8", "administratively prohibited, if refused by policy", by_v6=True)
def _(v):
    with nat(deny=v.OTHER):
        s = v.udp("c", connect=(v.OTHER, 9002))
        s.setsockopt(v.OPT[0], v.OPT[1], 1)  # RECVERR
        s.send(b"hello")
        got, echo = told(s), ping(v, "c", v.OTHER)
        return "type and code %s; echo %s" % (got, echo), \
            got == v.PROHIBITED and \
            echo.startswith("unreachable, code %d" % v.PROHIBITED[1])


@requirement(5508, "9", "ICMP can be kept from being generated (optional)")
def _(v):
    raise Refused("optional; the rate is bounded instead: doc/decisions/0022")


@requirement(5508, "10", "unreachable and time exceeded are supported", by_v6=True)
def _(v):
    with nat():
        a, _b, _c = v.servers()
        s = v.udp("c", connect=a.getsockname())
        s.setsockopt(v.OPT[0], v.OPT[1], 1)  # RECVERR
        s.send(b"hello")
        peer = heard(a)[1]
        v.raw("p").sendto(v.error(v.TOO_LATE, peer[1], 9001), (v.HOST, 0))
        got = told(s)
        return "ICMP type and code %s" % (got,), got == v.TOO_LATE


@requirement(5508, "11", "other ICMP messages may be dropped")
def _(v):
    with nat() as n:
        r = v.raw("c")
        msg = struct.pack("!BBHIIII", 13, 0, 0, 1, 0, 0, 0)  # timestamp request
        r.sendto(msg[:2] + struct.pack("!H", csum(msg)) + msg[4:], (v.PEER, 0))
        got = heard(r, QUIET)[0]
        return "a timestamp request is %s, and the program lives" % (
            "answered" if got else "dropped"), n.p.poll() is None


# ---- RFC 6888: carrier-grade NAT, what applies to one host -----------------


@requirement(6888, "1", "as RFC 4787 asks")
def _(v):
    bad = [n for rfc, n in failures if rfc == 4787]
    return "failed above: %s" % (", ".join(bad) or "none"), not bad


@requirement(6888, "8", "a port is not given to another for 120 s")
def _(v):
    raise Refused("ports are the kernel's, and the host's programs share them: "
                  "doc/decisions/0021")


@requirement(6888, "12", "destinations are not logged")
def _(v):
    with nat() as n:
        a, _b, _c = v.servers()
        seen(v.udp("c"), a)
        n.log.seek(0)
        text = n.log.read()
        return "%d bytes of log" % len(text), v.PEER not in text


def try_one(v, fn):
    """(word, observed)"""
    try:
        observed, good = fn(v)
        return "pass" if good else "FAIL", observed
    except Refused as why:
        return "refused", str(why)
    except Absent as why:
        return "no option", str(why)
    except Untried as why:
        return "not tried", str(why)
    except Exception as why:  # one broken test must not hide the others
        return "FAIL", "%s: %s" % (type(why).__name__, why)


def main():
    count = {}
    only = re.compile(os.environ.get("NAT_ONLY", ""))
    wanted = [t for t in table if only.search("%d %s" % t[:2])]
    for i, (rfc, number, text, v, fn) in enumerate(wanted, 1):
        word, observed = try_one(v, fn)
        count[word] = count.get(word, 0) + 1
        if word == "FAIL":
            failures.append((rfc, number))
        print("%s %d - RFC %d REQ-%s: %s: %s\n#     %s" % (
            "not ok" if word == "FAIL" else "ok", i, rfc, number, text, word,
            observed), flush=True)
    print("1..%d\n#" % len(wanted), ", ".join("%d %s" % (n, w)
                                            for w, n in sorted(count.items())))
    return bool(failures)


sys.exit(main())
