#!/bin/bash
# A forwarder that serves many clients aborts every few hours on some state of
# its flow table. Right: no sequence of clients ends the process; it goes on
# serving new ones.
# once
#
#   p, 3000 sockets ──> h:5000 ──tap──> c    c, 3000 sockets ──> p:9001

. "$(dirname "$0")"/lib.sh

F -u 5000 -U 5001
serve c echo 0.0.0.0 5000 :: 5000
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve h echo 127.0.0.1 5001 ::1 5001
ok "3000 clients, v4" udp p oneshot 192.0.2.1 5000 -n 3000
ok "1000 clients, v6" udp p oneshot 2001:db8::1 5000 -n 1000
ok "1000 clients over loopback, v4" udp h oneshot 127.0.0.1 5000 -n 1000
ok "1000 clients over loopback, v6" udp h oneshot ::1 5000 -n 1000
ok "1000 inner sockets, v4" udp c oneshot 192.0.2.2 9001 -n 1000
ok "1000 inner sockets, v6" udp c oneshot 2001:db8::2 9001 -n 1000
ok "500 inner sockets over loopback" udp c oneshot 127.0.0.1 5001 -n 500
ok "another client" ask p 192.0.2.1 5000 -c
alive
done_testing
