#!/bin/bash
# The caller waits for an interface that never comes, because the forwarder
# failed after it went into the background. Right: the caller's exit code and
# stderr tell, within a second; success means that the interface is up.
# once
#
#   caller ──starts──> PASTA (background) ──> bad target: status 1
#                                         ──> c: status 0, all is configured

. "$(dirname "$0")"/lib.sh

f_args
ARGV=("$PASTA" "${ARGV[@]:2}")
bg=($H "${ARGV[@]}")
mkfifo $T/fifo
fails "no such PID" '99999.*No such' "${bg[@]}" 99999
fails "no such path" '/nowhere/ns.*No such file' "${bg[@]}" --netns /nowhere/ns
fails "no such name" '/run/netns/nosuch.*No such file' "${bg[@]}" --netns nosuch
fails "a plain file" 'hostname.*not a' "${bg[@]}" --netns /etc/hostname
fails "a directory" '/run/netns.*not a' "${bg[@]}" --netns /run/netns
fails "a FIFO" 'fifo.*not a' "${bg[@]}" --netns $T/fifo
fails "a namespace of another kind" 'ns/uts.*not a' \
	"${bg[@]}" --netns /proc/self/ns/uts
fails "no such user namespace" '/nowhere/user.*No such file' \
	"${bg[@]}" --userns /nowhere/user --netns "${X}c"
fails "a bad user namespace" 'hostname.*not a' \
	"${bg[@]}" --userns /etc/hostname --netns "${X}c"
fails "no place for the PID file" '/nowhere/pid.*No such file' \
	"${bg[@]}" --netns "${X}c" --pid /nowhere/pid
ip -n "${X}c" link add taken type veth peer name other
fails "the interface's name is taken" 'taken' \
	"${bg[@]}" --netns "${X}c" -I taken
ip -n "${X}c" link del taken
ok "nothing left" wait_until no_forwarders

f_args -u 5000 --netns "${X}c" -P $T/pid
for i in 1 2 3 4 5; do
	out=$(timeout 5 $H "$PASTA" "${ARGV[@]:2}" 2>&1)
	state="$? $(ip -n "${X}c" -o link show hp) $(ip -n "${X}c" -o addr) $(
		ip -n "${X}c" route) $(ip -n "${X}c" -6 route)"
	like "start $i: up when the caller goes on" "$state" "^0 .*[<,]UP[,>]"
	like "start $i: MTU" "$state" "mtu 65520"
	like "start $i: v4 address" "$state" "inet 192.0.2.1/24"
	like "start $i: v6 address" "$state" "inet6 2001:db8::1/64"
	nok "start $i: no address is tentative" grep -q tentative <<<"$state"
	like "start $i: v4 route" "$state" "default via 192.0.2.254"
	like "start $i: v6 route" "$state" "default via 2001:db8::fe"
	is "start $i: nothing printed" "$out" ""
	kill "$(cat $T/pid)"
	wait_until no_forwarders
done
done_testing
