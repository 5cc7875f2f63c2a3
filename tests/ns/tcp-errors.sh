#!/bin/bash
# A connection that cannot be made is refused at once, with the error that the
# host got: nobody listens, no way there, not published, TCP not wanted.
# once
#
#   c ──> p:9009 nobody     p, h lo ──> h:5009 ──> c nobody
#   c ──> 198.51.100.9, 2001:db8:9::9: p, as a router, or h says unreachable

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

F -t 5000,5009 -T 5008
for a in 192.0.2.2 2001:db8::2; do
	quick "refused, $a" 500 ^ConnectionRefusedError tcp c ask $a 9009
done

# The kernel accepts for us before we know, so this is a reset
for way in "p 192.0.2.1 5009" "p 2001:db8::1 5009" "h 127.0.0.1 5009" \
		"h ::1 5009" "c 127.0.0.1 5008" "c ::1 5008"; do
	# shellcheck disable=SC2086
	set -- $way
	quick "nobody behind the published port, $way" 500 \
		'^Connection(Refused|Reset)Error' tcp $1 ask $2 $3
done
for way in "p 192.0.2.1" "p 2001:db8::1" "h 127.0.0.1" "c 127.0.0.1"; do
	# shellcheck disable=SC2086
	quick "not published, $way" 500 ^ConnectionRefusedError \
		tcp ${way% *} ask ${way#* } 5010
done

# No way there
unreachable='^(OSError.*(No route|unreachable)|ConnectionRefusedError)'
run p sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
for ns in p h; do
	ip -n "$X$ns" route add unreachable 198.51.100.0/24
	ip -n "$X$ns" route add unreachable 2001:db8:9::/64
	for a in 198.51.100.9 2001:db8:9::9; do
		quick "unreachable: so says $ns, $a" 2000 "$unreachable" \
			tcp c ask $a 9001
	done
done

# Many refusals leave nothing
base=$(fds)
tcp c many 192.0.2.2 9009 -n 500 >$T/many
is "500 refusals" "$(cat $T/many)" "ConnectionRefusedError 500"
few()
{
	[ "$(fds)" -le "$base" ]
}
ok "no descriptor is left" wait_until few
ok "no connection is left" wait_until no_connections
tserve c 0.0.0.0 5000 :: 5000
tserve p 192.0.2.2 9009
ok "and then it works, in" tcp p ask 192.0.2.1 5000
ok "and then it works, out" tcp c ask 192.0.2.2 9009
alive
stop $FP

F --no-tcp -u 5000
serve c echo 0.0.0.0 5000
nok "--no-tcp: no way out" tcp c ask 192.0.2.2 9009 -w 0.5
nok "--no-tcp: no way in" tcp p ask 192.0.2.1 5000 -w 0.5
ok "--no-tcp: UDP passes" ask p 192.0.2.1 5000 -c
alive
stop $FP
fails "--no-tcp with a TCP port" '[Tt][Cc][Pp]' $H "$PASTA" --config-net -f \
	--netns "/run/netns/${X}c" --no-tcp -t 5000
done_testing
