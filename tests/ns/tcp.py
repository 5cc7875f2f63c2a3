#!/usr/bin/env python3
"""tcp.py - the TCP end points of the namespace tests

Problem: tests need servers and clients that say exactly what happened to a
connection: who was seen, how it ended, whether every byte arrived.
Idea: one program, one sub-command per role. A server prints "ready" once it
listens, and is told by the first line of each connection what to do on it, so
that one server does for a whole script:
  who                answers "IP PORT" of the client, closes
  echo               sends back what comes, until the end
  take N [K [S [G]]] reads a stream of N bytes, answers "ok" or what is wrong
  give N [K [S]]     sends such a stream
  swap N             both at once
  early N            answers, shuts down its sending, then reads a stream
  hear               answers, then says on its output how the connection ends
  reset              answers with RST
  both T             closes at the instant T, as the client does
  urgent             reads text with urgent "!" in it, answers "ok"

A stream is N bytes of which no two blocks are alike, the SHA-256 of them, and
the end. The reader waits S seconds before it begins, and both sides pause K
times at random places, up to 0.3 s; G is a gap between reads. What both sides report is their longest
wait for the other one, their own pauses not counted. Exit status 0 means
everything that was asked for was answered.
"""

import argparse
import collections
import hashlib
import os
import random
import resource
import select
import signal
import socket
import struct
import sys
import threading
import time

BLOCK = 256 << 10
PAUSE = 0.3


def say(*what):
    print(*what, flush=True)


def pairs(words):
    return [(words[i], int(words[i + 1])) for i in range(0, len(words), 2)]


def resolve(ip, port):
    """Family and socket address; understands fe80::1%dev"""
    hint = socket.AI_NUMERICHOST
    info = socket.getaddrinfo(ip, port, 0, socket.SOCK_STREAM, 0, hint)[0]
    return info[0], info[4]


def listener(ip, port):
    family, addr = resolve(ip, port)
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.bind(addr)
    s.listen(4096)
    return s


def client(o, job=None):
    """A connection to o.ip, o.port, bound as asked for, and told its job"""
    family, to = resolve(o.ip, o.port)
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(o.wait)
    if o.bind or o.bind_port:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        any_addr = "::" if family == socket.AF_INET6 else "0.0.0.0"
        s.bind(resolve(o.bind or any_addr, o.bind_port)[1])
    s.connect(to)
    if job:
        s.sendall(job.encode() + b"\n")
    return s


def line(s):
    """A line, not a byte more is taken; cut short where the connection ends"""
    got = b""
    while not got.endswith(b"\n"):
        c = s.recv(1)
        if not c:
            break
        got += c
    return got.decode().strip()


def exactly(s, n):
    """n bytes, fewer where the connection ends"""
    got = b""
    while len(got) < n and (data := s.recv(n - len(got))):
        got += data
    return got


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


# Streams


class Pauses:
    """Places where a side stops for a while, and the waits it saw between"""

    def __init__(self, n, times):
        self.at = sorted(random.randrange(n) for _ in range(times))
        self.longest = 0

    def stop(self, done):
        while self.at and self.at[0] <= done:
            self.at.pop(0)
            time.sleep(random.random() * PAUSE)  # sleep: this is the test

    def wait(self, call, *args):
        start = time.monotonic()
        result = call(*args)
        self.longest = max(self.longest, time.monotonic() - start)
        return result

    def __str__(self):
        return "waited %d" % (self.longest * 1000)


def put(s, n, pauses, progress=None):
    """Send a stream and the end"""
    block = bytearray(random.randbytes(BLOCK))
    digest = hashlib.sha256()
    for at in range(0, n, BLOCK):
        struct.pack_into("!Q", block, 0, at)
        part = memoryview(block)[: min(BLOCK, n - at)]
        pauses.stop(at)
        pauses.wait(s.sendall, part)
        digest.update(part)
        if progress:
            progress(at)
    s.sendall(digest.digest())
    s.shutdown(socket.SHUT_WR)


