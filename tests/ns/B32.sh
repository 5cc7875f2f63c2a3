#!/bin/bash
# DSCP marks of VoIP and ECN of QUIC are lost behind the forwarder. Right: each
# datagram keeps its own, both ways, over the tap and over loopback.
#
#   c, TOS 0xb8 ──> p      p, TOS 0x2e ──> h:5000 ──tap──> c

. "$(dirname "$0")"/lib.sh

say()
{
	local ns=$1

	shift
	run "$ns" "$PY" -SE "$DIR/mark.py" say "$@" -w 0.1 >/dev/null
}

# see NS DEV PORT
see()
{
	run "$1" "$PY" -SE "$DIR/mark.py" see "$2" "$3" >>"$T/see-$1-$2" 2>&1 &
	wait_until has "$T/see-$1-$2" ready
	: >"$T/see-$1-$2"
}

tos()
{
	awk '{ print $1 }' "$T/see-$1" | xargs
}

# told WHAT FILE WANTED: the marks seen, once there are as many as wanted
told()
{
	# shellcheck disable=SC2016 # for that shell
	wait_until sh -c '[ "$(wc -l <"$0")" -ge "$1" ]' "$T/see-$2" \
		"$(wc -w <<<"$3")"
	is "$1" "$(tos "$2" | cut -d' ' -f1-"$(wc -w <<<"$3")")" "$3"
	: >"$T/see-$2"
}

F -u 5000
serve c hold 0.0.0.0 5000 :: 5000
tap=$(run c ip -o link | awk -F': ' '!/lo/ { print $2; exit }')
see p ph 9001
see c "${tap%@*}" 5000
see c lo 5000
for a in 192.0.2.2 2001:db8::2; do
	for t in 0xb8 0 3 0x2e 0x2e 255; do
		say c "$a" 9001 --tos "$t"
	done
	told "out: $a" p-ph "184 0 3 46 46 255"
done
for a in 192.0.2.1 2001:db8::1; do
	for t in 0xb8 0 1 0x2e; do
		say p "$a" 5000 --tos "$t"
	done
	told "in: $a" "c-${tap%@*}" "184 0 1 46"
done
for a in 127.0.0.1 ::1; do
	for t in 0xb8 0 2; do
		say h "$a" 5000 --tos "$t"
	done
	told "spliced: $a" c-lo "184 0 2"
done
alive
done_testing
