#!/bin/bash
# ssh into the container and out of it: small writes both ways, bulk both ways,
# an exit status, a forwarded port.
# once
#
#   p, h lo: ssh ──> h:2222 ──> c: dropbear      c: ssh ──> p: dropbear

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

PATH=$PATH:/usr/sbin
for tool in ssh ssh-keygen dropbear dropbearkey; do
	command -v $tool >/dev/null || skip "no $tool"
done

# A user for the server, who is not root: else it would want to become others
home=$T/home
mkdir -m 700 $home $home/.ssh
printf '%s\n' "root:x:0:0::$home:/bin/sh" "tester:x:1000:1000::$home:/bin/sh" \
	>$T/passwd
mount --bind $T/passwd /etc/passwd
dropbearkey -t ed25519 -f $T/hostkey >$T/keys 2>&1
ssh-keygen -q -t ed25519 -N '' -f $T/key
cat $T/key.pub >$home/.ssh/authorized_keys
chmod 600 $home/.ssh/authorized_keys
printf '* %s\n' "$(grep ^ssh- $T/keys)" >$T/known

# daemon NS PORT
daemon()
{
	run "$1" unshare --user --map-user=1000 --map-group=1000 \
		dropbear -F -E -s -r $T/hostkey -p "$2" -P $T/dropbear-$1.pid \
		>$T/dropbear-$1.log 2>&1 &
	wait_until listens "$1" "$2" || sed 's/^/# /' $T/dropbear-$1.log
}

# login NS ADDR PORT SSH-WORDS...
login()
{
	run "$1" timeout 20 ssh -F none -T -i $T/key -p "$3" -l tester \
		-o UserKnownHostsFile=$T/known -o StrictHostKeyChecking=yes \
		-o BatchMode=yes -o ConnectTimeout=5 -o LogLevel=ERROR \
		"$2" "${@:4}"
}

# echoes: 100 lines, each after the answer to the one before
echoes()
{
	coproc S { login "$@" 'while read l; do echo "got $l"; done'; }
	local i line good=0

	for ((i = 0; i < 100; i++)); do
		echo "line $i" >&"${S[1]}"
		read -r -t 5 line <&"${S[0]}" || break
		[ "$line" != "got line $i" ] || good=$((good + 1))
	done
	eval "exec ${S[1]}>&-"
	wait "$S_PID"
	[ $good = 100 ]
}

F -t 2222,2223
daemon c 2222
daemon p 2222
head -c 10000000 /dev/urandom >$T/file
want=$(sha256sum <$T/file)
ways=("p 192.0.2.1 2222" "p 2001:db8::1 2222" "h 127.0.0.1 2222"
	"c 2001:db8::2 2222" "c 192.0.2.2 2222")
thin ways
for way in "${ways[@]}"; do
	# shellcheck disable=SC2086
	{
		ok "$way: 100 lines, one by one" echoes $way
		is "$way: a file sent" "$(login $way sha256sum <$T/file)" "$want"
		is "$way: a file fetched" \
			"$(login $way "cat $T/file" | sha256sum)" "$want"
		login $way 'exit 7'
		is "$way: an exit status" $? 7
	}
done

# A port forwarded by ssh, through the forwarder
tserve c 127.0.0.1 7000
login p 192.0.2.1 2222 -N -L 127.0.0.1:7001:127.0.0.1:7000 &
wait_until listens p 7001
ok "ssh -L" tcp p push 127.0.0.1 7001 -s 5000000
alive
done_testing
