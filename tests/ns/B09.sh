#!/bin/bash
# A device expects packets from the container's own fixed port, but outside the
# port is random. Right: the inner number is kept if it is free, not reserved
# and allowed; if not, the exchange works from another one.
# once
#
#   c:7001 ──> p: sees 7001, unless h uses 7001 itself or reserves it

. "$(dirname "$0")"/lib.sh

run h sh -c 'echo 7100-7110 >/proc/sys/net/ipv4/ip_local_reserved_ports'
F
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve h hold 192.0.2.1 7002 2001:db8::1 7002 0.0.0.0 7003 :: 7003
for a in 192.0.2.2 2001:db8::2; do
	like "free port kept, $a" "$(ask c $a 9001 -B 7001)" 'saw [^ ]+ 7001$'
	like "high port kept, $a" "$(ask c $a 9001 -B 65535)" 'saw [^ ]+ 65535$'
	for port in 7002 7003 7105; do
		out=$(ask c $a 9001 -B $port)
		like "port $port answered, $a" "$out" "saw [^ ]+ [0-9]+\$"
		nok "port $port not taken, $a" grep -q " $port\$" <<<"$out"
	done
done
done_testing
