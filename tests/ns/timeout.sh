#!/bin/bash
# A flow lives as long as datagrams pass in either direction, and is forgotten
# --udp-timeout seconds after the last one; its port can be used again then.
# once
#
#   --udp-timeout 5; out: c ──> p:9001    in: p ──> h:5000 ──tap──> c
#   over loopback: h ──splice──> c; answers after 3 s, 8 answers 1 s apart

. "$(dirname "$0")"/lib.sh

F -u 5000 --udp-timeout 5
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve c echo 0.0.0.0 5000 :: 5000
# From now on a pool of sockets is at hand
ask h 127.0.0.1 5000 >/dev/null
ask h ::1 5000 >/dev/null
base=$(ls /proc/$FP/fd | wc -l)
clients=()
for way in "c 192.0.2.2 9001" "c 2001:db8::2 9001" "p 192.0.2.1 5000" \
	"p 2001:db8::1 5000" "h 127.0.0.1 5000" "h ::1 5000"; do
	# shellcheck disable=SC2086
	set -- $way
	udp $1 late --to $2 $3 --what 3 -n 1 -w 6 x >$T/late-$1-$2 &
	clients+=($!)
	udp $1 late --to $2 $3 --what 8x1 -n 8 -w 3 x >$T/stream-$1-$2 &
	clients+=($!)
	udp $1 late --to $2 $3 --what 7.5 -n 1 -w 9 x >$T/over-$1-$2 &
	clients+=($!)
done
ask c 192.0.2.2 9001 -B 7100 >$T/before
wait "${clients[@]}"
for f in $T/late-*; do
	is "an answer after 3 s, ${f#*-}" "$(cat $f)" "got 1"
done
for f in $T/stream-*; do
	is "a stream of 8 s after one request, ${f#*-}" "$(cat $f)" "got 8"
done
is "an answer after 7.5 s is not let in, v4" "$(cat $T/over-c-192.0.2.2)" "got 0"
is "an answer after 7.5 s is not let in, v6" "$(cat $T/over-c-2001:db8::2)" \
	"got 0"
like "flows expired" "$(stats flows_expired)" '^[1-9]'
for _ in 1 2 3 4; do
	ask c 192.0.2.2 9001 >/dev/null
done
is "a port is used again" "$(ask c 192.0.2.2 9001 -B 7100)" "$(cat $T/before)"

few()
{
	[ "$(ls /proc/$FP/fd | wc -l)" -le $base ]
}

no_flow()
{
	[ "$(stats flows)" = 0 ]
}

WAIT=7
ok "descriptors are given back" wait_until few
ok "no flow is left" wait_until no_flow
alive
done_testing
