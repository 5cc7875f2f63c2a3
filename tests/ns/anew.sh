#!/bin/bash
# Ports that are published on an interface of the host stay published when the
# interface is taken away and made anew: a dock, a VPN, a restarted bridge.
# once
#
#   p ──vpn──> h:5000, on vpn alone ──> c:5000

. "$(dirname "$0")"/lib.sh

WAIT=2

vpn()
{
	ip -n "${X}h" link add vpn type veth peer name pvpn netns "${X}p"
	ip -n "${X}h" addr add 10.8.0.1/24 dev vpn
	ip -n "${X}p" addr add 10.8.0.2/24 dev pvpn
	ip -n "${X}h" link set vpn up
	ip -n "${X}p" link set pvpn up
}

vpn
F -u %vpn/5000-5001
serve c echo 0.0.0.0 5000 0.0.0.0 5001
ok "published on the interface" wait_until ask p 10.8.0.1 5000 -c -w 0.1
nok "and on no other" ask p 192.0.2.1 5000 -c -w 0.1
ip -n "${X}h" link del vpn
nok "it is gone" ask p 10.8.0.1 5000 -c -w 0.1
vpn
ok "it is back: published again" wait_until ask p 10.8.0.1 5000 -c -w 0.1
ok "with every port" wait_until ask p 10.8.0.1 5001 -c -w 0.1
nok "and on no other still" ask p 192.0.2.1 5000 -c -w 0.1
is "no socket is left of the old one" "$(bound h | wc -l)" 4
alive
done_testing
