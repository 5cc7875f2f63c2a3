# shellcheck shell=bash disable=SC2154
# selftest-tcp.sh - the section of perf/selftest about TCP and the long way
#
# Sourced by perf/selftest, whose functions and variables it uses.

is_listening()
{
	ip netns exec "$1" awk -v end=":$(printf %04X "$2")\$" '$4 == "0A" && $2 ~ end { found = 1 }
		END { exit !found }' /proc/net/tcp /proc/net/tcp6
}

# serve NETNS - a server of tcpload; its id in $started
serve()
{
	start "$1" $((ncpu - 1)) serve "$tcpload" serve -p 6100 -t 600
	until_true 5 is_listening "$1" 6100 || die "no tcpload: $(cat "$tmp/serve")"
}

# long_way - from the first to the second namespace, 5 ms each way; its id in $way
long_way()
{
	local end

	ip netns add "$net2"
	"$delay" -d 5000 "$net" wa "$net2" wb > "$tmp/delay" 2>&1 &
	way=$!
	pids+=("$way")
	until_true 5 grep -q ready "$tmp/delay" || die "no long way: $(cat "$tmp/delay")"
	for end in "$net wa 1" "$net2 wb 2"; do
		# Words are wanted
		# shellcheck disable=SC2086
		set -- $end
		ip -n "$1" addr add "203.0.113.$3/24" dev "$2"
		ip -n "$1" link set "$2" up
	done
}

test_long_way()
{
	local way server

	long_way
	serve "$net2"
	server=$started
	in_net "$tcpload" rr 203.0.113.2 6100 -n 200 --warm 5 > "$tmp/load" 2>&1
	note "over the long way: p50 $(field p50_us "$tmp/load") p99 $(field p99_us "$tmp/load") us"
	check "noise: a round trip of 10 ms, read less 10,000 us" \
		"$(awk "BEGIN { d = $(field p50_us "$tmp/load") - 10000; print d < 0 ? -d : d }")" \
		'<=' $((slack + 500))
	in_net "$tcpload" transfer 203.0.113.2 6100 --up 1e8 --down 1e8 --pause 20 > "$tmp/load" 2>&1
	check "long way: 100 MB each way: wrong bytes, or missing ones" \
		"$(grep -c '"whole":true' "$tmp/load")" == 1
	stop "$server"
	stop "$way"
	check "long way: frames that found no room" \
		"$(tail -n 1 "$tmp/delay" | jq '.out.dropped + .back.dropped + .out.errors + .back.errors')" == 0
	check "long way: super-frames passed whole, bytes a frame" \
		"$(tail -n 1 "$tmp/delay" | jq '.out.bytes / .out.frames | floor')" '>' 5000
	ip netns del "$net2"
}

# flipper PORT BYTE - carries one connection to 6100, one byte changed
flipper()
{
	cat > "$tmp/flipper.py" <<- 'END'
		import select, socket, sys
		s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
		a, b = s.accept()[0], socket.create_connection(("127.0.0.1", 6100))
		at, place = 0, int(sys.argv[2])
		other = {a: b, b: a}
		while other:
		    for x in select.select(list(other), [], [])[0]:
		        data = bytearray(x.recv(65536))
		        if not data:
		            other.pop(x).shutdown(socket.SHUT_WR)
		            continue
		        if x is a and at <= place < at + len(data):
		            data[place - at] ^= 1
		        at += len(data) if x is a else 0
		        other[x].sendall(data)
	END
	start "$net" 0 flipper python3 "$tmp/flipper.py" "$1" "$2"
	until_true 5 is_listening "$net" "$1" || die "no flipper: $(cat "$tmp/flipper")"
}

test_tcp()
{
	local server client

	test_long_way
	serve "$net"
	server=$started
	# The request before the bytes has 48
	flipper 6101 $((48 + 1234567))
	in_net "$tcpload" transfer 127.0.0.1 6101 --up 3e6 > "$tmp/load" 2>&1
	check "transfer: the first byte that is wrong" "$(jq .up.bad_at "$tmp/load")" == 1234567
	check "transfer: not whole" "$(jq .whole "$tmp/load")" == false
	stop "$started"
	start "$net" 0 load "$tcpload" transfer 127.0.0.1 6100 --up 2e9
	client=$started
	sleep .3
	pkill -STOP -P "$server" tcpload
	sleep 1.2
	pkill -CONT -P "$server" tcpload
	wait "$client"
	note "stopped for 1.2 s: longest stall $(jq .up.stall_ms "$tmp/load") ms"
	check "transfer: a server that stopped for 1.2 s, ms" "$(jq .up.stall_ms "$tmp/load")" '>=' 1100
	check "transfer: whole nevertheless" "$(grep -c '"whole":true' "$tmp/load")" == 1
	stop "$server"
}
