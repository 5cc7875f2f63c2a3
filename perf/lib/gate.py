"""gate.py - which figures are worse by a tenth for certain: gate.py < RUNS

Exit status 1 if one is, or if a cell has no valid pair to tell by.
"""

import sys

import stats

WORST = .9  # of the reference
MORE_IS_BETTER = ("rate_pps",)


def is_worse(c):
    if not c["differs"]:
        return False
    if c["metric"] in MORE_IS_BETTER:
        return c["hi"] < WORST
    return c["lo"] > 1 / WORST


def main():
    bad = 0
    for (_, cell), runs in stats.cells(stats.load(sys.stdin)).items():
        side = next((r["side"] for r in runs if r["side"] != "a"), None)
        n = 0
        for key, unit, _, _ in stats.METRICS.get(runs[0]["op"], []):
            c = stats.compare(runs, side, key)
            # The tail of a few thousand exchanges is the machine's
            if not c or key == "p99_us":
                continue
            n += 1
            bad += is_worse(c)
            print(f"{'SLOWER' if is_worse(c) else 'ok':7} {cell} | {unit}: "
                  f"{stats.in_words(c)}")
        if not n:
            print(f"NOTHING {cell} | no valid pair")
            bad += 1
    sys.exit(1 if bad else 0)


main()
