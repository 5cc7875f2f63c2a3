# lib.py - the whole daemon on one end of a socket pair, a test on both sides of it
#
#     test  <- frames, SOCK_SEQPACKET ->  ./passt --fd  <- datagrams ->  test
#     (the guest)                                                        (the host)
#
# No root and no namespace: the host's side is 127.0.0.1 and ::1, which the guest
# knows as its gateway. Frames are built and checked here from the RFCs alone,
# never with code of the program. Addresses are those for documentation, so that
# they are nobody's, whatever machine this runs on.

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

GUEST_MAC = bytes.fromhex("020000000002")
OUR_MAC = bytes.fromhex("9a559a559a55")
GUEST4, GW4 = "198.51.100.2", "198.51.100.1"
GUEST6, GW6 = "2001:db8:77::2", "fe80::1"
GUEST6_LL = "fe80::2"
ARP, IP4, IP6 = 0x806, 0x800, 0x86DD
UDP, FRAGMENT, ICMP6 = 17, 44, 58
NEEDS_CSUM, GSO_UDP_L4 = 1, 5
VNET = struct.Struct("=BBHHHH")
OFFLOAD = os.environ.get("OFFLOAD", "uso")
PASST = os.environ.get("PASST") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../passt")
WAIT = 3  # seconds for what must come
QUIET = 0.15  # seconds for what must not

_count = _failed = 0


def ok(cond, what, *details):
    """One test point; details are printed if it fails."""
    global _count, _failed
    _count += 1
    print("ok" if cond else "not ok", _count, "-", what, flush=True)
    if not cond:
        _failed += 1
        for d in details:
            print("#", d, flush=True)
    return cond


def same(got, want, what):
    return ok(got == want, what, "got  %r" % (got,), "want %r" % (want,))


def skip(why):
    print("1..0 # skip", why)
    sys.exit(77)


def done():
    print("1..%d" % _count)
    sys.exit(1 if _failed or not _count else 0)


# ---- frames --------------------------------------------------------------


def fold(data, total=0):
    """Ones' complement sum, RFC 1071, not complemented."""
    if len(data) % 2:
        data += b"\0"
    total += sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def addr(text):
    return socket.inet_pton(family(text), text)


def family(text):
    return socket.AF_INET6 if ":" in text else socket.AF_INET


def pseudo(src, dst, proto, length):
    """Sum of the pseudo-header; addresses as bytes."""
    return fold(src + dst + struct.pack("!II", length, proto))


def udp(src, dst, data, csum=None, length=None):
    """UDP header and payload; src, dst: (address, port)."""
    length = 8 + len(data) if length is None else length
    head = struct.pack("!HHHH", src[1], dst[1], length, 0)
    if csum is None:
        total = pseudo(addr(src[0]), addr(dst[0]), UDP, 8 + len(data))
        csum = fold(head + data, total) ^ 0xFFFF or 0xFFFF
    return head[:6] + struct.pack("!H", csum) + data


