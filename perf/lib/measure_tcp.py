"""measure_tcp.py - one run of a load that needs TCP

perf/run calls it as it calls measure.py. A stream loses nothing, so there is no
ledger; what is asked instead: did the bytes pass the forwarder, and the tap if
they should have, what was sent again and by whom, what did a gigabyte cost?

  stream        one or more connections of iperf3
  iperf_udp     UDP of iperf3, whose control connection passes the forwarder, too
  tcp_rr        exchanges over one connection
  tcp_crr       a connection for each exchange
  tcp_transfer  bytes compared one by one, with pauses at both ends

Retransmissions, by the kernels of the ends: retr_sender is what iperf3 says of
its own; retr_tap those between container and forwarder: of the container's
kernel if it sends, else segments that came to it twice, or what the forwarder
says if that is more. Both are sums over all connections of a namespace.
"""

import json
import os
import subprocess
import sys
import time

import measure
from measure import Clock, Endpoint, Failed, Forwarder, read

STALL_MAX_MS = 1000
TCP_PORTS = 10  # in a row, for connections that come one after the other
EXTRA_S = 15  # for an end that was told how long to run
CARRIED_MIN = .95  # share of the bytes that must have been seen on the tap
CONTROL_MAX = 2 << 20  # bytes beside the load


# ---- counters -----------------------------------------------------------

def tcp_counters(netns):
    """All counters of TCP in a namespace, in one dictionary"""
    text = subprocess.run(
        ["nsenter", "--net=/run/netns/" + netns, "--", "cat",
         "/proc/net/snmp", "/proc/net/netstat"],
        capture_output=True, text=True, check=True).stdout
    lines = [x.split() for x in text.splitlines()]
    found = {}
    for head, row in zip(lines[::2], lines[1::2]):
        if head[0] in ("Tcp:", "TcpExt:"):
            found.update(zip(head[1:], map(int, row[1:])))
    return found


def snapshot(fwd, wan, spaces):
    snap = {}
    for name, ns in spaces.items():
        snap[name] = measure.ns_counters(ns)
        snap[name]["tcp"] = tcp_counters(ns)
    snap["fwd"] = fwd.counters()
    snap["wan"] = wan.counters()
    snap["cpu"] = fwd.cpu()
    return snap


# ---- the loads ----------------------------------------------------------

def seconds(opt):
    """iperf3 takes whole ones only"""
    return max(1, round(float(opt["secs"])))


def iperf_pair(opt, clock, words):
    """iperf3 at both ends; returns (client, server) that have ended"""
    port = int(opt["port"])
    server = Endpoint(opt, opt["to"], ["-s", "-1", "-p", port, "-J"],
                      "iperf3")
    measure.wait_bound(opt["to"], port, "tcp")
    clock.start()
    client = Endpoint(opt, opt["from"],
                      ["-c", opt["dst"], "-p", port, "-J", "-t",
                       seconds(opt)] + words, "iperf3")
    limit = seconds(opt) + EXTRA_S
    try:
        client.collect(limit)
        clock.stop()
        server.collect(5, term="error" in client.json)
    finally:
        if server.proc.returncode is None:
            server.proc.kill()
    if "error" in client.json:
        raise Failed("iperf3: " + client.json["error"])
    return client, server


def stream(opt, clock):
    words = []
    if opt.get("reverse") == "1":
        words += ["-R"]
    if opt.get("cc"):
        words += ["-C", opt["cc"]]
    if int(opt["streams"]) > 1:
        words += ["-P", opt["streams"]]
    client, server = iperf_pair(opt, clock, words)
    end = client.json["end"]
    return {
        "bytes_sent": end["sum_sent"]["bytes"],
        "bytes": end["sum_received"]["bytes"],
        "secs": end["sum_received"]["seconds"],
        "retr_sender": end["sum_sent"].get("retransmits", 0),
        "by_second": [round(i["sum"]["bits_per_second"] / 1e9, 3)
                      for i in client.json["intervals"]],
        "cpu_ref_s": client.cpu_s + server.cpu_s,
    }


