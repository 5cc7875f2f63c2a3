#!/usr/bin/env python3
"""udp.py - the UDP end points of the namespace tests

Problem: tests need servers and clients that say exactly what they saw: whose
datagram it was, whether the payload is what was sent, what is missing.
Idea: one program, one sub-command per role; a server prints "ready" once it is
bound, so that nobody has to sleep. Exit status 0 means everything that was
asked for was answered.

An echo server looks at the first byte of a datagram:
  ?...      answers "IP PORT " of the sender, then the datagram
  !S        answers with the datagram after S seconds
  !NxS      answers N times, one answer each S seconds
  otherwise the datagram comes back as it is

It never calls connect() on a server socket: while the kernel moves a socket to
its new place in the hash table a datagram may be refused.
"""

import argparse
import heapq
import os
import random
import select
import socket
import struct
import sys
import time

BUF = 65535


def resolve(ip, port):
    """Family and socket address; understands fe80::1%dev"""
    hint = socket.AI_NUMERICHOST
    info = socket.getaddrinfo(ip, port, 0, socket.SOCK_DGRAM, 0, hint)[0]
    return info[0], info[4]


def make(family, addr=None):
    """A UDP socket of one family with as much buffer as we may have"""
    s = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    try:
        s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    except OSError:
        pass
    if addr:
        s.bind(addr)
    return s


def client(o, port=None):
    """A client socket for o.ip, o.port: bound and connected as asked for"""
    family, to = resolve(o.ip, o.port)
    s = make(family)
    port = o.bind_port if port is None else port
    if o.bind or port:
        any_addr = "::" if family == socket.AF_INET6 else "0.0.0.0"
        s.bind(resolve(o.bind or any_addr, port)[1])
    s.settimeout(o.wait)
    if o.no_check:
        s.setsockopt(socket.SOL_SOCKET, 11, 1)  # SO_NO_CHECK
    if o.connect:
        s.connect(to)
    return s, to


def say(*what):
    print(*what, flush=True)


# Servers


def echo_answer(later, now, s, data, peer):
    """Send or schedule what the datagram asks for"""
    if data[:1] == b"?":
        data = b"%s %d " % (peer[0].split("%")[0].encode(), peer[1]) + data
    elif data[:1] == b"!":
        n, _, gap = data[1:].decode().rpartition("x")
        for i in range(int(n or 1)):
            at = now + (i + 1) * float(gap)
            heapq.heappush(later, (at, id(s), data, s, peer))
        return
    s.sendto(data[:65507], peer)


def cmd_echo(o):
    socks = [make(*resolve(*a)) for a in pairs(o.addr)]
    later = []
    say("ready")
    while True:
        wait = later[0][0] - time.monotonic() if later else None
        ready = select.select(socks, [], [], wait and max(0, wait))[0]
        now = time.monotonic()
        while later and later[0][0] <= now:
            _, _, data, s, peer = heapq.heappop(later)
            s.sendto(data, peer)
        for s in ready:
            try:
                data, peer = s.recvfrom(BUF)
                if o.verbose:
                    say("got", len(data), peer[0], peer[1])
                echo_answer(later, now, s, data, peer)
            except OSError as e:
                say("error", e)


def cmd_rx(o):
    """Count a burst of tx: lost, twice, out of order"""
    family, addr = resolve(o.ip, o.port)
    s = make(family, addr)
    s.settimeout(o.wait)
    say("ready")
    seen = []
    try:
        while not o.count or len(seen) < o.count:
            seen.append(int(s.recv(BUF)[:8]))
            s.settimeout(o.idle)
    except socket.timeout:
        pass
    late = sum(a > b for a, b in zip(seen, seen[1:]))
    say("got", len(seen), "twice", len(seen) - len(set(seen)), "late", late)


def cmd_hear(o):
    """Speak to peers from one socket, then print who is heard"""
    peers = [resolve(*a) for a in pairs(o.addr)]
    s = make(peers[0][0])
    any_addr = "::" if peers[0][0] == socket.AF_INET6 else "0.0.0.0"
    s.bind(resolve(any_addr, o.bind_port)[1])
    for _, to in peers:
        s.sendto(b"?hello", to)
    s.settimeout(o.wait)
    say("ready")
    try:
        while True:
            data, peer = s.recvfrom(BUF)
            say("from", peer[0], peer[1], data.decode())
    except socket.timeout:
        pass


