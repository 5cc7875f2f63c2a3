# shellcheck shell=bash
# tcp_rr: exchanges of 1 and of 1024 bytes; connections, used once and closed

workload_cells()
{
	local families="4 6" n=20000 secs=2 par="1 16" path dir f size

	case $LEVEL in
	smoke) families=4 n=300 secs=.3 par=4 ;;
	quick) families=4 n=4000 secs=.5 ;;
	esac
	for path in tap lo; do for dir in in out; do for f in $families; do
		for size in 1 1024; do
			[ "$LEVEL $size" != "smoke 1024" ] || continue
			echo "op=tcp_rr path=$path dir=$dir family=$f size=$size count=$n"
		done
		for size in $par; do
			echo "op=tcp_crr path=$path dir=$dir family=$f par=$size secs=$secs"
		done
	done; done; done
}
