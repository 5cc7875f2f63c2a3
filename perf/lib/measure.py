"""measure.py - one run: load, counters before and after, the ledger, a record

perf/run calls it with KEY=VALUE words and gets one JSON object on stdout. The
forwarder runs already; here the endpoints are started, and every counter that
can tell where a datagram went is read before and after, in the host's and in
the container's namespace.

The ledger: sent - received must be the sum of drops that have a name. What is
left is "unexplained", and a run with any is invalid and says so. The kernel
counts a super-frame that a full tap queue drops as one; the sender's messages
all hold the same number of datagrams, so the datagrams in it are known.

A run that breaks a rule is kept, with "valid": false and the reasons in "why".
"""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

# Drops of frames that are no load: discovery, group membership
NOT_LOAD = {"short_frame", "unknown_ethertype", "protocol_not_carried",
            "discovery_not_answered", "dhcp_not_answered", "service_disabled",
            "icmp_error_unmatched", "group_not_joined", "own_group_copy"}
STEAL_MAX = 5  # % of the time of all CPUs
STEAL_TICKS = 4
SINK_QUEUE = 8 << 20
SEGS_MAX = 128  # datagrams in one super-frame, at most
DRAIN_MAX_S = 10
BARE = ("bare", "veth")  # ways without a forwarder
PDR_RANGE = (5e3, 1e6)  # datagrams per second
NOISE_MAX = 20  # frames of a run that are no load
# Loads that go both ways
TWO_WAY = {"closed", "open", "rr", "newflows", "ramp"}


class Failed(Exception):
    pass


def read(path):
    with open(path, encoding="ascii", errors="replace") as f:
        return f.read()


# ---- counters -----------------------------------------------------------

FILES = ["snmp", "snmp6", "dev", "udp", "udp6"]


def ns_counters(netns):
    """Udp and IP counters of both families, interfaces, socket drops"""
    text = subprocess.run(
        ["nsenter", "--net=/run/netns/" + netns, "--", "awk",
         'FNR == 1 { print "== " FILENAME } { print }'] +
        ["/proc/net/" + f for f in FILES],
        capture_output=True, text=True, check=True).stdout
    part = dict(zip(FILES, re.split(r"== .*\n", text)[1:]))
    udp = {}
    lines = [x.split() for x in part["snmp"].splitlines()]
    for head, row in zip(lines[::2], lines[1::2]):
        if head[0] == "Udp:":
            udp.update(zip(head[1:], map(int, row[1:])))
    for x in part["snmp6"].splitlines():
        key, value = x.split()
        if key.startswith("Udp6"):
            udp[key[4:]] = udp.get(key[4:], 0) + int(value)
    dev = {}
    for x in part["dev"].splitlines():
        name, colon, row = x.partition(":")
        if colon and "|" not in name:
            v = list(map(int, row.split()))
            dev[name.strip()] = {
                "rx_bytes": v[0], "rx": v[1], "rx_drop": v[3],
                "tx_bytes": v[8], "tx": v[9], "tx_drop": v[11]}
    drops = {}
    for family in ("udp", "udp6"):
        for x in part[family].splitlines():
            v = x.split()
            if v[0] != "sl":
                drops[v[9]] = int(v[12])  # by inode
    return {"udp": udp, "dev": dev, "sock": drops,
            "qdisc": qdisc_drops(netns)}


def qdisc_drops(netns):
    out = subprocess.run(
        ["nsenter", "--net=/run/netns/" + netns, "--", "tc", "-s", "qdisc"],
        capture_output=True, text=True, check=False).stdout
    return sum(map(int, re.findall(r"dropped (\d+)", out)))


def softnet_drops():
    return sum(int(x.split()[1], 16)
               for x in read("/proc/net/softnet_stat").splitlines())


def cpu_times():
    v = list(map(int, read("/proc/stat").split("\n", 1)[0].split()[1:9]))
    return {"all": sum(v), "idle": v[3] + v[4], "steal": v[7]}


