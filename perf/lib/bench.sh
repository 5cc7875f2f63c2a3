# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with perf/run
# bench.sh - where the forwarders stand while they are measured
#
# Each side (a: ours, b: the peer) gets a bench of its own and idles while the
# other is measured, so that pairs alternate without start-up between them:
#
#     Sh: host                              Sp: another host on the LAN
#     hp 192.0.2.1/24, 2001:db8::1/64 ----- ph .2, ::2, gateways .254 and ::fe
#     the forwarder runs here
#         |
#     Sc: container, addresses copied from Sh by the forwarder
#
# A second way from Sh to Sp is 10 ms long: hw 203.0.113.1/24, 2001:db8:1::1/64
# and pw .2, ::2, taps that perf/delay joins.
#
# With OUTER=1, Sh has no veth but is itself the container of another forwarder
# of ours, which runs in So; So has the veth then.
#
# perf/run has given us mount, PID and network namespaces of our own: whatever is
# left behind dies with them, and nothing here can touch the machine.
#
# Interface: bench_up, side_up, side_down. Uses T, OUTER, CPU_FWD, die() of
# perf/run and the adapters in perf/peers.

# Ports that lead in and out; echo ports last
IN_PORTS=4789,51820,5001-5004,5010-5019
OUT_PORTS=5201-5204,5210-5219
IN_ECHO=5010
OUT_ECHO=5210

WAN_MS=10

declare -A wan_pid fwd_pid fwd_log fwd_mtu fwd_sha fwd_exe fwd_counters fwd_n

# until_true SECONDS COMMAND... - poll, with an end
until_true()
{
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))

	shift
	until "$@" > /dev/null 2>&1; do
		[ "${EPOCHREALTIME/[.,]/}" -lt $end ] || return 1
		sleep .02
	done
}

# in_ns NAME COMMAND... - "ip netns exec" without its mounts, which cost time
in_ns()
{
	local n=$1

	shift
	nsenter --net="/run/netns/$n" -- "$@"
}

# is_bound NETNS PORT - does a UDP socket have this port?
is_bound()
{
	in_ns "$1" awk -v end=":$(printf %04X "$2")\$" '$2 ~ end { found = 1 }
		END { exit !found }' /proc/net/udp /proc/net/udp6
}

# is_listening NETNS PORT - the same of TCP
is_listening()
{
	in_ns "$1" awk -v end=":$(printf %04X "$2")\$" '$4 == "0A" && $2 ~ end { found = 1 }
		END { exit !found }' /proc/net/tcp /proc/net/tcp6
}

has_no_tentative() { [ -z "$(ip -n "$1" -6 addr show tentative)" ]; }
has_default() { [ -n "$(ip -n "$1" route show default)" ]; }

# cable HOST LAN - veth between two namespaces, with all addresses
cable()
{
	local a

	ip link add hp netns "$1" type veth peer name ph netns "$2" || die "no veth"
	ip -n "$1" addr add 192.0.2.1/24 dev hp
	ip -n "$1" addr add 2001:db8::1/64 dev hp nodad
	for a in 192.0.2.2/24 192.0.2.254/24; do ip -n "$2" addr add $a dev ph; done
	ip -n "$2" addr add 2001:db8::fe/64 dev ph nodad preferred_lft 0
	ip -n "$2" addr add 2001:db8::2/64 dev ph nodad
	ip -n "$1" link set hp mtu "${VETH_MTU:-65535}" up
	ip -n "$2" link set ph mtu "${VETH_MTU:-65535}" up
	until_true 5 has_no_tentative "$1" && until_true 5 has_no_tentative "$2"
	ip -n "$1" route add default via 192.0.2.254
	ip -n "$1" route add default via 2001:db8::fe dev hp
}

