# shellcheck shell=bash
# tcp_wan: a connection to and from a host that is 10 ms away, BBR and reno
#
# With "--against none" beside the same way without a forwarder. reverse=1: who
# accepts is who sends; a guest that was called then sees a near forwarder and a
# far peer.

workload_cells()
{
	local dir cc r secs=4 mtus="1500 65520" mtu

	[ -z "$OUTER" ] || return 0
	case $LEVEL in
	smoke) echo "op=stream path=wan dir=out mtu=1500 cc=reno secs=1"; return ;;
	quick) mtus=1500 secs=2 ;;
	esac
	for mtu in $mtus; do for cc in bbr reno; do for dir in in out; do for r in 0 1; do
		echo "op=stream path=wan dir=$dir mtu=$mtu cc=$cc reverse=$r secs=$secs"
	done; done; done; done
}
