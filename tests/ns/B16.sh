#!/bin/bash
# An answer that comes after more than 90 s is dropped. Right: a flow lasts
# 180 s after its last datagram, or as long as --udp-timeout says, both ways.
# once
# limit: 330
#
#   out: c ──> p:9001   in: p ──> h:5000 ──> c   with answers that come late
#   --udp-timeout 5 and 1 to 4 s; SLOW=1: the default, and up to 170 s

. "$(dirname "$0")"/lib.sh

late="1 2.5 4"
over=8
if [ -n "${SLOW:-}" ]; then
	late="10 65 125 170"
	over=245
	F -u 5000
else
	F -u 5000 --udp-timeout 5
fi
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve c echo 0.0.0.0 5000 :: 5000
clients=()
for way in "c 192.0.2.2 9001" "c 2001:db8::2 9001" "p 192.0.2.1 5000" \
	"p 2001:db8::1 5000"; do
	# shellcheck disable=SC2086
	set -- $way
	for s in $late $over; do
		udp $1 late --to $2 $3 --what $s -w $((${s%.*} + 4)) x \
			>"$T/late $2 $s" &
		clients+=($!)
	done
done
wait "${clients[@]}"
for f in "$T"/late*; do
	want="got 1"
	case $f in
	*"192.0.2.2 $over" | *"db8::2 $over") want="got 0" ;;
	*" $over") continue ;; # from a published port it comes as a new flow
	esac
	is "${f##*/} s" "$(cat "$f")" "$want"
done
alive
done_testing
