#!/bin/bash
# An ordinary DHCP client in a namespace that nobody configured gets the host's
# address, its route, resolvers and search list, and the network works.
# once
#
#   p <── h: PASTA ── tap ── c: udhcpc, then dhclient

. "$(dirname "$0")"/lib.sh

# shellcheck disable=SC2034 # for lib.sh
CONFIG_NET=
busybox udhcpc --help 2>&1 | grep -q script || skip "no busybox with udhcpc"
command -v dhclient >/dev/null || skip "no dhclient"
printf '%s\n' 'nameserver 127.0.0.53' 'nameserver 192.0.2.3' \
	'search a.example b.example' >$T/resolv.conf

# What a client found out, as both give it to their scripts
cat >$T/script <<'SH'
#!/bin/sh
case ${reason:-$1} in bound | BOUND | RENEW | REBOOT) ;; *) exit 0 ;; esac
env >/run/t/lease.new
mv /run/t/lease.new /run/t/lease
SH
chmod +x $T/script

# learnt NAME: value of a variable of the script
learnt()
{
	sed -n "s/^$1=//p" $T/lease
}

# use ADDRESS/LEN GATEWAY: what a script of a distribution would do
use()
{
	run c ip addr add "$1" dev tap7
	[ $# = 1 ] || run c ip route add default via "$2" dev tap7
	like "a server of the host's network answers and sees the host" \
		"$(ask c 192.0.2.2 9001)" 'saw 192\.0\.2\.1 '
	ok "so does the resolver that was told" ask c 192.0.2.254 53
	run c ip addr flush dev tap7
}

# shellcheck disable=SC2120 # by way of ok and nok
with_udhcpc()
{
	rm -f $T/lease
	run c timeout 20 busybox udhcpc -fqn -t 3 -T 1 -i tap7 -s $T/script \
		-O search -O mtu "$@" >$T/udhcpc.log 2>&1
}

with_dhclient()
{
	rm -f $T/lease
	run c timeout 20 dhclient -1 -d -v -sf $T/script -lf $T/leases \
		-pf $T/dhclient.pid tap7 >$T/dhclient.log 2>&1 &
	wait_until test -s $T/lease
}

serve p echo 192.0.2.2 9001
serve h echo 127.0.0.53 53
F --dhcp-dns --dhcp-search --ns-ifname tap7
nok "the link is down at first" grep -q '<.*UP' <<<"$(ip -n "${X}c" link show tap7)"
run c ip link set tap7 up

ok "udhcpc gets a lease" with_udhcpc
is "address" "$(learnt ip)/$(learnt mask)" 192.0.2.1/24
is "router" "$(learnt router)" 192.0.2.254
is "server" "$(learnt serverid)" 192.0.2.254
is "resolvers: loopback as the alias" "$(learnt dns)" '192.0.2.254 192.0.2.3'
is "search list" "$(learnt search)" 'a.example b.example'
is "MTU" "$(learnt mtu)" 65520
is "for ever" "$(learnt lease)" 4294967295
use 192.0.2.1/24 192.0.2.254
ok "another address is wished for" with_udhcpc -r 192.0.2.99
is "the right one is given" "$(learnt ip)" 192.0.2.1

: >$T/leases
ok "dhclient gets a lease" with_dhclient
is "address" "$(learnt new_ip_address)" 192.0.2.1
is "netmask" "$(learnt new_subnet_mask)" 255.255.255.0
is "router" "$(learnt new_routers)" 192.0.2.254
is "resolvers" "$(learnt new_domain_name_servers)" '192.0.2.254 192.0.2.3'
kill "$(cat $T/dhclient.pid)"

# The host's resolvers change; who asks for a lease after that is told
told()
{
	with_udhcpc && [ "$(learnt dns)" = "$1" ]
}

run c ip addr add 192.0.2.1/24 dev tap7
run c ip route add default via 192.0.2.254 dev tap7
printf '%s\n' 'nameserver 192.0.2.3' 'nameserver 127.0.0.53' >$T/resolv.conf
sleep 1 # sleep: it is looked at once per second at most
ask c 192.0.2.254 53 >/dev/null
ok "the new resolvers are told" wait_until told '192.0.2.3 192.0.2.254'
is "all requests were answered" "$(stats dhcp_not_answered)" 0
alive
stop $FP

# A gateway that the subnet does not cover, and nothing said about resolvers
F --ns-ifname tap7 -a 198.51.100.7 -n 32 --hostname inner --fqdn inner.example
run c ip link set tap7 up
ok "udhcpc gets a lease of one address" with_udhcpc -O staticroutes -O hostname
is "address" "$(learnt ip)/$(learnt mask)" 198.51.100.7/32
is "routes" "$(learnt staticroutes)" \
	'192.0.2.254/32 0.0.0.0 0.0.0.0/0 192.0.2.254'
is "no resolvers" "$(learnt dns)" ''
is "no search list" "$(learnt search)" ''
is "host name" "$(learnt hostname)" inner
stop $FP

# A host without gateway: we are one, by an address that is nobody's
run h ip route del default
F --ns-ifname tap7
run c ip link set tap7 up
ok "no gateway: udhcpc gets a lease" with_udhcpc -O staticroutes
is "address" "$(learnt ip)/$(learnt mask)" 192.0.2.1/24
is "routes" "$(learnt staticroutes)" '169.254.2.2/32 0.0.0.0 0.0.0.0/0 169.254.2.2'
run c ip addr add 192.0.2.1/24 dev tap7
run c ip route add 169.254.2.2 dev tap7
run c ip route add default via 169.254.2.2 dev tap7
ok "a server of the host's network answers" ask c 192.0.2.2 9001
stop $FP

F --ns-ifname tap7 --no-dhcp
run c ip link set tap7 up
nok "--no-dhcp: no lease" with_udhcpc -t 1
ok "counted" test "$(stats service_disabled)" -ge 1
done_testing
