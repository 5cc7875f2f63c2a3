#!/bin/bash
# Containers that root made with a user namespace of their own are refused.
# Right: works as root, as an ordinary user and inside a user namespace, for
# targets in the same user namespace and below it.
# once
#
#   h: sleep in new user and network namespaces, PASTA attached to it

. "$(dirname "$0")"/lib.sh

# carries NAME ENTER...: exchanges in and out; ENTER is a command prefix
carries()
{
	local name=$1

	shift
	"$@" $PY -SE "$DIR/udp.py" echo 0.0.0.0 5000 :: 5000 >$T/echo.log 2>&1 &
	ok "$name: an echo server" wait_until has $T/echo.log ready
	ok "$name: in, v4" ask p 192.0.2.1 5000 -c
	ok "$name: in, v6" ask p 2001:db8::1 5000 -c
	ok "$name: in over loopback" ask h 127.0.0.1 5000 -c
	for a in 192.0.2.2 2001:db8::2; do
		ok "$name: out, $a" \
			"$@" $PY -SE "$DIR/udp.py" ask $a 9001 -c
	done
	kill $!
}

# attach WORDS...: start the forwarder with these and wait
attach()
{
	FN=$((${FN:-0} + 1))
	FLOG=$T/f$FN.log
	FPID=$T/f$FN.pid
	f_args -u 5000 -P "$FPID" "$@"
	$H "${ARGV[@]}" >$FLOG 2>&1 &
	FP=$!
	ok "starts with $*" wait_until test -s "$FPID"
}

serve p echo 192.0.2.2 9001 2001:db8::2 9001
target -Urn
enter=(nsenter -t $TP -U -n --preserve-credentials)
attach $TP
carries "PID" "${enter[@]}"
stop $FP
attach --netns /proc/$TP/ns/net
carries "path" "${enter[@]}"
stop $FP
attach --userns /proc/$TP/ns/user --netns /proc/$TP/ns/net
carries "both paths" "${enter[@]}"
stop $FP
attach --netns-only $TP
carries "PID, --netns-only" "${enter[@]}"
stop $FP $TP

target -n
attach $TP
carries "PID in our user namespace" nsenter -t $TP -n
stop $FP $TP

if is_root; then
	F -u 5000 --runas 65534
	carries "root, as nobody" $C
	stop $FP
	out=$($H setpriv --reuid=1000 --regid=1000 --clear-groups \
		"$PASTA" --config-net -t none -u none -U none -- \
		$PY -SE "$DIR/udp.py" ask 192.0.2.2 9001 -c 2>&1)
	like "an ordinary user's command" "$out" '^192.0.2.2 9001 saw'
fi
done_testing
