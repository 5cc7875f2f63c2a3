#!/bin/bash
# A host that has routes to its subnets but no default route is refused.
# Right: start, reach what the host reaches, also beyond the interface that
# lends its address.
# once
#
#   p ──> h:5000 ──> c           c ──> p, q
#   h has hp and hq, and no default route

. "$(dirname "$0")"/lib.sh

serve c echo 0.0.0.0 5000 :: 5000
serve p echo 192.0.2.2 9001 2001:db8::2 9001
ip -n "${X}h" route del default
ip -n "${X}h" -6 route del default
F -u 5000
ok "in" ask p 192.0.2.1 5000 -c
ok "in, v6" ask p 2001:db8::1 5000 -c
like "out" "$(ask c 192.0.2.2 9001 -c)" 'saw 192.0.2.1 '
like "out, v6" "$(ask c 2001:db8::2 9001 -c)" 'saw 2001:db8::1 '
alive
stop $FP

ip netns add "${X}q"
ip link add hq netns "${X}h" type veth peer name qh netns "${X}q"
ip -n "${X}h" addr add 198.51.100.1/24 dev hq
ip -n "${X}q" addr add 198.51.100.2/24 dev qh
ip -n "${X}h" link set hq up
ip -n "${X}q" link set qh up
serve q echo 198.51.100.2 9002
F -u 5000
ok "two interfaces: in by one" ask p 192.0.2.1 5000 -c
ok "two interfaces: in by the other" ask q 198.51.100.1 5000 -c
one=$(ip -n "${X}c" -o -4 addr show scope global | wc -l)
is "two interfaces: one is taken over" "$one" 1
alive
stop $FP

# The user's choice
F -i hq -u 5000
like "--interface: its address" \
	"$(ip -n "${X}c" -o -4 addr show dev hq)" '198.51.100.1/24'
ok "--interface: out" ask c 198.51.100.2 9002 -c
ok "--interface: in by the other" ask p 192.0.2.1 5000 -c
alive
stop $FP

# One route by a gateway is the only one beyond the subnet
ip -n "${X}h" link del hq
ip -n "${X}h" route add 203.0.113.0/24 via 192.0.2.254
ip -n "${X}p" addr add 203.0.113.1/32 dev ph
serve p echo 203.0.113.1 9003
F -u 5000
ok "a subnet by a gateway" ask c 203.0.113.1 9003 -c
nok "and no default route" grep -q ^default \
	<(ip -n "${X}c" route show dev hp)
alive
done_testing
