#!/bin/bash
# The conformance table: every requirement of RFC 4787 and RFC 5508, and those
# of RFC 6888 that apply to one host, each tried and its outcome printed.
# once
# limit: 400
#
#   NAT_BINARY=/usr/bin/pasta NAT_ADAPTER=pasta tests/run nat
#   NAT_ONLY="5508 2": those of this RFC and number    SLOW=1: real timers
#
# The bench is that of the namespace tests; the table is conformance.py.

. "$(dirname "$0")"/../ns/lib.sh

# A host that does not let groups have ping sockets carries no echo
run h sh -c 'echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range' \
	2>/dev/null || run h sh -c 'echo "0 0" >/proc/sys/net/ipv4/ping_group_range'
trap - EXIT
$PY -SE "$DIR/conformance.py" "$X" "${NAT_BINARY:-$PASTA}"
