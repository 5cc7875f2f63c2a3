# Router solicitations: which are answered, byte by byte how.
# parallel

from lib import *

ALL_NODES, ALL_ROUTERS = "ff02::1", "ff02::2"
FOREVER = b"\xff" * 4
PREFIX = "2001:db8:77::"


def icmp6(src, dst, body, hops=255, csum=None):
    if csum is None:
        csum = fold(body[:2] + b"\0\0" + body[4:], pseudo(addr(src), addr(dst), ICMP6, len(body))) \
            ^ 0xFFFF
    body = body[:2] + struct.pack("!H", csum) + body[4:]
    return frame(ip6(src, dst, body, proto=ICMP6, ttl=hops))


def solicit(src=GUEST6_LL, options=b"\1\1" + GUEST_MAC, code=0, size=8, **more):
    body = bytes([133, code]) + bytes(size - 2) + options
    return icmp6(src, ALL_ROUTERS, body, **more)


def opt(kind, data):
    return bytes([kind, (2 + len(data)) // 8]) + data


HEAD = bytes.fromhex("86 00 0000 ff 80 ffff 00000000 00000000")
OURS = opt(3, b"\x40\xc0" + FOREVER * 2 + bytes(4) + addr(PREFIX)) + opt(1, OUR_MAC)
MTU = opt(5, struct.pack("!HI", 0, 65520))


def answered(d, f, to, options, what):
    d.send(f)
    f = d.recv()
    if not ok(f, what + ": answered"):
        return
    body = HEAD + b"".join(options)
    csum = fold(body, pseudo(addr(GW6), addr(to), ICMP6, len(body))) ^ 0xFFFF
    body = body[:2] + struct.pack("!H", csum) + body[4:]
    want = GUEST_MAC + OUR_MAC + b"\x86\xdd" + ip6(GW6, to, body, proto=ICMP6, ttl=255)
    same(f.eth.hex(" "), want.hex(" "), what + ": every byte")


with Daemon("-D", "none") as d:
    answered(d, solicit(), GUEST6_LL, [OURS, MTU], "from link-local")
    answered(d, solicit(options=b""), GUEST6_LL, [OURS, MTU], "without options")
    answered(d, solicit(src=GUEST6), GUEST6, [OURS, MTU], "from a global address")
    answered(d, solicit(src="::", options=b""), ALL_NODES, [OURS, MTU], "from ::")
    silent = {
        "from :: with a link address": solicit(src="::"),
        "hop limit 254": solicit(hops=254), "code 1": solicit(code=1),
        "wrong checksum": solicit(csum=0x1234), "4 bytes": solicit(options=b"", size=4),
        "an option of length 0": solicit(options=b"\1\0" + GUEST_MAC),
        "an option cut off": solicit(options=b"\1\2" + GUEST_MAC),
        "an advertisement": icmp6(GUEST6_LL, ALL_NODES, HEAD),
    }
    for what, f in silent.items():
        d.drop_test(what + ": no answer, counted", {"discovery_not_answered": 1}, f)
    same(d.recv(QUIET), None, "no frame came for them")
    same(d.counters()["router_advertisements"], 0, "none that nobody asked for at start")

with Daemon("-m", "1400", "-D", "192.0.2.53", "-D", "2001:db8::53", "-D", "2001:db8::54",
            "-S", "eng.apple.com", "-S", "a.") as d:
    answered(d, solicit(), GUEST6_LL,
             [OURS, opt(5, struct.pack("!HI", 0, 1400)),
              opt(25, bytes(2) + FOREVER + addr("2001:db8::53") + addr("2001:db8::54")),
              opt(31, bytes(2) + FOREVER + b"\3eng\5apple\3com\0\1a\0" + bytes(6))],
             "all options")

with Daemon("-m", "0", "-D", "192.0.2.53", "-S", "eng.apple.com") as d:
    answered(d, solicit(), GUEST6_LL,
             [OURS, opt(31, bytes(2) + FOREVER + b"\3eng\5apple\3com\0" + bytes(1))],
             "no MTU; no IPv6 resolver: search list alone")

name = ".".join(c * 60 for c in "abcd")
with Daemon("-m", "0", "-D", "none", *(x for c in "123456" for x in ("-S", c + name))) as d:
    d.send(solicit())
    f = d.recv()
    same(len(f.eth), 14 + 40 + 16 + 32 + 8 + 8 + 4 * 246, "what does not fit a small link is left out")

for off in "--no-ra", "--no-ndp":
    with Daemon(off) as d:
        d.drop_test(off + ": swallowed", {"service_disabled": 1}, solicit())

target = bytes.fromhex("8700 0000 0000 0000") + addr(GW6)
ns = icmp6(GUEST6_LL, "ff02::1:ff00:1", target)
with Daemon("--no-ra") as d:
    d.send(ns)
    ok(d.recv(), "--no-ra: neighbours are answered")
with Daemon("--no-ndp") as d:
    d.drop_test("--no-ndp: neighbours are not", {"service_disabled": 1}, ns)
done()
