# DHCP: which requests are answered, byte by byte how, and none passed on.
# parallel

from lib import *

XID = bytes.fromhex("39 03 f3 26")
CHADDR = GUEST_MAC + bytes(10)
MAGIC = bytes.fromhex("63825363")
DISCOVER, OFFER, REQUEST, DECLINE, ACK, NAK, RELEASE, INFORM = range(1, 9)


def opt(code, data=b""):
    return bytes([code, len(data)]) + data


def bootp(options, op=1, flags=0, secs=7, ciaddr="0.0.0.0", giaddr="0.0.0.0",
          sname=b"name", file=b"file", magic=MAGIC):
    return struct.pack("!BBBB", op, 1, 6, 3) + XID + struct.pack("!HH", secs, flags) + \
        addr(ciaddr) + addr("9.9.9.9") + addr("8.8.8.8") + addr(giaddr) + CHADDR + \
        sname.ljust(64, b"\0") + file.ljust(128, b"\0") + magic + options


def request(kind, *more, src="0.0.0.0", dst="255.255.255.255", **fields):
    data = bootp(opt(53, bytes([kind])) + b"".join(more) + b"\xff", **fields)
    return datagram((src, 68), (dst, 67), data)


def expected(options, flags=0, ciaddr="0.0.0.0", giaddr="0.0.0.0"):
    """UDP payload of an answer, options given in their order."""
    area = b"".join(options) + b"\xff"
    return struct.pack("!BBBB", 2, 1, 6, 3) + XID + struct.pack("!HH", 0, flags) + \
        addr(ciaddr) + addr(GUEST4) + bytes(4) + addr(giaddr) + CHADDR + bytes(192) + \
        MAGIC + area.ljust(60, b"\0")


def kind(n):
    return opt(53, bytes([n]))


MASK = opt(1, addr("255.255.255.0"))
ROUTER = opt(3, addr(GW4))
LEASE = opt(51, b"\xff" * 4)
SERVER = opt(54, addr(GW4))
MTU = opt(26, struct.pack("!H", 65520))
DNS = opt(6, addr("192.0.2.53") + addr("192.0.2.54"))
NAME = opt(12, b"guest")
FQDN = opt(81, b"\4\xff\xff\5guest\7example\0")
SEARCH = opt(119, b"\3eng\5apple\3com\0\11marketing\xc0\4")
PLAIN = [MASK, ROUTER, MTU, LEASE]


def answered(d, frame, want, what, to=GUEST4):
    d.send(frame)
    f = d.recv()
    if not ok(f, what + ": answered"):
        return
    head = GUEST_MAC + OUR_MAC + bytes.fromhex("0800 4500") + \
        struct.pack("!HIBBH", 28 + len(want), 0, 255, 17, 0) + addr(GW4) + addr(to)
    same(f.eth[:24] + bytes(2) + f.eth[26:34], head, what + ": Ethernet and IP headers")
    same((f.src, f.dst, f.ok, f.flags), ((GW4, 67), (to, 68), True, 0), what + ": UDP")
    same(f.data.hex(" "), want.hex(" "), what + ": payload")
    ok(len(f.eth) >= 342, what + ": 342 bytes at least")


