# DHCPv6: which messages are answered, byte by byte how, and none passed on.
# parallel

from lib import *

SERVERS = "ff02::1:2"
SOLICIT, ADVERTISE, REQUEST, CONFIRM, RENEW, REBIND, REPLY, RELEASE, DECLINE, RECONF, INFORM = \
    range(1, 12)
XID = bytes.fromhex("a5c3e1")
CLIENT = bytes.fromhex("0003 0001") + GUEST_MAC
IAID = bytes.fromhex("00c0ffee")
FOREVER = b"\xff" * 4
OTHER = "2001:db8:99::1"
TEXT = b"This address is not one of this link"


def opt(code, data=b""):
    return struct.pack("!HH", code, len(data)) + data


def ia_addr(a, life=b"\0" * 8):
    return opt(5, addr(a) + life)


def ia_na(*inside, iaid=IAID, times=bytes(8)):
    return opt(3, iaid + times + b"".join(inside))


def ia_ta(*inside):
    return opt(4, IAID + b"".join(inside))


CLIENTID = opt(1, CLIENT)
GIVEN = ia_na(ia_addr(GUEST6, FOREVER * 2), times=FOREVER * 2)
ORO = opt(6, bytes.fromhex("0017 0018"))


def message(kind, *options, src=GUEST6_LL, dst=SERVERS, sport=546):
    return datagram((src, sport), (dst, 547), bytes([kind]) + XID + b"".join(options))


def answered(d, frame, kind, options, what):
    d.send(frame)
    f = d.recv()
    if not ok(f, what + ": answered"):
        return f
    want = bytes([kind]) + XID + b"".join(options)
    label = int.from_bytes(XID, "big") & 0xFFFFF
    head = GUEST_MAC + OUR_MAC + b"\x86\xdd" + \
        struct.pack("!IHBB", 6 << 28 | label, 8 + len(want), 17, 255) + addr(GW6) + addr(GUEST6_LL)
    same(f.eth[:54], head, what + ": Ethernet and IP headers")
    same((f.src, f.dst, f.ok, f.flags), ((GW6, 547), (GUEST6_LL, 546), True, 0), what + ": UDP")
    same(f.data.hex(" "), want.hex(" "), what + ": payload")
    return f


with Daemon("-D", "none") as d:
    d.send(message(SOLICIT, CLIENTID, ia_na()))
    duid = d.recv().data[8:22]
    same((duid[:4], duid[8:]), (bytes.fromhex("0001 0001"), OUR_MAC), "our name: DUID-LLT, Ethernet")
    age = time.time() - 946684800 - int.from_bytes(duid[4:8], "big")
    ok(0 <= age < 60, "its time is that of our start", age)
    SERVERID = opt(2, duid)
    OTHERID = opt(2, duid[:-1] + b"\0")
    usual = [SERVERID, GIVEN, CLIENTID]

    answered(d, message(SOLICIT, CLIENTID, ia_na(), ORO), ADVERTISE, usual, "SOLICIT")
    answered(d, message(SOLICIT, opt(14), CLIENTID, ia_na()), ADVERTISE, usual, "no rapid commit")
    answered(d, message(SOLICIT, CLIENTID, ia_na(ia_addr(OTHER))), ADVERTISE, usual,
             "SOLICIT hoping for another address")
    answered(d, message(SOLICIT, CLIENTID), ADVERTISE,
             [SERVERID, ia_na(ia_addr(GUEST6, FOREVER * 2), iaid=b"\0\0\0\1", times=FOREVER * 2),
              CLIENTID], "SOLICIT without association")
    answered(d, message(SOLICIT, CLIENTID, ia_na(), sport=5000), ADVERTISE, usual, "other port")
    answered(d, message(SOLICIT, CLIENTID, ia_na(), dst="ff05::1:3"), ADVERTISE, usual,
             "other group")
    answered(d, message(REQUEST, SERVERID, CLIENTID, ia_na(ia_addr(GUEST6))), REPLY, usual, "REQUEST")
    answered(d, message(RENEW, CLIENTID, SERVERID, ia_na(ia_addr(GUEST6))), REPLY, usual, "RENEW")
    answered(d, message(REBIND, CLIENTID, ia_na(ia_addr(GUEST6))), REPLY, usual, "REBIND")
    answered(d, message(REBIND, CLIENTID, SERVERID, ia_na()), REPLY, usual, "REBIND that names us")
    answered(d, message(CONFIRM, CLIENTID, ia_na(ia_addr(GUEST6))), REPLY, usual, "CONFIRM")
    answered(d, message(INFORM, CLIENTID, ORO), REPLY, [SERVERID, CLIENTID], "INFORMATION-REQUEST")

    times = bytes.fromhex("00000e10 00001518")
    status = opt(13, b"\0\4" + TEXT)
    foreign = ia_na(ia_addr(OTHER), times=times)
    for kind, what in (REQUEST, "REQUEST"), (RENEW, "RENEW"):
        answered(d, message(kind, SERVERID, CLIENTID, foreign), REPLY,
                 [SERVERID, ia_na(status, times=times), CLIENTID],
                 what + " of a foreign address: NotOnLink")
    answered(d, message(CONFIRM, CLIENTID, ia_na(ia_addr(GUEST6), ia_addr(OTHER), times=times)), REPLY,
             [SERVERID, ia_na(status, times=times), CLIENTID], "CONFIRM of two, one foreign")
    answered(d, message(CONFIRM, CLIENTID, ia_ta(ia_addr(OTHER))), REPLY,
             [SERVERID, ia_ta(status), CLIENTID], "CONFIRM of a temporary one")
    answered(d, message(SOLICIT, opt(1, b"x" * 128), ia_na()), ADVERTISE,
             [SERVERID, GIVEN, opt(1, b"x" * 128)], "client-id of 128 bytes")

    silent = {
        "RELEASE": message(RELEASE, SERVERID, CLIENTID, ia_na(ia_addr(GUEST6))),
        "DECLINE": message(DECLINE, SERVERID, CLIENTID, ia_na(ia_addr(GUEST6))),
        "ADVERTISE": message(ADVERTISE, SERVERID, CLIENTID), "REPLY": message(REPLY, SERVERID, CLIENTID),
        "RECONFIGURE": message(RECONF, CLIENTID), "type 99": message(99, CLIENTID),
        "SOLICIT to us": message(SOLICIT, SERVERID, CLIENTID, ia_na()),
        "CONFIRM to us": message(CONFIRM, SERVERID, CLIENTID, ia_na()),
        "REQUEST to nobody": message(REQUEST, CLIENTID, ia_na()),
        "REQUEST to another": message(REQUEST, OTHERID, CLIENTID, ia_na()),
        "RENEW to nobody": message(RENEW, CLIENTID, ia_na()),
        "REBIND to another": message(REBIND, OTHERID, CLIENTID, ia_na()),
        "server-id of another length": message(RENEW, opt(2, duid[:-1]), CLIENTID, ia_na()),
        "INFORMATION-REQUEST with association": message(INFORM, CLIENTID, ia_na()),
        "INFORMATION-REQUEST to another": message(INFORM, OTHERID, CLIENTID),
        "no client-id": message(SOLICIT, ia_na()),
        "empty client-id": message(SOLICIT, opt(1), ia_na()),
        "client-id of 129 bytes": message(SOLICIT, opt(1, b"x" * 129), ia_na()),
        "association too short": message(SOLICIT, CLIENTID, opt(3, IAID)),
        "option cut": message(SOLICIT, CLIENTID, ia_na()[:-1]),
        "bytes behind": message(SOLICIT, CLIENTID, ia_na(), b"\0"),
        "3 bytes": datagram((GUEST6_LL, 546), (SERVERS, 547), b"\1ab"),
        "unicast": message(SOLICIT, CLIENTID, ia_na(), dst=GW6),
        "unicast to somebody": message(SOLICIT, CLIENTID, ia_na(), dst="2001:db8::547"),
        "from a global address": message(SOLICIT, CLIENTID, ia_na(), src=GUEST6),
    }
    for what, f in silent.items():
        d.drop_test(what + ": no answer, counted", {"dhcp_not_answered": 1}, f)
    same(d.recv(QUIET), None, "no frame came for them")