class Forwarder:
    """Its processes, CPU time and counters; None of it for bare paths"""

    def __init__(self, opt):
        self.pid = int(opt.get("pid", 0))
        self.log = opt.get("log")
        self.has_counters = opt.get("counters") == "1"
        self.exe = opt.get("exe")

    def pids(self, pid=None):
        pid = pid or self.pid
        found = [pid] if pid else []
        if pid:
            for tid in os.listdir(f"/proc/{pid}/task"):
                for child in read(
                        f"/proc/{pid}/task/{tid}/children").split():
                    found += self.pids(int(child))
        return found

    def is_running(self):
        return any(read(f"/proc/{pid}/task/{tid}/stat").rpartition(")")[2]
                   .split()[0] == "R" for pid in self.pids()
                   for tid in os.listdir(f"/proc/{pid}/task"))

    def cpu(self):
        total = {"cpu_ns": 0, "wait_ns": 0, "wakeups": 0, "preempted": 0}
        for pid in self.pids():
            for tid in os.listdir(f"/proc/{pid}/task"):
                base = f"/proc/{pid}/task/{tid}/"
                v = read(base + "schedstat").split()
                status = read(base + "status")
                total["cpu_ns"] += int(v[0])
                total["wait_ns"] += int(v[1])
                for key, name in (("wakeups", "\nvoluntary"),
                                  ("preempted", "nonvoluntary")):
                    total[key] += int(re.search(
                        name + r"_ctxt_switches:\s*(\d+)", status).group(1))
        return total

    def counters(self):
        """One line of JSON that it writes when asked by a signal"""
        if not self.pid or not self.has_counters:
            return None
        lines = self.lines()
        os.kill(self.pid, signal.SIGUSR1)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            now = self.lines()
            if len(now) > len(lines):
                try:
                    return json.loads(now[-1])
                except json.JSONDecodeError:
                    pass  # half a line
            time.sleep(.005)
        raise Failed("no counters from the forwarder")

    def lines(self):
        return [x[x.index("{"):] for x in read(self.log).splitlines()
                if '{"' in x]


def snapshot(fwd, spaces):
    snap = {name: ns_counters(ns) for name, ns in spaces.items()}
    snap["softnet"] = softnet_drops()
    snap["fwd"] = fwd.counters()
    snap["cpu"] = fwd.cpu()
    return snap


def delta(a, b):
    """Differences, of nested dictionaries, too; new keys count from 0"""
    if isinstance(b, dict):
        return {k: delta((a or {}).get(k), v) for k, v in b.items()}
    if isinstance(b, (int, float)):
        return b - (a or 0)
    return b


# ---- endpoints ----------------------------------------------------------

