#!/bin/bash
# Link-local IPv6 clients: the request arrives, the answer is refused as
# "beyond scope" or leaves by another interface. Right: flows keep the scope of
# their peer, and link-local clients are answered.
# once
#
#   p ──fe80::…%ph──> h:5000 ──> c         q ──fe80::…%qh──> h:5000
#   Two links, and the same client address on both.

. "$(dirname "$0")"/lib.sh

LL=fe80::ff:fe00:1
ip netns add "${X}q"
ip link add hq address 02:00:00:00:00:03 netns "${X}h" type veth \
	peer name qh address 02:00:00:00:00:04 netns "${X}q"
run h sysctl -qw net.ipv6.conf.hq.dad_transmits=0
run q sysctl -qw net.ipv6.conf.qh.dad_transmits=0
ip -n "${X}h" link set hq up
ip -n "${X}q" link set qh up
ip -n "${X}p" addr add fe80::77/64 dev ph nodad
ip -n "${X}q" addr add fe80::77/64 dev qh nodad

# It comes with the carrier
has_ll()
{
	ip -n "$X$1" -6 addr show dev "$2" scope link -tentative |
		grep -q "inet6 $3"
}
wait_until has_ll h hp $LL
wait_until has_ll h hq fe80::ff:fe00:3
F -u 5000 -u $LL%hp/6000-6000:5000-5000
serve c echo -v :: 5000
wait_until ask p $LL%ph 5000 -c -w 0.2
wait_until ask q fe80::ff:fe00:3%qh 5000 -c -w 0.2
ok "by the first link" ask p $LL%ph 5000 -c
ok "by the second link" ask q fe80::ff:fe00:3%qh 5000 -c
for i in 1 2 3; do
	ok "one address on two links, $i, first" \
		ask p $LL%ph 5000 -c -b fe80::77%ph -B 7000
	ok "one address on two links, $i, second" \
		ask q fe80::ff:fe00:3%qh 5000 -c -b fe80::77%qh -B 7000
done
ok "published on the link-local address alone" ask p $LL%ph 6000 -c
ok "and a global client still works" ask p 2001:db8::1 5000 -c
alive
done_testing
