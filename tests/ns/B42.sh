#!/bin/bash
# A service that speaks only IPv6 gets nothing, since all traffic is turned into
# IPv4. Right: IPv6 clients reach it by IPv6 and IPv4 clients do not reach it,
# with one published port for both; and the other way round.
#
#   p, h ──> h:5000 ──tap or splice──> c: a server of one family

. "$(dirname "$0")"/lib.sh

F -u 5000
serve c echo :: 5000
ok "IPv6 server: from the LAN" ask p 2001:db8::1 5000 -c
like "and it sees the client's IPv6 address" \
	"$(ask p 2001:db8::1 5000 -b 2001:db8::3)" "saw 2001:db8::3"
ok "from the host" ask h 2001:db8::1 5000 -c
ok "over loopback" ask h ::1 5000 -c
nok "not by IPv4" ask p 192.0.2.1 5000 -c -w 0.5
stop "$SP"

serve c echo 0.0.0.0 5000
ok "IPv4 server: from the LAN" ask p 192.0.2.1 5000 -c
ok "over loopback" ask h 127.0.0.1 5000 -c
nok "not by IPv6" ask p 2001:db8::1 5000 -c -w 0.5
alive
done_testing
