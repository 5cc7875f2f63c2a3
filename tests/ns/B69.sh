#!/bin/bash
# The host's first name server is dead: each look-up in the container fails, or
# takes as long as the client is willing to wait. Right: the next one is asked
# within a second, at once if the first refuses, and from then on the one that
# answers is asked first.
# once
#
#   c ──asks D──> h ──> p: .9 dead      after a moment ──> p: .3

. "$(dirname "$0")"/lib.sh

D=192.0.2.53 D6=fd00::53

# took CMD...: milliseconds
took()
{
	local start

	start=$(now)
	"$@" >/dev/null 2>&1 || return
	echo $(($(now) - start))
}

# What is sent to .9 gets lost; what is sent to .2 is refused
ip -n "${X}h" neigh add 192.0.2.9 lladdr $PMAC dev hp
ip -n "${X}h" neigh add 2001:db8::9 lladdr $PMAC dev hp
serve p echo 192.0.2.3 53 2001:db8::3 53
printf 'nameserver %s\n' 192.0.2.9 192.0.2.3 2001:db8::9 2001:db8::3 \
	>$T/resolv.conf
F --dns-forward $D --dns-forward $D6
for a in $D $D6; do
	atmost "$a: the first query" "$(took ask c $a 53 -c -w 4)" 1400
	atmost "$a: the second" "$(took ask c $a 53 -c -w 4)" 500
	ok "$a: further ones" ask c $a 53 -c -n 3 -w 0.5
done
atmost "asked again twice only" "$(stats dns_asked_again)" 2
stop $FP

# Refused: at once
printf 'nameserver %s\n' 192.0.2.2 192.0.2.3 2001:db8::2 2001:db8::3 \
	>$T/resolv.conf
F --dns-forward $D --dns-forward $D6
for a in $D $D6; do
	ok "$a: refused by the first" ask c $a 53 -c -w 0.5
	ok "$a: then as ever" ask c $a 53 -c -w 0.5 -n 3
done

# The second dies, the first lives again
stop $SP
serve p echo 192.0.2.2 53 2001:db8::2 53
for a in $D $D6; do
	ok "$a: back to the first" ask c $a 53 -c -w 1 -n 3
done
stop $SP
nok "both refuse" ask c $D 53 -c -w 0.3
serve p echo 192.0.2.3 53
ok "and work again" ask c $D 53 -c -w 1
alive
stop $FP

# No way to the first
printf 'nameserver %s\n' 198.51.100.1 192.0.2.3 >$T/resolv.conf
ip -n "${X}h" route del default
F --dns-forward $D
ok "no route to the first" ask c $D 53 -c -w 0.5 -n 2
done_testing