def ip4(src, dst, body, proto=UDP, ttl=64, tos=0, df=0, mf=0, off=0, ident=1, length=None):
    length = 20 + len(body) if length is None else length
    head = struct.pack("!BBHHHBBH", 0x45, tos, length, ident,
                       df << 14 | mf << 13 | off // 8, ttl, proto, 0)
    head += addr(src) + addr(dst)
    return head[:10] + struct.pack("!H", fold(head) ^ 0xFFFF) + head[12:] + body


def ip6(src, dst, body, proto=UDP, ttl=64, tos=0, length=None):
    length = len(body) if length is None else length
    return struct.pack("!IHBB", 6 << 28 | tos << 20, length, proto, ttl) + \
        addr(src) + addr(dst) + body


def ip(src, dst, body, **more):
    return (ip6 if ":" in src else ip4)(src, dst, body, **more)


def eth(body, kind, dst=OUR_MAC, src=GUEST_MAC):
    return dst + src + struct.pack("!H", kind) + body


def frame(packet, kind=None, vnet=(0, 0, 0, 0, 0, 0)):
    """A frame with its virtio-net header around an IP packet."""
    if kind is None:
        kind = IP6 if packet[0] >> 4 == 6 else IP4
    return VNET.pack(*vnet) + eth(packet, kind)


def datagram(src, dst, data, csum=None, length=None, **more):
    """A whole frame with one UDP datagram; src, dst: (address, port)."""
    return frame(ip(src[0], dst[0], udp(src, dst, data, csum, length), **more))


def super_frame(src, dst, data, seg, **more):
    """Datagrams of seg bytes each in one frame, checksum partial."""
    start = 14 + (40 if ":" in src[0] else 20)
    csum = pseudo(addr(src[0]), addr(dst[0]), UDP, 8 + len(data))
    body = udp(src, dst, data, csum)
    return frame(ip(src[0], dst[0], body, **more),
                 vnet=(NEEDS_CSUM, GSO_UDP_L4, start + 8, seg, start, 6))


def fragments(src, dst, data, size, ident=7):
    """The frames of one datagram in fragments of size bytes (a multiple of 8)."""
    whole = udp(src, dst, data)
    return [fragment(src[0], dst[0], whole[i:i + size], i, i + size < len(whole), ident)
            for i in range(0, len(whole), size)]


def fragment(src, dst, part, off, more, ident=7):
    if ":" not in src:
        return frame(ip4(src, dst, part, off=off, mf=int(more), ident=ident))
    head = struct.pack("!BBHI", UDP, 0, off | int(more), ident)
    return frame(ip6(src, dst, head + part, proto=FRAGMENT))


def arp_request(target, mac=GUEST_MAC, sender=GUEST4):
    body = struct.pack("!HHBBH", 1, IP4, 6, 4, 1) + mac + addr(sender) + bytes(6) + addr(target)
    return VNET.pack(0, 0, 0, 0, 0, 0) + eth(body, ARP, b"\xff" * 6, mac)


def parse(raw):
    """A frame of the daemon's taken apart; .ok says whether every sum is right."""
    f = SimpleNamespace(raw=raw, eth=raw[VNET.size:], ok=True, segs=[])
    f.flags, f.gso, f.hdr_len, f.seg, f.start, f.offset = VNET.unpack_from(raw)
    f.eth_dst, f.eth_src = f.eth[:6], f.eth[6:12]
    f.kind = struct.unpack_from("!H", f.eth, 12)[0]
    f.proto = None
    if f.kind == IP4:
        parse_ip(f, 20, slice(26, 30), slice(30, 34), f.eth[23], f.eth[22], f.eth[15])
        f.ok = fold(f.eth[14:34]) == 0xFFFF and \
            struct.unpack_from("!H", f.eth, 16)[0] == len(f.eth) - 14
    elif f.kind == IP6:
        parse_ip(f, 40, slice(22, 38), slice(38, 54), f.eth[20], f.eth[21],
                 struct.unpack_from("!H", f.eth, 14)[0] >> 4 & 0xFF)
        f.ok = struct.unpack_from("!H", f.eth, 18)[0] == len(f.eth) - 54
    if f.proto == UDP:
        parse_udp(f)
    return f


def parse_ip(f, size, src, dst, proto, ttl, tos):
    fam = socket.AF_INET6 if size == 40 else socket.AF_INET
    f.l4 = 14 + size
    f.src_ip, f.dst_ip = f.eth[src], f.eth[dst]
    f.src, f.dst = (socket.inet_ntop(fam, a) for a in (f.src_ip, f.dst_ip))
    f.proto, f.ttl, f.tos = proto, ttl, tos


def parse_udp(f):
    sport, dport, length, csum = struct.unpack_from("!HHHH", f.eth, f.l4)
    f.src, f.dst = (f.src, sport), (f.dst, dport)
    f.data = f.eth[f.l4 + 8:]
    total = pseudo(f.src_ip, f.dst_ip, UDP, length)
    f.ok = f.ok and length == 8 + len(f.data)
    if f.flags & NEEDS_CSUM:
        f.ok = f.ok and csum == total and f.start == f.l4 and f.offset == 6
    else:
        f.ok = f.ok and csum != 0 and fold(f.eth[f.l4:], total) == 0xFFFF
    seg = f.seg if f.gso else len(f.data)
    f.segs = [f.data[i:i + seg] for i in range(0, len(f.data), seg or 1)] or [b""]


# ---- the host's side ------------------------------------------------------


def host_socket(address="127.0.0.1", port=0):
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    s.settimeout(WAIT)
    s.bind((address, port))
    return s


def free_port(address="127.0.0.1"):
    with host_socket(address) as s:
        return s.getsockname()[1]


def own_address():
    """An address of this host that is not loopback, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.77", 9))  # nothing is sent
        except OSError:
            return None
        a = s.getsockname()[0]
    return None if a.startswith("127.") else a


def has_ip6():
    try:
        host_socket("::1").close()
    except OSError:
        return False
    return True


def families():
    """(guest, gateway, loopback) of each family that works here."""
    yield GUEST4, GW4, "127.0.0.1"
    if has_ip6():
        yield GUEST6, GW6, "::1"


def received(sock, n, quiet=QUIET):
    """Payloads of n datagrams, and any that come unexpectedly after them."""
    got = []
    try:
        while True:
            sock.settimeout(quiet if len(got) >= n else WAIT)
            got.append(sock.recv(65535))
    except OSError:  # timeout
        return got


# ---- the daemon -----------------------------------------------------------


class Daemon:
    """./passt with one end of a socket pair as its guest's link."""

    def __init__(self, *options):
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for s in self.link, theirs:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        self.log = tempfile.TemporaryFile()
        self.queue = []
        self.n_barriers = 0
        self.process = subprocess.Popen(
            [PASST, "-f", "-q", "--fd", str(theirs.fileno()), "--offload", OFFLOAD,
             "-a", GUEST4, "-g", GW4, "-a", GUEST6, "-g", GW6, *options],
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log)
        theirs.close()
        self.barrier()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.stop()

    def text(self):
        # Not read(): the daemon writes at the same offset
        return os.pread(self.log.fileno(), 1 << 24, 0).decode(errors="replace")

    def die(self, why):
        if self.process.poll() is None:
            self.process.kill()
        print("# %s; exit status %r; log:" % (why, self.process.wait()))
        for line in self.text().splitlines():
            print("#", line)
        ok(False, why)
        done()

    def send(self, *frames):
        for f in frames:
            try:
                self.link.send(f)
            except OSError as e:
                self.die("the link is broken: %s" % e)

    def read(self, wait):
        self.link.settimeout(wait)
        try:
            raw = self.link.recv(70000)
        except socket.timeout:
            return None
        except OSError:
            raw = b""
        if not raw:
            self.die("the daemon closed the link")
        return raw

    def recv(self, wait=WAIT):
        """The next frame, parsed; None if none comes."""
        raw = self.queue.pop(0) if self.queue else self.read(wait)
        return raw and parse(raw)

    def recv_segs(self, n):
        """Frames that together carry n datagrams, and any that follow them."""
        frames = []
        while True:
            have = sum(len(f.segs) for f in frames)
            f = self.recv(WAIT if have < n else QUIET)
            if not f:
                return frames
            frames.append(f)

    def barrier(self):
        """Come back when all that was sent has been handled."""
        self.n_barriers += 1
        target = "198.51.100.%d" % (100 + self.n_barriers % 100)
        self.send(arp_request(target))
        while True:
            raw = self.read(WAIT * 2)
            if raw is None:
                self.die("the daemon does not answer")
            if raw[22:24] == b"\x08\x06" and raw[38:42] == addr(target):
                return
            self.queue.append(raw)

    def counters(self):
        """All counters, drops among them, after all that was sent so far."""
        self.barrier()
        at = len(self.text())
        self.process.send_signal(signal.SIGUSR1)
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            new = self.text()[at:]
            if "\n" in new and "{" in new:
                line = [x for x in new.splitlines() if x.startswith("{")]
                if line:
                    return json.loads(line[0])
            time.sleep(0.005)  # sleep: a file cannot be waited for
        self.die("no counters on SIGUSR1")

    def drops(self):
        return {k: v for k, v in self.counters()["drops"].items() if v}

    def drop_test(self, what, want, *frames):
        """Frames that must be dropped under the names given, and no others."""
        before = self.drops()
        self.send(*frames)
        after = self.drops()
        same({k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)},
             want, what)

    def stop(self):
        if self.process.poll() is not None:
            self.die("the daemon ended early")
        self.link.close()
        try:
            rc = self.process.wait(WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            rc = "still running"
        same(rc, 0, "the daemon ends with its link")
        self.log.close()
