#!/bin/bash
# A host without public IPv6: published ports refuse ::1 and unique local
# addresses, because the family is used only with a routable address. Right:
# forwarding works for every IPv6 address that the host has.
# once
#
#   h ──::1──> h:5000        p ──fe80::…, fd00::1──> h:5000 ──> c

. "$(dirname "$0")"/lib.sh

LL=fe80::ff:fe00:1 # of HMAC, RFC 4291 appendix A

run h ip -6 addr flush dev hp scope global
F -u 5000
serve c echo 0.0.0.0 5000 :: 5000
ok "over loopback, v6" ask h ::1 5000 -c
ok "over loopback, v4" ask h 127.0.0.1 5000 -c
wait_until ask p $LL%ph 5000 -c -w 0.2
ok "link-local, from the LAN" ask p $LL%ph 5000 -c
ok "v4, from the LAN" ask p 192.0.2.1 5000 -c
# An address that comes later
ip -n "${X}h" addr add fd00::1/64 dev hp nodad
ip -n "${X}p" addr add fd00::2/64 dev ph nodad
ok "a new unique local address" ask p fd00::1 5000 -c
stop $FP

# With nothing but a unique local address, it is the guest's, too
serve p echo fd00::2 9001
F -u 5000
ok "unique local: over loopback" ask h ::1 5000 -c
ok "unique local: from the LAN" ask p fd00::1 5000 -c
like "unique local: out" "$(ask c fd00::2 9001 -c)" 'saw fd00::1 '
alive
done_testing
