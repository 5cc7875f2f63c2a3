#!/bin/bash
# Copied IPv6 addresses stand in reverse order, so the container prefers
# another source address than its host. Right: order, and so the source that
# the kernel chooses, are those of the host; the same for IPv4.
# once
#
#   h: several addresses on hp  ──copied──>  c

. "$(dirname "$0")"/lib.sh

ip -n "${X}h" -batch - <<-IP
	addr add 2001:db8::12/64 dev hp nodad
	addr add 2001:db8::11/64 dev hp nodad
	addr add 2001:db8::13/64 dev hp nodad preferred_lft 0
	addr add 192.0.2.13/24 dev hp
	addr add 192.0.2.12/24 dev hp
	addr add 198.51.100.5/24 dev hp
IP

# order NS VERSION: its addresses that are not deprecated, first to last
order()
{
	ip -n "$X$1" -o "-$2" addr show dev hp scope global |
		grep -v deprecated | awk '{ print $4 }' | xargs
}

# source NS DESTINATION
source_for()
{
	ip -n "$X$1" route get "$2" | sed -n 's/.* src \([^ ]*\) .*/\1/p'
}

F
for v in 4 6; do
	is "order of IPv$v addresses" "$(order c $v)" "$(order h $v)"
done
for a in 2001:db8::2 2001:db8:1::1 192.0.2.2 198.51.100.9 203.0.113.1; do
	is "source towards $a" "$(source_for c $a)" "$(source_for h $a)"
done
nok "no lifetimes are copied" grep -q 'valid_lft [0-9]' \
	<(ip -n "${X}c" addr show dev hp)
alive
done_testing
