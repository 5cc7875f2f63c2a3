#!/bin/bash
# With --no-map-gw, as podman starts us, the gateway is only a router, but the
# way to it was kept as wide as the link, for the host that it otherwise stands
# for: the first large datagram to it gave a connected socket EMSGSIZE. Right:
# the way is wide to the address that stands for the host, whichever it is.
# once
#
#   c ──> h ──MTU 1500──> p: the gateway

. "$(dirname "$0")"/lib.sh

say()
{
	run c "$PY" -SE "$DIR/mark.py" say "$@"
}

# wide ADDR: is the way there as wide as the link?
wide()
{
	! run c ip route get "$1" | grep -q 'mtu'
}

serve p echo 192.0.2.254 9001 2001:db8::fe 9001
F --no-map-gw
for a in 192.0.2.254 2001:db8::fe; do
	# Until a neighbour is known, a kernel keeps few fragments
	like "a small datagram to the router $a" "$(say $a 9001 -w 2)" \
		'^answered'
	like "a large datagram to the router $a" "$(say $a 9001 -s 9000)" \
		'^answered'
	nok "the way to it is as narrow as the host's, $a" wide $a
done
stop $FP

F --map-host-loopback 192.0.2.77 --map-host-loopback 2001:db8::77
for a in 192.0.2.77 2001:db8::77; do
	ok "what stands for the host, $a" wide $a
done
for a in 192.0.2.254 2001:db8::fe; do
	nok "the router, $a" wide $a
done
stop $FP

F
for a in 192.0.2.254 2001:db8::fe; do
	ok "it stands for the host, $a" wide $a
done
alive
done_testing
