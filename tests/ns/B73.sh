#!/bin/bash
# There is no way to say which of the host's resolvers answers the address that
# the container asks. Right: --dns-host names it, resolv.conf then has no say,
# neither now nor later, and answers are taken from that server alone.
# once
#
#   c ──asks D──> h ──> p: .3, whatever resolv.conf says

. "$(dirname "$0")"/lib.sh

D=192.0.2.53

serve p echo -v 192.0.2.3 53 2001:db8::3 53
named=$SLOG
serve p echo -v 192.0.2.2 53 2001:db8::2 53
other=$SLOG
F --dns-forward $D --dns-host 192.0.2.3 \
	--dns-forward fd00::53 --dns-host 2001:db8::3
for a in $D fd00::53; do
	like "$a answers" "$(ask c $a 53 -c -n 3)" "^$a 53 saw"
done
echo "nameserver 192.0.2.2" >$T/resolv.conf
sleep 1 # sleep: longer than a look at the file would wait
ok "another resolv.conf" ask c $D 53 -c -n 3
is "the named one was asked" "$(grep -c got "$named")" 9
is "nobody else was" "$(grep -c got "$other")" 0
is "the ports are not the client's" \
	"$(ask c $D 53 -B 5353 | awk '{ print ($5 != 5353) }')" 1

# A stranger guesses the port while a query waits for its answer
stop $FP
F --dns-forward $D --dns-host 192.0.2.3
: >"$named"
udp c late $D 53 -w 2 >$T/late.log 2>&1 &
late=$!
wait_until grep -q 'got .*192.0.2.1' "$named"
port=$(run h ss -Hun dst 192.0.2.3 | awk '{ sub(/.*:/, "", $4); print $4 }')
like "a query is under way" "$port" '^[0-9]+$'
run p $PY -SE -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("192.0.2.2", 5300))
s.sendto(b"forged", ("192.0.2.1", int(sys.argv[1])))' "${port:-1}"
wait $late
is "the true answer comes, and nothing else" "$(cat $T/late.log)" "got 1"
alive
done_testing
