# shellcheck shell=bash disable=SC2034
# lib-group.sh - for tests of multicast and broadcast, beside lib.sh
#
#   group NS ROLE ARGS...  start group.py, wait until it hears; $GP, $GLOG
#   said NS ARGS...        group.py say; what was answered is in $SAID
#   $TAP                   the container's interface

TAP=hp

group()
{
	local ns=$1

	shift
	GN=$((${GN:-0} + 1))
	GLOG=$T/g$GN.log
	nsenter --net=/run/netns/"$X$ns" $PY -SE "$DIR/group.py" "$@" \
		>$GLOG 2>&1 &
	GP=$!
	if ! wait_until has $GLOG ready; then
		echo "# group.py did not start: $ns $*"
		sed 's/^/#   /' $GLOG
		exit 1
	fi
}

said()
{
	local ns=$1

	shift
	SAID=$(run "$ns" $PY -SE "$DIR/group.py" say "$@" 2>&1)
}
