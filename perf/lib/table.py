"""table.py - what perf/run says while it works

table.py line < RECORD    one run        table.py cell CELL < RUNS   one cell
table.py end < RUNS       how many runs were invalid, and why
"""

import json
import sys

import stats


def short(cell):
    """The cell without the names of its keys"""
    out = []
    for word in cell.split():
        key, _, value = word.partition("=")
        out.append({"family": "v", "mtu": "mtu ", "streams": "x"}.get(
            key, "" if key in ("op", "path", "dir", "mode") else key + " ") +
            value)
    return " ".join(out)


def figures(r):
    out = []
    for key, unit, factor, digits in stats.METRICS.get(r.get("op"), []):
        if r.get(key) is not None:
            out.append(f"{r[key] * factor:.{digits}f} {unit}")
    if r.get("op") == "flood" and r.get("rate_gbps") is not None:
        out.insert(1, f"{r['rate_gbps']:.2f} Gbit/s")
    if "loss_pct" in r:
        places = ", ".join(f"{k} {v}" for k, v in r.get("lost", {}).items())
        out.append(f"lost {r['loss_pct']:.1f} %" +
                   (f" ({places})" if places else ""))
    return ", ".join(out)


def line():
    r = json.load(sys.stdin)
    text = f"{short(r['cell'])} | {r['label']}: {figures(r)}"
    if not r["valid"]:
        text += "  INVALID: " + r.get("why", "")
    print(text)


def spread(runs, side, key, factor, digits):
    v = stats.values(runs, key, side)
    if not v:
        return "-"
    m = stats.median(v) * factor
    return (f"{m:.{digits}f} [{min(v) * factor:.{digits}f}-"
            f"{max(v) * factor:.{digits}f}]")


def cell(name):
    runs = [r for r in stats.load(sys.stdin) if r["cell"] == name]
    sides = list(dict.fromkeys(r["side"] for r in runs))
    labels = {r["side"]: r["label"] for r in runs}
    print("  " + short(name))
    for key, unit, factor, digits in stats.METRICS.get(runs[0]["op"], []):
        if not any(r.get(key) is not None for r in runs):
            continue
        print(f"    {unit:9} " + "; ".join(
            f"{labels[s]} {spread(runs, s, key, factor, digits)}"
            for s in sides))
        for s in sides[1:]:
            c = stats.compare(runs, s, key)
            if c:
                print(f"              / {labels[s]}: {stats.in_words(c)}")
    for s in sides:
        lost = stats.values(runs, "loss_pct", s)
        if lost:
            print(f"    lost %    {labels[s]} {stats.median(lost):.2f} "
                  f"[{min(lost):.2f}-{max(lost):.2f}]")


def end():
    runs = stats.load(sys.stdin)
    bad = [r for r in runs if not r["valid"]]
    print(f"{len(runs)} runs, {len(bad)} invalid")
    for r in bad[:20]:
        print(f"  {short(r['cell'])} | {r['label']} rep {r['rep']}: "
              f"{r.get('why', '')}")
    sys.exit(any(r.get("broken") for r in runs))


{"line": line, "cell": lambda: cell(sys.argv[2]), "end": end}[sys.argv[1]]()