with Daemon("-D", "192.0.2.53", "-D", "2001:db8::53", "-D", "2001:db8::54",
            "-S", "eng.apple.com", "-S", "apple.com.", "--fqdn", "guest.example") as d:
    d.send(message(SOLICIT, CLIENTID, ia_na()))
    SERVERID = opt(2, d.recv().data[8:22])
    more = [opt(23, addr("2001:db8::53") + addr("2001:db8::54")),
            opt(24, b"\3eng\5apple\3com\0\5apple\3com\0")]
    fqdn = b"\5guest\7example\0"
    answered(d, message(REQUEST, SERVERID, CLIENTID, ia_na()), REPLY,
             [SERVERID, GIVEN, CLIENTID, *more, opt(39, b"\0" + fqdn)], "all options")
    answered(d, message(REQUEST, SERVERID, CLIENTID, ia_na(), opt(39, b"\1\1x\0")), REPLY,
             [SERVERID, GIVEN, CLIENTID, *more, opt(39, b"\2" + fqdn)],
             "the client wants its name entered: overridden")
    answered(d, message(INFORM, CLIENTID), REPLY, [SERVERID, CLIENTID, *more, opt(39, b"\0" + fqdn)],
             "INFORMATION-REQUEST")

with Daemon("-D", "2001:db8::53", "-S", "a", "--no-dhcp-dns", "--no-dhcp-search") as d:
    d.send(message(SOLICIT, CLIENTID, ia_na()))
    f = d.recv()
    same(f.data[22:], GIVEN + CLIENTID, "no resolvers, no search list")

# The address taken is the one that the guest is talked to by
port = free_port("::1") if has_ip6() else 0
with Daemon("-u", "%d" % port) as d:
    if port:
        d.send(datagram(("2001:db8:77::3", 9), ("2001:db8::1", 9), b"x"))
        d.send(message(SOLICIT, CLIENTID, ia_na()))
        ok(d.recv(), "answered")
        with host_socket("::1") as s:
            s.sendto(b"hello", ("::1", port))
            f = d.recv()
            same(f and f.dst[0], GUEST6_LL, "link-local address learnt from DHCPv6")

with Daemon("--no-dhcpv6") as d:
    d.drop_test("--no-dhcpv6: swallowed", {"service_disabled": 1}, message(SOLICIT, CLIENTID, ia_na()))
with Daemon("--no-udp") as d:
    d.drop_test("--no-udp does not mean DHCPv6", {}, message(SOLICIT, CLIENTID, ia_na()))
done()
