#!/bin/bash
# What happens to connections in real life: a reader that stands still, a
# program that is killed, a link that goes down and comes back, a host that
# vanishes. Bytes are kept, ends are told, nothing hangs, the forwarder lives.
# once
#
#   p ──> h:5000 ──tap──> c, h lo ──splice──> c, c ──tap──> p:9001

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

F -t 5000 -T 5002
tserve c 0.0.0.0 5000 :: 5000
inner=$SP
tserve p 192.0.2.2 9001 2001:db8::2 9001
lan=$SP
tserve h 127.0.0.1 5002
ways=("p 192.0.2.1 5000" "p 2001:db8::1 5000" "h 127.0.0.1 5000"
	"c 192.0.2.2 9001" "c 2001:db8::2 9001" "c 127.0.0.1 5002")
transfers=("p push 192.0.2.1 5000" "p pull 192.0.2.1 5000"
	"c push 192.0.2.2 9001" "c pull 192.0.2.2 9001")
thin transfers

zero_windows()
{
	[ "$(counter c TcpExtTCPToZeroWindowAdv)" -gt $((windows + 2)) ]
}

# link_is NS DEV STATE
link_is()
{
	ip -n "$X$1" link show "$2" | grep -qw "$3"
}

# Readers that do nothing for 3 s while 40 MB come: every buffer is full, all
# at the same time, and others are served meanwhile
stalled=()
windows=$(counter c TcpExtTCPToZeroWindowAdv)
for way in "${ways[@]}"; do
	# shellcheck disable=SC2086
	set -- $way
	for job in push pull; do
		bg_tcp $1 $job $2 $3 -s 40000000 --stall 3 -w 15
		stalled+=("$CP $CLOG $job $way")
	done
done
WAIT=3 ok "windows are closed" wait_until zero_windows
for way in "${ways[@]}"; do
	# shellcheck disable=SC2086
	ok "meanwhile, $way" tcp ${way%% *} ask ${way#* } -w 2
done
for k in "${stalled[@]}"; do
	read -r pid log way <<<"$k"
	wait "$pid"
	like "stalled reader, $way" "$(tail -n 1 $log)" '^pu(sh|ll) ok'
done
alive

# A process is killed: the other side is told
# shellcheck disable=SC2086
for way in "${ways[@]}"; do
	set -- $way
	bg_tcp $1 hear $2 $3
	ok "$way: client connected" wait_until has $CLOG hearing
	kill -KILL $CP
	wait $CP 2>/dev/null
done
ends()
{
	[ "$(cat $T/s?.log | grep -Ec '^hear (end|ConnectionReset)')" = ${#ways[@]} ]
}
ok "clients killed: all servers are told" wait_until ends

clients=()
# shellcheck disable=SC2086
for way in "${ways[@]}"; do
	case $way in *5002) continue ;; esac
	set -- $way
	bg_tcp $1 hear $2 $3
	ok "$way: connected again" wait_until has $CLOG hearing
	clients+=("$CLOG $way")
done
kill -KILL $inner $lan
wait $inner $lan 2>/dev/null
for k in "${clients[@]}"; do
	read -r log way <<<"$k"
	ok "$way: server killed: the client is told" wait_until \
		has "$log" '^(end|ConnectionReset)'
done
alive

# under_way NS JOB ADDR PORT: a slow transfer, seen to have begun; $CP, $CLOG
under_way()
{
	bg_tcp "$1" "$2" "$3" "$4" -s 80000000 --pauses 4 -w 10
	WAIT=3 wait_until has "$CLOG" 'under way' || echo "# not under way"
}

# over NAME: it has ended, well or not
over()
{
	WAIT=15 ok "$1" wait_until gone "$CP"
	ok "$1: $(tail -n 1 "$CLOG")" \
		has "$CLOG" '^(pu(sh|ll) ok|Connection|BrokenPipe|TimeoutError|OSError)'
}

tserve c 0.0.0.0 5000 :: 5000
tserve p 192.0.2.2 9001
lan=$SP
for way in "${transfers[@]}"; do
	# shellcheck disable=SC2086
	under_way $way
	ip -n "${X}c" link set hp down
	ok "the link of the container is down" link_is c hp DOWN
	run c sleep 0.3 # sleep: how long it is down
	ip -n "${X}c" link set hp up
	over "$way, link down and up"
	WAIT=3 ok "and again" wait_until tcp p ask 192.0.2.1 5000 -w 0.5
done
alive

# The host of the server vanishes, and comes back without it
under_way c push 192.0.2.2 9001
ip -n "${X}p" link set ph down
kill -KILL $lan
wait $lan 2>/dev/null
nok "nobody there" tcp c ask 192.0.2.2 9001 -w 0.3
ip -n "${X}p" link set ph up
tserve p 192.0.2.2 9001
over "the server's host vanishes"
WAIT=3 ok "it is back" wait_until tcp c ask 192.0.2.2 9001 -w 0.5
WAIT=10 ok "no connection is left" wait_until no_connections
alive
done_testing