def get(s, n, pauses, progress=None, gap=0):
    """Read a stream to its end; "ok", or what is wrong with it. With a gap:
    at most 64 KiB at a time, gap seconds apart"""
    buf = memoryview(bytearray(BLOCK))
    most = 65536 if gap else BLOCK
    digest = hashlib.sha256()
    done = 0
    while done < n:
        pauses.stop(done)
        if gap:
            time.sleep(gap)  # sleep: the pace asked for
        got = pauses.wait(s.recv_into, buf, min(most, n - done))
        if not got:
            return "ended after %d of %d" % (done, n)
        digest.update(buf[:got])
        done += got
        if progress:
            progress(done)
    if exactly(s, 32) != digest.digest():
        return "other bytes"
    return "no end" if s.recv(1) else "ok"


# Servers


def do_who(s, peer, _):
    s.sendall(b"%s %d\n" % (peer[0].split("%")[0].encode(), peer[1]))


def do_echo(s, _peer, _):
    while data := s.recv(BLOCK):
        s.sendall(data)


def do_take(s, _peer, args):
    n, times, stall, gap = (list(map(float, args)) + [0, 0, 0])[:4]
    pauses = Pauses(int(n), int(times))
    time.sleep(stall)  # sleep: a reader that stalls is the test
    result = get(s, int(n), pauses, gap=gap)
    s.sendall(b"%s %s\n" % (result.encode(), str(pauses).encode()))
    return result


def do_give(s, _peer, args):
    n, times = (list(map(int, args)) + [0])[:2]
    put(s, n, Pauses(n, times))
    s.recv(1)


def do_swap(s, _peer, args):
    n = int(args[0])
    t = threading.Thread(target=put, args=(s, n, Pauses(n, 0)))
    t.start()
    result = get(s, n, Pauses(n, 0))
    t.join()
    return result


def do_early(s, _peer, args):
    s.sendall(b"early\n")
    s.shutdown(socket.SHUT_WR)
    n = int(args[0])
    return get(s, n, Pauses(n, 0))


def do_hear(s, _peer, _):
    s.sendall(b"hearing\n")
    while s.recv(BLOCK):
        pass
    return "end"


def do_reset(s, _peer, _):
    reset(s)


def do_both(s, _peer, args):
    return close_at(s, float(args[0]))


def do_urgent(s, _peer, _):
    got = b""
    while data := s.recv(BLOCK):
        got += data
    text = got.replace(b"!", b"")
    good = hashlib.sha256(text[:-64]).hexdigest().encode() == text[-64:]
    s.sendall(b"ok\n" if good else b"other text\n")


def close_at(s, when):
    """Shut down at this instant, then read the other side's end"""
    while time.monotonic() < when:
        pass
    s.shutdown(socket.SHUT_WR)
    return "end" if not s.recv(1) else "more"


def serve_one(s, peer):
    job = ["nothing"]
    try:
        with s:
            job = line(s).split() or job
            if job[0] != "nothing":
                say(*job, globals()["do_" + job[0]](s, peer, job[1:]))
    except OSError as e:
        say(*job, type(e).__name__, e)


def cmd_serve(o):
    socks = [listener(*a) for a in pairs(o.addr)]
    say("ready")
    while True:
        for ready in select.select(socks, [], [])[0]:
            args = ready.accept()
            threading.Thread(target=serve_one, args=args, daemon=True).start()


