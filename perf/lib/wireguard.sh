# shellcheck shell=bash disable=SC2154 # variables are shared with perf/run
# wireguard.sh - a WireGuard tunnel from the container to the other host, by the
# forwarder
#
# Interface: wireguard_up. Uses bench.sh; what it makes ends with our namespaces,
# the devices with the forwarder (side_down).

# wireguard_up SIDE - unless it is; the other host's counters are read, too
wireguard_up()
{
	local ns i peer key=() public=() name=wg0$1 at=(192.0.2.1 192.0.2.2)

	way+=("lan=${1}p")
	! ip -n "${1}c" link show "${name}c" > /dev/null 2>&1 || return 0
	for i in 0 1; do
		key[i]=$T/wireguard.$1.$i
		(umask 077 && wg genkey > "${key[i]}")
		public[i]=$(wg pubkey < "${key[i]}")
	done
	i=0
	for ns in c p; do
		peer=$((1 - i))
		wireguard_device "$1$ns" "$name$ns" || die "no WireGuard here"
		in_ns "$1$ns" wg set "$name$ns" private-key "${key[i]}" listen-port 51820 \
			peer "${public[peer]}" endpoint "${at[peer]}:51820" \
			allowed-ips 198.18.0.0/24
		in_ns "$1$ns" sh -c "echo 1 > /proc/sys/net/ipv6/conf/$name$ns/disable_ipv6"
		ip -n "$1$ns" addr add 198.18.0.$((i + 1))/24 dev "$name$ns"
		ip -n "$1$ns" link set "$name$ns" mtu 1420 up
		i=1
	done
}

# wireguard_device NETNS NAME - the kernel's, or else a program's, which runs
# where the endpoints do; our PID namespace ends it
wireguard_device()
{
	local pinned=()

	! ip -n "$1" link add "$2" type wireguard 2> /dev/null || return 0
	[ -z "$CPU_ENDS" ] || pinned=(taskset -c "$CPU_ENDS")
	in_ns "$1" ${pinned[@]+"${pinned[@]}"} env WG_PROCESS_FOREGROUND=1 LOG_LEVEL=error \
		wireguard-go -f "$2" > /dev/null 2>&1 &
	until_true 5 in_ns "$1" wg show "$2"
}
