#!/bin/bash
# Where a container may begin to speak to is the operator's choice: --allow and
# --deny, first match. What is denied is told at once, and counted; answers to
# clients of published ports pass in any case.
# once
#
#   c ──> p .2 .3, ::2 ::3, the host's loopback; p ──> h:5000 ──> c

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

# prohibited ADDRESS PORT: is c told at once?
prohibited()
{
	like "$1 $2 is prohibited, and c is told" \
		"$(ask c "$1" "$2" -c -w 1)" \
		'(PermissionError|OSError.*(No route|prohibited|unreachable))'
}

# tcp_prohibited ADDRESS PORT: the same by TCP
tcp_prohibited()
{
	quick "TCP, $1 $2 is prohibited, and c is told" 1000 \
		'^(PermissionError|OSError.*(No route|prohibited|unreachable)|ConnectionRefused)' \
		tcp c ask "$1" "$2"
}

serve p echo 192.0.2.2 9001 192.0.2.3 9001 192.0.2.3 9002 \
	2001:db8::2 9001 2001:db8::3 9001
serve h echo 127.0.0.1 9005
serve c echo 0.0.0.0 5000
tserve p 192.0.2.2 9001 192.0.2.3 9001 192.0.2.3 9002 \
	2001:db8::2 9001 2001:db8::3 9001
tserve h 127.0.0.1 9005
tserve c 0.0.0.0 5000

F -u 5000 -t 5000 --deny 192.0.2.3:9001 --deny 192.0.2.3:9100 --deny 2001:db8::3 --deny 127.0.0.0/8
ok "not covered" ask c 192.0.2.2 9001
ok "not covered, IPv6" ask c 2001:db8::2 9001
ok "another port" ask c 192.0.2.3 9002
prohibited 192.0.2.3 9001
prohibited 2001:db8::3 9001
prohibited 192.0.2.254 9005
ok "TCP, not covered" tcp c ask 192.0.2.2 9001
ok "TCP, not covered, IPv6" tcp c ask 2001:db8::2 9001
ok "TCP, another port" tcp c ask 192.0.2.3 9002
tcp_prohibited 192.0.2.3 9001
tcp_prohibited 2001:db8::3 9001
tcp_prohibited 192.0.2.254 9005
ok "a client of a published port gets its answer" ask p 192.0.2.1 5000 \
	-b 192.0.2.3 -B 9100
ok "TCP, a client of a published port gets its answer" tcp p ask \
	192.0.2.1 5000 -b 192.0.2.3 -B 9100
like "counted" "$(stats denied_by_policy)" '^([6-9]|[1-9][0-9])$'
stop $FP

F --allow 192.0.2.2 --allow '[2001:db8::3]:9001'
ok "allowed" ask c 192.0.2.2 9001
ok "allowed, IPv6" ask c 2001:db8::3 9001
prohibited 192.0.2.3 9001
prohibited 2001:db8::2 9001
ok "TCP, allowed" tcp c ask 192.0.2.2 9001
ok "TCP, allowed, IPv6" tcp c ask 2001:db8::3 9001
tcp_prohibited 192.0.2.3 9001
tcp_prohibited 2001:db8::2 9001
alive
fails "a rule that is none" "give ADDR.*or all" \
	"$PASTA" --deny example.org -f true
done_testing
