#!/bin/bash
# TCP, every way through: from the LAN and from the host over the tap, over
# loopback, and out; in both families. Bytes arrive, either side may end first,
# or both at once, or by reset, and is told what the other one did.
# once
#
#   in: p ──> h:5000 ──tap──> c       the same from h's own address
#       h lo ──splice──> c            out: c ──tap──> p:9001
#                                          c lo ──-T──> h lo:5002

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

command -v socat >/dev/null || skip "no socat"

F -t 5000,5443 -T 5002,5444
tserve c 0.0.0.0 5000 :: 5000
inner=$SLOG
tserve p 192.0.2.2 9001 2001:db8::2 9001
lan=$SLOG
tserve h 127.0.0.1 5002 ::1 5002
host=$SLOG

# Client's namespace, address and port
ways=("p 192.0.2.1 5000" "p 2001:db8::1 5000" "h 192.0.2.1 5000"
	"h 2001:db8::1 5000" "h 127.0.0.1 5000" "h ::1 5000"
	"c 192.0.2.2 9001" "c 2001:db8::2 9001" "c 127.0.0.1 5002"
	"c ::1 5002")
thin ways

# log_of WAY: what the server at its end says
log_of()
{
	case $1 in *5000) echo $inner ;; *9001) echo $lan ;; *) echo $host ;; esac
}

# lines LOG REGEX
lines()
{
	grep -Ec -e "$2" "$1"
}

# told: did the server see what its client did on this way?
told()
{
	[ "$(lines $log '^early 1000000 ok')" = $((early + 1)) ] &&
		[ "$(lines $log '^both .* end')" = $((both + 5)) ] &&
		[ "$(lines $log '^hear ConnectionReset')" = $((resets + 1)) ]
}

# Connections without traffic, their probes answered, while all else happens
keep=()
for way in "${ways[@]}"; do
	# shellcheck disable=SC2086
	set -- $way
	bg_tcp "$1" keep "$2" "$3"
	keep+=("$CP $CLOG $way")
done

jobs=("exchange -n 100" "ask -n 20" "swap -s 4000000" "early -s 1000000"
	"urgent -n 50" "both -n 5" "reset -w 1" "reset --ours")
for way in "${ways[@]}"; do
	log=$(log_of "$way")
	early=$(lines $log '^early 1000000 ok')
	both=$(lines $log '^both .* end')
	resets=$(lines $log '^hear ConnectionReset')
	# shellcheck disable=SC2086
	set -- $way
	tcp $1 each $2 $3 "${jobs[@]}" >$T/each
	for job in "${jobs[@]}"; do
		want=ok
		[ "$job" != "reset -w 1" ] || want=ConnectionResetError
		is "$way: $job" "$(sed -n "s/^$job: //p" $T/each)" $want
	done
	ok "$way: the server sees the same ends" wait_until told
done

# Half-close by a real program: a digest is only known at the end
head -c 300000 /dev/urandom >$T/file
want=$(sha256sum <$T/file)

# digest NAME FAMILY SERVER-NS PORT CLIENT-NS ADDR
digest()
{
	local p

	run "$3" socat "TCP$2-LISTEN:$4,reuseaddr" EXEC:sha256sum &
	p=$!
	wait_until listens "$3" "$4"
	is "socat: $1, v$2" \
		"$(run "$5" socat -t 5 - "TCP$2:$6:$4" <$T/file)" "$want"
	stop $p
}

digest "in from the LAN" 4 c 5443 p 192.0.2.1
digest "in from the LAN" 6 c 5443 p '[2001:db8::1]'
digest "in over loopback" 4 c 5443 h 127.0.0.1
digest "in over loopback" 6 c 5443 h '[::1]'
digest "out" 4 p 9443 c 192.0.2.2
digest "out" 6 p 9443 c '[2001:db8::2]'
digest "out over loopback" 4 h 5444 c 127.0.0.1
digest "out over loopback" 6 h 5444 c '[::1]'

for k in "${keep[@]}"; do
	read -r pid log way <<<"$k"
	wait "$pid"
	is "$way: kept alive by probes" "$(cat "$log")" "still here"
done
alive
done_testing
