#!/bin/bash
# The very command lines of podman, buildah and rootlesskit work, and the
# forwarder ends on the signals that these give: a name removed, a process
# gone, SIGTERM.
# once
#
#   caller, output in a pipe ──> PASTA in h ──> c by a bind-mounted file, or
#   the namespace of a process

. "$(dirname "$0")"/lib.sh

# start WORDS...: as podman does it; output in $out, status in $rc
start()
{
	local t

	t=$(now)
	out=$($H timeout 5 "$PASTA" "$@" </dev/null 2>&1 | cat
		exit "${PIPESTATUS[0]}")
	rc=$?
	took=$(($(now) - t))
}

# ends NAME: no process is left soon
ends()
{
	local t

	t=$(now)
	ok "$1: ends" wait_until no_forwarders
	atmost "$1: milliseconds" $(($(now) - t)) "${2:-1500}"
}

echo nameserver 192.0.2.2 >$T/resolv.conf
serve p dns 192.0.2.2 53 --name lan
serve h echo 192.0.2.1 9005 127.0.0.1 9006
serve c echo -v 0.0.0.0 80 :: 80

# podman: a container with a published port
mkdir $T/netns
file=$T/netns/netns-1b4e28ba-2fa1-11d2-883f-0016d3cca427
: >$file
mount --bind "/run/netns/${X}c" $file
start --config-net -u 5000-5000:80-80 --dns-forward 169.254.1.1 \
	-t none -T none -U none --no-map-gw --quiet --netns $file \
	--map-guest-addr 169.254.1.2
is "podman: status" $rc 0
atmost "podman: milliseconds" $took 1000
is_root || is "podman: nothing said" "$out" ""
like "podman: addresses" "$(ip -n "${X}c" -o addr show scope global)" \
	'192.0.2.1/24.*2001:db8::1/64'
is "podman: the interface's name" \
	"$(ip -n "${X}c" -o link show hp | cut -d: -f2)" " hp"
ok "podman: the published port" ask p 192.0.2.1 5000 -c
ok "podman: the published port, v6" ask p 2001:db8::1 5000 -c
ok "podman: the published port, loopback" ask h 127.0.0.1 5000 -c
is "podman: the resolver's address" \
	"$($C dig +short +time=1 +tries=2 @169.254.1.1 txt x.test)" '"lan"'
like "podman: the host's alias" "$(ask c 169.254.1.2 9005 -c)" \
	'^169.254.1.2 9005 saw 192.0.2.1'
nok "podman: the gateway does not stand for the host" \
	ask c 192.0.2.254 9006 -c -w 0.3
umount -l $file
WAIT=0 nok "podman: still there after the unmount" wait_until no_forwarders
rm $file
ends podman

# podman: the namespace shared by bridge networks
file=$T/netns/rootless-netns
: >$file
mount --bind "/run/netns/${X}c" $file
for i in 1 2; do
	start --config-net --pid $T/rootless-netns-conn.pid \
		--dns-forward 169.254.1.1 -t none -u none -T none -U none \
		--no-map-gw --quiet --netns $file --map-guest-addr 169.254.1.2
	is "rootless-netns, time $i: status" $rc 0
	pid=$(tr -d '[:space:]' <$T/rootless-netns-conn.pid)
	ok "rootless-netns, time $i: the PID is good" kill -0 "$pid"
	kill "$pid"
	ends "rootless-netns, time $i" 500
done

# buildah: the namespace of a process
target -n
start --config-net --dns-forward 169.254.1.1 -t none -u none -T none -U none \
	--no-map-gw --quiet --netns /proc/$TP/ns/net \
	--map-guest-addr 169.254.1.2
is "buildah: status" $rc 0
kill -9 $TP
wait $TP 2>/dev/null
ends buildah 2500

# rootlesskit, an ordinary user where we can be one
if is_root; then
	H="$H setpriv --reuid=1000 --regid=1000 --clear-groups"
fi
rootlesskit=(--stderr --ns-ifname=tap0 --mtu=65520 --config-net
	--address=10.0.2.100 --netmask=24 --gateway=10.0.2.2
	--dns-forward=10.0.2.3 --no-map-gw --ipv4-only)
target -Urn
start "${rootlesskit[@]}" --tcp-ports=auto --udp-ports=auto \
	--host-lo-to-ns-lo $TP
is "rootlesskit: status" $rc 0
inside=(nsenter -t $TP -U -n --preserve-credentials)
like "rootlesskit: address" "$("${inside[@]}" ip -o addr show dev tap0)" \
	'inet 10.0.2.100/24'
like "rootlesskit: route" "$("${inside[@]}" ip route)" \
	'default via 10.0.2.2 dev tap0'
like "rootlesskit: MTU" "$("${inside[@]}" ip link show dev tap0)" 'mtu 65520'
nok "rootlesskit: no IPv6" grep -q 'inet6.*global' \
	<("${inside[@]}" ip -o addr show dev tap0)
is "rootlesskit: the resolver's address" \
	"$("${inside[@]}" dig +short +time=1 +tries=2 @10.0.2.3 txt x.test)" \
	'"lan"'
"${inside[@]}" $PY -SE "$DIR"/udp.py echo 127.0.0.1 5001 10.0.2.100 5002 \
	>$T/inner.log &
inner=$!
WAIT=2
ok "rootlesskit: auto follows" wait_until ask p 192.0.2.1 5002 -c -w 0.1
ok "rootlesskit: from loopback to loopback" \
	wait_until ask h 127.0.0.1 5001 -c -w 0.1
WAIT=5
stop $inner
kill -9 $TP
wait $TP 2>/dev/null
ends rootlesskit 2500

target -Urn
: >$T/netns/state
mount --bind /proc/$TP/ns/net $T/netns/state 2>/dev/null || done_testing
start "${rootlesskit[@]}" --tcp-ports=none --udp-ports=none \
	--userns=/proc/$TP/ns/user --netns=$T/netns/state
is "rootlesskit, detached: status" $rc 0
umount -l $T/netns/state
rm $T/netns/state
ends "rootlesskit, detached"
done_testing
