#!/bin/bash
# A chosen outgoing address is honoured for some traffic, not for UDP, or it
# also replaces the source of answers from published ports. Right: every
# datagram that a flow of the container sends has it, and a published port
# answers from the address that was asked.
# once
#
#   c ──from .11──> p          p ──asks .1, .11──> h:5000 ──> c

. "$(dirname "$0")"/lib.sh

more_addresses
serve c echo -v 0.0.0.0 5000 :: 5000
serve p echo -v 192.0.2.2 9001 192.0.2.3 9001 2001:db8::2 9001 2001:db8::3 9001
F --outbound 192.0.2.11 --outbound 2001:db8::11 -u 5000
for a in 192.0.2.2 192.0.2.3; do
	like "out to $a" "$(ask c $a 9001 -c -n 3 -q)" 'saw 192.0.2.11 '
done
for a in 2001:db8::2 2001:db8::3; do
	like "out to $a" "$(ask c $a 9001 -c -n 3 -q)" 'saw 2001:db8::11 '
done
like "from a published port's own socket" \
	"$(ask c 192.0.2.2 9001 -B 6000)" 'saw 192.0.2.11 6000'
udp c exchange 192.0.2.2 9001 -n 20 >/dev/null
is "never from another address" \
	"$(grep -c '^got .* \(192.0.2.1\|2001:db8::1\) ' $SLOG)" 0
for a in 192.0.2.1 192.0.2.11 2001:db8::1 2001:db8::11; do
	ok "the published port answers from $a" ask p $a 5000 -c
done
for a in 127.0.0.1 ::1; do
	ok "and over loopback, $a" ask h $a 5000 -c
done
alive
stop $FP

F --outbound-if4 hp --outbound 192.0.2.11 -u 5000
like "with an interface, too" "$(ask c 192.0.2.2 9001 -c)" 'saw 192.0.2.11 '
alive
done_testing
