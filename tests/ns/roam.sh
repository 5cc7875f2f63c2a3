#!/bin/bash
# The host is carried through networks: another address, another interface, a
# VPN over the same interface, a renewed lease. A conversation from one port of
# the container goes on within two seconds of each change, with the source
# address that the host would use; nothing is looked at while nothing changes.
# once
#
#   c:7001 ──> h ──hp──> p .2            h ──vpn──> p: lo 198.51.100.2
#                └─wifi─> p

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-group.sh

WAIT=2

# seen PORT: how the server sees the container's port
seen()
{
	ask c 198.51.100.2 9001 -c -B "$1" -w 0.2 | awk '{ print $4 }'
}

# turns NAME WANT: the same conversation, from another address soon
turns()
{
	ok "$1: from $2" wait_until sees "$2"
}

sees()
{
	[ "$(seen 7001)" = "$1" ]
}

# hears DEV ADDR: the container hears a group over that link
hears()
{
	said p "$1" 239.255.255.250 1900 hello -w 0.1
	has "$heard" "got hello from $2 "
}

ip -n "${X}p" addr add 198.51.100.2/32 dev lo
serve p echo 198.51.100.2 9001
server=$SP
F -u 5000,1900
sees 192.0.2.1
is "at home" "$(seen 7001)" 192.0.2.1

group c hear "$TAP" 1900 239.255.255.250
heard=$GLOG
ok "a group" wait_until hears ph 192.0.2.2

more_addresses
is "a second address changes nothing" "$(seen 7001)" 192.0.2.1

# A VPN: the old address stays, the route leads elsewhere
ip -n "${X}h" link add vpn type veth peer name pvpn netns "${X}p"
ip -n "${X}h" addr add 10.8.0.1/24 dev vpn
ip -n "${X}p" addr add 10.8.0.2/24 dev pvpn
ip -n "${X}h" link set vpn up
ip -n "${X}p" link set pvpn up
ip -n "${X}h" route add 198.51.100.0/24 via 10.8.0.2
turns "VPN up" 10.8.0.1
ip -n "${X}h" link del vpn
turns "VPN gone" 192.0.2.1

# A lease of another address
run h ip addr flush dev hp scope global
ip -n "${X}h" addr add 192.0.2.77/24 dev hp
ip -n "${X}h" route add default via 192.0.2.254
turns "a new lease" 192.0.2.77
is "the port is the container's" \
	"$(ask c 198.51.100.2 9001 -B 7001 | awk '{ print $5 }')" 7001

# Another network altogether, the old interface gone
ip -n "${X}h" link add wifi type veth peer name pwifi netns "${X}p"
ip -n "${X}h" link del hp
ip -n "${X}h" addr add 203.0.113.1/24 dev wifi
ip -n "${X}p" addr add 203.0.113.2/24 dev pwifi
ip -n "${X}h" link set wifi up
ip -n "${X}p" link set pwifi up
ip -n "${X}h" route add default via 203.0.113.2
turns "another interface" 203.0.113.1
serve c echo 0.0.0.0 5000
ok "the group" wait_until hears pwifi 203.0.113.2
ok "what is published" ask p 203.0.113.1 5000 -c
alive

# A flow that has no way keeps its place
stop $server
before=$(cpu)
run h timeout 5 sleep 1 # sleep: nothing changes, nobody works
atmost "idle: clock ticks" $(($(cpu) - before)) 0
alive
done_testing
