# shellcheck shell=bash
# ceiling: what generator and kernel do without any forwarder

workload_cells()
{
	local path f mode mtu secs=1 modes="plain mmsg gso"

	case $LEVEL in
	smoke) secs=.2 modes=mmsg ;;
	quick) secs=.4 modes="mmsg gso" ;;
	esac
	for path in bare veth; do for f in 4 6; do
		[ -z "$OUTER" ] || [ $path != veth ] || continue
		for mode in $modes; do for mtu in 1500 65520; do
			[ "$mode $mtu" != "gso 65520" ] || continue
			[ "$LEVEL $f" != "quick 6" ] || continue
			[ "$LEVEL" != smoke ] || [ "$f $mtu" = "4 1500" ] || continue
			echo "op=flood path=$path dir=out family=$f mtu=$mtu mode=$mode streams=1 secs=$secs"
		done; done
		[ "$LEVEL" = smoke ] ||
			echo "op=rr path=$path dir=out family=$f size=64 count=5000"
	done; done
}