# bench_up SIDE
bench_up()
{
	local n names="${1}h ${1}c ${1}p"

	[ -z "$OUTER" ] || names="$names ${1}o"
	for n in $names; do
		ip netns add "$n" || die "cannot make network namespaces: root is needed"
		ip -n "$n" link set lo up
		in_ns "$n" sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/dad_transmits'
	done
	if [ -z "$OUTER" ]; then
		cable "${1}h" "${1}p"
		return
	fi
	cable "${1}o" "${1}p"
	nsenter --net="/run/netns/${1}o" -- "$OURS" -f -q --config-net --runas 0 --netns "/run/netns/${1}h" \
		-t none -T none -U none -u none > "$T/outer.$1" 2>&1 &
	until_true 5 has_default "${1}h" || die "no outer pasta: $(cat "$T/outer.$1")"
	until_true 5 has_no_tentative "${1}h"
}

# address SIDE FAMILY WHAT [DIRECTION] - own: the host's; gw: what stands for it in the
# container; lo, lan; near, far: the ends of the long way; any: to bind to
address()
{
	case $3$2 in
	own4) peer_call "$1" own 4 ;;
	gw4) peer_call "$1" gw 4 ;;
	gw6) peer_call "$1" gw 6 ;;
	own6) peer_call "$1" own 6 ;;
	lo4) echo 127.0.0.1 ;;
	lo6) echo ::1 ;;
	wireguard4) [ "$4" = in ] && echo 198.18.0.1 || echo 198.18.0.2 ;;
	tunnel4) [ "$4" = in ] && echo 198.51.100.1 || echo 198.51.100.2 ;;
	lan4) echo 192.0.2.2 ;;
	lan6) echo 2001:db8::2 ;;
	near4) echo 203.0.113.1 ;;
	near6) echo 2001:db8:1::1 ;;
	far4) echo 203.0.113.2 ;;
	far6) echo 2001:db8:1::2 ;;
	any4) echo 0.0.0.0 ;;
	any6) echo :: ;;
	esac
}

# peer_call SIDE FUNCTION ARG... - a function of this side's adapter
peer_call()
{
	local side=$1 f=$2

	shift 2
	(
		# shellcheck disable=SC2034 # for adapters
		PROGRAM=${program[$side]} WHICH=${which[$side]-}
		peer_defaults
		# shellcheck source=/dev/null
		. "$HERE/peers/${adapter[$side]}"
		"$f" "$@"
	)
}

# Adapters override what differs from pasta
peer_defaults()
{
	own() { [ "$1" = 4 ] && echo 192.0.2.1 || echo 2001:db8::1; }
	gw() { [ "$1" = 4 ] && echo 192.0.2.254 || echo 2001:db8::fe; }
	supports() { :; }
	# Older builds of ours take the options, but have no TCP to publish
	carries_tcp() { ! $PROGRAM --help 2>&1 | grep -q 'not carried yet'; }
	after_start() { :; }
	pasta_options() # NETNS MTU
	{
		local tcp="-t none -T none"

		! carries_tcp || tcp="-t $IN_PORTS -T $OUT_PORTS"
		echo "--config-net --runas 0 --netns /run/netns/$1 -m $2" \
			"$tcp -u $IN_PORTS -U $OUT_PORTS"
	}
	options() { echo "-f -q $(pasta_options "$@")"; }
	has_counters() { false; }
	# How a caller starts it, for the start-up workload; the status file gets
	# the process number
	start_and_wait() # PROGRAM NETNS MTU PIDFILE
	{
		# shellcheck disable=SC2046,SC2086
		$1 -q -P "$4" $(pasta_options "$2" "$3") > /dev/null 2>&1
	}
}

# pin PID CPU - all its threads, and see that it came true
pin()
{
	[ -n "$2" ] || return 0
	taskset -acp "$2" "$1" > /dev/null || return
	[ "$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$1/status")" = "$2" ]
}

