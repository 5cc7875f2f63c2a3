#!/bin/bash
# Loopback traffic goes from socket to socket: a server behind it sees distinct
# peers with the ports they have, at the address it should.
# once
#
#   h lo ──-u──> c's external address, or its lo with --host-lo-to-ns-lo
#   c lo ──-U──> h lo

. "$(dirname "$0")"/lib.sh

# who NS ADDR PORT [FROM-PORT]: "ADDR PORT" the server saw
who()
{
	ask "$1" "$2" "$3" -c -w 1 ${4:+-B $4} | sed -n 's/.* saw //p'
}

F -u 5000,6000:5001 -U 5002,6002:5003
serve c echo 192.0.2.1 5000 2001:db8::1 5000 192.0.2.1 5001 2001:db8::1 5001
outer=$SP
serve h echo 127.0.0.1 5002 ::1 5002 127.0.0.1 5003 ::1 5003
is "in, v4: source port kept" "$(who h 127.0.0.1 5000 7001)" "192.0.2.1 7001"
is "in, v6: source port kept" "$(who h ::1 5000 7001)" "2001:db8::1 7001"
is "in, another port number, v4" "$(who h 127.0.0.1 6000 7002)" "192.0.2.1 7002"
is "in, another port number, v6" "$(who h ::1 6000 7002)" "2001:db8::1 7002"
is "out, v4: source port kept" "$(who c 127.0.0.1 5002 7003)" "127.0.0.1 7003"
is "out, v6: source port kept" "$(who c ::1 5002 7003)" "::1 7003"
is "out, another port number, v4" "$(who c 127.0.0.1 6002 7004)" \
	"127.0.0.1 7004"
is "out, another port number, v6" "$(who c ::1 6002 7004)" "::1 7004"

a=$(who h 127.0.0.1 5000) b=$(who h 127.0.0.1 5000)
like "two clients are served" "$a/$b" '^[0-9.]+ [0-9]+/[0-9.]+ [0-9]+$'
nok "and are distinct to the server" test "$a" = "$b"
serve c hold 192.0.2.1 7005 2001:db8::1 7005
like "a source port taken inside, v4" "$(who h 127.0.0.1 5000 7005)" \
	'^192.0.2.1 [0-9]+$'
like "a source port taken inside, v6" "$(who h ::1 5000 7005)" \
	'^2001:db8::1 [0-9]+$'
like "from an address of 127/8" \
	"$(ask h 127.0.0.1 5000 -c -b 127.0.0.9 -w 1)" '^127.0.0.1 5000 saw'
ok "clients do not mix, in" udp h mix 127.0.0.1 5000
ok "clients do not mix, out" udp c mix ::1 5002
nok "nobody from the LAN comes in through -U" \
	ask p 192.0.2.1 5002 -c -w 0.3
stop $outer
serve c echo 127.0.0.1 5000 ::1 5000
inner=$SP
nok "a service on the inner loopback stays private, v4" \
	ask h 127.0.0.1 5000 -c -w 0.5
nok "a service on the inner loopback stays private, v6" \
	ask h ::1 5000 -c -w 0.5
stop $FP

F -u 5000 --host-lo-to-ns-lo
is "to the inner loopback, v4" "$(who h 127.0.0.1 5000 7001)" "127.0.0.1 7001"
is "to the inner loopback, v6" "$(who h ::1 5000 7001)" "::1 7001"
stop $inner $FP

F -u 5000 --no-splice
serve c echo 0.0.0.0 5000 :: 5000
like "over the tap: the gateway's address stands for the host" \
	"$(who h 127.0.0.1 5000 7001)" '^192.0.2.254 [0-9]+$'
like "over the tap, v6" "$(who h ::1 5000 7001)" '^[0-9a-f:]+ [0-9]+$'
is "nothing was spliced" "$(stats splice_datagrams)" 0
done_testing
