#!/bin/bash
# The process that touches traffic has no rights: no capability, a user
# namespace that is neither the guest's nor ours, an empty root, a filter of
# system calls, and no descriptor that it was not meant to have. The command
# inherits nothing of it.
# once
#
#   PASTA in h, started with a stray descriptor 9, attached to c or with a
#   command

. "$(dirname "$0")"/lib.sh

field()
{
	awk -v f="$2:" '$1 == f { print $2 }' /proc/"$1"/status
}

# One kind of descriptor per line; a pipe of which we have both ends is our own
kinds()
{
	local fd

	for fd in /proc/"$1"/fd/*; do
		readlink "$fd"
	done | sort | uniq -c | sed -E 's/^ *2 pipe:.*/anon_inode/; s/^ *[0-9]+ //' |
		sed 's/:\[.*\]$//; s/^socket.*/socket/; s/^pipe.*/pipe/' | sort -u
}

echo secret >$T/secret
exec 9<$T/secret
F -u 5000 -U 5001
is "attached: there is an agent beside the forwarder" "$(forwarders | wc -l)" 2
for p in $(forwarders); do
	name=agent
	[ "$p" != $FP ] || name=forwarder
	[ $name = agent ] || for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		is "$name: $set" "$(field "$p" $set)" 0000000000000000
	done
	# CAP_NET_BIND_SERVICE is bit 10
	[ $name = forwarder ] || for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		like "$name: $set" "$(field "$p" $set)" '^0000000000000[04]00$'
	done
	is "$name: Seccomp" "$(field "$p" Seccomp)" 2
	is "$name: NoNewPrivs" "$(field "$p" NoNewPrivs)" 1
	nok "$name: no stray descriptor" grep -q secret <<<"$(kinds "$p")"
	nok "$name: no directory, file or pipe is open" \
		grep -Ev '^(socket|anon_inode|/dev/null|/dev/net/tun|/run/t/f[0-9]+.log)$' \
		<<<"$(kinds "$p" | sed 's/^anon_inode.*/anon_inode/')"
done
user=$(readlink /proc/$FP/ns/user)
nok "forwarder: the user namespace is not ours" \
	test "$user" = "$(readlink /proc/self/ns/user)"
for ns in mnt ipc uts; do
	nok "forwarder: the $ns namespace is not ours" \
		test "$(readlink /proc/$FP/ns/$ns)" = "$(readlink /proc/self/ns/$ns)"
done
is "forwarder: the network namespace is the host's" \
	"$(readlink /proc/$FP/ns/net)" "$($H readlink /proc/self/ns/net)"
is "forwarder: the root is empty" "$(ls -A /proc/$FP/root/)" ""
nok "forwarder: and cannot be written" touch /proc/$FP/root/file
agent=$(forwarders | grep -vx $FP)
is "agent: the network namespace is the guest's" \
	"$(readlink /proc/"$agent"/ns/net)" "$($C readlink /proc/self/ns/net)"
stop $FP
if is_root; then
	F -u 5000 --runas 65534
	for p in $(forwarders); do
		is "not dumpable: its secrets belong to root" \
			"$(stat -c %u /proc/"$p"/environ)" 0
	done
	stop $FP
fi

# With a command
$H "$PASTA" --config-net -q --runas 0 -t none -u 5000 -U none -- \
	sh -c "ls -l /proc/self/fd >$T/fds; readlink /proc/self/ns/user >$T/user
		exec sleep infinity" 2>$T/f9.log &
FP=$!
ok "a command runs" wait_until has $T/user user
is "command: descriptors" \
	"$(awk '/->/ { print $9 }' $T/fds | grep -vx 3 | xargs)" "0 1 2"
nok "command: the forwarder's user namespace is not the guest's" \
	test "$(readlink /proc/$FP/ns/user)" = "$(cat $T/user)"
is "command: CapEff of the forwarder" "$(field $FP CapEff)" 0000000000000000
is "command: Seccomp of the forwarder" "$(field $FP Seccomp)" 2
inner=$(pgrep -x sleep)
is "command: has no filter of ours" "$(field "$inner" Seccomp)" 0
is "command: may gain rights" "$(field "$inner" NoNewPrivs)" 0
is "command: limit of descriptors as it was" \
	"$(awk '/^Max open files/ { print $4 }' /proc/"$inner"/limits)" \
	"$(ulimit -Sn)"
done_testing
