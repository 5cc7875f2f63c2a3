#!/usr/bin/python3
"""tcp_pair.py - both ends of TCP connections through the forwarder, in turn

  tcp_pair.py CASE SERVER-NS ADDR PORT CLIENT-NS ADDR PORT

One thread holds the sockets of both namespaces, so what happens has one order.
Exit status 0: the case holds; else what was wrong is on standard error.
"""

import ctypes
import errno
import hashlib
import os
import select
import signal
import socket
import struct
import sys
import time

LIMIT = 20  # seconds for what must come
BIG = 256 << 20
SHORT = 2000


def enter(ns):
    with open("/run/netns/" + ns) as f:
        if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns " + ns)


def inside(ns, addr):
    """a socket of a namespace"""
    enter(ns)
    s = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET)
    s.settimeout(LIMIT)
    return s


class Pair:
    def __init__(self, server_ns, server, port, client_ns, client, to):
        self.listener = inside(server_ns, server)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((server, int(port)))
        self.client_ns, self.to = client_ns, (client, int(to))

    def listen(self):
        self.listener.listen(4096)

    def client(self):
        s = inside(self.client_ns, self.to[0])
        s.connect(self.to)
        return s

    def connect(self):
        c = self.client()
        s = self.listener.accept()[0]
        s.settimeout(LIMIT)
        return c, s


def need(cond, what):
    if not cond:
        sys.exit(what)


def error(call, *args):
    """errno of a call that must fail"""
    try:
        got = call(*args)
    except OSError as e:
        return e.errno
    sys.exit("no error but %r" % (got,))


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def says(a, b, what):
    a.sendall(what)
    got = b.recv(65536)
    need(got == what, "%r arrived as %r" % (what, got))


def half(p):
    """either end may end its direction first, and go on to listen"""
    p.listen()
    for first in (0, 1):
        pair = p.connect()
        a, b = pair[first], pair[not first]
        says(a, b, b"one")
        says(b, a, b"two")
        a.sendall(b"last")
        a.shutdown(socket.SHUT_WR)
        need(b.recv(9) == b"last" and b.recv(9) == b"", "no end after last")
        for i in range(3):
            says(b, a, b"still %d" % i)
        b.close()
        need(a.recv(9) == b"", "no end of the other direction")
        a.close()


def refused(p):
    """nobody listens: not a clean end"""
    enter(p.client_ns)
    try:
        s = p.client()
        need(error(s.recv, 1) == errno.ECONNRESET, "not reset")
    except (ConnectionRefusedError, ConnectionResetError):
        pass


def resets(p):
    """a reset is a reset on the other side, and what was before arrives"""
    p.listen()
    for first in (0, 1):
        pair = p.connect()
        a, b = pair[first], pair[not first]
        says(b, a, b"hello")
        a.sendall(b"bye")
        reset(a)
        need(b.recv(9) == b"bye", "lost what came before")
        need(error(b.recv, 9) == errno.ECONNRESET, "not reset")
        b.close()


def killed(p):
    """a process dies with data unread: its kernel resets"""
    p.listen()
    pid = os.fork()
    if not pid:
        s = p.client()
        s.sendall(b"x")
        signal.pause()
    s = p.listener.accept()[0]
    s.settimeout(LIMIT)
    need(s.recv(1) == b"x", "no byte")
    s.sendall(b"unread")
    time.sleep(0.1)  # sleep: until it is in the queue of the one to die
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    need(error(s.recv, 1) == errno.ECONNRESET, "not reset")


def transfer(a, b, size, pause=None):
    """from a to b, both at once; returns whether the bytes are right"""
    block = os.urandom(1 << 20)
    want, got = hashlib.sha256(), hashlib.sha256()
    sent = received = 0
    left = b""
    a.setblocking(False)
    b.setblocking(False)
    ended = False
    while True:
        w = [] if ended else [a]
        r, w, _ = select.select([b], w, [], LIMIT)
        need(r or w, "stands still at %d of %d" % (received, size))
        if w:
            if not left and sent < size:
                left = block[: min(len(block) - sent % 7919, size - sent)]
                want.update(left)
            if left:
                n = a.send(left)
                sent += n
                left = left[n:]
            elif sent == size:
                a.shutdown(socket.SHUT_WR)
                ended = True
        if r:
            data = b.recv(1 << 20)
            if not data:
                break
            got.update(data)
            received += len(data)
            if pause:
                pause = pause(received)
    need(received == size, "%d of %d bytes" % (received, size))
    need(got.digest() == want.digest(), "other bytes")


def big(p):
    """much, each way"""
    p.listen()
    c, s = p.connect()
    transfer(c, s, BIG)
    transfer(s, c, BIG)


def stall(p):
    """a reader that stops holds the writer back, costs nothing, and goes on"""
    p.listen()
    pid = int(os.environ["FP"])

    def spent():
        with open("/proc/%d/stat" % pid) as f:
            return sum(map(int, f.read().split()[13:15]))

    for first in (0, 1):
        pair = p.connect()
        a, b = pair[first], pair[not first]
        a.setblocking(False)
        total = 0
        while select.select([], [a], [], 0.3)[1]:
            total += a.send(b"s" * 65536)
            need(total < BIG, "never held back")
        before = spent()
        time.sleep(0.5)  # sleep: whoever spins does it now
        need(spent() - before < 10, "it spins")
        need(not select.select([], [a], [], 0)[1], "writable again")
        a.setblocking(True)
        a.settimeout(LIMIT)
        while total:
            total -= len(b.recv(1 << 20))
        says(a, b, b"goes on")
        a.close()
        need(b.recv(1) == b"", "no end")
        b.close()


def short(p):
    """many short connections, none lost"""
    p.listen()
    for i in range(SHORT):
        c, s = p.connect()
        what = b"%d" % i
        c.sendall(what)
        need(s.recv(99) == what, "request %d" % i)
        s.sendall(what)
        (s if i & 1 else c).shutdown(socket.SHUT_WR)
        need(c.recv(99) == what, "answer %d" % i)
        c.close()
        s.close()


def first(p):
    """the server speaks first, without delay"""
    p.listen()
    c, s = p.connect()
    t = time.monotonic()
    for i in range(200):
        says(s, c, b"%d" % i)
        s.sendall(b"two")
        need(c.recv(9) == b"two", "two")
    need(time.monotonic() - t < 4, "small writes are delayed")


CASES = {f.__name__: f for f in (half, refused, resets, killed, big, stall,
                                 short, first)}


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    CASES[sys.argv[1]](Pair(*sys.argv[2:]))


main()
