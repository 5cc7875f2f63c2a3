#!/bin/bash
# Cloud hosts: the gateway is outside the subnet, the address is a /32, its
# prefix has no route, the default route is on-link. The container gets no
# route, or nothing starts. Right: the default route works for all of these.
# once
#
#   c ──default route──> h ──default route──> p

. "$(dirname "$0")"/lib.sh

ip -n "${X}p" addr add 198.51.100.1/32 dev ph
ip -n "${X}p" addr add 2001:db8:5::1/128 dev ph nodad
ip -n "${X}p" route add 192.0.2.1/32 dev ph
serve c echo 0.0.0.0 5000 :: 5000
serve p echo 192.0.2.2 9001 198.51.100.1 9001 2001:db8:5::1 9001

h() { ip -n "${X}h" "$@"; }

# works NAME: with the host configured by the lines of stdin
works()
{
	h addr flush dev hp scope global
	h route flush table main 2>/dev/null
	h -6 route flush proto boot 2>/dev/null
	while h -6 route del default 2>/dev/null; do :; done
	h -batch - || { report 1 "$1: configure the host"; return; }
	F -u 5000
	ok "$1: out" ask c 192.0.2.2 9001 -c
	ok "$1: out by the default route" ask c 198.51.100.1 9001 -c
	if ip -n "${X}h" -6 route show default | grep -q .; then
		ok "$1: out, v6" ask c 2001:db8:5::1 9001 -c
	fi
	ok "$1: in" ask p 192.0.2.1 5000 -c
	is "$1: a default route" \
		"$(ip -n "${X}c" route show default | wc -l)" 1
	stop $FP
}

works "/32, gateway by a host route" <<-IP
	addr add 192.0.2.1/32 dev hp
	route add 192.0.2.254 dev hp
	route add default via 192.0.2.254
	addr add 2001:db8::1/128 dev hp nodad
	route add 2001:db8::fe dev hp
	route add default via 2001:db8::fe
IP
works "/32, gateway onlink" <<-IP
	addr add 192.0.2.1/32 dev hp
	route add default via 192.0.2.254 dev hp onlink
	addr add 2001:db8::1/128 dev hp nodad
	route add default via 2001:db8::fe dev hp onlink
IP
works "noprefixroute" <<-IP
	addr add 192.0.2.1/24 dev hp noprefixroute
	route add 192.0.2.254 dev hp src 192.0.2.1
	route add default via 192.0.2.254
	addr add 2001:db8::1/64 dev hp nodad noprefixroute
	route add 2001:db8::fe dev hp
	route add default via 2001:db8::fe
IP
works "on-link default route" <<-IP
	addr add 192.0.2.1/32 dev hp
	route add default dev hp
	addr add 2001:db8::1/128 dev hp nodad
	route add ::/0 dev hp
IP
works "the gateway is link-local" <<-IP
	addr add 192.0.2.1/24 dev hp
	route add 0.0.0.0/0 via inet6 fe80::ff:fe00:2 dev hp
	addr add 2001:db8::1/64 dev hp nodad
	route add default via fe80::ff:fe00:2 dev hp
IP
works "a peer address" <<-IP
	addr add 192.0.2.1 peer 192.0.2.254/32 dev hp
	route add default via 192.0.2.254
IP
works "/31" <<-IP
	addr add 192.0.2.1/31 dev hp
	route add 192.0.2.254 dev hp
	route add default via 192.0.2.254
IP
done_testing
