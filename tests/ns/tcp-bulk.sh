#!/bin/bash
# Long transfers in each direction on each way, compared by digest: 200 MB at
# MTU 1500 and 65520 (user: 40 MB at 65520, SLOW=1: 1 GB), also when either end
# stops now and then, or is slower than the other. Nothing stands still for a
# second once both ends go on, and the container's kernel has nothing to send
# twice.
# once
# limit: 120
#
#   c <──tap──> p:9001, p <──> h:5000 <──tap──> c, h lo <──splice──> c

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

size=200000000
mtus=(1500 65520)
is_root || { size=40000000 mtus=(65520); }
[ -z "${SLOW:-}" ] || size=1000000000

# The longest wait of what the two ends print
longest()
{
	sed -n 's/.*waited \([0-9]*\).*/\1/p' <<<"${1// waited/$'\n'waited}" |
		sort -n | tail -n 1
}

# bulk NAME SIZE LIMIT "OPTIONS" NS ADDR PORT: both directions, one after the
# other, each in LIMIT ms
bulk()
{
	local name=$1 n=$2 limit=$3 options=$4 start out way

	shift 4
	for way in push pull; do
		start=$(now)
		# shellcheck disable=SC2086
		out=$(tcp "$1" $way "$2" "$3" -s "$n" $options -w 20)
		like "$name: $way of $n bytes" "$out" "^under way.$way ok"
		atmost "$name: $way: milliseconds" $(($(now) - start)) "$limit"
		atmost "$name: $way: longest wait, ms" "$(longest "$out")" 1000
	done
}

# 30 MB a second is asked for, ten times that is usual
long=$((size / 30000))
paused=$((size / 5))
tserve c 0.0.0.0 5000 :: 5000
tserve p 192.0.2.2 9001 2001:db8::2 9001
tserve h 127.0.0.1 5002
# over_tap MTU: every way over the tap
over_tap()
{
	bulk "MTU $1, in, v4" $size $long "" p 192.0.2.1 5000
	bulk "MTU $1, out, v4" $size $long "" c 192.0.2.2 9001
	bulk "MTU $1, in, v6, with pauses" $paused 4000 "--pauses 2" \
		p 2001:db8::1 5000
	bulk "MTU $1, out, v6, with pauses" $paused 4000 "--pauses 2" \
		c 2001:db8::2 9001
	bulk "MTU $1, a slower reader, in" 20000000 2000 "-g 0.001" \
		h 192.0.2.1 5000
	bulk "MTU $1, a slower reader, out" 20000000 2000 "-g 0.001" \
		c 192.0.2.2 9001
}

for mtu in "${mtus[@]}"; do
	F -m $mtu -t 5000 -T 5002
	# A machine that lets us wait for 0.2 s makes the kernel send again: that
	# does not happen twice in a row
	for try in 1 2; do
		sent=$(counter c TcpRetransSegs)
		over_tap $mtu
		sent=$(($(counter c TcpRetransSegs) - sent))
		[ $sent != 0 ] || break
		echo "# try $try: $sent segments sent again by the container"
	done
	is "MTU $mtu: segments sent again by the container" $sent 0
	alive
	[ $mtu = 65520 ] || stop $FP
done
bulk "in over loopback" $size $long "" h 127.0.0.1 5000
bulk "out over loopback" $size $long "" c 127.0.0.1 5002
bulk "loopback, with pauses" $paused 4000 "--pauses 2" h 127.0.0.1 5000
bulk "loopback, a slower reader" 20000000 2000 "-g 0.001" h 127.0.0.1 5000
alive
done_testing