def iperf_udp(opt, clock):
    """Loss by what arrived; iperf3 itself sees no loss behind the last one"""
    client, server = iperf_pair(
        opt, clock, ["-u", "-l", opt["size"], "-b", opt["rate"]])
    sent = client.json["end"]["sum_sent"]
    got = server.json["end"]["sum_received"]
    return {
        "bytes_sent": sent["bytes"], "bytes": got["bytes"],
        "secs": sent["seconds"],
        "iperf_loss_pct": round(client.json["end"]["sum"]["lost_percent"], 3),
        "cpu_ref_s": client.cpu_s + server.cpu_s,
    }


def tcpload(opt, clock, serve, words):
    """A client of tcpload and its server; (its result, CPU time of both)"""
    server = Endpoint(opt, opt["to"],
                      ["serve", "-b", opt["bind"], "-p", opt["port"],
                       "-t", 3600] + serve, opt["tcpload"])
    try:
        measure.wait_bound(opt["to"], int(opt["port"]), "tcp")
        clock.start()
        client = Endpoint(opt, opt["from"],
                          [words[0], opt["dst"], opt["port"]] + words[1:],
                          opt["tcpload"])
        got = client.collect(float(opt.get("limit", 120)))
        clock.stop()
    finally:
        server.collect(5, term=True)
    return got, client.cpu_s + server.cpu_s