def cmd_dns(o):
    """A name server: every A query gets 192.0.2.77, every TXT one our name"""
    socks = [make(*resolve(*a)) for a in pairs(o.addr)]
    say("ready")
    while True:
        for s in select.select(socks, [], [])[0]:
            q, peer = s.recvfrom(BUF)
            end = q.index(0, 12) + 5
            kind = struct.unpack("!H", q[end - 4 : end - 2])[0]
            rr = socket.inet_aton("192.0.2.77")
            if kind == 16:
                rr = o.name.encode()
                rr = bytes([len(rr)]) + rr
            head = q[:2] + struct.pack("!HHHHH", 0x8180, 1, 1, 0, 0)
            body = struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(rr)) + rr
            s.sendto(head + q[12:end] + body, peer)


# Clients


def cmd_ask(o):
    """Ask an echo server who we are; with --size: is all of it echoed?"""
    s, to = client(o)
    done = 0
    for _ in range(o.count):
        token = os.urandom(4).hex().encode()
        data = b"?" + token
        if o.size is not None:
            data = b"#" * (o.size > 0) + random.randbytes(max(o.size - 1, 0))
        try:
            s.send(data) if o.connect else s.sendto(data, to)
            while True:
                reply, peer = s.recvfrom(BUF)
                if reply.endswith(data):
                    break
        except OSError as e:
            say(type(e).__name__, e)
            continue
        done += 1
        saw = reply[: len(reply) - len(data)].decode().strip()
        if not o.quiet or done == 1:
            say(peer[0], peer[1], "saw", saw or len(reply))
        time.sleep(o.gap)  # sleep: the pace asked for
    return done == o.count


def cmd_exchange(o):
    """Many exchanges on one socket, every payload random and compared"""
    o.connect = True
    s, _ = client(o)
    sizes = [0, 1, 64, 512, 1200, 1472, 1473, 4000, 8192, 30000]
    done = 0
    for i in range(o.count):
        data = random.randbytes(sizes[i % len(sizes)])
        if data[:1] in (b"?", b"!"):
            data = b"#" + data[1:]
        try:
            s.send(data)
            done += s.recv(BUF) == data
        except OSError as e:
            say(i, len(data), type(e).__name__, e)
    say(done, "of", o.count)
    return done == o.count


def cmd_mix(o):
    """Several clients send all at once; does each get its own answers?"""
    o.connect = True
    clients = [client(o)[0] for _ in range(o.clients)]
    wrong = missing = late = 0
    for r in range(o.rounds):
        for i, s in enumerate(clients):
            s.send(b"c%d-%d" % (i, r))
    for i, s in enumerate(clients):
        mine = []
        try:
            while len(mine) < o.rounds:
                who, _, r = s.recv(99).decode().partition("-")
                wrong += who != "c%d" % i
                mine.append(int(r))
        except OSError:
            o.wait = 0.01  # what is there by now will do
            for k in clients:
                k.settimeout(o.wait)
        missing += o.rounds - len(set(mine))
        late += sum(a > b for a, b in zip(mine, mine[1:]))
    say("wrong", wrong, "missing", missing, "late", late)
    return wrong == missing == late == 0


def cmd_oneshot(o):
    """Many clients, a port each, one exchange each, o.window at a time"""
    o.connect = True
    poll = select.epoll()
    live = {}
    answered = started = 0
    while started < o.count or live:
        while started < o.count and len(live) < o.window:
            port = o.first + started if o.first else 0
            s, _ = client(o, port)
            s.setblocking(False)
            started += 1
            try:
                s.send(b"#%d" % started)
            except OSError:
                pass
            live[s.fileno()] = (s, b"#%d" % started)
            poll.register(s, select.EPOLLIN)
        ready = poll.poll(o.wait)
        if not ready:
            break
        for fd, _ in ready:
            s, data = live.pop(fd)
            try:
                answered += s.recv(99) == data
            except OSError:
                pass
            poll.unregister(fd)
            s.close()
    say("answered", answered, "of", o.count)
    return answered == o.count