# children PID - it and all its descendants
family_of()
{
	local p

	echo "$1"
	for p in $(cat /proc/"$1"/task/*/children 2>/dev/null); do family_of "$p"; done
}

# side_up SIDE MTU - start its forwarder unless it runs so already
side_up()
{
	local s=$1 h=${1}h c=${1}c p word

	if [ "${fwd_mtu[$s]-}" = "$2" ] && kill -0 "${fwd_pid[$s]}" 2>/dev/null; then
		return 0
	fi
	side_down "$s"
	fwd_n[$s]=$((${fwd_n[$s]-0} + 1))
	fwd_log[$s]=$T/fwd.$s.${fwd_n[$s]}
	# Words are wanted
	# shellcheck disable=SC2046,SC2086
	nsenter --net="/run/netns/$h" -- ${program[$s]} $(peer_call "$s" options "$c" "$2") \
		> "${fwd_log[$s]}" 2>&1 &
	fwd_pid[$s]=$!
	fwd_mtu[$s]=$2
	until_true 5 has_default "$c" && peer_call "$s" after_start "$c" "$T/api.$c" &&
		until_true 5 is_bound "$h" $IN_ECHO &&
		{ ! peer_call "$s" carries_tcp || until_true 5 is_listening "$h" $IN_ECHO; } ||
		die "${label[$s]} did not start: $(tail -n 5 "${fwd_log[$s]}")"
	until_true 5 has_no_tentative "$c"
	for p in $(family_of "${fwd_pid[$s]}"); do
		pin "$p" "$CPU_FWD" || die "cannot pin process $p to CPU $CPU_FWD"
	done
	word=$(readlink "/proc/${fwd_pid[$s]}/exe")
	fwd_exe[$s]=$word
	fwd_sha[$s]=$(sha256sum "${file[$s]}" | cut -d ' ' -f 1)
	fwd_counters[$s]=0
	! peer_call "$s" has_counters || fwd_counters[$s]=1
}

# tunnel_up SIDE - VXLAN from the container to the other host, by the forwarder
tunnel_up()
{
	local ns

	! ip -n "${1}c" link show vx0 > /dev/null 2>&1 || return 0
	for ns in "${1}c 192.0.2.2 1 2" "${1}p 192.0.2.1 2 1"; do
		# Words are wanted
		# shellcheck disable=SC2086
		set -- $ns
		ip -n "$1" link add vx0 address 02:00:00:00:01:0"$3" type vxlan id 9 \
			remote "$2" dstport 4789 || die "no VXLAN here"
		ip -n "$1" addr add 198.51.100."$3"/24 dev vx0
		# A tunnel in hardware would fill in the inner checksum; a forwarder's
		# socket hands on what is there
		in_ns "$1" ethtool -K vx0 tx off > /dev/null || die "no ethtool"
		# No discovery among what is counted
		in_ns "$1" sh -c 'echo 1 > /proc/sys/net/ipv6/conf/vx0/disable_ipv6'
		ip -n "$1" link set vx0 mtu 1450 up
		ip -n "$1" neigh add 198.51.100."$4" lladdr 02:00:00:00:01:0"$4" dev vx0
	done
}

# wan_up SIDE - the long way between the host and the other host
wan_up()
{
	local end

	[ -z "${wan_pid[$1]-}" ] || return 0
	"$DELAY" -d $((WAN_MS * 500)) "${1}h" hw "${1}p" pw > "$T/wan.$1" 2>&1 &
	wan_pid[$1]=$!
	until_true 3 grep -q ready "$T/wan.$1" || die "no long way: $(cat "$T/wan.$1")"
	for end in "${1}h hw 1" "${1}p pw 2"; do
		# Words are wanted
		# shellcheck disable=SC2086
		set -- $end
		ip -n "$1" addr add "203.0.113.$3/24" dev "$2"
		ip -n "$1" addr add "2001:db8:1::$3/64" dev "$2" nodad
		ip -n "$1" link set "$2" up
	done
}

side_down()
{
	local pid=${fwd_pid[$1]-} ns

	[ -n "$pid" ] || return 0
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	fwd_pid[$1]=''
	for ns in "${1}c" "${1}p"; do
		ip -n "$ns" link del vx0 2>/dev/null
		ip -n "$ns" link del "wg0$ns" 2>/dev/null
	done
	# The tap goes with the forwarder; until then the next one cannot have it
	until_true 2 has_only_lo "${1}c"
	until_true 2 is_free "${1}h" $IN_ECHO
}

has_only_lo() { [ "$(ip -n "$1" -o link | wc -l)" = 1 ]; }
is_free() { ! is_bound "$1" "$2"; }
