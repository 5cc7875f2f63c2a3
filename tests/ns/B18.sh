#!/bin/bash
# A log sender with a fixed port is lost for good after the container's server
# restarts, or if it began before the server did. Right: the first datagram
# after the server is back gets through, with the right source.
# once
#
#   p:7002, h:7002 ──> h:5000 ──> c: no server, server, none, server

. "$(dirname "$0")"/lib.sh

F -u 5000
for way in "p 192.0.2.1" "p 2001:db8::1" "h 127.0.0.1" "h ::1"; do
	# shellcheck disable=SC2086
	set -- $way
	nok "$2: before the server" ask $1 $2 5000 -B 7002 -w 0.3
	for i in 1 2; do
		serve c echo 0.0.0.0 5000 :: 5000
		out=$(ask $1 $2 5000 -B 7002 -c)
		like "$2: first datagram to server $i" "$out" "saw "
		[ $1 = h ] || like "its source is right" "$out" " 7002\$"
		stop $SP
		nok "$2: the server is gone" ask $1 $2 5000 -B 7002 -w 0.3
	done
done
alive
done_testing
