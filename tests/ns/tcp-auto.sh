#!/bin/bash
# "auto" follows TCP listeners of the other side: a new one is served within
# three seconds, one that is gone is forgotten, connections that stand stay, and
# our own listeners are not taken for programs. UDP's auto follows them, too:
# iperf3 listens with TCP and receives with UDP.
# once
#
#   -t auto: c listens ──> h offers      -T auto: h listens ──> c's lo offers

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

WAIT=3

free()
{
	! listens "$@"
}

# udp_bound NS PORT
udp_bound()
{
	bound "$1" | grep -q ":$2\$"
}

udp_free()
{
	! udp_bound "$@"
}

F -t auto -T auto -u auto -U auto
tserve c 0.0.0.0 5000 :: 5000
server=$SP
ok "in, v4" wait_until tcp p ask 192.0.2.1 5000 -w 0.2
ok "in, v6" wait_until tcp p ask 2001:db8::1 5000 -w 0.2
ok "in over the tap from the host" wait_until tcp h ask 192.0.2.1 5000 -w 0.2
ok "in over loopback" wait_until tcp h ask 127.0.0.1 5000 -w 0.2
ok "UDP follows TCP, in" wait_until udp_bound h 5000
serve c echo 192.0.2.1 5000
ok "and is served" ask p 192.0.2.1 5000 -c -w 1
stop $SP
tserve h 127.0.0.1 5001 ::1 5001
hserver=$SP
ok "out over loopback, v4" wait_until tcp c ask 127.0.0.1 5001 -w 0.2
ok "out over loopback, v6" wait_until tcp c ask ::1 5001 -w 0.2
ok "UDP follows TCP, out" wait_until udp_bound c 5001
bg_tcp p hear 192.0.2.1 5000
wait_until has $CLOG hearing

# Not the other way round: a UDP port brings no TCP listener
serve c echo 0.0.0.0 5005
ok "a UDP port" wait_until ask p 192.0.2.1 5005 -c -w 0.2
ok "is no TCP port" free h 5005
stop $SP

# ports NS: numbers only
ports()
{
	listening "$1" | sed 's/.*://' | sort -u | xargs
}

is "our own listeners do not come back" "$(ports h) / $(ports c)" \
	"5000 5001 / 5000 5001"
kill $server $hserver
wait $server $hserver 2>/dev/null
ok "in: forgotten" wait_until free h 5000
ok "out: forgotten" wait_until free c 5001
ok "UDP forgotten, in" wait_until udp_free h 5000
ok "UDP forgotten, out" wait_until udp_free c 5001
ok "the connection has ended with its server" wait_until has $CLOG '^(end|Conn)'
tserve c 0.0.0.0 5000 :: 5000
ok "in: again" wait_until tcp p ask 192.0.2.1 5000 -w 0.2
alive

# A server that closes its listener and goes on with its client
run c $PY -SEc 'import socket
l = socket.create_server(("", 5007))
print("ready", flush=True)
s = l.accept()[0]
l.close()
s.sendall(s.recv(9))
s.recv(9)' >$T/one &
wait_until has $T/one ready
ok "a listener of one client" wait_until listens h 5007
run p $PY -SEc 'import socket, sys
s = socket.create_connection(("192.0.2.1", 5007), 5)
s.sendall(b"hello")
print(s.recv(9).decode(), flush=True)
sys.stdin.read()' < <(exec sleep infinity) >$T/client &
ok "is served" wait_until has $T/client hello
ok "and then not offered" wait_until free h 5007
alive
done_testing
