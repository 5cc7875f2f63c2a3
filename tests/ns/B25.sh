#!/bin/bash
# The network is away for a while (roaming, cable, suspend): afterwards nothing
# is forwarded until a manual restart. Right: what is sent meanwhile is lost
# and counted, nothing else; with the link everything is back, also for
# conversations that went on all the time from one port.
# once
#
#   c:7001 ──> p       link of h down, up, its route again

. "$(dirname "$0")"/lib.sh

WAIT=2

serve p echo 192.0.2.2 9001 2001:db8::2 9001
F
both() # NAME
{
	ok "$1, v4" wait_until ask c 192.0.2.2 9001 -B 7001 -w 0.2
	ok "$1, v6" wait_until ask c 2001:db8::2 9001 -B 7001 -w 0.2
	ok "$1, v4, connected" wait_until ask c 192.0.2.2 9001 -c -B 7002 -w 0.2
	ok "$1, v6, connected" wait_until ask c 2001:db8::2 9001 -c -B 7002 -w 0.2
}

# link down, up, and what a network manager does then
bounce()
{
	ip -n "${X}h" link set hp down
	nok "down, v4" ask c 192.0.2.2 9001 -B 7001 -w 0.3
	nok "down, v6" ask c 2001:db8::2 9001 -B 7001 -w 0.3
	[ "${1:-}" ] && sleep "$1" # sleep: changes are looked at meanwhile
	ip -n "${X}h" link set hp up
	ip -n "${X}h" addr replace 2001:db8::1/64 dev hp nodad
	ip -n "${X}h" route replace default via 192.0.2.254
	ip -n "${X}h" route replace default via 2001:db8::fe
}

both "before"
bounce
both "after a moment"
bounce 1
both "after a second"
atmost "lost is what was sent meanwhile" "$(stats no_route)" 8
is "the port on the host is the container's" \
	"$(ask c 192.0.2.2 9001 -B 7001 | awk '{ print $5 }')" 7001
alive
done_testing
