#!/bin/bash
# The address given by --dns-forward answers by UDP, but a large answer has to
# be fetched by TCP from the same address, and that times out. Right: UDP and
# TCP, port 53 and 853, lead to the same resolver.
# once
#
#   c ──> D:53, D:853 ──> h's resolver in p, or --dns-host

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

command -v dig >/dev/null || skip "no dig"

D4=192.0.2.53
D6=fd00::53

# text SERVER [DIG-WORDS...]: which server answers
text()
{
	$C dig +short +time=2 +tries=1 txt x.test "@$1" "${@:2}" | tr -d '"'
}

# resolver NAME ADDR...: DNS by UDP and TCP, cut short by UDP if "big" is asked
# for
resolver()
{
	local name=$1

	shift
	SN=$((${SN:-0} + 1))
	SLOG=$T/s$SN.log
	run p $PY -SE "$DIR"/dns.py "$name" "$@" >$SLOG 2>&1 &
	wait_until has $SLOG ^ready || echo "# no resolver: $(cat $SLOG)"
}

resolver first 192.0.2.2 2001:db8::2
resolver second 192.0.2.3 2001:db8::3

# both NAME SERVER: by either protocol, on either port
both()
{
	is "$2, UDP" "$(text $2)" "$1"
	is "$2, TCP" "$(text $2 +tcp)" "$1"
	is "$2, TCP, a connection kept for more" \
		"$($C dig +short +tcp +keepopen +time=2 @$2 a.test txt b.test txt |
		tr -d '"' | xargs)" "$1 $1"
	is "$2, a large answer: UDP, cut, then TCP" \
		"$($C dig +short +time=2 +tries=1 @$2 txt big.test | wc -l)" 60
	is "$2, port 853" "$(text $2 +tcp -p 853)" "$1"
	is "$2, port 853 by UDP" "$(text $2 -p 853)" "$1"
}

# fifty SERVER
fifty()
{
	local i ps=()

	for ((i = 0; i < 50; i++)); do
		text "$1" +tcp >$T/look$i &
		ps+=($!)
	done
	wait "${ps[@]}"
	[ "$(cat $T/look* | grep -cx first)" = 50 ]
}

F --dns-forward $D4
both first $D4
quick "another port leads nowhere" 3000 . tcp c ask $D4 54 -w 1
ok "50 look-ups at once" fifty $D4
stop $FP

F --dns-forward $D4 --dns-host 192.0.2.3 --dns-forward $D6 --dns-host 2001:db8::3
both second $D4
both second $D6
is "the resolver itself" "$(text 192.0.2.2 +tcp)" first
stop $FP

# One that refuses TCP says so at once, in the asker's words
F --dns-forward $D4 --dns-host 192.0.2.254
start=$(now)
like "nobody there" "$($C dig +tcp +time=5 +tries=1 @$D4 txt x.test 2>&1)" \
	'connection refused'
atmost "milliseconds" $(($(now) - start)) 1500
alive
done_testing
