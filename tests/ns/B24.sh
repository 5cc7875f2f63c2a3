#!/bin/bash
# Memory grows without end under repeated UDP runs. Right: it is flat.
# once
# limit: 120
#
#   30 x: c ──flood, a new socket each time──> p:9001; SLOW=1: 50 x 1 s

. "$(dirname "$0")"/lib.sh

load=$DIR/../../build/perf/udpload
[ -x "$load" ] || skip "no udpload, make it: make perf-tools"
runs=30
for_s=0.2
[ -z "${SLOW:-}" ] || { runs=50 for_s=1; }
F
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
alive
done_testing
