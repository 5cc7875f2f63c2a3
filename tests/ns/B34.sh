#!/bin/bash
# The MTU that was asked for is ignored, or the interface flips between two
# values. Right: it is set once, before anybody can look, and kept, also under
# traffic and when the host's own MTU changes; the default is 65,520.
# once
#
#   c's tap: looked at again and again

. "$(dirname "$0")"/lib.sh

mtu()
{
	run c ip -o link | awk '!/ lo:/ { for (i = 1; i < NF; i++)
		if ($i == "mtu") print $(i + 1) }'
}

# keeps WANT: the same for a while, with large and small datagrams passing
keeps()
{
	local i seen=

	for i in 1 2 3 4 5 6; do
		seen="$seen $(mtu)"
		ask p 192.0.2.1 5000 -s $((i * 9000)) -w 0.1 >/dev/null
		ask p 2001:db8::1 5000 -s $((i * 9000)) -w 0.1 >/dev/null
		[ "$i" != 3 ] || ip -n "${X}h" link set hp mtu 1400
	done
	ip -n "${X}h" link set hp mtu 1500
	is "MTU, six times, the host's link changed meanwhile" \
		"$(echo "$seen" | xargs -n1 | sort -u)" "$1"
}

serve c echo 0.0.0.0 5000 :: 5000
for want in 1500 1280 9000 65520; do
	F -u 5000 -m $want
	is "ready with MTU" "$(mtu)" $want
	keeps $want
	stop $FP
done
F -u 5000
is "without -m" "$(mtu)" 65520
stop $FP
F -u 5000 -m 0
is "-m 0: the kernel's own" "$(mtu)" 1500
alive
done_testing