def rr(opt, clock):
    got, cpu = tcpload(opt, clock, [],
                       ["rr", "-s", opt["size"], "-n", opt["count"],
                        "--warm", max(1, int(opt["count"]) // 10), "--hist"])
    got["bytes"] = 2 * got["answered"] * int(opt["size"])
    return {**got, "cpu_ref_s": cpu}


def crr(opt, clock):
    got, cpu = tcpload(opt, clock, ["-P", TCP_PORTS],
                       ["crr", "-t", opt["secs"], "-N", opt.get("par", "1"),
                        "-P", TCP_PORTS, "--warm", 20, "--hist"])
    return {**got, "bytes": got["answered"], "cpu_ref_s": cpu}


def transfer(opt, clock):
    """Bytes to the server, back, or both at once"""
    n = opt["bytes"]
    up, down = {"up": (n, 0), "down": (0, n), "both": (n, n)}[opt["way"]]
    got, cpu = tcpload(opt, clock, [],
                       ["transfer", "--up", up, "--down", down, "--pause",
                        opt["pause"], "--seed", opt["rep"], "-t", 20 + 4 * float(opt["secs"])])
    return {"bytes": got["up"]["received"] + got["down"]["received"],
            "whole": got["whole"], "secs": got["secs"], "lanes": got,
            "stall_ms": max(got["up"]["stall_ms"], got["down"]["stall_ms"]),
            "pauses": got["up"]["pauses"] + got["down"]["pauses"],
            "cpu_ref_s": cpu}


# ---- figures and rules --------------------------------------------------

def tap_sum(d, after, keys):
    """Of what is not loopback in the container; 0 without a forwarder"""
    return sum(d["cont"]["dev"][name][key]
               for name in measure.tap_of(after["cont"]) for key in keys)


def data_goes_out(opt):
    return (opt["dir"] == "out") != (opt.get("reverse") == "1")


def figures(run, d, opt, clock, after):
    secs = max(run["secs"], 1e-9)
    gb = run["bytes"] / 1e9
    run["rate_gbps"] = round(run["bytes"] * 8 / secs / 1e9, 4)
    if run.get("bytes_sent"):
        run["loss_pct"] = round(
            100 * max(0, 1 - run["bytes"] / run["bytes_sent"]), 3)
    cpu = d["cpu"]["cpu_ns"] / 1e9
    run["cpu_fwd_s"] = round(cpu, 6)
    run["fwd_busy_pct"] = round(100 * cpu / secs, 1)
    if run["op"] in ("stream", "tcp_transfer") and gb:
        run["cpu_gb"] = round(cpu / gb, 4)
        run.pop("loss_pct", None)
    if cpu and run["cpu_ref_s"]:
        run["cpu_norm"] = round(cpu / run["cpu_ref_s"], 4)
    for key in ("cont", "host", "lan"):
        if key in d:
            run["retr_" + key] = d[key]["tcp"]["RetransSegs"]
    tcp = d["cont"]["tcp"]
    run["twice_cont"] = tcp["DelayedACKLost"]
    run["retr_fwd"] = (d["fwd"] or {}).get("tcp_retransmissions", 0)
    run["retr_tap"] = 0
    if opt.get("pid") and opt["path"] != "lo":
        run["retr_tap"] = tcp["RetransSegs"] if data_goes_out(opt) else \
            max(run["twice_cont"], run["retr_fwd"])
    run["tap_bytes"] = tap_sum(d, after, ["tx_bytes", "rx_bytes"])
    run["tap_drop"] = tap_sum(d, after, ["tx_drop", "rx_drop"])
    run["steal_pct"] = clock.share("steal")
    run["idle_pct"] = clock.share("idle")
    run["runq_wait_s"] = round(d["cpu"]["wait_ns"] / 1e9, 6)
    run["preempted"] = d["cpu"]["preempted"]


def path_faults(run, d, opt):
    """Was the forwarder, and the tap, where it should have been?"""
    if not opt.get("pid"):
        return []
    if not run["cpu_fwd_s"]:
        return ["the forwarder did nothing"]
    tapped = run["tap_bytes"]
    if opt["path"] == "lo" and tapped > run["bytes"] / 2 + CONTROL_MAX:
        return [f"{tapped} bytes on the tap, none expected"]
    if opt["path"] != "lo" and tapped < CARRIED_MIN * run["bytes"]:
        return [f"only {tapped} bytes on the tap"]
    return []


def judge(run, d, opt, clock):
    why = path_faults(run, d, opt)
    if not run["bytes"]:
        why.append("nothing arrived")
    if run.get("failed"):
        why.append(f"{run['failed']} connections failed: {run['lanes_why']}")
    if run.get("whole") is False:
        why.append("not whole: " + ", ".join(
            f"{way} {x['received']} of {x['sent']}, wrong at {x['bad_at']}"
            for way, x in run["lanes"].items() if isinstance(x, dict)))
    if run.get("stall_ms", 0) > STALL_MAX_MS:
        why.append(f"stood still for {run['stall_ms']:.0f} ms")
    run["broken"] = bool(why)
    for name, way in (d.get("wan") or {}).items():
        if way["dropped"] or way["errors"]:
            why.append(f"the long way lost frames, {name}: {way}")
    if clock.was_stolen():
        why.append(f"steal {clock.share('steal')} %")
    run["why"] = "; ".join(why)
    run["valid"] = not why


LOADS = {"stream": stream, "iperf_udp": iperf_udp, "tcp_rr": rr,
         "tcp_crr": crr, "tcp_transfer": transfer}
NOT_KEPT = {"udpload", "tcpload", "log", "pid", "exe", "counters", "host",
            "cont", "lan", "wan_pid", "wan_log", "bind", "echo_port"}


def main():
    opt = dict(word.split("=", 1) for word in sys.argv[1:])
    run = {k: int(v) if v.isdigit() else v for k, v in opt.items()
           if k not in NOT_KEPT}
    fwd = Forwarder(opt)
    wan = Forwarder({"pid": opt.get("wan_pid", 0), "log": opt.get("wan_log"),
                     "counters": "1"})
    spaces = {k: opt[k] for k in ("host", "cont", "lan") if k in opt}
    clock = Clock()
    run["load_before"] = float(read("/proc/loadavg").split()[0])
    run["time"] = round(time.time(), 3)
    try:
        if fwd.pid and os.readlink(f"/proc/{fwd.pid}/exe") != opt["exe"]:
            raise Failed("the forwarder's process is another program")
        before = snapshot(fwd, wan, spaces)
        got = LOADS[opt["op"]](opt, clock)
        if "why" in got:
            got["lanes_why"] = got.pop("why")
        run.update(got)
        after = snapshot(fwd, wan, spaces)
        d = measure.delta(before, after)
        figures(run, d, opt, clock, after)
        judge(run, d, opt, clock)
        run["raw"] = {k: d[k] for k in d}
        for name in spaces:
            run["raw"][name].pop("sock")
            tcp = run["raw"][name]["tcp"]
            run["raw"][name]["tcp"] = {k: v for k, v in tcp.items() if v}
    except (Failed, OSError, KeyError, json.JSONDecodeError) as e:
        run.update(valid=False, broken=True, why=f"{type(e).__name__}: {e}")
    json.dump(run, sys.stdout, separators=(",", ":"))
    print()


main()
