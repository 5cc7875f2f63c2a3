#!/bin/bash
# Several datagrams are read in one go and the first is handled again and
# again. Right: each datagram once, in order per flow.
#
#   c ──500──> p:9001    p ──500──> h:5000 ──> c    h ──500──> 127.0.0.1:5000

. "$(dirname "$0")"/lib.sh

F -u 5000
warm
for way in "p 192.0.2.2 9001 c" "p 2001:db8::2 9001 c"; do
	# shellcheck disable=SC2086
	set -- $way
	serve $1 rx $2 $3 -n 500
	udp $4 tx $2 $3 -n 500 -s 100 -g 0.0001
	wait $SP
	is "out to $2" "$(tail -n 1 $SLOG)" "got 500 twice 0 late 0"
done
for way in "p 192.0.2.1" "p 2001:db8::1" "h 127.0.0.1" "h ::1"; do
	# shellcheck disable=SC2086
	set -- $way
	case $2 in *:*) any=:: ;; *) any=0.0.0.0 ;; esac
	serve c rx $any 5000 -n 500
	udp $1 tx $2 5000 -n 500 -s 100 -g 0.0001
	wait $SP
	is "in to $2" "$(tail -n 1 $SLOG)" "got 500 twice 0 late 0"
done
alive
done_testing
