# shellcheck shell=bash
# wireguard: a WireGuard tunnel between the container and another host, through
# the forwarder (by wireguard-go where the kernel has no such device)
#
# Many small wake-ups and one flow outside, whatever is inside.

workload_cells()
{
	local dir window secs=1 windows="1 32 128"

	[ "$LEVEL" != smoke ] || return 0
	[ "$LEVEL" = full ] || { secs=.4 windows=32; }
	if ! command -v wg > /dev/null; then
		echo "wireguard is skipped: no wg: apt-get install wireguard-tools" >&2
		return
	fi
	if ! unshare -n ip link add type wireguard 2> /dev/null &&
		! command -v wireguard-go > /dev/null; then
		echo "wireguard is skipped: no such device in this kernel, and no" \
			"wireguard-go: apt-get install wireguard-go" >&2
		return
	fi
	for dir in in out; do for window in $windows; do
		echo "op=closed path=wireguard dir=$dir mtu=1500 size=1372 window=$window secs=$secs"
	done; done
}