def cmd_short(o):
    """Serve many connections of one message: echoed; closed by us first if it
    begins with "s\""""
    poll = select.epoll()
    socks = {s.fileno(): s for s in [listener(*a) for a in pairs(o.addr)]}
    live = {}
    for fd, s in socks.items():
        s.setblocking(False)
        poll.register(fd, select.EPOLLIN)
    say("ready")
    while True:
        for fd, _ in poll.poll():
            if fd in socks:
                try:
                    s, _ = socks[fd].accept()
                except OSError:
                    continue
                s.setblocking(False)
                live[s.fileno()] = s
                poll.register(s, select.EPOLLIN)
                continue
            s = live[fd]
            try:
                data = s.recv(99)
                s.send(data)
            except OSError as e:
                data = b""
                say("error", type(e).__name__)
            if not data or data.startswith(b"s"):
                del live[fd]
                s.close()


# Clients


def cmd_ask(o):
    """Ask a server who we are"""
    for _ in range(o.count):
        with client(o, "who") as s:
            got = line(s)
            s.recv(1)
        if not got:
            say("ended")
            return False
        say("saw", got)
    return True


def cmd_exchange(o):
    """Many exchanges on one connection, every payload random and compared"""
    sizes = [1, 64, 512, 1460, 1461, 4000, 8192, 30000, 65536, 100000]
    with client(o, "echo") as s:
        for i in range(o.count):
            data = random.randbytes(sizes[i % len(sizes)])
            s.sendall(data)
            if exactly(s, len(data)) != data:
                say(i, "other bytes")
                return False
        s.shutdown(socket.SHUT_WR)
        return s.recv(1) == b""


def marks(o):
    """Says "under way" once a quarter has passed"""
    left = [o.size // 4]

    def progress(done):
        if left and done >= left[0]:
            left.clear()
            say("under way")

    return progress


def cmd_push(o):
    """Send a stream"""
    pauses = Pauses(o.size, o.pauses)
    job = "take %d %d %g %g" % (o.size, o.pauses, o.stall, o.gap)
    with client(o, job) as s:
        put(s, o.size, pauses, marks(o))
        answer = line(s)
    say("push", answer, pauses)
    return answer.startswith("ok ")


def cmd_pull(o):
    """Read a stream"""
    pauses = Pauses(o.size, o.pauses)
    with client(o, "give %d %d" % (o.size, o.pauses)) as s:
        time.sleep(o.stall)  # sleep: a reader that stalls is the test
        result = get(s, o.size, pauses, marks(o), o.gap)
    say("pull", result, pauses)
    return result == "ok"


def cmd_swap(o):
    """Send and read at once"""
    with client(o, "swap %d" % o.size) as s:
        t = threading.Thread(target=put, args=(s, o.size, Pauses(o.size, 0)))
        t.start()
        result = get(s, o.size, Pauses(o.size, 0))
        t.join()
    say(result)
    return result == "ok"


def cmd_early(o):
    """Go on sending after the other side has ended"""
    with client(o, "early %d" % o.size) as s:
        if line(s) != "early" or s.recv(1):
            return False
        put(s, o.size, Pauses(o.size, 0))
    return True


def cmd_reset(o):
    """Be reset, or reset with --ours"""
    with client(o, "hear" if o.ours else "reset") as s:
        if o.ours:
            line(s)
            reset(s)
            return True
        say("got %d bytes, then the end" % len(s.recv(1)))
    return True


def cmd_hear(o):
    """Be connected, and say how it ends"""
    with client(o, "hear") as s:
        say(line(s))
        s.settimeout(None)
        say("end" if not s.recv(1) else "more")
    return True


def cmd_both(o):
    """Close at the same instant as the other side"""
    for _ in range(o.count):
        when = time.monotonic() + 0.01
        with client(o, "both %.6f" % when) as s:
            if close_at(s, when) != "end":
                return False
    return True


def cmd_urgent(o):
    """Text with urgent marks in it"""
    digest = hashlib.sha256()
    with client(o, "urgent") as s:
        for i in range(o.count):
            part = random.randbytes(100).hex().encode() * (i % 20) ** 2
            s.sendall(part)
            s.send(b"!", socket.MSG_OOB)
            digest.update(part)
        s.sendall(digest.hexdigest().encode())
        s.shutdown(socket.SHUT_WR)
        answer = line(s)
    say(answer)
    return answer == "ok"


def cmd_keep(o):
    """Idle with keep-alive probes: one a second, a lost one is the end"""
    with client(o, "echo") as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 1)
        time.sleep(2.5)  # sleep: to be idle is the test
        s.sendall(b"still here")
        answer = s.recv(99)
    say(answer.decode())
    return answer == b"still here"


