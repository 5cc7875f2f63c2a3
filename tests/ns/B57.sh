#!/bin/bash
# SELinux, or plain rights, forbid watching the directory of the namespace's
# name, and the start fails. Right: look at the name once per second, say so
# once, and still end when it is gone.
# once
#
#   PASTA ──no read right──> directory of the name of c

. "$(dirname "$0")"/lib.sh

mkdir $T/secret
: >$T/secret/ns
mount --bind "/run/netns/${X}c" $T/secret/ns
chmod 311 $T/secret
serve c echo 0.0.0.0 5000 :: 5000

# Root's right to read any directory would hide the fault
caps=-dac_override,-dac_read_search
WRAP="setpriv --bounding-set=$caps --inh-caps=$caps"
FPID=$T/f.pid
FLOG=$T/f.log
# shellcheck disable=SC2086
$H $WRAP "$PASTA" -f --config-net --runas 0 -u 5000 -t none -T none -U none \
	-P $FPID --netns $T/secret/ns >$FLOG 2>&1 &
FP=$!
wait_until f_up
ok "it starts" kill -0 $FP
is "and says it once" "$(grep -c 'cannot be watched' $FLOG)" 1
ok "it works" ask p 192.0.2.1 5000 -c
umount -l $T/secret/ns
sleep 1.2 # sleep: one look at the name must pass
alive
rm $T/secret/ns
WAIT=3
ok "it ends when the name is gone" wait_until no_forwarders
done_testing
