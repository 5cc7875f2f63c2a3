#!/bin/bash
# The default route leads through a VPN's tun device, which has no MAC and a
# point-to-point peer: the start fails, or traffic dies. Right: start, and use
# for each destination what the host would use.
# once
#
#   h: default via t0 (tun), 192.0.2.0/24 via hp ──> c

. "$(dirname "$0")"/lib.sh

ip -n "${X}h" tuntap add t0 mode tun 2>/dev/null ||
	skip "no tun device can be made here"
h() { ip -n "${X}h" "$@"; }

serve c echo 0.0.0.0 5000 :: 5000
serve p echo 192.0.2.2 9001 2001:db8::2 9001
h addr add 10.9.0.2 peer 10.9.0.1 dev t0
h link set t0 up mtu 1400
h route replace default via 10.9.0.1 dev t0
F -u 5000
like "the tunnel's address" "$(ip -n "${X}c" -o -4 addr show scope global)" \
	'inet 10.9.0.2'
ok "in from the LAN" ask p 192.0.2.1 5000 -c
ok "in from the LAN, v6" ask p 2001:db8::1 5000 -c
ok "in over loopback" ask h 127.0.0.1 5000 -c
like "out to the LAN, from its address" "$(ask c 192.0.2.2 9001 -c)" \
	'saw 192.0.2.1 '
like "out to the LAN, v6" "$(ask c 2001:db8::2 9001 -c)" 'saw 2001:db8::1 '
like "a default route" "$(ip -n "${X}c" route show default)" default
alive
stop $FP

# Nobody reads t0, so what leaves by it is seen in its counters
F -u 5000
before=$(cat /proc/self/mountinfo >/dev/null; h -s -j link show t0 |
	jq '.[0].stats64.tx | .packets + .dropped')
ask c 203.0.113.9 9 -c -w 0.2 >/dev/null
after=$(h -s -j link show t0 |
	jq '.[0].stats64.tx | .packets + .dropped')
atmost "the world, through the tunnel" "$before" $((after - 1))
stop $FP

# A dummy with a route of its own, as VPN clients make against leaks
h route del default
h link add leak type veth peer name leak1
h addr add 192.0.0.8/32 dev leak
h link set leak up
h link set leak1 up
h route add default dev leak metric 4242
h route add default via 192.0.2.254 metric 100
F -u 5000
like "the guard is not taken" "$(ip -n "${X}c" route show default)" \
	'^default via 192.0.2.254 dev hp'
ok "guard: in" ask p 192.0.2.1 5000 -c
ok "guard: out" ask c 192.0.2.2 9001 -c
alive
done_testing
