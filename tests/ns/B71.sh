#!/bin/bash
# With the sandbox switched on the file with the name servers cannot be read any
# more. Right: locked in as far as it goes, changes of it are seen, as root
# that becomes nobody, in the background, and with a command; the process that
# reads it is gone when the forwarder is.
# once
#
#   c ──asks D──> forwarder: empty root      reader: /etc/resolv.conf ─> link

. "$(dirname "$0")"/lib.sh

D=192.0.2.53

mkdir $T/etc $T/elsewhere
chmod 755 $T $T/etc $T/elsewhere
cp /etc/passwd /etc/group $T/etc/ 2>/dev/null
mount --bind $T/etc /etc
ln -s $T/elsewhere/resolv.conf /etc/resolv.conf
serve p echo 192.0.2.3 53

# both NAME ASK...: asked before and after the file changes
both()
{
	local name=$1

	shift
	ok "$name" wait_until "$@"
	echo "nameserver 192.0.2.3" >$T/elsewhere/new
	mv $T/elsewhere/new $T/elsewhere/resolv.conf
	sleep 1 # sleep: it is looked at once per second at most
	ok "$name: after a change" "$@"
}

reset()
{
	echo "nameserver 127.0.0.53" >$T/elsewhere/resolv.conf
}

serve h echo 127.0.0.53 53
reset
F --dns-forward $D --no-map-gw
both "in the foreground" ask c $D 53 -c -w 0.5
nok "its root is empty" test -e /proc/$FP/root/etc/resolv.conf
stop $FP
ok "nothing is left" wait_until no_forwarders

reset
f_args --dns-forward $D --no-map-gw -P $T/back.pid --netns "/run/netns/${X}c"
ok "start in the background" $H "$PASTA" "${ARGV[@]:2}"
both "in the background" ask c $D 53 -c -w 0.5
kill "$(cat $T/back.pid)"
ok "nothing is left of it" wait_until no_forwarders

reset
f_args --dns-forward $D --no-map-gw
$H "${ARGV[@]}" -- $PY -SE "$DIR/udp.py" ask $D 53 -c -n 30 -g 0.1 -w 2 \
	>$T/command.log 2>&1 &
command=$!
wait_until has $T/command.log saw
echo "nameserver 192.0.2.3" >$T/elsewhere/resolv.conf
wait $command
is "a command: every query is answered" "$?" 0
ok "nothing is left with it" wait_until no_forwarders
done_testing
