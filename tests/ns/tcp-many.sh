#!/bin/bash
# Thousands of short connections: none fails, and nothing is left of them.
# Descriptors run out under a crowd that stays: the forwarder lives, does not
# spin, and serves again once there is room.
# once
# limit: 120
#
#   10,000 (user: 1,000) each: p ──> h:5000 ──tap──> c, h lo ──splice──> c, c ──> p:9001
#   ulimit -n 1024: 600 at once on loopback, 1200 out over the tap

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

few()
{
	[ "$(fds)" -le "$base" ]
}

# many NAME COUNT WAY
many()
{
	# shellcheck disable=SC2086
	is "$1: $2 connections" "$(tcp ${3%% *} many ${3#* } -n "$2")" \
		"answered $2"
}

F -t 5000 -T 5002
tshort c 0.0.0.0 5000 :: 5000
tshort p 192.0.2.2 9001 2001:db8::2 9001
tshort h 127.0.0.1 5002
ways=("p 192.0.2.1 5000" "h 127.0.0.1 5000" "c 192.0.2.2 9001"
	"c 127.0.0.1 5002")
# Pools are filled by the first ones
for way in "${ways[@]}"; do
	many "first, $way" 20 "$way"
done
base=$(fds)
n=10000
is_root || n=1000
for way in "${ways[@]}"; do
	many "$way" $n "$way"
done
many "IPv6, in" 1000 "p 2001:db8::1 5000"
many "IPv6, out" 1000 "c 2001:db8::2 9001"
WAIT=15 ok "descriptors are given back" wait_until few
ok "no connection is left" wait_until no_connections
alive
stop $FP

# crowd NAME COUNT NS ADDR PORT: they come at once and stay
crowd()
{
	local name=$1 n=$2 before busy answered

	shift 2
	bg_tcp "$1" many "$2" "$3" -n "$n" --hold -w 1
	WAIT=10 ok "$name: all have tried" wait_until has $CLOG answered
	answered=$(sed -n 's/.*answered \([0-9]*\).*/\1/p' $CLOG)
	ok "$name: some are served: $(xargs <$CLOG)" \
		test "${answered:-0}" -ge 200
	busy=$(cpu)
	run h sleep 1 # sleep: what is done while nothing can be done
	atmost "$name: clock ticks in a second" $(($(cpu) - busy)) 20
	alive
	# One more: the oldest gives way, or it waits for the end of the others
	before=$CP
	bg_tcp "$1" many "$2" "$3" -w 10
	stop "$before"
	wait "$CP"
	is "$name: one more is served at last" $? 0
	many "$name: afterwards" 200 "$*"
	WAIT=15 ok "$name: descriptors are given back" wait_until few
	ok "$name: no connection is left" wait_until no_connections
}

LIMITS="-n 1024" F -t 5000 -T 5002
for way in "${ways[@]}"; do
	many "few descriptors, $way" 20 "$way"
done
base=$(fds)
crowd "over loopback" 600 h 127.0.0.1 5000
crowd "out over the tap" 1200 c 192.0.2.2 9001
if is_root; then
	crowd "out over loopback" 600 c 127.0.0.1 5002
	crowd "in over the tap" 1200 p 192.0.2.1 5000
fi
alive
done_testing