with Daemon("-n", "24", "-D", "none") as d:
    offer = expected([MASK, ROUTER, MTU, LEASE, kind(OFFER), SERVER])
    ack = expected([MASK, ROUTER, MTU, LEASE, kind(ACK), SERVER])
    answered(d, request(DISCOVER), offer, "DISCOVER")
    answered(d, request(REQUEST), ack, "REQUEST")
    answered(d, request(REQUEST, opt(50, addr("192.0.2.99")), opt(54, addr("9.9.9.9"))), ack,
             "REQUEST of another address: no NAK")
    answered(d, request(REQUEST, src=GUEST4, dst=GW4, ciaddr=GUEST4),
             expected([MASK, ROUTER, MTU, LEASE, kind(ACK), SERVER], ciaddr=GUEST4),
             "renewal, unicast to us")
    answered(d, request(REQUEST, src=GUEST4, dst="203.0.113.9"), ack, "to another server")
    answered(d, request(DISCOVER, opt(80)),
             expected([MASK, ROUTER, MTU, LEASE, kind(ACK), SERVER, opt(80)]), "rapid commit")
    answered(d, request(REQUEST, opt(80)), ack, "rapid commit is for DISCOVER only")
    answered(d, request(DISCOVER, flags=0x8000),
             expected([MASK, ROUTER, MTU, LEASE, kind(OFFER), SERVER], flags=0x8000),
             "broadcast flag", to="255.255.255.255")
    answered(d, request(DISCOVER, giaddr="192.0.2.7"),
             expected([MASK, ROUTER, MTU, LEASE, kind(OFFER), SERVER], giaddr="192.0.2.7"),
             "relay's address is kept")
    answered(d, datagram(("0.0.0.0", 68), ("255.255.255.255", 67), bootp(bytes(64))), ack, "BOOTP")
    answered(d, datagram(("0.0.0.0", 68), ("255.255.255.255", 67), bootp(b"")), ack,
             "BOOTP without options")
    answered(d, request(DISCOVER, opt(55, bytes([51, 1, 99, 3, 255, 1, 0]))),
             expected([kind(OFFER), LEASE, MASK, ROUTER, MTU, SERVER]), "list without 53")
    answered(d, request(DISCOVER, opt(55, bytes([54, 53, 26]))),
             expected([SERVER, kind(OFFER), MTU, MASK, ROUTER, LEASE]), "list with 53")
    answered(d, request(DISCOVER, b"\0\0", opt(57, b"\1\0"), b"\x37\x09\1"), offer,
             "padding, a size too small, an option cut off")

    silent = {
        "DECLINE": request(DECLINE), "RELEASE": request(RELEASE), "INFORM": request(INFORM),
        "an OFFER": request(OFFER), "an ACK": request(ACK), "a NAK": request(NAK),
        "type 0": request(99), "a reply": request(DISCOVER, op=2),
        "wrong magic": request(DISCOVER, magic=b"abcd"),
        "cut before the options": datagram(("0.0.0.0", 68), ("255.255.255.255", 67),
                                           bootp(b"")[:-1]),
        "empty": datagram(("0.0.0.0", 68), ("255.255.255.255", 67), b""),
        "port 67 of anybody": datagram((GUEST4, 4000), ("203.0.113.9", 67), b"hello"),
    }
    for what, f in silent.items():
        d.drop_test(what + ": no answer, counted", {"dhcp_not_answered": 1}, f)
    d.drop_test("nobody else may have no address", {"bad_address": 1},
                datagram(("0.0.0.0", 68), ("255.255.255.255", 69), b"x"))
    d.drop_test("a super-frame", {"dhcp_not_answered": 2},
                super_frame((GUEST4, 68), (GW4, 67), bytes(600), 300))
    same(d.recv(QUIET), None, "no frame came for them")
    same(d.counters()["local_answers"] >= 14, True, "answers are counted")

with Daemon("-n", "24", "-m", "1400", "-D", "192.0.2.53", "-D", "192.0.2.54", "-D", "2001:db8::53",
            "-S", "eng.apple.com", "-S", "marketing.apple.com",
            "--hostname", "guest", "--fqdn", "guest.example") as d:
    mtu = opt(26, struct.pack("!H", 1400))
    answered(d, request(REQUEST),
             expected([MASK, ROUTER, DNS, NAME, mtu, LEASE, kind(ACK), SERVER, FQDN, SEARCH]),
             "all options")

with Daemon("-n", "24", "-m", "0", "-D", "192.0.2.53", "-D", "192.0.2.54", "-S", "eng.apple.com",
            "--no-dhcp-dns", "--no-dhcp-search") as d:
    answered(d, request(REQUEST), expected([MASK, ROUTER, LEASE, kind(ACK), SERVER]),
             "no MTU, no resolvers, no search list")

# A gateway that no subnet covers; names that do not fit
names = ["%s.example" % (c * 60) for c in "abcdef"]
with Daemon("-n", "32", "-D", "none", *(x for n in names for x in ("-S", n))) as d:
    routes = opt(121, b"\x20" + addr(GW4) + bytes(4) + b"\0" + addr(GW4))
    wire = [b"\x3c" + n[:60].encode() + (b"\7example\0" if n[0] == "a" else b"\xc0\x3d") for n in names]
    plain = [opt(1, b"\xff" * 4), ROUTER, MTU, LEASE, kind(ACK), SERVER]
    d.send(request(REQUEST))
    f = d.recv()
    same(f.data.hex(" "), expected(plain + [opt(119, b"".join(wire[:3])), routes]).hex(" "),
         "/32: routes; half of the names")
    ok(len(f.data) <= 576 - 28, "no more than every client takes", len(f.data))
    answered(d, request(REQUEST, opt(57, struct.pack("!H", 1500))),
             expected(plain + [opt(119, b"".join(wire[:3])), routes]),
             "an option takes no more, whatever the message may")

with Daemon("--no-dhcp") as d:
    d.drop_test("--no-dhcp: swallowed", {"service_disabled": 1}, request(DISCOVER))
with Daemon("--no-udp") as d:
    d.drop_test("--no-udp does not mean DHCP", {}, request(DISCOVER))
done()