class Endpoint:
    """A subcommand of udpload, or another program whose result is JSON, in a
    namespace, on a CPU of its own"""

    def __init__(self, opt, netns, words, program=None):
        cmd = ["nsenter", "--net=/run/netns/" + netns, "--"] if netns else []
        if opt.get("cpu_ends"):
            cmd += ["taskset", "-c", opt["cpu_ends"]]
        self.words = words
        self.proc = subprocess.Popen(
            cmd + [program or opt["udpload"]] + [str(w) for w in words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.cpu_s = 0
        self.json = {}
        self.text = ""

    def collect(self, limit, term=False):
        """Its result; CPU time as the kernel accounts it to a dead child"""
        if term:
            self.proc.terminate()
        timer = time.monotonic() + limit
        while True:
            pid, _, usage = os.wait4(self.proc.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > timer:
                self.proc.kill()
                os.wait4(self.proc.pid, 0)
                self.proc.returncode = -9
                raise Failed(f"{self.words[0]} does not end")
            time.sleep(.002)
        self.proc.returncode = 0  # Popen must not wait for it again
        self.cpu_s = usage.ru_utime + usage.ru_stime
        out = self.text = self.proc.stdout.read().decode()
        err = self.proc.stderr.read().decode().strip()
        if self.words[0] == "ramp":
            return out
        if out.startswith("{\n"):
            self.json = json.loads(out)
            return self.json
        lines = [x for x in out.splitlines() if x.startswith("{")]
        if not lines:
            raise Failed(f"{self.words[0]}: {err or 'no result'}")
        self.json = json.loads(lines[-1])
        return self.json


def is_bound(netns, port, proto="udp"):
    out = subprocess.run(
        ["nsenter", "--net=/run/netns/" + netns, "--", "cat",
         "/proc/net/" + proto, f"/proc/net/{proto}6"], capture_output=True,
        text=True, check=True).stdout
    # Not the other column: a forwarder's sockets have the port as remote. Of
    # TCP, those that listen.
    return any(x[1].endswith(f":{port:04X}") and (proto == "udp" or
                                                  x[3] == "0A")
               for x in map(str.split, out.splitlines()))


def wait_bound(netns, port, proto="udp"):
    end = time.monotonic() + 5
    while not is_bound(netns, port, proto):
        if time.monotonic() > end:
            raise Failed(f"nobody listens on port {port} in {netns}")
        time.sleep(.01)


def queued(netns):
    """Is something waiting in any UDP socket?"""
    out = subprocess.run(
        ["nsenter", "--net=/run/netns/" + netns, "--", "cat",
         "/proc/net/udp", "/proc/net/udp6"], capture_output=True,
        text=True, check=True).stdout
    return any(not x.split()[4].endswith(":00000000")
               for x in out.splitlines() if "local_address" not in x)


def drain(opt):
    """Wait until nothing is under way any more, also in the tap's queue"""
    end = time.monotonic() + DRAIN_MAX_S
    fwd = Forwarder(opt)
    quiet = used = 0
    while quiet < 4 and time.monotonic() < end:
        time.sleep(.06)
        before, used = used, fwd.cpu()["cpu_ns"] if fwd.pid else 0
        busy = used != before or fwd.is_running() or any(queued(opt[s]) for s in ("host", "cont", "lan")
                   if s in opt)
        quiet = 0 if busy else quiet + 1


# ---- the loads ----------------------------------------------------------

def send_words(opt):
    """Options of the sender and of the sink for each way to send"""
    size = int(opt["size"])
    segs = max(1, min(44, 65487 // size))
    return {
        "plain": (["-m", 1], ["-m", 32], 1),
        "mmsg": (["-m", 32 if size < 10000 else 4],
                 ["-m", 32 if size < 10000 else 4], 1),
        "gso": (["-S", segs, "-m", 1], ["-G", "-m", 8], segs),
    }[opt["mode"]]


def flood(opt, clock):
    """One-way streams, each with a port and a sink of its own"""
    send, recv, segs = send_words(opt)
    n = int(opt["streams"])
    port = int(opt["port"])
    secs = float(opt["secs"])
    sinks = [Endpoint(opt, opt["to"], ["sink", "-b", opt["bind"], "-p",
                                       port + i, "-t", 600, "-w", 600] + recv)
             for i in range(n)]
    for i in range(n):
        wait_bound(opt["to"], port + i)
    clock.start()
    rate = ["-r", float(opt["rate"]) / n] if opt.get("rate") else []
    senders = [Endpoint(opt, opt["from"],
                        ["flood", opt["dst"], port + i, "-s", opt["size"],
                         "-t", secs] + send + rate) for i in range(n)]
    sent = [s.collect(secs + 10) for s in senders]
    clock.stop()
    drain(opt)
    got = [s.collect(5, term=True) for s in sinks]

    def total(results, key):
        return sum(r.get(key, 0) for r in results)

    span = max(s["secs"] for s in sent)
    return {
        "sent": total(sent, "sent"), "received": total(got, "distinct"),
        "tx_err": total(sent, "errors"), "dup": total(got, "duplicates"),
        "reorder": total(got, "reordered"), "corrupt": total(got, "corrupt"),
        "secs": span, "segs": segs,
        "end_drops": total(got, "socket_drops"),
        "rcvbuf": min(g.get("rcvbuf", 0) for g in got),
        "cpu_gen_s": sum(s.cpu_s for s in senders),
        "cpu_ref_s": sum(s.cpu_s for s in sinks),
        "ref_count": total(got, "distinct"),
        "behind": total(sent, "behind"),
        "gen": sent, "sink": got,
    }


def ports_for(flows):
    """Many flows need more than one port at the far end"""
    return (int(flows) + 9999) // 10000


def ask_words(opt):
    """The client's command line for each kind of exchange"""
    common = [opt["dst"], opt["port"], "-s", opt["size"]]
    op = opt["op"]
    flows = opt.get("flows", "1")
    if op == "rr":
        return ["rr"] + common + ["-n", opt["count"]]
    if op == "newflows":
        return ["newflows"] + common + ["-n", opt["count"]]
    words = [op] + common + ["-t", opt["secs"]]
    if flows != "1":
        words += ["-F", flows, "-P", ports_for(flows)]
    words += ["--hist"]
    if op == "closed":
        words += ["-W", opt.get("window", "32")]
    else:
        words += ["-r", opt["rate"]]
    return words


def ask(opt, clock):
    """Exchanges with an echo at the other end"""
    ports = ports_for(opt.get("flows", "1"))
    words = ["echo", "-b", opt["bind"], "-p", opt["port"], "-t", 3600]
    if ports > 1:
        words += ["-P", ports]
    echo = Endpoint(opt, opt["to"], words)
    try:
        wait_bound(opt["to"], int(opt["port"]))
        clock.start()
        client = Endpoint(opt, opt["from"], ask_words(opt))
        got = client.collect(float(opt.get("limit", 120)))
        clock.stop()
        drain(opt)
    finally:
        back = echo.collect(5, term=True)
    lost = got.get("lost", 0)
    answered = got.get("answered", got.get("received", 0))
    sent = got.get("sent", answered + lost)
    record = {
        "sent": sent, "received": answered, "tx_err": got.get("tx_errors", 0),
        "dup": got.get("duplicates", 0), "reorder": got.get("reordered", 0),
        "corrupt": got.get("corrupt", 0), "secs": got["secs"], "segs": 1,
        "cpu_gen_s": client.cpu_s, "cpu_ref_s": client.cpu_s + echo.cpu_s,
        "ref_count": 2 * answered, "refused": got.get("refused", 0),
        "behind": got.get("behind", 0), "gen": [got], "sink": [back],
        "late": got.get("late", 0), "echo_errors": back.get("errors", 0),
        "near_sent": sent, "near_read": answered + got.get("late", 0),
        "far_sent": back["answered"],
        "far_read": back["answered"] + back.get("errors", 0),
    }
    if opt["op"] == "open":
        # A generator that keeps time may spin: the echo alone is comparable
        record["cpu_ref_s"] = echo.cpu_s
        record["ref_count"] = answered
    for key, value in got.items():
        if key == "hist" or (key.endswith("_us") and key != "cpu_us"):
            record[key] = value
    got.pop("hist", None)
    return record


def recover(opt, clock):
    """A flood, and exchanges one after the other right behind it"""
    run = flood(opt, clock)
    quiet = dict(opt, op="rr", port=opt["echo_port"], size="64")
    after = ask(quiet, Clock())
    for key in ("sent", "received", "corrupt", "dup"):
        run[key + "_flood"] = run[key]
        run[key] += after[key]
    for key, value in after.items():
        if key.endswith("_us"):
            run[key] = value
    run["lost_after"] = after["sent"] - after["received"]
    run["answers"] = after["received"]
    run["gen"] += after["gen"]
    run["echo_errors"] = after["echo_errors"]
    return run


def ramp(opt, clock):
    """Load in steps, both ways at once; ends in both namespaces"""
    clock.start()
    both = Endpoint(opt, None, [
        "ramp", opt["dst"], opt["port"], "--size", opt["size"], "--peak",
        opt["peak"], "-s", opt["step"], "-D", opt["step_s"], "-p",
        opt["shape"], "--near", opt["from"], "--far", opt["to"]])
    rows = list(csv.DictReader(both.collect(
        float(opt.get("limit", 120))).splitlines()))
    clock.stop()
    drain(opt)
    if not rows:
        raise Failed("ramp: " + both.proc.stderr.read().decode().strip())

    def total(key, way=None):
        return sum(int(r[key]) for r in rows
                   if way in (None, r["direction"]))

    return {
        "sent": total("tx_packets"), "received": total("rx_packets"),
        "tx_err": total("tx_errors"), "dup": total("duplicates"),
        "corrupt": total("corrupt"), "reorder": 0, "segs": 1,
        "secs": sum(float(r["secs"]) for r in rows) / 2,
        "cpu_gen_s": both.cpu_s, "cpu_ref_s": both.cpu_s,
        "ref_count": total("rx_packets"),
        "near_sent": total("tx_packets", "out"),
        "near_read": total("rx_packets", "back"),
        "far_sent": total("tx_packets", "back"),
        "far_read": total("rx_packets", "out"),
        "steps": [{"direction": r["direction"], "secs": float(r["secs"]),
                   "load_gbps": float(r["load_gbps"]),
                   "offered": int(r["offered_packets"]),
                   "sent": int(r["tx_packets"]),
                   "received": int(r["rx_packets"])} for r in rows],
    }


def pdr(opt, clock):
    """Binary search for the largest rate at which the way of the forwarder
    loses no more than a goal: of equal trials most must pass. The result is
    what was forwarded in those that passed, never more than the generator
    could offer."""
    low, high = PDR_RANGE
    need = int(opt["trials"]) // 2 + 1
    run = {"pdr_pps": 0, "trials": [], "by_generator": False}
    clock.start()
    while high > low * (1 + float(opt["width"]) / 100):
        rate = (low * high) ** .5
        good, bad = [], 0
        while len(good) < need and bad < need:
            one = flood(dict(opt, streams="1", rate=str(rate)), Clock())
            merge(run, one)
            on_way = one["sent"] - one["received"] - one["end_drops"]
            loss = 100 * on_way / max(one["sent"], 1)
            offered = one["sent"] / one["secs"]
            fine = loss <= float(opt["goal"])
            behind = offered < .95 * rate
            run["trials"].append({
                "rate": round(rate), "offered": round(offered),
                "received": one["received"], "secs": one["secs"],
                "loss_pct": round(loss, 4), "end_drops": one["end_drops"]})
            if fine and not behind:
                good.append(one["received"] / one["secs"])
            else:
                bad += 1
                by_generator = fine and behind
        if bad >= need:
            high, run["by_generator"] = rate, by_generator
        else:
            low = rate
            run["pdr_pps"] = round(sorted(good)[len(good) // 2], 1)
    clock.stop()
    return run


def merge(run, one):
    """Add a flood to a series of them, for one ledger"""
    for key, value in one.items():
        if key in ("segs", "rcvbuf"):
            run[key] = value
        elif isinstance(value, (int, float)):
            run[key] = run.get(key, 0) + value


class Clock:
    """What the machine did while the load ran, not while we drained"""

    def __init__(self):
        self.a = self.b = cpu_times()

    def start(self):
        self.a = cpu_times()

    def stop(self):
        self.b = cpu_times()

    def share(self, key):
        d = delta(self.a, self.b)
        return round(100 * d[key] / d["all"], 2) if d["all"] else 0

    def was_stolen(self):
        """More than a short run can show: the kernel counts ticks of 10 ms"""
        return delta(self.a, self.b)["steal"] >= STEAL_TICKS and \
            self.share("steal") > STEAL_MAX


# ---- the ledger ---------------------------------------------------------

def tap_of(space):
    """The forwarder's interface in the container: neither lo nor a tunnel"""
    return [n for n in space["dev"]
            if n != "lo" and not n.startswith(("vx0", "wg0"))]


def settle(total, counts, segs):
    """Datagrams lost on one stretch of the way, by place.

    @total: datagrams that entered the stretch and did not leave it
    @counts: drops that the kernel counted there, super-frames as one
    Returns: {place: datagrams}, how it was found

    Messages of the sender all hold @segs datagrams; a forwarder may join them
    anew. Then @total is known from both ends, and the counter tells the place.
    """
    frames = sum(counts.values())
    counts = {k: v for k, v in counts.items() if v}
    if frames == total or segs == 1 or not frames:
        return counts, "counted"
    if frames * segs == total:
        return {k: v * segs for k, v in counts.items()}, "counted x segments"
    if not frames <= total <= frames * SEGS_MAX:
        return counts, "counted"
    left = total
    shared = {}
    for i, (place, n) in enumerate(counts.items()):
        last = i == len(counts) - 1
        shared[place] = left if last else round(total * n / frames)
        left -= shared[place]
    return shared, "derived from both ends"


def places(run, d, opt, tap):
    """What the kernel counted before and behind the forwarder"""
    host, cont = d["host"], d["cont"]
    # Sockets that are still there are the forwarder's: the endpoints' are
    # closed. What it counts itself knows closed ones, too.
    fwd_sock = sum(host["sock"].values()) + sum(cont["sock"].values())
    run["checks"] = {"fwd_socket_by_kernel": fwd_sock}
    if d["fwd"]:
        fwd_sock = d["fwd"]["kernel_socket_dropped"]
    run["rcvbuf_errors"] = sum(d[s]["udp"]["RcvbufErrors"]
                               for s in ("host", "cont", "lan") if s in d)
    ends = {
        "sink_socket": run.get("end_drops",
                               max(0, run["rcvbuf_errors"] - fwd_sock)),
        "echo_send": run.get("echo_errors", 0),
        "backlog": d["softnet"],
    }
    for key, name in (("NoPorts", "no_port"), ("InCsumErrors", "checksum")):
        ends[name] = sum(d[s]["udp"][key] for s in ("host", "cont", "lan")
                         if s in d)
    # A socket counts a wrong checksum among its drops, too
    if "end_drops" in run:
        at = next(s for s in ("host", "cont", "lan")
                  if opt.get(s) == opt["to"])
        ends["sink_socket"] -= min(d[at]["udp"]["InCsumErrors"],
                                   ends["sink_socket"])
    if "lan" in d:
        ends["veth"] = sum(dev[key] for s in ("host", "lan")
                           for name, dev in d[s]["dev"].items()
                           if name in ("hp", "ph")
                           for key in ("tx_drop", "rx_drop"))
    before = {"fwd_socket": fwd_sock, "tap_ring": tap["tx_drop"],
              "qdisc": host["qdisc"] + cont["qdisc"]}
    return before, ends


def inside(run, d, through):
    """Datagrams that the forwarder took and dropped, by its own names"""
    if d["fwd"]:
        return {"fwd:" + k: v for k, v in d["fwd"]["drops"].items()
                if v and k not in NOT_LOAD}
    if through["in"] is None or through["in"] == through["out"]:
        return {}
    # It has no counters, but the kernel has, before it and behind it
    return {"fwd:unknown": through["in"] - through["out"]}


def vanished(run, d, opt, tap):
    """Into a forwarder without counters, less what came out of it, two ways"""
    host, cont = d["host"]["udp"], d["cont"]["udp"]
    if opt["path"] == "lo":
        return host["InDatagrams"] + cont["InDatagrams"] - \
            host["OutDatagrams"] - cont["OutDatagrams"] + \
            run["near_sent"] + run["far_sent"] - \
            run["near_read"] - run["far_read"]
    end = "near" if opt["dir"] == "in" else "far"  # which is on the host
    return tap["tx"] + host["InDatagrams"] - run[end + "_read"] - \
        (host["OutDatagrams"] - run[end + "_sent"] + tap["rx"])


def ledger(run, d, opt, after):
    """Named drops of the way, in datagrams; sets unexplained"""
    tap = {"tx": 0, "tx_drop": 0, "rx": 0, "rx_drop": 0}
    for name in tap_of(after["cont"]):
        for key in tap:
            tap[key] += d["cont"]["dev"][name][key]
    before, ends = places(run, d, opt, tap)
    through = passed(run, d, opt, tap)
    run["fwd_in"], run["fwd_out"] = through["in"], through["out"]
    if run["op"] in TWO_WAY:
        # Each place is passed in both directions, and a message is a datagram
        lost, how = {**before, **ends}, ["counted"]
        if d["fwd"]:
            lost.update(inside(run, d, through))
        elif opt["path"] not in BARE:
            left = run["sent"] - run["received"] - sum(lost.values())
            if 0 < left and abs(left - vanished(run, d, opt, tap)) <= \
                    NOISE_MAX:
                lost["fwd:unknown"] = left
    elif through["in"] is None:
        lost, found = settle(run["sent"] - run["received"],
                             {**before, **ends}, run["segs"])
        how = [found]
    else:
        lost, how1 = settle(run["sent"] - through["in"], before, run["segs"])
        far, how2 = settle(through["out"] - run["received"], ends,
                           run["segs"])
        lost.update(far)
        lost.update(inside(run, d, through))
        how = [how1, how2]
    left = run["sent"] - run["received"] - sum(lost.values())
    if opt["path"] == "wireguard" and left > 0:
        # Its ends are programs with queues of their own, and no counters
        lost["tunnel" if d["fwd"] else "tunnel_or_fwd"] = left
    run["lost_how"] = how
    run["unexplained"] = run["sent"] - run["received"] - sum(lost.values())
    # Among the frames that a full tap queue dropped may be some of discovery
    noise = tap["tx"] + tap["tx_drop"] - \
        (d["cont"]["udp"]["OutDatagrams"] if run["segs"] == 1 or d["fwd"]
         else run["sent"])
    if 0 < -run["unexplained"] <= min(noise, lost.get("tap_ring", 0)):
        run["checks"]["noise_frames_dropped"] = -run["unexplained"]
        lost["tap_ring"] += run["unexplained"]
        run["unexplained"] = 0
    run["lost"] = {k: v for k, v in lost.items() if v}


def passed(run, d, opt, tap):
    """Datagrams into and out of the forwarder; None where nothing can tell"""
    if opt["path"] in BARE:
        return {"in": None, "out": None}
    # Of exchanges behind a flood, the answers go the other way
    back = run.get("answers", 0)
    if d["fwd"]:
        return passed_by_counters(run, d["fwd"], opt, back)
    if run["op"] in TWO_WAY:
        n = run["received"] * (1 if run["op"] == "ramp" else 2)
        return {"in": n, "out": n}
    # Frames and reads are datagrams for those who use no segmentation
    host, cont = d["host"], d["cont"]
    near, far = (host, cont) if opt["dir"] == "in" else (cont, host)
    n = near["udp"]["InDatagrams"] - back
    m = far["udp"]["OutDatagrams"] - back
    noise = 0
    if opt["path"] != "lo" and opt["dir"] == "in":
        m = tap["rx"]
        noise = m - n
    elif opt["path"] != "lo":
        n = tap["tx"]
        noise = n - (run["sent"] - tap["tx_drop"] - cont["qdisc"])
    # Among the frames there may be some of neighbour discovery
    if 0 < noise <= NOISE_MAX:
        run["checks"]["noise_frames"] = noise
        n -= noise if opt["dir"] == "out" else 0
        m -= noise if opt["dir"] == "in" else 0
    return {"in": n, "out": m}


def passed_by_counters(run, fwd, opt, back):
    host_in, tap_in = fwd["host_rx_datagrams"], fwd["tap_rx_datagrams"]
    host_out, tap_out = fwd["host_tx_datagrams"], fwd["tap_tx_datagrams"]
    dropped = sum(v for k, v in fwd["drops"].items() if k not in NOT_LOAD)
    if opt["path"] == "lo":
        # From socket to socket, all sockets count as the host's
        n = host_in - back
        return {"in": n, "out": n - dropped}
    if run["op"] in TWO_WAY:
        return {"in": host_in + tap_in, "out": host_out + tap_out}
    if opt["dir"] == "in":
        return {"in": host_in, "out": tap_out}
    return {"in": tap_in, "out": host_out}


# ---- rules and figures --------------------------------------------------

def judge(run, d, opt, clock):
    why = []
    if run["unexplained"]:
        why.append(f"unexplained {run['unexplained']}")
    for key in ("corrupt", "dup"):
        if run[key]:
            why.append(f"{key} {run[key]}")
    if run["sent"] == 0:
        why.append("nothing was sent")
    if run.get("lost_after"):
        why.append(f"{run['lost_after']} lost after the flood")
    fwd = run["fwd_in"]
    if fwd is not None and fwd < run["received"]:
        why.append(f"forwarder saw {fwd} of {run['received']} received")
    # So far it is about correctness; what follows is about time and place
    run["broken"] = bool(why)
    if d["softnet"]:
        why.append(f"softnet drops {d['softnet']}")
    if "rcvbuf" in run and run["rcvbuf"] < SINK_QUEUE:
        why.append(f"sink queue of only {run['rcvbuf']}")
    if opt.get("rate") and opt["op"] == "open" and run["sent"] < \
            .99 * float(opt["rate"]) * run["secs"]:
        why.append("generator below 99 % of its rate")
    if clock.was_stolen():
        why.append(f"steal {clock.share('steal')} %")
    run["why"] = "; ".join(why)
    run["valid"] = not why


def figures(run, d, opt, clock):
    secs = max(run["secs"], 1e-9)
    run["rate_pps"] = round(run["received"] / secs, 1)
    run["rate_gbps"] = round(run["received"] * int(opt["size"]) * 8 / secs /
                             1e9, 4)
    run["loss_pct"] = round(100 * (1 - run["received"] / run["sent"]), 3) \
        if run["sent"] else 100
    cpu = d["cpu"]["cpu_ns"] / 1e3
    emitted = run["fwd_out"]
    run["cpu_fwd_s"] = round(cpu / 1e6, 6)
    run["fwd_busy_pct"] = round(cpu / 1e4 / secs, 1)
    if emitted:
        run["cpu_fwd_us"] = round(cpu / emitted, 4)
        run["wakeups"] = round(d["cpu"]["wakeups"] / emitted, 5)
    if run["ref_count"]:
        run["cpu_ref_us"] = round(run["cpu_ref_s"] * 1e6 / run["ref_count"],
                                  4)
    if emitted and run.get("cpu_ref_us"):
        run["cpu_norm"] = round(run["cpu_fwd_us"] / run["cpu_ref_us"], 4)
    run["steal_pct"] = clock.share("steal")
    run["idle_pct"] = clock.share("idle")
    run["runq_wait_s"] = round(d["cpu"]["wait_ns"] / 1e9, 6)
    run["preempted"] = d["cpu"]["preempted"]


def main():
    opt = dict(word.split("=", 1) for word in sys.argv[1:])
    run = {k: v for k, v in opt.items()
           if k not in ("udpload", "log", "pid", "exe", "counters", "host",
                        "cont", "lan")}
    for key in ("mtu", "family", "streams", "size", "rep", "order"):
        if run.get(key, "").isdigit():
            run[key] = int(run[key])
    fwd = Forwarder(opt)
    spaces = {k: opt[k] for k in ("host", "cont", "lan") if k in opt}
    clock = Clock()
    run["load_before"] = float(read("/proc/loadavg").split()[0])
    run["time"] = round(time.time(), 3)
    try:
        if fwd.pid and os.readlink(f"/proc/{fwd.pid}/exe") != opt["exe"]:
            raise Failed("the forwarder's process is another program")
        before = snapshot(fwd, spaces)
        load = {"flood": flood, "recover": recover, "ramp": ramp,
                "pdr": pdr}.get(opt["op"], ask)
        run.update(load(opt, clock))
        after = snapshot(fwd, spaces)
        d = delta(before, after)
        ledger(run, d, opt, after)
        figures(run, d, opt, clock)
        judge(run, d, opt, clock)
        run["raw"] = {k: d[k] for k in d if k != "sock"}
        for name in spaces:
            run["raw"][name].pop("sock")
    except (Failed, OSError, KeyError) as e:
        run.update(valid=False, broken=True, why=f"{type(e).__name__}: {e}")
    json.dump(run, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