def more_files():
    """As many descriptors as we may have"""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Short:
    """One connection of cmd_many: connect, one message, the end"""

    def __init__(self, family, to, token):
        self.s = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.token = token
        self.got = b""
        self.sent = False
        self.s.connect_ex(to)

    def step(self):
        """True once it is over; raises OSError"""
        if not self.sent:
            err = self.s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if err:
                raise OSError(err, os.strerror(err))
            self.s.send(self.token)
            self.sent = True
            return False
        data = self.s.recv(99)
        self.got += data
        if self.token.startswith(b"c"):
            return self.got == self.token or not data
        return not data


def cmd_many(o):
    """Many connections of one exchange each, o.window at a time; with --hold
    all at once, and they stay open until we are killed"""
    more_files()
    family, to = resolve(o.ip, o.port)
    poll = select.epoll()
    live = {}
    held = []
    result = collections.Counter()
    started = 0
    while started < o.count or live:
        while started < o.count and (o.hold or len(live) < o.window):
            kind = b"c" if o.hold or started % 2 else b"s"
            c = Short(family, to, b"%s %d" % (kind, started))
            live[c.s.fileno()] = c
            poll.register(c.s, select.EPOLLOUT)
            started += 1
        ready = poll.poll(o.wait)
        if not ready:
            result["silent"] += len(live)
            break
        for fd, _ in ready:
            c = live[fd]
            try:
                if not c.step():
                    poll.modify(fd, select.EPOLLIN)
                    continue
                result["answered" if c.got == c.token else "cut"] += 1
                if o.hold:
                    held.append(c.s)
            except OSError as e:
                result[type(e).__name__] += 1
            del live[fd]
            poll.unregister(fd)
            if c.s not in held[-1:]:
                c.s.close()
    say(*("%s %d" % r for r in result.most_common()))
    if o.hold:
        signal.pause()
    return result["answered"] == o.count


def cmd_each(o):
    """Several of these in turn, each a word with its options; prints
    "WORD: ok", "WORD: failed" or "WORD: ERROR" """
    for word in o.addr[2:]:
        cmd, *options = word.split()
        say(word + ":", attempt(parser().parse_args([cmd, *o.addr[:2], *options])))
    return True


def attempt(o):
    """ "ok", "failed" or the name of an error """
    o.ip, o.port = o.addr[0], int(o.addr[1])
    try:
        result = globals()["cmd_" + o.cmd](o)
        return "ok" if result in (True, None) else "failed"
    except OSError as e:
        say(type(e).__name__, e)
        return type(e).__name__


def parser():
    p = argparse.ArgumentParser()
    p.add_argument("cmd")
    p.add_argument("addr", nargs="+", help="IP PORT, for servers IP PORT ...")
    p.add_argument("-b", "--bind", default="")
    p.add_argument("-B", "--bind-port", type=int, default=0)
    p.add_argument("-n", "--count", type=int, default=1)
    p.add_argument("-s", "--size", type=int, default=1 << 20)
    p.add_argument("-w", "--wait", type=float, default=5)
    p.add_argument("--pauses", type=int, default=0)
    p.add_argument("-g", "--gap", type=float, default=0)
    p.add_argument("--stall", type=float, default=0)
    p.add_argument("--window", type=int, default=64)
    p.add_argument("--hold", action="store_true")
    p.add_argument("--ours", action="store_true")
    return p


try:
    sys.exit(attempt(parser().parse_args()) != "ok")
except KeyboardInterrupt:
    pass
