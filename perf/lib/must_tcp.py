"""must_tcp.py - the table of perf/compare-tcp, from its results

must_tcp.py DIR    DIR has a directory with runs.jsonl for each part

A line for each cell: medians with the smallest and the largest run, the median
of the ratios of pairs with its 95 % interval, retransmissions on the tap and of
the sender (medians, ours and the other's), what is wanted, and whether it is so.
Invalid runs are counted in no figure; how many there were is in the last column.
"""

import glob
import json
import os
import sys

import stats

SPREAD_RUNS = 18  # of 20 or so: some may be invalid


def load(top):
    """All runs, those of ours as side "a", by cell; facts of the first part"""
    cells, facts = {}, {}
    for path in sorted(glob.glob(os.path.join(top, "*", "runs.jsonl"))):
        part = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as f:
            for r in stats.load(f):
                cells.setdefault((part, r["cell"]), []).append(r)
        with open(os.path.join(os.path.dirname(path), "facts.json"),
                  encoding="utf-8") as f:
            facts = facts or json.load(f)
    return cells, facts


def spread(runs, side, key):
    v = stats.values(runs, key, side)
    if not v:
        return "-"
    digits = 0 if key.endswith("_us") else 3 if key == "cpu_gb" else 2
    scale = 1e-3 if key == "rate_pps" else 1
    return (f"{stats.median(v) * scale:.{digits}f} "
            f"[{min(v) * scale:.{digits}f}-{max(v) * scale:.{digits}f}]")


def again(runs, side):
    """Retransmissions on the tap and of the sender"""
    return " ".join("-" if not v else f"{stats.median(v):.0f}" for v in (
        stats.values(runs, k, side) for k in ("retr_tap", "retr_sender")))


class Table:
    def __init__(self):
        self.bad = 0

    def line(self, name, runs, key, need, note=""):
        """@need: (">=" or "<=", ratio), or None: no peer is asked"""
        side = next((r["side"] for r in runs if r["side"] != "a"), None)
        c = stats.compare(runs, side, key) if side else None
        good, what = None, ""
        if need:
            what = f"{need[0]} {need[1]}"
            good = c and (c["ratio"] >= need[1] if need[0] == ">=" else
                          c["ratio"] <= need[1])
        if note:
            good = False
        self.bad += not good if good is not None or need else 0
        ratio = f"{c['ratio']:.2f} ({c['lo']:.2f}-{c['hi']:.2f})" if c \
            else "-"
        invalid = sum(not r["valid"] for r in runs)
        print(f"{name:30} {spread(runs, 'a', key):20} "
              f"{spread(runs, side, key) if side else '':20} {ratio:20} "
              f"{again(runs, 'a'):9} {again(runs, side) if side else '':13} "
              f"{what:8} {'' if good is None else 'ok' if good else 'BELOW'}"
              f"{' ' + note if note else ''}"
              f"{f' ({invalid} invalid)' if invalid else ''}")

    def fact(self, name, text, good):
        self.bad += not good
        print(f"{name:30} {text}: {'ok' if good else 'BELOW'}")


def name_of(r):
    words = [r["path"], r["dir"]]
    if r["path"] in ("tap", "wan") and r["op"] == "stream":
        words.append(str(r["mtu"]))
    words += [r["cc"]] if r.get("cc") else []
    words += ["reversed"] if r.get("reverse") else []
    return " ".join(words)


def most(runs, key):
    return max(stats.values(runs, key, "a"), default=0)


def streams(table, cells):
    own = {}
    for (part, _), runs in sorted(cells.items(),
                                  key=lambda c: c[1][0]["path"] == "lo"):
        r = runs[0]
        if part != "stream":
            continue
        name = name_of(r)
        own[r["path"], r["dir"], r["mtu"]] = runs
        if r["path"] == "lo":
            table.line(name, runs, "rate_gbps", (">=", 1.0))
            table.line(name + ", s CPU/GB", runs, "cpu_gb", ("<=", 1.0))
        elif r["mtu"] == 1500:
            n = most(runs, "retr_tap")
            table.line(name, runs, "rate_gbps",
                       (">=", 10 if r["dir"] == "in" else 5),
                       f"{n} sent again" if n else "")
        else:
            table.line(name, runs, "rate_gbps", (">=", 1.2))
    for (part, _), runs in cells.items():
        if part != "spread":
            continue
        way = runs[0]["dir"]
        table.line(f"tap {way} 65520, own 1500", runs, "rate_gbps",
                   (">=", 1.0))
        many = stats.values(runs + own.get(("tap", way, 65520), []),
                            "rate_gbps", "a")
        if len(many) >= SPREAD_RUNS:
            a, b = stats.median(many), min(many)
            table.fact(f"tap {way} 65520", f"{len(many)} runs, smallest "
                       f"{b:.2f}, half the median {a / 2:.2f}", b >= a / 2)


def transfers(table, cells):
    for (part, _), runs in cells.items():
        if not part.startswith("transfer"):
            continue
        whole = sum(bool(r.get("whole")) for r in runs)
        stall = max(r.get("stall_ms", float("inf")) for r in runs)
        table.fact(f"1 GB each way, {name_of(runs[0])}",
                   f"{whole} of {len(runs)} whole, {spread(runs, 'a', 'rate_gbps')}"
                   f" Gbit/s, longest stall {stall:.0f} ms",
                   whole == len(runs) and stall <= 1000)


def main():
    cells, facts = load(sys.argv[1])
    if not cells:
        sys.exit("compare-tcp: no results in " + sys.argv[1])
    print(f"\n# {facts['date']}, kernel {facts['kernel']}, {facts['cpus']} "
          f"CPUs, {facts['placement']}")
    for side in "a", "b":
        if side + " version" in facts:
            print(f"# {facts[side + ' label']}: {facts[side + ' version']}")
    print(f"{'':30} {'ours':20} {'other':20} {'pairs':20} "
          f"{'sent again, tap and sender':23} wanted")
    table = Table()
    streams(table, cells)
    for part, title, key, need in (
            ("wan", "10 ms: ", "rate_gbps", (">=", .8)),
            ("rr", "1 byte p50 us, ", "p50_us", ("<=", 1.0)),
            ("crr", "connections k/s, ", "rate_pps", (">=", 1.3))):
        for (p, _), runs in cells.items():
            if p == part:
                table.line(title + name_of(runs[0]).removeprefix("wan "),
                           runs, key, need)
    transfers(table, cells)
    sys.exit(table.bad > 0)


main()
