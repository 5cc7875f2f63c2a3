#!/bin/bash
# The host moves to another network or into a VPN and gets other name servers;
# the container goes on asking the old ones until it is restarted. Right:
# resolv.conf is followed, however it changes: rewritten, replaced, a link that
# is turned, missing for a while, or not there at the start. The query that
# meets the change is answered, too.
# once
#
#   c ──asks D──> h: /etc/resolv.conf ──> p: .2, then .3

. "$(dirname "$0")"/lib.sh

D=192.0.2.53

# says ADDR: a resolv.conf
says()
{
	echo "search test"
	echo "nameserver $1"
}

# who: the address of the server that has answered, by its log
who()
{
	: >$T/s1.log
	: >$T/s2.log
	ask c $D 53 -c -w 2 >/dev/null || return
	[ -s $T/s1.log ] && echo -n first
	[ -s $T/s2.log ] && echo -n second
}

# turn: the file has changed; no matter which server hears of it now, the
# client is answered, and the next time by the right one
turn() # NAME WANT
{
	sleep 1 # sleep: it is looked at once per second at most
	ok "$1: the first query after it" ask c $D 53 -c -w 2
	is "$1: then" "$(who)" "$2"
}

mkdir $T/etc $T/vpn
cp /etc/passwd /etc/group $T/etc/ 2>/dev/null
mount --bind $T/etc /etc
serve p echo -v 192.0.2.2 53
serve p echo -v 192.0.2.3 53
says 192.0.2.2 >/etc/resolv.conf
says 192.0.2.3 >$T/vpn/resolv.conf
F --dns-forward $D
is "at the start" "$(who)" first
says 192.0.2.3 >/etc/resolv.conf
turn "rewritten" second
says 192.0.2.2 >/etc/new && mv /etc/new /etc/resolv.conf
turn "replaced" first
ln -sf $T/vpn/resolv.conf /etc/resolv.conf
turn "a link" second
says 192.0.2.2 >$T/vpn/new && mv $T/vpn/new $T/vpn/resolv.conf
turn "the link's target replaced" first
rm /etc/resolv.conf
turn "removed: the old one is kept" first
says 192.0.2.3 >/etc/resolv.conf
turn "there again" second

# The old server does not answer any more: the query under way is sent again
ip -n "${X}h" neigh add 192.0.2.9 lladdr $PMAC dev hp
says 192.0.2.9 >/etc/resolv.conf
sleep 1 # sleep: see turn
ask c $D 53 -c >/dev/null
nok "a dead one" ask c $D 53 -c -w 0.3
says 192.0.2.3 >/etc/resolv.conf
sleep 1 # sleep: see turn
ok "met by a query to the dead one" ask c $D 53 -c -w 0.5
alive
stop $FP

: >/etc/resolv.conf
F --dns-forward $D
nok "none at the start" ask c $D 53 -c -w 0.3
says 192.0.2.3 >/etc/resolv.conf
ok "one appears" wait_until ask c $D 53 -c -w 0.3
is "one appears: it is asked" "$(who)" second
alive
done_testing
