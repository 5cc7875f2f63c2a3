#!/bin/bash
# One request starts a long one-way stream of answers (radio, metrics, RTP); it
# stops after the timeout. Right: a datagram in either direction keeps the flow.
# once
# limit: 330
#
#   c ──one──> p:9001 ──ten──> c, and a one-way sender with one late answer
#   --udp-timeout 3 and one per s; SLOW=1: the default and one per 25 s

. "$(dirname "$0")"/lib.sh

gap=1
timeout=3
if [ -n "${SLOW:-}" ]; then
	gap=25
	timeout=180
fi
F -u 5000 --udp-timeout $timeout
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve c echo 0.0.0.0 5000 :: 5000
clients=()
for way in "c 192.0.2.2 9001" "c 2001:db8::2 9001" "p 192.0.2.1 5000" \
	"h 127.0.0.1 5000" "c 192.0.2.254 9005"; do
	# shellcheck disable=SC2086
	set -- $way
	[ $3 != 9005 ] || serve h echo 127.0.0.1 9005
	udp $1 late --to $2 $3 --what 10x$gap -n 10 -w $((gap + 2)) x \
		>"$T/stream $1 $2" &
	clients+=($!)
done
wait "${clients[@]}"
for f in "$T"/stream*; do
	is "${f##*/}" "$(cat "$f")" "got 10"
done
alive
done_testing
