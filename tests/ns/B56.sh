#!/bin/bash
# AppArmor or ordinary rights deny opening a namespace or making one, and users
# see "permission denied" only. Right: say which file or call was denied, hint
# at the cure, and leave nothing behind.
# once
#
#   PASTA without rights ──x──> namespaces of somebody else

. "$(dirname "$0")"/lib.sh

# clean NAME: nothing of ours is left
clean()
{
	ok "$1: nothing is left" wait_until no_forwarders
}

if is_root; then
	user=(setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all)
	fails "somebody else's process" '/proc/1/ns/(user|net).*AppArmor' \
		$H "${user[@]}" "$PASTA" -q --config-net 1
	clean "somebody else's process"
	fails "somebody else's namespace" '/proc/1/ns/net.*AppArmor' \
		$H "${user[@]}" "$PASTA" -q --config-net --netns /proc/1/ns/net
	clean "somebody else's namespace"
	fails "a name that leads to it" "${X}c.*(AppArmor|--userns)" \
		$H "${user[@]}" "$PASTA" -q --config-net --netns "${X}c"
	clean "a name that leads to it"
	fails "a PID file in a directory of root" '--pid.*denied' \
		$H "${user[@]}" "$PASTA" -q -P $T/p --netns /proc/self/ns/net
fi

# As with an AppArmor profile or a sysctl that forbids user namespaces
limit=/proc/sys/user/max_user_namespaces
inner=(unshare --user --map-root-user)
if "${inner[@]}" sh -c "echo 0 >$limit" 2>/dev/null; then
	fails "no user namespace for a command" \
		'max_user_namespaces.*AppArmor' \
		$H "${inner[@]}" sh -c "echo 0 >$limit; exec \"\$@\"" - \
		"$PASTA" -q --config-net -- true
	clean "no user namespace for a command"
fi

# Rights to enter, none to configure
fails "no CAP_NET_ADMIN inside" 'tun|interface|namespace' \
	$H setpriv --bounding-set=-net_admin --inh-caps=-net_admin \
	"$PASTA" -q --config-net --runas 0 --netns "/run/netns/${X}c"
clean "no CAP_NET_ADMIN inside"
nok "no interface is left" ip -n "${X}c" link show hp
done_testing
