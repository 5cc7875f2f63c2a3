#!/bin/bash
# DNS works at first, fails more and more over hours: after expiry a closed
# socket stays in the table and is used again, or is another flow's by then.
# Right: a source port that is used again works, and lands in its own flow.
# once
# limit: 250
#
#   c:7100 ──> p:9001; silence; ten other ports; c:7100 again. SLOW=1: 180 s

. "$(dirname "$0")"/lib.sh

timeout=5
[ -z "${SLOW:-}" ] || timeout=180
F --udp-timeout $timeout
serve p echo 192.0.2.2 9001 2001:db8::2 9001
for a in 192.0.2.2 2001:db8::2; do
	ok "at first, $a" ask c $a 9001 -B 7100
done
no_flow()
{
	[ "$(stats flows)" = 0 ]
}
WAIT=$((timeout + 10))
ok "forgotten" wait_until no_flow
for a in 192.0.2.2 2001:db8::2; do
	for i in 0 1 2 3 4 5 6 7 8 9; do
		like "$a, port 720$i" "$(ask c $a 9001 -B 720$i)" " 720$i\$"
	done
	like "again, $a" "$(ask c $a 9001 -B 7100)" " 7100\$"
done
alive
done_testing
