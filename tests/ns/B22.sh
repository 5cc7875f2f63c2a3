#!/bin/bash
# Empty datagrams from the container vanish. Right: they arrive, as empty
# datagrams, and in their place among others.
#
#   c ──> p:9001      p ──> h:5000 ──tap──> c      sizes 100 0 100 0 0 7

. "$(dirname "$0")"/lib.sh

# sizes NS LOG ADDR PORT
sizes()
{
	local before

	before=$(grep -c ^got "$2")
	udp "$1" sizes --to "$3" "$4" -- 100 0 100 0 0 7
	WAIT=1 wait_until test_lines "$2" $((before + 6))
	awk '/^got/ { print $2 }' "$2" | tail -n +$((before + 1)) | xargs
}

test_lines()
{
	[ "$(grep -c ^got "$1")" -ge "$2" ]
}

F -u 5000 -U 5001
warm
serve p echo -v 192.0.2.2 9001 2001:db8::2 9001
plog=$SLOG
serve c echo -v 0.0.0.0 5000 :: 5000
clog=$SLOG
serve h echo -v 127.0.0.1 5001 ::1 5001
hlog=$SLOG
want="100 0 100 0 0 7"
for a in 192.0.2.2 2001:db8::2; do
	ok "asked and answered, $a" ask c $a 9001 -c -s 0
	is "out, in order, $a" "$(sizes c $plog $a 9001)" "$want"
done
for a in 192.0.2.1 2001:db8::1; do
	ok "asked and answered, $a" ask p $a 5000 -c -s 0
	is "in, in order, $a" "$(sizes p $clog $a 5000)" "$want"
done
for a in 127.0.0.1 ::1; do
	is "in over loopback, $a" "$(sizes h $clog $a 5000)" "$want"
	is "out over loopback, $a" "$(sizes c $hlog $a 5001)" "$want"
done
done_testing
