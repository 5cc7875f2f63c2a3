#!/bin/bash
# iperf3 crosses the forwarder: its control connection by TCP and its test by
# TCP or UDP, from either end. What it calls lost is computed from bytes.
# once
#
#   p: iperf3 ──> h:5201 ──> c: iperf3 -s      c: iperf3 ──> p: iperf3 -s
#   h lo ──> c, c lo ──> h lo

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

for tool in iperf3 jq; do
	command -v $tool >/dev/null || skip "no $tool"
done

server()
{
	run "$@" iperf3 -s >/dev/null 2>&1 &
	wait_until listens "$1" 5201 || echo "# no iperf3 server in $1"
}

# iperf NS ADDR OPTIONS...: "SENT RECEIVED", in bytes, and how many datagrams
# the receiver missed between others; or what went wrong
iperf()
{
	run "$1" timeout 10 iperf3 -c "${@:2}" -J --connect-timeout 2000 \
		>$T/json
	jq -r 'if .error then .error else .end | "\(.sum_sent.bytes) " +
		"\(.sum_received.bytes) \(.sum.lost_packets // 0)" end' $T/json
}

# full: datagrams that came and found the receiver's queue full, its own fault
full()
{
	local n

	for n in h c p; do
		run $n cat /proc/self/net/snmp6 /proc/self/net/snmp
	done | awk '$1 == "Udp6RcvbufErrors" { n += $2 }
		$1 == "Udp:" && $2 + 0 == $2 { n += $6 } END { print n }'
}

# carries NAME LEAST NS ADDR OPTIONS...: at least so many bytes arrive; of UDP
# all but what the receiver lost itself and LEAST bytes under way at the end
carries()
{
	local name=$1 least=$2 out sent got missed full

	shift 2
	full=$(full)
	out=$(iperf "$@")
	read -r sent got missed <<<"$out"
	if [[ ! "$sent $got" =~ ^[0-9]+\ [0-9]+$ ]]; then
		is "$name" "$out" "bytes"
		return
	fi
	if [[ " $* " == *" -u "* ]]; then
		full=$(($(full) - full))
		atmost "$name: missed" "$missed" $full
		least=$((sent - least - full * 1200))
	fi
	atmost "$name: at least" "$least" "$got"
}

F -t 5201 -u 5201 -T 5202:5201 -U 5202:5201
server c
server p
server h
ways=("p 192.0.2.1" "p 2001:db8::1" "h 127.0.0.1" "c 2001:db8::2"
	"c 192.0.2.2" "c ::1 -p 5202")
thin ways
for way in "${ways[@]}"; do
	# A test ends with its sender, a reversed one with its receiver: the
	# other one's queue is not counted
	# shellcheck disable=SC2086
	{
		carries "TCP, $way" 20000000 $way -n 50M
		carries "TCP, reversed, $way" 20000000 $way -n 50M -R
		carries "UDP, $way" 130000 $way -u -b 100M -n 3M -l 1200
		carries "UDP, reversed, $way" 400000 $way -u -b 100M -n 3M \
			-l 1200 -R
	}
done
carries "four connections" 20000000 p 192.0.2.1 -n 50M -P 4
carries "both ways at once" 10000000 p 192.0.2.1 -n 50M --bidir
alive
done_testing
