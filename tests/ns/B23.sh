#!/bin/bash
# A frame with UDP port 0, or a length that lies, kills the forwarder. Right:
# it is dropped and counted; a wrong checksum is not blessed with a new one;
# everything else goes on.
#
#   c ──raw frames on the tap──> PASTA      p ──raw frames──> h:5000

. "$(dirname "$0")"/lib.sh

F -u 5000
serve p echo -v 192.0.2.2 9001 2001:db8::2 9001
plog=$SLOG
serve c echo -v 0.0.0.0 5000 :: 5000
clog=$SLOG
tap=$(ip -n "${X}c" -o link show type tun | awk -F': ' '{ print $2 }')
bad="sport0 dport0 ports0 len4 len0 len60000 badsum cut nol4 iplen0 iplen65535"

# raw NS DEV SRC DST DPORT MAC CASES...
raw()
{
	run "$1" $PY -SE "$DIR"/raw.py "$2" "$3" "$4" 7001 "$5" "${@:6}"
}

got()
{
	grep -c ^got "$1"
}

# shellcheck disable=SC2086
{
	raw c "$tap" 192.0.2.1 192.0.2.2 9001 $MAC $bad lastfrag short
	raw c "$tap" 2001:db8::1 2001:db8::2 9001 $MAC $bad nosum short
}
ok "a good v4 frame passes" raw c "$tap" 192.0.2.1 192.0.2.2 9001 $MAC good
ok "one without checksum too" raw c "$tap" 192.0.2.1 192.0.2.2 9001 $MAC nosum
ok "a good v6 frame passes" raw c "$tap" 2001:db8::1 2001:db8::2 9001 $MAC good
for a in 192.0.2.2 2001:db8::2; do
	ok "the container is still served, $a" ask c $a 9001 -c
done
is "of the raw frames only the good ones arrived" "$(got $plog)" 5

# shellcheck disable=SC2086
{
	raw p ph 192.0.2.2 192.0.2.1 5000 $HMAC $bad
	# The kernel takes a length of 0 for a jumbogram
	raw p ph 2001:db8::2 2001:db8::1 5000 $HMAC ${bad/len0 /}
}
for a in 192.0.2.1 2001:db8::1; do
	ok "clients are still served, $a" ask p $a 5000 -c
done
is "no bad datagram was let in" "$(got $clog)" 2
like "port 0 is counted" "$(stats port_zero)" '^[1-9]'
like "a wrong UDP length is counted" "$(stats bad_transport_header)" '^[1-9]'
like "a wrong checksum is counted" "$(stats bad_checksum)" '^[1-9]'
like "a wrong IP length is counted" "$(stats bad_ip_header)" '^[1-9]'
alive
done_testing
