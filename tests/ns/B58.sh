#!/bin/bash
# Processes are left over after containers are gone: inotify instances were
# used up and the error was ignored. Right: without inotify a timer does it;
# the process ends about one second after the namespace's name, at the latest.
# once
#
#   PASTA attached to /run/netns/c; the name is unmounted and removed
#   user.max_inotify_instances of our own user namespace: as it is, then 0

OWN_USERNS=1
. "$(dirname "$0")"/lib.sh

# again NETNS: it exists anew
again()
{
	ip netns add "$X$1"
}

# ends NAME: within about a second
ends()
{
	local start

	start=$(now)
	ok "$1: ends" wait_until gone $FP
	wait $FP
	is "$1: status" $? 0
	atmost "$1: milliseconds" $(($(now) - start)) 1500
	ok "$1: nothing left" wait_until no_forwarders
}

for instances in "$(cat /proc/sys/user/max_inotify_instances)" 0; do
	echo "$instances" >/proc/sys/user/max_inotify_instances
	F -u 5000
	ip netns del "${X}c"
	ends "$instances instances"
	again c
done

# Not in /run/netns, as podman does it: a lazy unmount, then the removal
mkdir $T/dir && : >$T/dir/ns
mount --bind "/run/netns/${X}c" $T/dir/ns
f_start c "" -u 5000 --netns $T/dir/ns
wait_until f_up
umount -l $T/dir/ns
rm $T/dir/ns
ends "a name elsewhere, no inotify"
done_testing
