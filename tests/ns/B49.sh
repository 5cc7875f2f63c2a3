#!/bin/bash
# Started at boot, before the host has a network, the container stays offline
# until it is restarted. Right: it starts with link-local addresses, and comes
# online, both ways and for both families, within two seconds of the host.
# once
#
#   h: hp down, no address      c: 169.254.2.1 and fe80::, default routes

. "$(dirname "$0")"/lib.sh

WAIT=2
D=169.254.1.1

online()
{
	ip -n "${X}h" -batch - <<-IP
		link set hp up
		addr add 192.0.2.1/24 dev hp
		addr add 2001:db8::1/64 dev hp nodad
		route add default via 192.0.2.254
		route add default via 2001:db8::fe
		neigh replace 192.0.2.2 lladdr $PMAC dev hp
		neigh replace 2001:db8::2 lladdr $PMAC dev hp
	IP
	echo nameserver 192.0.2.2 >$T/resolv.conf
}

offline()
{
	run h ip addr flush dev hp
	ip -n "${X}h" link set hp down
}

serve p echo 192.0.2.2 9001 2001:db8::2 9001 192.0.2.2 53
offline
: >$T/resolv.conf
F -u 5000 --no-map-gw --map-guest-addr 169.254.1.2 --dns-forward $D
serve c echo 0.0.0.0 5000 :: 5000
like "IPv4 link-local" "$(run c ip -4 -br addr show dev tap0)" 169.254.2.1/16
like "IPv6 link-local" "$(run c ip -6 -br addr show dev tap0)" fe80::
like "IPv4 route" "$(run c ip route)" "^default via 169.254.2.2"
like "IPv6 route" "$(run c ip -6 route show default)" "^default via fe80::1"
nok "offline" ask c 192.0.2.2 9001 -c -B 7001 -w 0.2
nok "no resolver" ask c $D 53 -c -w 0.2

online
ok "out, v4" wait_until ask c 192.0.2.2 9001 -c -w 0.2
ok "out, v4, from the port used before" \
	wait_until ask c 192.0.2.2 9001 -c -B 7001 -w 0.2
ok "out, v6" wait_until ask c 2001:db8::2 9001 -c -w 0.2
ok "in, v4" ask p 192.0.2.1 5000 -c
ok "in, v6" ask p 2001:db8::1 5000 -c
ok "the resolver" wait_until ask c $D 53 -c -w 0.3
serve h echo 192.0.2.1 9005
ok "the host by its alias" wait_until ask c 169.254.1.2 9005 -c -w 0.2
ok "the host by its address" ask c 192.0.2.1 9005 -c
ok "a large datagram" udp c sweep 1400 20000 --to 192.0.2.2 9001

offline
nok "offline again" ask c 192.0.2.2 9001 -c -B 7001 -w 0.2
online
ok "online again" wait_until ask c 192.0.2.2 9001 -c -B 7001 -w 0.2
alive
done_testing
