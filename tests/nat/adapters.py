"""adapters.py - how a binary is asked for what a requirement is about

An adapter is a function of the binary, the path of the namespace, a PID file
and wishes; it returns the argument vector, or None if the binary has no such
wish. Wishes: publish=PORT, timeout=SECONDS, filter="endpoint"|"address",
address=(GUEST, LENGTH, GATEWAY), deny=PREFIX. The program must stay in the
foreground and be ready once the PID file has a line.
"""

import os


def ours(binary, netns, pid, **wish):
    argv = [binary, "-f", "-q", "--config-net", "--runas", "0", "-t", "none",
            "-T", "none", "-U", "none", "-P", pid, "--netns", netns,
            "--offload", os.environ.get("OFFLOAD", "uso"),
            "-u", str(wish.get("publish", "none"))]
    if "timeout" in wish:
        argv += ["--udp-timeout", str(wish["timeout"])]
    if "filter" in wish:
        argv += ["--udp-filter", wish["filter"]]
    if "deny" in wish:
        argv += ["--deny", wish["deny"]]
    return with_address(argv, wish)


def with_address(argv, wish):
    if "address" in wish:
        guest, length, gateway = wish["address"]
        argv += ["-a", guest, "-g", gateway]
        if ":" not in guest:  # of IPv6 it is 64
            argv += ["-n", str(length)]
    return argv


def pasta(binary, netns, pid, **wish):
    """A pasta of another make: no filter, no timeout, no policy"""
    if wish.keys() - {"publish", "address"}:
        return None
    argv = [binary, "-f", "-q", "--config-net", "--runas", "0", "-t", "none",
            "-T", "none", "-U", "none", "-P", pid, "--netns", netns,
            "-u", str(wish.get("publish", "none"))]
    return with_address(argv, wish)


def find():
    return {"ours": ours, "pasta": pasta}[os.environ.get("NAT_ADAPTER", "ours")]
