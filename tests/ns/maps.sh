#!/bin/bash
# 5,000 inner source ports under a limit of 1024 descriptors: every exchange is
# answered, because one-shot flows give way; a long-lived flow beside them is
# not broken and keeps its outer port.
# once
#
#   c, 5000 source ports ──> p:9001      c:7001 ──> p:9002, all the time

. "$(dirname "$0")"/lib.sh

WRAP="setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource"
LIMITS="-n 1024" F
serve p echo 192.0.2.2 9001 2001:db8::2 9001 192.0.2.2 9002
udp c ask 192.0.2.2 9002 -c -B 7001 -n 100 -g 0.03 >$T/long 2>&1 &
long=$!
ok "5,000 source ports, v4" udp c oneshot 192.0.2.2 9001 -n 5000 \
	--first 10000 --window 16
ok "2,000 source ports, v6" udp c oneshot 2001:db8::2 9001 -n 2000 \
	--first 10000 --window 16
wait $long
is "the long-lived flow: status" $? 0
is "by its own port" "$(sort -u $T/long)" "192.0.2.2 9002 saw 192.0.2.1 7001"
like "flows were evicted" "$(stats maps_evicted)" '^[1-9]'
alive
done_testing
