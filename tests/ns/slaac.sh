#!/bin/bash
# In a namespace that nobody configured the kernel finds router and prefix by
# itself, DHCPv6 clients get the host's address and resolvers, and the network
# works with each.
# once
#
#   p <── h: PASTA ── tap ── c: the kernel's autoconfiguration, rdisc6,
#                               dhclient -6, dhcpcd

. "$(dirname "$0")"/lib.sh

# shellcheck disable=SC2034 # for lib.sh
CONFIG_NET=
command -v rdisc6 >/dev/null || skip "no rdisc6"
command -v dhclient >/dev/null || skip "no dhclient"
[ -e /proc/sys/net/ipv6 ] || skip "no IPv6"
printf '%s\n' 'nameserver ::1' 'nameserver 2001:db8::3' \
	'search a.example b.example' >$T/resolv.conf
cat >$T/script <<'SH'
#!/bin/sh
case $reason in BOUND6) ;; *) exit 0 ;; esac
env >/run/t/lease.new
mv /run/t/lease.new /run/t/lease
SH
chmod +x $T/script

learnt()
{
	sed -n "s/^$1=//p" $T/lease
}

# c6 REGEX: does c have a usable address like this?
c6()
{
	ip -n "${X}c" -6 addr show dev tap7 -tentative | grep -E "inet6 $1"
}

routed()
{
	ip -n "${X}c" -6 route show default | grep "via fe80:"
}

# use NAME: both worlds, and the resolver that was told
use()
{
	like "$1: a server of the host's network answers" \
		"$(ask c 2001:db8::2 9001)" 'saw 2001:db8::1 '
	ok "$1: so does the resolver" ask c "$RESOLVER" 53
	ok "$1: and the host" ask c "$RESOLVER" 9002
}

serve p echo 2001:db8::2 9001
serve h echo ::1 53
serve h echo ::1 9002
# Ours on the link is the gateway's link-local address, or the host's
OURS=$(ip -n "${X}h" -6 addr show dev hp scope link | awk '/inet6/ { print $2 }')
OURS=${OURS%/*}
RESOLVER=2001:db8::fe
F --dhcp-dns --dhcp-search --ns-ifname tap7 -6
run c ip link set tap7 up
ok "an address of the prefix" wait_until c6 '2001:db8::.*dynamic'
ok "a default route" wait_until routed
like "by our link-local address" "$(routed)" "via $OURS "
use "autoconfiguration"

run c rdisc6 -1 -w 2000 tap7 >$T/rdisc6.log
for line in 'Hop limit *: *255' 'Stateful address conf. *: *Yes' \
	'Stateful other conf. *: *No' 'Router lifetime *: *65535 ' \
	'Prefix *: *2001:db8::/64' 'On-link *: *Yes' \
	'Autonomous address conf.: *Yes' 'Valid time *: *infinite' \
	'Pref. time *: *infinite' 'MTU *: *65520 ' "link-layer.*: 9A:55:9A:55:9A:55" \
	"Recursive DNS server *: $RESOLVER" 'Recursive DNS server *: 2001:db8::3' \
	'DNS servers lifetime *: *infinite' "DNS search list *: a.example" \
	"from $OURS"; do
	ok "rdisc6: $line" grep -E "$line" $T/rdisc6.log
done

# dhclient -6
run c timeout 20 dhclient -6 -1 -d -v -sf $T/script -lf $T/leases \
	-pf $T/dhclient.pid tap7 >$T/dhclient.log 2>&1 &
ok "dhclient gets a lease" wait_until test -s $T/lease
is "dhclient: address" "$(learnt new_ip6_address)" 2001:db8::1
is "dhclient: resolvers" "$(learnt new_dhcp6_name_servers)" \
	"$RESOLVER 2001:db8::3"
is "dhclient: search list" "$(learnt new_dhcp6_domain_search)" \
	'a.example. b.example.'
kill "$(cat $T/dhclient.pid)"
run c ip addr flush dev tap7 scope global
run c ip addr add 2001:db8::1/64 dev tap7 nodad
use "its address"
is "all messages were answered" "$(stats dhcp_not_answered)" 0
stop $FP

# The client's own address is left to it
F --ns-ifname tap7 -6 --no-ra
run c ip link set tap7 up
ok "--no-ra: link-local alone" wait_until c6 'fe80::'
nok "rdisc6 gets nothing" run c rdisc6 -1 -r 1 -w 300 tap7
ok "counted" test "$(stats service_disabled)" -ge 1
stop $FP
F --ns-ifname tap7 -6 --no-dhcpv6
run c ip link set tap7 up
rm -f $T/lease
ok "--no-dhcpv6: an address all the same" wait_until c6 '2001:db8::.*dynamic'
nok "no lease" run c timeout 3 dhclient -6 -1 -d -sf $T/script -lf $T/leases2 \
	-pf $T/dhclient.pid tap7
nok "none at all" test -e $T/lease
ok "counted" test "$(stats service_disabled)" -ge 1
stop $FP

# What --config-net has configured is not advertised, too
unset CONFIG_NET
F --ns-ifname tap7 -6
nok "--config-net: rdisc6 gets nothing" run c rdisc6 -1 -r 1 -w 300 tap7
ok "counted" test "$(stats service_disabled)" -ge 1
is "the kernel made no address of its own" \
	"$(ip -n "${X}c" -6 -o addr show dev tap7 scope global | wc -l)" 1
stop $FP
done_testing
