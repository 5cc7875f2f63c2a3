#!/bin/bash
# If the forwarder is killed at any moment, nothing of it is left: no waiting
# child, no agent, no command, no interface, no namespace kept alive.
# once
#
#   KILLS (60) rounds of a start with traffic and a SIGKILL at some moment:
#   a command; attached in the foreground; in the background, where either
#   the process that was started or the daemon is killed

. "$(dirname "$0")"/lib.sh

rounds=${KILLS:-60}
SEED=${SEED:-${EPOCHREALTIME#*.}}
RANDOM=$((10#$SEED))
echo "# SEED=$SEED"

# Only this shell and the flood are left
alone()
{
	local p

	for p in /proc/[0-9]*; do
		case ${p#/proc/} in 1 | "$flood") continue ;; esac
		# A process that has ended but is not yet collected is gone
		grep -q '^State:.[ZX]' "$p"/status 2>/dev/null && continue
		[ -d "$p" ] && [ "${p#/proc/}" != "$BASHPID" ] && return 1
	done
	return 0
}

# Nothing of the tap is left in c
no_tap()
{
	! ip -n "${X}c" link show hp
}

# daemon: the process in the background, before its caller knows of it too
daemon()
{
	local p

	for p in $(forwarders); do
		[ "$p" != $started ] && grep -qx pasta /proc/"$p"/comm && echo "$p"
	done
}

# start FORM
start()
{
	case $1 in
	0) # The command must die with us
		$H "$PASTA" "${common[@]}" -- \
			sh -c 'while :; do :; done & sleep infinity' >>$T/f1.log 2>&1 &
		;;
	1)
		$H "$PASTA" -f "${common[@]}" --netns "${X}c" \
			>>$T/f1.log 2>&1 &
		;;
	*)
		$H "$PASTA" "${common[@]}" --netns "${X}c" -P $T/pid \
			>>$T/f1.log 2>&1 &
		;;
	esac
	started=$!
}

# end FORM: forms 0 to 2 lose the process that was started. If that one had
# said before that all is well, form 2 loses the daemon instead; form 3 does in
# any case.
end()
{
	[ "$1" != 3 ] || daemon | xargs -r kill -9 2>/dev/null
	[ "$1" = 3 ] || kill -9 $started 2>/dev/null
	wait $started 2>/dev/null
	case "$1 $?" in
	"2 0" | "3 0") kill -9 "$(cat $T/pid)" 2>/dev/null ;;
	esac
}

# Clients that never stop
$P $PY -SE "$DIR"/udp.py tx 192.0.2.1 5000 -n 100000000 -s 100 -g 0.001 &
flood=$!
common=(--config-net -q --runas 0 -t none -u 5000 -U none)
bad=0
attached=0
for i in $(seq "$rounds"); do
	start $((i % 4))
	# sleep: any moment
	[ $((RANDOM % 4)) = 0 ] || sleep "$(printf 0.%03d $((RANDOM % 80)))"
	end $((i % 4))
	if ! wait_until alone; then
		bad=$((bad + 1))
		echo "# round $i: left behind:"
		ps -eo pid,ppid,stat,args --forest | sed 's/^/#   /'
		forwarders | xargs -r kill -9 2>/dev/null
	fi
	if ! wait_until no_tap; then
		attached=$((attached + 1))
		echo "# round $i: the interface is still there"
	fi
done
is "rounds of $rounds with a process left behind" $bad 0
is "rounds of $rounds with the interface left behind" $attached 0
F -u 5000
serve c echo 0.0.0.0 5000
ok "a start after all that works" ask p 192.0.2.1 5000 -c -w 3
done_testing
