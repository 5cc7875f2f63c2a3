"""stats.py - runs by cell, medians, paired ratios and their intervals

The unit of comparison is a pair: one run of ours and one of the peer, next to
each other in time, in ABBA order. What is reported is the median of the ratios
ours / peer, an interval by bootstrap (resampling pairs, 95 %), and the same for
pairs of equal programs from the same series: a difference is one only if its
interval excludes 1 and it is larger than what equal programs show.
"""

import json
import random

# Figures compared, by kind of load: (key, unit, factor for display, digits)
METRICS = {
    "flood": [("rate_pps", "k/s", 1e-3, 1), ("cpu_norm", "cpu/ref", 1, 3)],
    "recover": [("rate_pps", "k/s", 1e-3, 1), ("p50_us", "us p50", 1, 0)],
    "pdr": [("pdr_pps", "k/s", 1e-3, 1)],
    "ramp": [("rate_pps", "k/s", 1e-3, 1)],
    "closed": [("rate_pps", "k/s", 1e-3, 1), ("cpu_norm", "cpu/ref", 1, 3),
               ("p50_us", "us p50", 1, 0), ("p99_us", "us p99", 1, 0)],
    "open": [("p50_us", "us p50", 1, 0), ("p99_us", "us p99", 1, 0),
             ("cpu_norm", "cpu/ref", 1, 3)],
    "rr": [("p50_us", "us p50", 1, 0), ("p99_us", "us p99", 1, 0)],
    "newflows": [("rate_pps", "k/s", 1e-3, 2), ("cpu_norm", "cpu/ref", 1, 3)],
    "stream": [("rate_gbps", "Gbit/s", 1, 2), ("cpu_gb", "s CPU/GB", 1, 3),
               ("cpu_norm", "cpu/ref", 1, 3), ("retr_tap", "retr tap", 1, 0),
               ("retr_sender", "retr sender", 1, 0)],
    "iperf_udp": [("rate_gbps", "Gbit/s", 1, 2), ("cpu_norm", "cpu/ref", 1, 3)],
    "tcp_rr": [("p50_us", "us p50", 1, 0), ("p99_us", "us p99", 1, 0),
               ("cpu_norm", "cpu/ref", 1, 3)],
    "tcp_crr": [("rate_pps", "k/s", 1e-3, 2), ("p50_us", "us p50", 1, 0),
                ("p99_us", "us p99", 1, 0), ("cpu_norm", "cpu/ref", 1, 3)],
    "tcp_transfer": [("rate_gbps", "Gbit/s", 1, 2),
                     ("stall_ms", "ms stall", 1, 0)],
    "startup": [("ready_ms", "ms", 1, 1)],
    "memory": [("pss_kib", "KiB", 1, 0), ("per_flow_bytes", "B/flow", 1, 0)],
    "instances": [("ready_ms", "ms", 1, 1), ("pss_kib", "KiB", 1, 0),
                  ("idle_cpu_ms", "ms/s idle", 1, 2),
                  ("p50_us", "us p50", 1, 0)],
}


def load(stream):
    return [json.loads(x) for x in stream if x.strip()]


def cells(runs):
    """{(workload, cell): [run...]} in the order of their first run"""
    by = {}
    for r in runs:
        by.setdefault((r.get("workload", ""), r["cell"]), []).append(r)
    return by


def median(v):
    v = sorted(v)
    n = len(v)
    if not n:
        return None
    return v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2


def interval(v, rounds=2000):
    """95 % bootstrap interval of the median"""
    if len(v) < 3:
        return (min(v), max(v)) if v else (None, None)
    rng = random.Random(len(v))
    m = sorted(median(rng.choices(v, k=len(v))) for _ in range(rounds))
    return m[int(.025 * rounds)], m[int(.975 * rounds)]


def values(runs, key, side):
    return [r[key] for r in runs if r["side"] == side and r["valid"] and
            r.get(key) is not None]


def groups(runs, side):
    """The quadruples A B B A of a peer; None for an invalid run"""
    seq = [r for r in sorted(runs, key=lambda r: r["order"])]
    out = []
    i = 0
    while i + 3 < len(seq):
        four = seq[i:i + 4]
        if [r["side"] for r in four] == ["a", side, side, "a"]:
            out.append(four)
            i += 4
        else:
            i += 1
    return out


def ratio(x, y, key):
    if not (x["valid"] and y["valid"] and x.get(key) and y.get(key)):
        return None
    return x[key] / y[key]


def pairs(runs, side, key):
    """(ratios ours / peer, ratios of equal programs)"""
    ab, same = [], []
    for a1, b1, b2, a2 in groups(runs, side):
        ab += [ratio(a1, b1, key), ratio(a2, b2, key)]
        same += [ratio(a1, a2, key), ratio(b1, b2, key)]
    return ([r for r in ab if r is not None],
            [r for r in same if r is not None])


def compare(runs, side, key):
    """One comparison as a dictionary, None if there is no valid pair"""
    ab, same = pairs(runs, side, key)
    if not ab:
        return None
    lo, hi = interval(ab)
    slo, shi = interval(same) if same else (None, None)
    # Equal programs show a difference either way
    noise = max(abs(slo - 1), abs(shi - 1)) if same else None
    mid = median(ab)
    return {"metric": key, "n": len(ab), "ratio": mid, "lo": lo, "hi": hi,
            "min": min(ab), "max": max(ab), "ratios": ab, "same": same,
            "same_lo": slo, "same_hi": shi,
            "differs": (lo > 1 or hi < 1) and
            (noise is None or abs(mid - 1) > noise)}


def in_words(c):
    text = f"{c['ratio']:.3f} ({c['lo']:.3f}-{c['hi']:.3f}), {c['n']} pairs"
    if c["same"]:
        text += f"; equal programs {c['same_lo']:.3f}-{c['same_hi']:.3f}"
    return text + ("" if c["differs"] else "; no difference shown")
