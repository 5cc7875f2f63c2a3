#!/bin/bash
# Memory grows without end under repeated runs of UDP or TCP. Right: it is flat.
# once
# limit: 120
#
#   30 x: c ──flood, a new socket each time──> p:9001; SLOW=1: 50 x 1 s
#   4 or 10 x: c ──50 connections, 5 MB each way──> p:9002, 9003; the same p ──> c

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

load=$DIR/../../build/perf/udpload
[ -x "$load" ] || skip "no udpload, make it: make perf-tools"
runs=30
for_s=0.2
[ -z "${SLOW:-}" ] || { runs=50 for_s=1; }
F -t 5002,5003
run p "$load" sink -p 9001 -t 60 -w 60 >$T/sink &
flood()
{
	run c "$load" flood 192.0.2.2 9001 -s "$1" -t $for_s >/dev/null
}
# The first runs touch every buffer once
for size in 64 1472 30000 64 1472 30000 64 1472 30000; do flood $size; done
before=$(pss)
for ((i = 0; i < runs; i++)); do
	case $((i % 3)) in 0) flood 64 ;; 1) flood 1472 ;; *) flood 30000 ;; esac
done
after=$(pss)
atmost "KiB more after $runs runs" $((after - before)) 1024
atmost "KiB of memory" "$after" 8192

tshort p 192.0.2.2 9002
tserve p 192.0.2.2 9003
tshort c 0.0.0.0 5002
tserve c 0.0.0.0 5003
connections()
{
	tcp c many 192.0.2.2 9002 -n 50
	tcp c each 192.0.2.2 9003 "push -s 5000000" "pull -s 5000000"
	tcp p many 192.0.2.1 5002 -n 50
	tcp p each 192.0.2.1 5003 "push -s 5000000" "pull -s 5000000"
}
for ((i = 0; i < 3; i++)); do connections >/dev/null; done
before=$(pss)
n=10
is_root || n=4
[ -z "${SLOW:-}" ] || n=50
for ((i = 0; i < n; i++)); do connections; done >$T/tcp
is "runs of TCP" "$(grep -Ec ': ok|answered 50' $T/tcp)" $((n * 6))
after=$(pss)
atmost "KiB more after $n runs of TCP" $((after - before)) 1024
atmost "KiB of memory" "$after" 10240
ok "no connection is left" wait_until no_connections
alive
done_testing
