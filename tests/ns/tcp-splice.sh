#!/bin/bash
# TCP from loopback to loopback: both directions and families; every end, every
# error, much and many, and a reader that stops.
# once
#
#   h lo:5000 ──-t──> c 192.0.2.1:5000      c lo:5002 ──-T──> h lo:5002

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

# both CASE: in every direction and family
both()
{
	local case=$1 what=$2

	ok "in, v4: $what" $PY -SE "$DIR/tcp_pair.py" "$case" \
		"${X}c" 192.0.2.1 5000 "${X}h" 127.0.0.1 5000
	ok "in, v6: $what" $PY -SE "$DIR/tcp_pair.py" "$case" \
		"${X}c" 2001:db8::1 5000 "${X}h" ::1 5000
	ok "out, v4: $what" $PY -SE "$DIR/tcp_pair.py" "$case" \
		"${X}h" 127.0.0.1 5002 "${X}c" 127.0.0.1 5002
	ok "out, v6: $what" $PY -SE "$DIR/tcp_pair.py" "$case" \
		"${X}h" ::1 5002 "${X}c" ::1 5002
}

none_left()
{
	[ "$(stats tcp_spliced_now)" = 0 ]
}

F -t 5000 -T 5002
export FP
both half "each end may close first"
both first "a server that speaks first"
both refused "nobody listens"
both resets "a reset is passed on, after what came before"
both killed "a process that is killed"
both stall "a reader that stops and goes on"
both short "2,000 short connections"
both big "256 MiB each way"
ok "connections are over" wait_until none_left
is "nothing crossed the link" "$(stats tcp_accepted)" 0
like "they were spliced" "$(stats tcp_spliced)" '^8[0-9]{3}$'
fds=$(ls /proc/$FP/fd | wc -l)
atmost "descriptors are given back" "$fds" 250

# A client of "localhost" tries IPv6 first; the server has IPv4 alone
ok "IPv6 refused: by IPv4, out" $PY -SE "$DIR/tcp_pair.py" first \
	"${X}h" 127.0.0.1 5002 "${X}c" ::1 5002
ok "IPv6 refused: by IPv4, in" $PY -SE "$DIR/tcp_pair.py" first \
	"${X}c" 192.0.2.1 5000 "${X}h" ::1 5000
stop $FP

F -t 5000 --host-lo-to-ns-lo
ok "to the inner loopback" $PY -SE "$DIR/tcp_pair.py" half \
	"${X}c" 127.0.0.1 5000 "${X}h" 127.0.0.1 5000
ok "to the inner loopback, v6" $PY -SE "$DIR/tcp_pair.py" half \
	"${X}c" ::1 5000 "${X}h" ::1 5000
stop $FP

# Both ways the same port: the link's address is not heard on loopback
F -t 5000 -T 5000
quick "no ring, v4" 1000 Reset tcp h ask 127.0.0.1 5000
quick "no ring, v6" 1000 Reset tcp h ask ::1 5000
atmost "each went one way only" "$(stats tcp_spliced)" 2
stop $FP

# No link: whoever is not on loopback is refused at once
F --splice-only -t 5000
quick "no link, from the network" 1000 Reset tcp p ask 192.0.2.1 5000
quick "no link, from the host's address" 1000 Reset tcp h ask 192.0.2.1 5000
is "and counted" "$(stats not_from_loopback)" 2
done_testing
