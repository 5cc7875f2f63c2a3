#!/bin/bash
# A real client and DNS: look-ups cross the forwarder in both directions, and
# the address given by --dns-forward is answered by the host's own resolver.
# once
#
#   c: dig ──> p: server      p, h: dig ──> h:5353 ──> c:53
#   c: dig @192.0.2.53 ──> the resolver of h, or --dns-host

. "$(dirname "$0")"/lib.sh

command -v dig >/dev/null || skip "no dig"

# query NS SERVER [DIG-WORDS...]: the name of the server that answers
query()
{
	run "$1" dig +short +time=1 +tries=2 "@$2" txt x.test "${@:3}" |
		tr -d '"'
}

serve p dns 192.0.2.2 53 2001:db8::2 53 --name first
serve p dns 192.0.2.3 53 2001:db8::3 53 --name second
serve h dns 127.0.0.53 53 ::1 53 --name local
serve c dns 0.0.0.0 53 :: 53 --name inner
F -u 5353:53 --dns-forward 192.0.2.53 --dns-forward fd00::53
is "out, v4" "$(query c 192.0.2.3)" second
is "out, v6" "$(query c 2001:db8::3)" second
is "an address" "$($C dig +short +time=1 @192.0.2.2 a x.test)" 192.0.2.77
is "in from the LAN, v4" "$(query p 192.0.2.1 -p 5353)" inner
is "in from the LAN, v6" "$(query p 2001:db8::1 -p 5353)" inner
is "in over loopback, v4" "$(query h 127.0.0.1 -p 5353)" inner
is "in over loopback, v6" "$(query h ::1 -p 5353)" inner
is "the resolver's address" "$(query c 192.0.2.53)" first
is "many look-ups" "$(for _ in $(seq 20); do query c 192.0.2.53; done |
	sort | uniq -c | xargs)" "20 first"
stop $FP

F --dns-forward 192.0.2.53 --dns-host 192.0.2.3 \
	--dns-forward fd00::53 --dns-host 2001:db8::3
is "--dns-host, v4" "$(query c 192.0.2.53)" second
is "--dns-host, v6" "$(query c fd00::53)" second
stop $FP

printf 'search test\nnameserver 127.0.0.53\nnameserver ::1\n' >$T/resolv.conf
F --dns-forward 192.0.2.53 --dns-forward fd00::53 --no-map-gw
is "a resolver on the host's loopback, v4" "$(query c 192.0.2.53)" local
is "a resolver on the host's loopback, v6" "$(query c fd00::53)" local
alive
done_testing
