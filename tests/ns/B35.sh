#!/bin/bash
# Datagrams without a UDP checksum (VXLAN) or with one left to hardware are
# dropped behind the forwarder. Right: over IPv4 a checksum of 0 is accepted
# from both sides, and nothing with a wrong checksum is ever emitted.
#
#   c, SO_NO_CHECK ──> p    p, SO_NO_CHECK ──> h:5000 ──tap──> c
#   The cable computes real checksums: offload is off at both ends.

. "$(dirname "$0")"/lib.sh

# wrong NS: datagrams its kernel refused for their checksum
wrong()
{
	run "$1" cat /proc/net/snmp /proc/net/snmp6 |
		awk '/^Udp: [A-Z]/ { split($0, h) }
		/^Udp: [0-9]/ { for (i = 2; i <= NF; i++)
			if (h[i] == "InCsumErrors") n += $i }
		/^Udp6InCsumErrors/ { n += $2 }
		END { print n + 0 }'
}

if command -v ethtool >/dev/null; then
	run h ethtool -K hp tx off rx off >/dev/null
	run p ethtool -K ph tx off rx off >/dev/null
fi
F -u 5000
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve c echo 0.0.0.0 5000 :: 5000
ok "no checksum, out" ask c 192.0.2.2 9001 -c --no-check -n 5
ok "no checksum, in" ask p 192.0.2.1 5000 -c --no-check -n 5
ok "no checksum, out, as fragments" \
	ask c 192.0.2.2 9001 -c --no-check -s 65507
for a in 192.0.2.2 2001:db8::2; do
	ok "all sizes, out, $a" udp c exchange $a 9001 -n 40
	ok "a burst, out, $a" udp c mix $a 9001
done
for a in 192.0.2.1 2001:db8::1; do
	ok "all sizes, in, $a" udp p exchange $a 5000 -n 40
	ok "a burst, in, $a" udp p mix $a 5000
done
for ns in h c p; do
	is "wrong checksums seen in $ns" "$(wrong $ns)" 0
done
done_testing
