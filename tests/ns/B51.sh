#!/bin/bash
# Multipath default routes, next-hop objects, preferred sources and routes by
# foreign interfaces make the start fail, because attributes are copied that
# mean nothing in the other namespace. Right: copy what can be copied, skip the
# rest, never fail.
# once
#
#   h: hp 192.0.2.1/24 and d0 203.0.113.1/24, routes over both ──copied──> c

. "$(dirname "$0")"/lib.sh

ip -n "${X}h" link add d0 type veth peer name d1
ip -n "${X}h" addr add 203.0.113.1/24 dev d0
ip -n "${X}h" addr add 2001:db8:d::1/64 dev d0 nodad
ip -n "${X}h" link set d0 up
ip -n "${X}h" link set d1 up
serve c echo 0.0.0.0 5000 :: 5000
ip -n "${X}p" addr add 198.51.100.1/32 dev ph
ip -n "${X}p" addr add 2001:db8:5::1/128 dev ph nodad
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve p echo 198.51.100.1 9002 2001:db8:5::1 9002

# works NAME: with the host's routes as they are now
works()
{
	F -u 5000
	ok "$1: in" ask p 192.0.2.1 5000 -c
	ok "$1: in, v6" ask p 2001:db8::1 5000 -c
	ok "$1: out" ask c 192.0.2.2 9001 -c
	ok "$1: out by the gateway" ask c 198.51.100.1 9002 -c
	ok "$1: out by the gateway, v6" ask c 2001:db8:5::1 9002 -c
	like "$1: a default route" "$(ip -n "${X}c" route show default)" \
		'default via 192.0.2.254'
	alive
	stop $FP
}

h() { ip -n "${X}h" "$@"; }

h route replace default nexthop via 192.0.2.254 dev hp weight 2 \
	nexthop via 203.0.113.9 dev d0
h -6 route del default
h -6 route add default nexthop via 2001:db8::fe dev hp weight 2 \
	nexthop via 2001:db8:d::9 dev d0
h route add 198.51.100.0/24 via 192.0.2.254
h -6 route add 2001:db8:5::/64 via 2001:db8::fe
works multipath

h route del default
h -6 route del default
if h nexthop add id 10 via 192.0.2.254 dev hp 2>/dev/null; then
	h nexthop add id 11 via 203.0.113.9 dev d0
	h nexthop add id 12 group 10/11
	h nexthop add id 20 via 2001:db8::fe dev hp
	h route add default nhid 10
	h -6 route add default nhid 20
	works "next-hop ids"
	h route replace default nhid 12
	h route replace 198.51.100.0/24 nhid 12
	h route replace 198.51.100.0/24 nhid 10
	works "a group of next hops"
	h route del default
	h -6 route del default
fi

h addr add 192.0.2.77/24 dev hp
h route add default via 192.0.2.254 src 192.0.2.77 metric 50
h route add default via 203.0.113.9 dev d0 metric 60
h -6 route add default via 2001:db8::fe src 2001:db8::1 metric 50 pref low
h route add 10.1.0.0/16 via 192.0.2.254 src 203.0.113.1
h route add 10.2.0.0/16 dev d0
h route add blackhole 10.3.0.0/16
h route add unreachable 10.4.0.0/16
h route add prohibit 10.5.0.0/16
h route add 10.6.0.0/16 via 192.0.2.254 tos 0x10 2>/dev/null
h route add 10.7.0.0/16 via inet6 2001:db8::fe dev hp
h route add 10.8.0.0/16 via 192.0.2.254 mtu lock 1400 advmss 1000 \
	initcwnd 20 rto_min 100ms features ecn
h route add multicast 224.0.1.0/24 dev hp 2>/dev/null
h route add 10.9.0.0/16 via 192.0.2.200 dev hp onlink
h route append 10.9.0.0/16 via 192.0.2.201 dev hp
works "preferred sources, attributes, types"
done_testing
