#!/bin/bash
# Every way to start and to end: with a command, attached to a process or a
# path, in the fore- and in the background; what the caller gets to see.
# once
#
#   caller ──> PASTA in h ──> a command in new namespaces, or c

. "$(dirname "$0")"/lib.sh

# What is said about root is another test's matter
cmd=($H timeout 5 "$PASTA" --config-net -q --runas 0 -t none -u none -U none)

status()
{
	"$@" >$T/out 2>$T/err
	echo $?
}

# With a command
is "exit status" "$(status "${cmd[@]}" -- sh -c 'exit 7')" 7
is "status 0" "$(status "${cmd[@]}" -- true)" 0
is "no such command" "$(status "${cmd[@]}" -- /no/such/command)" 127
ok "is named" has $T/err '/no/such/command.*No such file'
: >$T/file
is "not executable" "$(status "${cmd[@]}" -- $T/file)" 126
is "standard input and output" "$(echo hello | "${cmd[@]}" -- cat)" hello
is "standard error" "$("${cmd[@]}" -- sh -c 'echo hello >&2' 2>&1 >/dev/null)" \
	hello
is "arguments as they are" "$("${cmd[@]}" -- printf '%s|' 'a b' '' '*' -- -x)" \
	'a b||*|--|-x|'
is "without --" "$("${cmd[@]}" echo -n -u 5000)" "-u 5000"
is "found in PATH, environment kept" \
	"$(WORD=hello "${cmd[@]}" sh -c 'echo $WORD')" hello
# shellcheck disable=SC2016
is "root, PID 1, own host name" \
	"$("${cmd[@]}" -- sh -c 'echo $(id -u) $$ $(hostname | cut -c 1-6)')" \
	"0 1 pasta-"
like "a /proc of its own" "$("${cmd[@]}" -- sh -c 'echo /proc/[0-9]*')" \
	'^/proc/1$'
# shellcheck disable=SC2016
is "without a PID namespace: in ours, with its /proc" "$("${cmd[@]}" --no-pidns -- \
	sh -c '[ -d /proc/$$ ] && readlink /proc/self/ns/pid')" \
	"$(readlink /proc/self/ns/pid)"
is "its status" "$(status "${cmd[@]}" --no-pidns -- sh -c 'exit 7')" 7
is "its child lives on, what it has is taken from it" \
	"$("${cmd[@]}" --no-pidns -- sh -c 'sleep infinity & echo $!' >$T/left
	kill "$(cat $T/left)" && echo killed)" killed
is "not with a namespace that is there" \
	"$(status $H "$PASTA" -q --no-pidns --netns "/run/netns/${X}c")" 1
is "a login shell" \
	"$(echo 'echo $0; exit' | SHELL=/bin/sh "${cmd[@]}")" "-sh"
is "a log and a capture beyond the limit of file size cost nothing else" \
	"$(ulimit -f 0
	"${cmd[@]}" -l $T/cut.log -p $T/cut.pcap -- sh -c 'exit 5'
	echo $?)" 5
is "signals that are ignored: those of the caller" \
	"$("${cmd[@]}" -- grep SigIgn /proc/self/status)" \
	"$(grep SigIgn /proc/self/status)"
is "our own network namespace is no target" \
	"$(status $H "$PASTA" -q --config-net --runas 0 --netns /proc/self/ns/net)" 1
ok "is said" has $T/err 'ns/net.*the host'
is "and stays as it is" "$($H ip -o link | wc -l)" 2
is "a shell named without a path" \
	"$(echo 'echo $0; exit' | SHELL="sh" "${cmd[@]}")" "-sh"
is "the shell's status" "$(echo 'exit 3' | SHELL=/bin/sh status "${cmd[@]}")" 3
serve p echo 192.0.2.2 9001 2001:db8::2 9001
for a in 192.0.2.2 2001:db8::2; do
	like "the network works at once, $a" \
		"$("${cmd[@]}" -- $PY -SE "$DIR"/udp.py ask $a 9001 -c)" "^$a 9001"
done

running()
{
	child=$(pgrep -x -P $FP sleep)
	[ -n "$child" ]
}

