# shellcheck shell=bash
# vxlan: a tunnel between the container and another host, through the forwarder
#
# The outer datagrams have no checksum and one port for many inner flows.

workload_cells()
{
	local dir secs=1

	[ "$LEVEL" != smoke ] || return 0
	[ "$LEVEL" = full ] || secs=.4
	for dir in in out; do
		echo "op=flood path=vxlan dir=$dir mtu=1500 size=1400 mode=mmsg streams=1 secs=$secs"
		echo "op=closed path=vxlan dir=$dir mtu=1500 size=1400 window=32 secs=$secs"
	done
}
