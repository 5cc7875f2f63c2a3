#!/bin/bash
# The same port on different host addresses for two containers is refused, or
# one is silently dropped. Right: a published address is bound alone, and two
# forwarders coexist; each answers from its own address.
# once
#
#   p ──> h .1:5000 ──> PASTA ──> c      p ──> h .11:5000 ──> PASTA ──> d

. "$(dirname "$0")"/lib.sh

more_addresses
ip netns add "${X}d"
F -u 192.0.2.1/5000 -u 2001:db8::1/5000
one=$FP
NETNS=d F -u 192.0.2.11/5000 -u 2001:db8::11/5000
serve c echo -v 0.0.0.0 5000 :: 5000
clog=$SLOG
serve d echo -v 0.0.0.0 5000 :: 5000
dlog=$SLOG
for a in 192.0.2.1 2001:db8::1; do
	ok "the first, $a" ask p $a 5000 -c
done
is "came to the first container" "$(grep -c ^got $clog)" 2
for a in 192.0.2.11 2001:db8::11; do
	ok "the second, $a" ask p $a 5000 -c
done
is "came to the second container" "$(grep -c ^got $dlog)" 2
is "and not to the first" "$(grep -c ^got $clog)" 2

f_args --netns "${X}d" -u 192.0.2.1/5000
fails "the same address again" '192.0.2.1.*5000|5000.*192.0.2.1' \
	$H "${ARGV[@]}"
f_args --netns "${X}d" -u 5000
fails "all addresses" '5000.*in use' $H "${ARGV[@]}"
f_args --netns "${X}d" -u 2001:db8::11/5000
fails "the same v6 address again" '2001:db8::11.*5000|5000.*2001:db8::11' \
	$H "${ARGV[@]}"
ok "the first still runs" kill -0 $one
alive
done_testing
