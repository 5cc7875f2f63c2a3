#!/bin/bash
# Publishing thousands of ports (RTP, TURN) takes minutes, gigabytes, or ends
# with "too many open files". Right: 10,000 ports are ready in less than a
# second and a few MB, under a hard limit of 20,000 descriptors; what cannot be
# done is refused with a clear message.
# once
# serial
#
#   p ──> h:10000-19999, both families ──tap──> c

. "$(dirname "$0")"/lib.sh

# The right to raise the hard limit would make this too easy
WRAP="setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource"
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 20000 ] ||
	skip "the hard limit of descriptors is below 20000"

start=$(now)
LIMITS="-n 20000" F -u 10000-19999
atmost "milliseconds to start" $(($(now) - start)) 1000
bound h >$T/bound
is "ports bound, v4" "$(grep -c '^0.0.0.0:1[0-9]\{4\}$' $T/bound)" 10000
is "ports bound, v6" "$(grep -c '^\[::\]:1[0-9]\{4\}$' $T/bound)" 10000
serve c echo 0.0.0.0 10000 :: 10000 0.0.0.0 14999 :: 14999 \
	0.0.0.0 19999 :: 19999
serve p echo 192.0.2.2 9001 2001:db8::2 9001
for port in 10000 14999 19999; do
	ok "v4 $port" ask p 192.0.2.1 $port -c
	ok "v6 $port" ask p 2001:db8::1 $port -c
	ok "over loopback $port" ask h 127.0.0.1 $port -c
done
ok "out, v4" ask c 192.0.2.2 9001 -c
ok "out, v6" ask c 2001:db8::2 9001 -c
atmost "KiB of memory" "$(pss)" 8192
stop $FP
f_args -u 10000-19999 --netns "${X}c"
fails "too few descriptors" '(descriptors|open files)' \
	sh -c 'ulimit -n 1000; exec "$@"' sh $H $WRAP "${ARGV[@]}"
done_testing
