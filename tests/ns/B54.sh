#!/bin/bash
# /dev/net/tun cannot be used (no module, no node, no rights) and the message
# is cryptic or missing. Right: exit 1 within a second, one line that names the
# path, the errno text and the likely cure, and nothing is left behind.
# once
#
#   h, private mounts: something else in the place of /dev/net/tun

. "$(dirname "$0")"/lib.sh

[ -c /dev/net/tun ] || skip "no /dev/net/tun to put something in the place of"
# Not for want of rights, also where root becomes nobody
mkfifo -m 666 $T/fifo
: >$T/file
chmod 666 $T/file

# each NAME SETUP REGEX: attached in fore- and background, and with a command
each()
{
	local in_place=($H unshare -m sh -c "$2"' || exit 99; exec "$@"' sh)

	f_args --netns "/run/netns/${X}c"
	fails "$1, foreground" "$3" "${in_place[@]}" "${ARGV[@]}"
	fails "$1, background" "$3" "${in_place[@]}" "$PASTA" "${ARGV[@]:2}"
	fails "$1, command" "$3" "${in_place[@]}" "$PASTA" --config-net \
		-t none -u none -- sh -c "echo ran"
	ok "$1, nothing left" wait_until no_forwarders
}

each "a plain file" "mount --bind $T/file /dev/net/tun" \
	'/dev/net/tun.*Inappropriate ioctl'
each "a FIFO" "mount --bind $T/fifo /dev/net/tun" \
	'/dev/net/tun.*Inappropriate ioctl'
each "another device" "mount --bind /dev/null /dev/net/tun" \
	'/dev/net/tun.*Inappropriate ioctl'
each "nothing" "mount -t tmpfs none /dev/net" \
	'/dev/net/tun.*No such file.*(modprobe|module|device)'
if is_root; then
	each "a device without driver" \
		"mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 199" \
		'/dev/net/tun.*No such (device|file)'
	setup="mount -t tmpfs none /dev/net && mknod -m 000 /dev/net/tun c 10 200"
	# shellcheck disable=SC2016
	fails "no rights, as an ordinary user" '/dev/net/tun.*Permission denied' \
		$H unshare -m sh -c "$setup || exit 99"'; exec "$@"' sh \
		setpriv --reuid=1000 --regid=1000 --clear-groups \
		"$PASTA" --config-net -t none -u none -- true
fi
done_testing
