# ARP: every address but the guest's own is answered with our Ethernet address.
# parallel

from lib import *

with Daemon() as d:
    for target in GW4, "203.0.113.77":
        d.send(arp_request(target))
        want = GUEST_MAC + OUR_MAC + bytes.fromhex("0806" "0001" "0800" "06" "04" "0002") + \
            OUR_MAC + addr(target) + GUEST_MAC + addr(GUEST4)
        f = d.recv()
        same(f.raw, bytes(10) + want, "reply for %s, byte by byte" % target)

    d.send(arp_request("203.0.113.78", sender="0.0.0.0"))
    same(d.recv().raw[-20:-14], OUR_MAC, "a probe for a foreign address, RFC 5227: it is taken")

    unanswered = {
        "a request for the guest's own address": arp_request(GUEST4),
        "an announcement": arp_request("198.51.100.9", sender="198.51.100.9"),
        "a probe for it, RFC 5227": arp_request(GUEST4, sender="0.0.0.0"),
        "a reply": arp_request(GW4)[:31] + b"\x02" + arp_request(GW4)[32:],
        "one that is cut": arp_request(GW4)[:-1],
    }
    for what, f in unanswered.items():
        d.drop_test(what + " is not answered, and counted", {"discovery_not_answered": 1}, f)
    same(d.recv(QUIET), None, "no frame came for them")
done()