def cmd_spread(o):
    """One socket asks several servers in turn; whom does each see?"""
    peers = [resolve(*a) for a in pairs(o.addr)]
    s = make(peers[0][0])
    if o.bind_port:
        any_addr = "::" if peers[0][0] == socket.AF_INET6 else "0.0.0.0"
        s.bind(resolve(any_addr, o.bind_port)[1])
    s.settimeout(o.wait)
    for n in range(o.count):
        for i, (_, to) in enumerate(peers):
            s.sendto(b"?%d.%d" % (n, i), to)
    left = {b"?%d.%d" % (n, i) for n in range(o.count) for i in range(len(peers))}
    ports = set()
    bad = 0
    try:
        while left:
            data, peer = s.recvfrom(BUF)
            _, port, token = data.split(b" ")
            left.discard(token)
            to = peers[int(token.split(b".")[1])][1]
            bad += peer[:2] != to[:2]
            ports.add(int(port))
    except socket.timeout:
        pass
    say("missing", len(left), "wrong", bad, "ports", *sorted(ports))
    return not left and not bad


def cmd_tx(o):
    """A burst of numbered datagrams"""
    s, to = client(o)
    s.settimeout(None)
    for i in range(o.count):
        try:
            s.sendto((b"%08d" % i).ljust(o.size or 8, b"x"), to)
        except OSError:  # a refusal of an earlier one
            s.sendto((b"%08d" % i).ljust(o.size or 8, b"x"), to)
        if o.gap:
            time.sleep(o.gap)  # sleep: the pace asked for
    return True


def cmd_sizes(o):
    """Datagrams of the given sizes, empty ones too, in this order"""
    s, to = client(o)
    for n in o.addr:
        s.sendto(b"x" * int(n), to)
    return True


def cmd_sweep(o):
    """One exchange of each of the given sizes, compared"""
    o.connect = True
    s, _ = client(o)
    missing = []
    for n in o.addr:
        data = b"#" + random.randbytes(int(n) - 1)
        try:
            s.send(data)
            if s.recv(BUF) != data:
                missing.append(n)
        except OSError:
            missing.append(n)
    say("missing", *missing)
    return not missing


def cmd_late(o):
    """Ask for a late answer, or a stream of them; count what comes"""
    o.connect = True
    s, _ = client(o)
    s.send(b"!" + o.what.encode())
    got = 0
    try:
        while got < o.count:
            s.recv(99)
            got += 1
    except OSError:
        pass
    say("got", got)
    return got == o.count


def cmd_hold(o):
    """Keep a port bound until killed"""
    socks = [make(*resolve(*a)) for a in pairs(o.addr)]
    say("ready")
    while socks:
        time.sleep(3600)  # sleep: until killed


def pairs(words):
    return [(words[i], int(words[i + 1])) for i in range(0, len(words), 2)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cmd")
    p.add_argument("addr", nargs="+", help="IP PORT, for some IP PORT IP PORT")
    p.add_argument("-c", "--connect", action="store_true")
    p.add_argument("-v", "--verbose", action="store_true")
    p.add_argument("-q", "--quiet", action="store_true")
    p.add_argument("-b", "--bind", default="")
    p.add_argument("-B", "--bind-port", type=int, default=0)
    p.add_argument("-n", "--count", type=int, default=1)
    p.add_argument("-s", "--size", type=int)
    p.add_argument("-w", "--wait", type=float, default=2)
    p.add_argument("-g", "--gap", type=float, default=0)
    p.add_argument("--idle", type=float, default=1)
    p.add_argument("--clients", type=int, default=8)
    p.add_argument("--rounds", type=int, default=50)
    p.add_argument("--window", type=int, default=64)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--no-check", action="store_true")
    p.add_argument("--what", default="1")
    p.add_argument("--to", nargs=2)
    p.add_argument("--name", default="udp.py")
    o = p.parse_args()
    if o.to:
        o.ip, o.port = o.to[0], int(o.to[1])
    elif o.cmd not in ("echo", "hear", "dns", "spread", "hold"):
        o.ip, o.port = o.addr[0], int(o.addr[1])
    return 0 if globals()["cmd_" + o.cmd](o) in (True, None) else 1


try:
    sys.exit(main())
except KeyboardInterrupt:
    pass
