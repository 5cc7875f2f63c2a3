# shellcheck shell=bash disable=SC2154
# selftest-paths.sh - the sections of perf/selftest about places on a path
#
# ledger: queues made small must lose under their names. tap: what pasta writes
# to its tap, as XDP sees it, is what arrives. frames: raw frames and XDP between
# two ends. All numbers are exact; none depends on time.
#
# Sourced by perf/selftest, whose functions and variables it uses.

# counter NETNS NAME - UDP of both families, as in /proc/net/snmp and snmp6
counter()
{
	ip netns exec "$1" awk -v name="$2" '
		$1 == "Udp:" && !head { head = 1; for (i = 2; i <= NF; i++) at[$i] = i; next }
		$1 == "Udp:" { sum += $at[name] }
		$1 == "Udp6" name { sum += $2 }
		END { print sum + 0 }' /proc/net/snmp /proc/net/snmp6
}

# tap_counter NETNS COLUMN - of all its interfaces but lo; 11 sent, 13 dropped
tap_counter()
{
	ip netns exec "$1" awk -v at="$2" '/:/ && !/ lo:/ { sub(/:/, " "); sum += $at } END { print sum + 0 }' /proc/net/dev
}

softnet() { awk '{ print $2 }' /proc/net/softnet_stat | while read -r x; do echo $((16#$x)); done | awk '{ s += $1 } END { print s }'; }

# small_sink FAMILY BIND DEST - a queue of 8,000 bytes at the sink
small_sink()
{
	local before sent lost named soft

	start "$net" $((ncpu - 1)) sink "$udpload" sink -b "$2" -p 5001 --queue 8000 -t .3 -w 5 -m 1
	until_true 5 is_bound "$net" 5001 || die "no sink"
	before=$(counter "$net" RcvbufErrors) soft=$(softnet)
	load flood "$3" 5001 -t 2 -n 100000 -s 1000
	wait "$started"
	sent=$(field sent "$tmp/load")
	lost=$((sent - $(field distinct "$tmp/sink")))
	named=$(($(counter "$net" RcvbufErrors) - before))
	soft=$(($(softnet) - soft))
	note "$1: sent $sent, lost $lost: sink queue $named, backlog $soft"
	check "ledger, $1, small sink queue: lost" "$lost" '>' 0
	check "ledger, $1, small sink queue: by the socket itself" \
		"$(field socket_drops "$tmp/sink")" == "$named"
	check "ledger, $1, small sink queue: unexplained" "$((lost - named - soft))" == 0
}

# unresolved - what waited for a neighbour's address in vain, all namespaces
unresolved()
{
	awk 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "unresolved_discards") at = i; next } { print $at }' \
		/proc/net/stat/arp_cache /proc/net/stat/ndisc_cache |
		while read -r x; do echo $((16#$x)); done | awk '{ s += $1 } END { print s + 0 }'
}

qdisc_drops() { ip netns exec "$1" tc -s qdisc | sed -n 's/.*(dropped \([0-9]*\).*/\1/p' | awk '{ s += $1 } END { print s + 0 }'; }

# small_tap FAMILY BIND DEST - a ring of 16 frames between namespace and pasta
small_tap()
{
	local tap0 out0 all0 sock0 soft0 qd0 nb0 sent lost tap sock soft qd nb other left

	start "$net" 0 sink "$udpload" sink -b "$2" -p 5001 -t .3 -w 5
	until_true 5 is_bound "$net" 5001 || die "no sink"
	tap0=$(tap_counter "$net2" 13) out0=$(counter "$net2" OutDatagrams)
	all0=$(($(tap_counter "$net2" 11) + tap0))
	sock0=$(counter "$net" RcvbufErrors) soft0=$(softnet)
	qd0=$(qdisc_drops "$net2") nb0=$(unresolved)
	in_net2 "$udpload" flood "$3" 5001 -t 2 -n 60000 -s 1000 > "$tmp/load" 2>&1
	wait "$started"
	tap=$(($(tap_counter "$net2" 13) - tap0))
	sock=$(($(counter "$net" RcvbufErrors) - sock0)) soft=$(($(softnet) - soft0))
	sent=$(field sent "$tmp/load")
	lost=$((sent - $(field distinct "$tmp/sink")))
	qd=$(($(qdisc_drops "$net2") - qd0)) nb=$(($(unresolved) - nb0))
	# Neighbours' and groups' frames may be what the ring drops, too
	other=$(($(tap_counter "$net2" 11) + tap + tap0 - all0 + qd + nb - sent))
	left=$((lost - tap - qd - nb - sock - soft))
	note "$1: sent $sent, lost $lost: tap queue $tap, qdisc $qd, neighbour unknown $nb, sink queue $sock, backlog $soft; $other other frames"
	check "ledger, $1, small tap queue: sent, as the kernel has it" \
		"$(($(counter "$net2" OutDatagrams) - out0))" == "$sent"
	check "ledger, $1, small tap queue: lost there" "$tap" '>' 0
	check "ledger, $1, small tap queue: unexplained, at most" "$left" '<=' 0
	check "ledger, $1, small tap queue: unexplained, at least, by other frames" \
		"$left" '>=' "$((-other))"
}

has_tap() { [ -n "$(ip -n "$net2" -o link show up | grep -v ' lo:')" ]; }
has_no_tentative() { [ -z "$(ip -n "$net2" -6 addr show tentative)" ]; }

# start_pasta OPTION... - a host with a link and a default route, which pasta
# copies to the second namespace; its tap's name in $tap, its id in $pasta
start_pasta()
{
	ip netns add "$net2"
	ip -n "$net" link add d0 type veth peer name d1
	ip -n "$net" link set d1 up
	ip -n "$net" addr add 192.0.2.1/24 dev d0
	ip -n "$net" addr add 2001:db8::1/64 dev d0 nodad
	ip -n "$net" link set d0 up
	ip -n "$net" route add default via 192.0.2.2
	ip -n "$net" route add default via 2001:db8::2 dev d0
	start "$net" $((ncpu - 1)) pasta ./pasta -f -q --config-net --runas 0 \
		--netns "/run/netns/$net2" -t none -T none -U none "$@"
	pasta=$started
	until_true 5 has_tap || die "no pasta: $(cat "$tmp/pasta")"
	until_true 5 has_no_tentative
	tap=$(ip -n "$net2" -o link show up | sed -n '/ lo:/!s/^[0-9]*: \([^:@]*\).*/\1/p')
}

stop_pasta()
{
	stop "$pasta"
	ip netns del "$net2"
	ip -n "$net" link del d0
}

has_pasta()
{
	[ ! -x ./pasta ] || return 0
	note "skip: no ./pasta here"
	return 1
}

test_ledger()
{
	local tap pasta

	small_sink IPv4 0.0.0.0 127.0.0.1
	small_sink IPv6 :: ::1
	has_pasta || return 0
	start_pasta -u none
	ip -n "$net2" link set "$tap" txqueuelen 16
	small_tap IPv4 0.0.0.0 192.0.2.2
	small_tap IPv6 :: 2001:db8::2
	stop_pasta
}

# start_xdp IFACE DEED MODE SIZE - in the second namespace; its id in $started
start_xdp()
{
	start "$net2" 0 xdp "$xdp" "$1" "$2" "--$3" --seg "$4"
	until_true 5 is_attached "$net2" "$1" || die "xdp: $(cat "$tmp/xdp")"
}

# tap_arrivals OFFLOAD MODE ADDR - a segmented flood to a published port
tap_arrivals()
{
	local what="offload $1, $2, $3" full got frames datagrams pid sink

	full=$(counter "$net2" RcvbufErrors)
	start_xdp "$tap" pass "$2" 1000
	pid=$started
	start "$net2" 0 sink "$udpload" sink -p 5001 -t .3 -w 5
	sink=$started
	until_true 5 is_bound "$net2" 5001 || die "no sink"
	load flood "$3" 5001 -s 1000 -n 20000 -r 100000 -t 5 -S 44 -m 1
	wait "$sink"
	stop "$pid"
	full=$(($(counter "$net2" RcvbufErrors) - full))
	got=$(field distinct "$tmp/sink")
	frames=$(field frames "$tmp/xdp") datagrams=$(field datagrams "$tmp/xdp")
	note "$what: sent $(field sent "$tmp/load"), frames on the tap $frames, datagrams in them $datagrams, received $got"
	# A full queue counts a frame as one
	[ "$full" != 0 ] || check "tap, $what: derived less received" $((datagrams - got)) == 0
	if [ "$1" = none ]; then
		check "tap, $what: a datagram a frame" $((datagrams - frames)) == 0
	else
		check "tap, $what: many datagrams a frame" $((datagrams / frames)) '>' 4
	fi
}

# tap_swap OFFLOAD MODE ADDR - the kernel at the other end of the tap answers
tap_swap()
{
	start_xdp "$tap" swap "$2" 1000
	load closed "$3" 5001 -s 1000 -n 2000 -t 5 -W 32 -w .2 --verify
	stop "$started"
	check "tap, offload $1, $2, $3: answered by XDP, whole" "$(field answered "$tmp/load")" == 2000
	check "tap, offload $1, $2, $3: datagrams seen there" "$(field datagrams "$tmp/xdp")" == 2000
}

test_tap()
{
	local offload mode addr tap pasta

	has_pasta || return 0
	for offload in uso none; do
		start_pasta -u 5001 --offload $offload
		for mode in generic native; do
			for addr in 192.0.2.1 2001:db8::1; do
				tap_arrivals $offload $mode $addr
				# A driver's transmission has no room for half a checksum
				[ $offload$mode = usonative ] || tap_swap $offload $mode $addr
			done
		done
		stop_pasta
	done
}

# frames_run NAME ADDR FROM OPTION... - 2,000 exchanges of raw frames
frames_run()
{
	local name=$1 to=$2 from=$3

	shift 3
	in_net "$udpload" closed "$to" 7000 --raw va --mac "$mac" --from "$from" \
		-n 2000 -t 10 -w .1 -W 16 -s 900 --verify "$@" > "$tmp/load" 2>&1
	[ "$name" = - ] && return
	check "frames, $name: answered whole" "$(field answered "$tmp/load")" == 2000
	check "frames, $name: tag as sent" "$(field mistagged "$tmp/load")" == 0
}

is_attached() { ip -n "$1" link show "$2" | grep -q xdp; }

# xdp_run DEED MODE FAMILY ADDR FROM
xdp_run()
{
	local pid far='' wrapped=0

	# A veth sends natively to an end that has a program, too
	if [ "$2" = native ] && [ $path = cable ]; then
		start "$net" 0 far "$xdp" va pass --native
		far=$started
		until_true 5 is_attached "$net" va
	fi
	start_xdp vb "$1" "$2" 300
	pid=$started
	if [ "$1" = drop ]; then
		in_net "$udpload" flood "$4" 7000 --raw va --mac "$mac" --from "$5" \
			-n 2000 -t 5 -s 900 > "$tmp/load" 2>&1
		check "xdp, $2, $1, $3: all sent" "$(field sent "$tmp/load")" == 2000
	else
		[ "$1" = swap ] || wrapped=2000
		frames_run "xdp $2 $1 $3" "$4" "$5"
		check "xdp, $2, $1, $3: inside another header" \
			"$(field wrapped "$tmp/load")" == $wrapped
	fi
	stop "$pid"
	[ -z "$far" ] || stop "$far"
	check "xdp, $2, $1, $3: frames counted" "$(field frames "$tmp/xdp")" == 2000
	check "xdp, $2, $1, $3: datagrams derived, 3 each" \
		"$(field datagrams "$tmp/xdp")" == 6000
}

# A bridge in the second namespace if the kernel has it, else a cable; both end
# in va and vb. Sets $path.
make_path()
{
	local d

	path=bridge
	if ! ip -n "$net2" link add br0 type bridge vlan_filtering 1 2>/dev/null; then
		path=cable
		note "skip: no bridge in this kernel, frames go by a cable"
		ip -n "$net" link add va type veth peer name vb netns "$net2"
		ip -n "$net2" link set vb up
		ip -n "$net" link set va up
		return
	fi
	ip -n "$net" link add va type veth peer name ba netns "$net2"
	ip -n "$net2" link add vb type veth peer name bb
	for d in ba bb br0 vb; do ip -n "$net2" link set $d up; done
	for d in ba bb; do
		ip -n "$net2" link set $d master br0
		bridge -n "$net2" vlan add dev $d vid 77
	done
	ip -n "$net" link set va up
	until_true 5 is_forwarding
}

is_forwarding() { [ "$(bridge -n "$net2" link | grep -c forwarding)" = 2 ]; }

test_frames()
{
	local d m reflector

	ip netns add "$net2"
	make_path
	mac=$(ip -n "$net2" -br link show vb | awk '{ print $3 }')
	start "$net2" 0 reflector "$udpload" echo --raw vb -p 7000 -P 10 -t 600
	reflector=$started
	sleep .1
	frames_run "$path, IPv4" 10.9.0.2 10.9.0.1
	frames_run "$path, IPv6, 100,000 flows" fd00::2 fd00::1 -F 100000 -P 10
	frames_run "$path, VLAN 77, priority 5" 10.9.0.2 10.9.0.1 --vlan 77 --prio 5
	if [ $path = bridge ]; then
		frames_run - 10.9.0.2 10.9.0.1 --vlan 78 -w .01
		check "frames, VLAN 78 does not pass: lost" "$(field lost "$tmp/load")" == 2000
	fi
	stop "$reflector"
	start "$net2" 0 reflector "$udpload" echo --raw vb -p 7000 -t 600 --swap-mac
	reflector=$started
	sleep .1
	frames_run "$path, MAC addresses swapped" 10.9.0.2 10.9.0.1
	stop "$reflector"
	for m in generic native; do
		# The bridge's end of vb has no program, and cannot be sent to natively
		[ $m$path != nativebridge ] || continue
		for d in drop swap wrap; do
			xdp_run $d $m IPv4 10.9.0.2 10.9.0.1
			xdp_run $d $m IPv6 fd00::2 fd00::1
		done
	done
	ip netns del "$net2"
}
