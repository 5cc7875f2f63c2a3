#!/bin/bash
# "localhost" is ::1 first; the port is published for both families, but the
# inner server speaks IPv4 only, and the client waits. Right: the server is
# reached by IPv4; where nobody listens at all, the client may try again at once
# when somebody does.
#
#   h, ::1:5000 ──> c, refused ──> c, 127.0.0.1:5000

. "$(dirname "$0")"/lib.sh

F -u 5000 -u ::1/5002 -U 5001
serve c echo 0.0.0.0 5000 0.0.0.0 5002
ok "answered at once" ask h ::1 5000 -c -w 0.5
ok "all sizes" udp h exchange ::1 5000 -n 20
ok "many at once" udp h mix ::1 5000
is "one turn for each socket" "$(stats splice_retried_by_ipv4)" 10
serve h echo 127.0.0.1 5001
ok "the other way" ask c ::1 5001 -c -w 0.5
nok "a port published for IPv6 only stays there" ask h ::1 5002 -c -w 0.3
serve c echo ::1 5002 2001:db8::1 5002
ok "until it is served" ask h ::1 5002 -c -w 0.5
alive
done_testing
