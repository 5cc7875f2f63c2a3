#!/bin/bash
# dhcpcd configures a namespace by itself, both families at once, from DHCP,
# router advertisements and DHCPv6, and renews what it has.
# once
# root only
#
#   p <── h: PASTA ── tap ── c: dhcpcd, under its own identity

. "$(dirname "$0")"/lib.sh

# shellcheck disable=SC2034 # for lib.sh
CONFIG_NET=
command -v dhcpcd >/dev/null || skip "no dhcpcd"
mkdir -p /run/dhcpcd
mount -t tmpfs none /var/lib/dhcpcd || skip "no place for its leases"

# has_route FAMILY REGEX
has_route()
{
	ip -n "${X}c" "$1" route show default | grep -E "$2"
}

has_addr()
{
	ip -n "${X}c" addr show dev tap7 -tentative | grep -F " $1"
}

# leased STEP COUNT: dhcpcd has logged STEP so often
leased()
{
	[ "$(grep -c "$1" $T/dhcpcd.log)" -ge "$2" ]
}

serve p echo 192.0.2.2 9001
serve p echo 2001:db8::2 9001
F --dhcp-dns --dhcp-search --ns-ifname tap7
run c ip link set tap7 up
run c dhcpcd -B -d -f /dev/null -c /bin/true tap7 >$T/dhcpcd.log 2>&1 &
DHCPCD=$!
WAIT=15
ok "IPv4: the host's address" wait_until has_addr 192.0.2.1/24
ok "IPv4: its gateway" wait_until has_route -4 'via 192\.0\.2\.254 '
ok "IPv6: the host's address" wait_until has_addr 2001:db8::1/
ok "IPv6: an address of the prefix" wait_until has_addr 2001:db8::
ok "IPv6: our link-local address as gateway" wait_until has_route -6 'via fe80:'
WAIT=5
like "IPv4: a server answers" "$(ask c 192.0.2.2 9001)" 'saw 192\.0\.2\.1 '
like "IPv6: a server answers" "$(ask c 2001:db8::2 9001)" 'saw 2001:db8::1 '

# As after a change of network: what it had is confirmed
n=$(grep -c 'leased for infinity' $T/dhcpcd.log)
run c dhcpcd -n -c /bin/true tap7 >/dev/null 2>&1
WAIT=15
ok "renewed" wait_until leased 'leased for infinity' $((n + 1))
WAIT=5
like "IPv4: a server answers" "$(ask c 192.0.2.2 9001)" 'saw 192\.0\.2\.1 '
is "everything was answered" "$(stats dhcp_not_answered)" 0
alive
kill $DHCPCD
done_testing