# spawn: a command that stays; $FP, $child
spawn()
{
	$H "$PASTA" --config-net -q --runas 0 -t none \
		-u 5000 -U none -- sleep infinity 2>$T/f9.log &
	FP=$!
	wait_until running
}
spawn
kill -9 "$child"
wait $FP
is "killed by a signal: 128 + 9" $? 137
for sig in TERM QUIT; do
	spawn
	start=$(now)
	kill -$sig $FP
	wait $FP
	is "SIG$sig: status" $? 0
	atmost "SIG$sig: milliseconds" $(($(now) - start)) 300
	ok "SIG$sig: the command is gone" wait_until gone "$child"
	ok "SIG$sig: nothing left" wait_until no_forwarders
done

# Attached
serve c echo 0.0.0.0 5000 :: 5000
for words in "--netns ${X}c" "--netns /run/netns/${X}c" \
	"--netns-only --netns /run/netns/${X}c" \
	"--userns /proc/self/ns/user --netns ${X}c"; do
	rm -f $T/pid
	# shellcheck disable=SC2086
	$H "$PASTA" -f --config-net --runas 0 -q -t none -u 5000 -U none \
		-P $T/pid $words >$T/f8.log 2>&1 &
	FP=$!
	ok "$words: ready" wait_until test -s $T/pid
	is "$words: PID file" "$(cat $T/pid)" $FP
	ok "$words: works" ask p 192.0.2.1 5000 -c
	start=$(now)
	kill $FP
	wait $FP
	is "$words: SIGTERM, status" $? 0
	atmost "$words: milliseconds" $(($(now) - start)) 300
done

# In the background
bg=($H "$PASTA" --config-net --runas 0 -t none -u 5000 -U none -P $T/pid
	--netns "${X}c")
rm -f $T/pid
start=$(now)
out=$("${bg[@]}" -q 2>&1)
is "background: status" $? 0
atmost "background: milliseconds" $(($(now) - start)) 1000
is "background: nothing said" "$out" ""
like "background: the PID file is a number and a newline" \
	"$(od -An -c $T/pid | tr -d ' \n')" '^[0-9]+\\n$'
is "background: its mode" "$(stat -c %a $T/pid)" 600
FP=$(cat $T/pid)
ok "background: works" ask p 192.0.2.1 5000 -c
is "background: a session of its own" "$(ps -o sid= -p "$FP" | tr -d ' ')" "$FP"
for fd in 0 1 2; do
	is "background: descriptor $fd" "$(readlink /proc/"$FP"/fd/$fd)" /dev/null
done
start=$(now)
kill "$FP"
ok "background: SIGTERM ends it, PID 1 or not" wait_until gone "$FP"
atmost "background: milliseconds" $(($(now) - start)) 300
ok "background: nothing left" wait_until no_forwarders
out=$("${bg[@]}" 2>&1 >/dev/null | cat)
ok "background: a pipe is let go" kill "$(cat $T/pid)"
wait_until no_forwarders

# Probes
is "--version" "$("$PASTA" --version | head -n 1 | cut -d' ' -f1)" pasta
ok "--version with an option before" "$PASTA" --host-lo-to-ns-lo --version
like "--help on stdout" "$("$PASTA" --help 2>/dev/null)" '--config-net'

# Identities
# ids: user and group the forwarder runs as
ids()
{
	awk '/^[UG]id:/ { printf "%s ", $2 }' /proc/$FP/status
}
if is_root; then
	F -u 5000
	is "--runas 0" "$(ids)" "0 0 "
	is "and no other groups" \
		"$(awk '/^Groups:/ { print NF }' /proc/$FP/status)" 1
	stop $FP
	for r in "1000 1000 1000 " "1000:1001 1000 1001 " "nobody 65534 65534 "; do
		F -u 5000 --runas "${r%% *}"
		is "--runas ${r%% *}" "$(ids)" "${r#* }"
		ok "--runas ${r%% *}: works" ask p 192.0.2.1 5000 -c
		stop $FP
	done
	rm -f $T/pid
	$H "$PASTA" -f -q --config-net -t none -u 500 -U none -P $T/pid \
		--netns "${X}c" >$T/f7.log 2>&1 &
	FP=$!
	wait_until test -s $T/pid
	is "root becomes nobody" "$(ids)" "65534 65534 "
	is "and no other groups" \
		"$(awk '/^Groups:/ { print NF }' /proc/$FP/status)" 1
	is "but the port below 1024 is bound" "$(bound h | xargs)" \
		"0.0.0.0:500 [::]:500"
	stop $FP
	out=$($H setpriv --reuid=1000 --regid=1000 --clear-groups \
		"$PASTA" --config-net -q -t none -u none -U none -- id -u 2>&1)
	is "an ordinary user is root inside" "$out" 0
fi
done_testing
