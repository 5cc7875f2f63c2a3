# Neighbour solicitations: answered for every address but the guest's own.
# parallel

from lib import *


def solicit(src, target, hops=255, code=0, option=True, csum=None):
    dst = "ff02::1:ff" + "%02x:%02x%02x" % tuple(addr(target)[-3:])
    body = struct.pack("!BBHI", 135, code, 0, 0) + addr(target)
    if option:
        body += b"\x01\x01" + GUEST_MAC
    if csum is None:
        csum = fold(body, pseudo(addr(src), addr(dst), ICMP6, len(body))) ^ 0xFFFF
    body = body[:2] + struct.pack("!H", csum) + body[4:]
    return frame(ip6(src, dst, body, proto=ICMP6, ttl=hops))


def advertisement(src, dst, target):
    body = struct.pack("!BBHI", 136, 0, 0, 0xE0000000) + addr(target) + b"\x02\x01" + OUR_MAC
    csum = fold(body, pseudo(addr(src), addr(dst), ICMP6, len(body))) ^ 0xFFFF
    body = body[:2] + struct.pack("!H", csum) + body[4:]
    return bytes(10) + eth(ip6(src, dst, body, proto=ICMP6, ttl=255), IP6, GUEST_MAC, OUR_MAC)


with Daemon() as d:
    for src in GUEST6_LL, GUEST6:
        for target in GW6, "2001:db8:77::99":
            d.send(solicit(src, target))
            f = d.recv()
            # Any address of ours may be the source, RFC 4861 4.4
            same(f.raw, advertisement(f.src, src, target),
                 "advertisement for %s to %s, byte by byte" % (target, src))
            ok(f.src.startswith("fe80:"), "it comes from a link-local address", f.src)

    unanswered = {
        "the guest's own address": solicit(GUEST6_LL, GUEST6),
        "duplicate address detection": solicit("::", "2001:db8:77::5", option=False),
        "hop limit 254": solicit(GUEST6_LL, GW6, hops=254),
        "code 1": solicit(GUEST6_LL, GW6, code=1),
        "a wrong checksum": solicit(GUEST6_LL, GW6, csum=1),
    }
    for what, f in unanswered.items():
        d.drop_test(what + ": not answered, and counted", {"discovery_not_answered": 1}, f)
    same(d.recv(QUIET), None, "no frame came for them")
done()
