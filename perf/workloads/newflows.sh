# shellcheck shell=bash
# newflows: one exchange per socket, in and out

workload_cells()
{
	local f dir path n=200000

	[ "$LEVEL" != quick ] || n=5000
	[ "$LEVEL" != smoke ] || n=1000
	for path in tap lo; do for dir in in out; do for f in 4 6; do
		case "$LEVEL $path $dir $f" in
		quick\ lo\ *\ 6 | smoke\ *\ in\ 6 | smoke\ *\ out\ 4 | smoke\ lo\ out\ *) continue ;;
		esac
		echo "op=newflows path=$path dir=$dir family=$f size=64 count=$n secs=$((n / 15000))"
	done; done; done
}
