"""plots.py - the plots of a report, by gnuplot, as SVG text

Each method takes runs by cell and returns SVGs to be placed into the page; the
files stay beside it.
"""

import os
import re
import subprocess

import stats

COLORS = ["#2f6db0", "#e08a2e", "#4b9a60", "#8a62b3", "#b4514f", "#5f6b76"]
PLACE_COLORS = {
    "qdisc": "#5f6b76", "tap_ring": "#e08a2e", "fwd_socket": "#2f6db0",
    "backlog": "#b4514f", "sink_socket": "#4b9a60", "no_port": "#c9a227",
    "checksum": "#8a62b3", "veth": "#7a5c43", "tunnel": "#3f9fa8",
    "tunnel_or_fwd": "#7fbfc6", "forwarder": "#a32018",
    "unexplained": "#111111"}
HIST_SUB_BITS = 6  # as perf/udpload_hist.c has it
BARE = ("bare", "veth")  # ways without a forwarder
ROWS_MAX = 36  # of one plot that has a row per cell


def bucket_us(i):
    """Middle of a bucket, microseconds"""
    sub = 1 << HIST_SUB_BITS
    shift = 0 if i < 2 * sub else (i >> HIST_SUB_BITS) - 1
    low = (i - (shift << HIST_SUB_BITS)) << shift
    return (low + (1 << shift) / 2) / 1e3


def histogram(runs, side):
    """{bucket: count} over all valid runs"""
    total = {}
    for r in runs:
        if r["side"] == side and r["valid"] and r.get("hist"):
            for word in r["hist"].split()[3:]:
                i, n = word.split(":")
                total[int(i)] = total.get(int(i), 0) + int(n)
    return total


def quote(text):
    return '"' + str(text).replace("\\", "").replace('"', "'").replace(
        "_", " ") + '"'


def row_name(r):
    """A cell on the axis of a plot: what tells it from the others"""
    words = [f"{r.get('path', '')} {r.get('dir', '')}".strip()]
    if "path=" not in r["cell"]:
        words = []
    words.append(r["op"] if r["op"] != "flood" else "")
    for word in r["cell"].split():
        key, _, value = word.partition("=")
        words.append({"family": "IPv" + value, "mtu": value, "mode": value,
                      "streams": "" if value == "1" else value + " streams",
                      "op": "", "path": "", "dir": "" if words[0] else value,
                      "peak": "", "step": "", "step_s": "", "shape": ""
                      }.get(key, f"{key} {value}"))
    return " ".join(w for w in words if w)


def mode_of(r):
    """How it was sent; of TCP, who sent, and the control of congestion"""
    if r["op"] != "stream":
        return r["mode"]
    words = ["the one called sends" if r.get("reverse") else "the caller sends"]
    return ", ".join(words + ([r["cc"]] if r.get("cc") else []))


class Plots:
    def __init__(self, out_dir, labels):
        self.out_dir = out_dir
        self.labels = labels
        self.color = {s: COLORS[i % len(COLORS)]
                      for i, s in enumerate(labels)}

    def draw(self, name, width, height, script):
        path = os.path.join(self.out_dir, name + ".svg")
        head = (f'set terminal svg noenhanced size {width},{height} dynamic '
                f'font "sans-serif,12" name "{name}" background "#ffffff"\n'
                f'set output "{path}"\nset border 3 lc rgb "#888888"\n'
                'set tics nomirror out textcolor rgb "#444444"\n'
                'set grid y lc rgb "#e4e4e4" lt 1\n'
                'set key outside top center horizontal '
                'textcolor rgb "#222222"'
                '\nset title offset 0,0.5 textcolor rgb "#222222"\n')
        subprocess.run(["gnuplot"], input=head + script, text=True,
                       check=True, capture_output=True)
        with open(path, encoding="utf-8") as f:
            svg = f.read()
        svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", svg, flags=re.S)
        # Definitions of all plots share one page
        return re.sub(r"(id='|url\(#|href='#)(gp|hyper)", rf"\1{name}_\2",
                      svg)

    # ---- throughput by MTU ----

    def by_mtu(self, cells, op="flood"):
        groups = {}
        for (_, cell), runs in cells.items():
            r = runs[0]
            if r["op"] == op and "mtu=" in cell and \
                    "rate=" not in cell and r["path"] not in BARE:
                key = (r["path"], r["dir"], mode_of(r), r["streams"])
                groups.setdefault(key, []).append(runs)
        return [self.bars(key, group) for key, group in groups.items()]

    def bars(self, key, group):
        path, way, mode, streams = key
        rows = sorted(group, key=lambda runs: (runs[0]["family"],
                                               runs[0]["mtu"]))
        sides = [s for s in self.labels
                 if any(stats.values(runs, "rate_gbps", s) for runs in rows)]
        if not sides:
            return ""
        data = "$d << E\n"
        for runs in rows:
            r = runs[0]
            data += quote(f"IPv{r['family']} {r['mtu']}")
            for s in sides:
                v = stats.values(runs, "rate_gbps", s)
                data += (f" {stats.median(v)} {min(v)} {max(v)}" if v else
                         " NaN NaN NaN")
            data += "\n"
        data += "E\n"
        plot = ", ".join(
            f"$d using {2 + 3 * i}:{3 + 3 * i}:{4 + 3 * i}:xtic(1) "
            f"title {quote(self.labels[s])} lc rgb '{self.color[s]}'"
            for i, s in enumerate(sides))
        words = {"plain": "one datagram a call", "mmsg": "sendmmsg",
                 "gso": "UDP_SEGMENT"}.get(mode, mode)
        where = {"tap": "over the tap", "lo": "over loopback",
                 "lan": "another host, over the tap",
                 "wan": "another host, 10 ms away",
                 "vxlan": "VXLAN to another host"}[path]
        return self.draw(
            re.sub(r"\W+", "_", f"mtu_{path}_{way}_{mode}_{streams}"), 560, 280, data +
            f'{"" if len(sides) > 1 else "unset key"}\n'
            f'set title "{where}, {way}, {words}, {streams} stream'
            f'{"s" if streams != 1 else ""}"\n'
            'set style data histogram\n'
            'set style histogram errorbars gap 1 lw 1\n'
            'set style fill solid 0.9 border lc rgb "#555555"\n'
            'set ylabel "Gbit/s delivered"\nset yrange [0:*]\n'
            'set xtics scale 0\n' f'plot {plot}\n')

    # ---- offered and delivered ----

    def offered(self, cells):
        groups = {}
        for (_, cell), runs in cells.items():
            r = runs[0]
            if r["op"] == "flood" and "rate=" in cell:
                groups.setdefault((r["path"], r["dir"]), []).extend(runs)
        return [self.curve(key, runs) for key, runs in groups.items()]

    def curve(self, key, runs):
        data, plot, top = "", [], 1
        for s in self.labels:
            points = sorted((r["sent"] / r["secs"] / 1e3,
                             r["rate_pps"] / 1e3) for r in runs
                            if r["side"] == s and r["valid"])
            if not points:
                continue
            top = max(top, points[-1][0])
            data += f"${s} << E\n" + "".join(
                f"{x} {y}\n" for x, y in points) + "E\n"
            plot.append(f"${s} using 1:2 with points pt 7 ps 0.6 "
                        f"lc rgb '{self.color[s]}' "
                        f"title {quote(self.labels[s])}")
        if not plot:
            return ""
        return self.draw(
            f"offered_{key[0]}_{key[1]}", 560, 320, data +
            f'set title "{key[0]}, {key[1]}, 1472 bytes"\n'
            'set xlabel "offered, thousand datagrams a second"\n'
            'set ylabel "delivered"\n'
            f'set xrange [0:{top * 1.05}]\nset yrange [0:*]\n'
            'plot x with lines lc rgb "#bbbbbb" dt 2 title "no loss", ' +
            ", ".join(plot) + "\n")

    # ---- load in steps ----

    def steps(self, cells):
        out = []
        for (_, cell), runs in cells.items():
            for way in ("out", "back"):
                lines = [(r["side"], [s for s in r["steps"]
                                      if s["direction"] == way])
                         for r in runs if r.get("steps") and r["valid"]]
                if lines:
                    out.append(self.staircase(len(out), runs[0], way, lines))
        return out

    def staircase(self, i, run, way, lines):
        data, plot, named = "", [], set()

        def stairs(name, steps, key):
            text, at = f"${name} << E\n", 0
            for s in steps:
                pps = s[key] / s["secs"] / 1e3
                text += f"{at} {pps}\n{at + s['secs']} {pps}\n"
                at += s["secs"]
            return text + "E\n"

        data += stairs("offered", lines[0][1], "offered")
        for k, (side, steps) in enumerate(lines):
            data += stairs(f"r{k}", steps, "received")
            title = "notitle" if side in named else \
                "title " + quote(self.labels[side])
            named.add(side)
            plot.append(f"$r{k} using 1:2 with lines lw 1.5 "
                        f"lc rgb '{self.color[side]}' {title}")
        ways = {"out": "as the flow began", "back": "back"}[way]
        return self.draw(
            f"ramp_{i}", 560, 300, data +
            f'set title {quote(row_name(run) + ", " + ways)}\n'
            'set xlabel "seconds"\nset ylabel "thousand datagrams a second"\n'
            'set yrange [0:*]\nplot $offered using 1:2 with filledcurves '
            'y1=0 fc rgb "#e2e2e2" title "offered", ' +
            ", ".join(plot) + "\n")

    # ---- loss by place ----

    def loss(self, cells):
        rows = []
        for (_, cell), runs in cells.items():
            if runs[0]["op"] not in ("flood", "recover"):
                continue
            for s in self.labels:
                share = self.shares([r for r in runs if r["side"] == s and
                                     r.get("sent")])
                if share and sum(share.values()) > .1:
                    rows.append((runs[0]["path"], f"{row_name(runs[0])}, "
                                 f"{self.labels[s]}", share))
        out = []
        for path in dict.fromkeys(r[0] for r in rows):
            some = [r[1:] for r in rows if r[0] == path]
            for i in range(0, len(some), ROWS_MAX):
                out.append(self.stacked(f"loss_{path}_{i // ROWS_MAX}",
                                        some[i:i + ROWS_MAX]))
        return out

    @staticmethod
    def shares(runs):
        """{place: % of sent} over all runs, invalid ones, too"""
        sent = sum(r["sent"] for r in runs)
        total = {}
        for r in runs:
            for place, n in r.get("lost", {}).items():
                place = "forwarder" if place.startswith("fwd:") else place
                total[place] = total.get(place, 0) + n
            if r.get("unexplained"):
                total["unexplained"] = total.get("unexplained", 0) + \
                    abs(r["unexplained"])
        return {k: 100 * v / sent for k, v in total.items()} if sent else {}

    def stacked(self, name, rows):
        places = [p for p in PLACE_COLORS if any(p in r[1] for r in rows)]
        data, plot = "", []
        tics = ", ".join(f"{quote(text)} {-i}"
                         for i, (text, _) in enumerate(rows))
        for p in places:
            data += f"${p} << E\n"
            for i, (_, share) in enumerate(rows):
                left = sum(share.get(q, 0)
                           for q in places[:places.index(p)])
                if share.get(p):
                    data += (f"{left} {-i} {left} {left + share[p]} "
                             f"{-i - .36} {-i + .36}\n")
            data += "E\n"
            plot.append(f"${p} using 1:2:3:4:5:6 with boxxyerror fs solid "
                        f"0.9 noborder lc rgb '{PLACE_COLORS[p]}' "
                        f"title {quote(p)}")
        return self.draw(
            name, 860, 90 + 20 * len(rows), data +
            'unset grid\nset grid x lc rgb "#e4e4e4" lt 1\n'
            'set xlabel "% of what was sent"\nset xrange [0:100]\n'
            f'set yrange [{.6 - len(rows)}:0.6]\nset ytics scale 0 ({tics})\n'
            'set lmargin 44\n' f'plot {", ".join(plot)}\n')

    # ---- latency ----

    def latency(self, cells):
        out = []
        for (_, cell), runs in cells.items():
            hist = {s: histogram(runs, s) for s in self.labels}
            if any(hist.values()):
                out.append((row_name(runs[0]), hist))
        return [self.tails(i, name, hist)
                for i, (name, hist) in enumerate(out)]

    def tails(self, i, name, hist):
        data, plot = "", []
        for s, h in hist.items():
            n = sum(h.values())
            if not n:
                continue
            above = n
            data += f"${s} << E\n"
            for bucket in sorted(h):
                data += f"{bucket_us(bucket)} {above / n}\n"
                above -= h[bucket]
            data += "E\n"
            plot.append(f"${s} using 1:2 with steps lw 2 "
                        f"lc rgb '{self.color[s]}' "
                        f"title {quote(self.labels[s])}")
        return self.draw(
            f"latency_{i}", 560, 300, data +
            f'{"" if len(plot) > 1 else "unset key"}\n'
            f'set title {quote(name)}\nset logscale xy\n'
            'set xlabel "microseconds, round trip"\n'
            'set ylabel "share that took longer"\n'
            'set yrange [1e-5:1]\nset format y "%g"\n'
            f'plot {", ".join(plot)}\n')

    # ---- pairs ----

    def ratios(self, cells):
        groups = {}
        for (_, cell), runs in cells.items():
            for s in list(self.labels)[1:]:
                for key, unit, _, _ in stats.METRICS.get(runs[0]["op"], []):
                    c = stats.compare(runs, s, key)
                    if c:
                        groups.setdefault((s, unit), []).append(
                            (row_name(runs[0]), c))
        out = []
        for (s, unit), rows in groups.items():
            for i in range(0, len(rows), ROWS_MAX):
                name = re.sub(r"\W+", "_", f"ratio_{s}_{unit}_{i}")
                out.append(self.dots(name, s, unit, rows[i:i + ROWS_MAX]))
        return out

    def dots(self, name, side, unit, rows):
        tics = ", ".join(f"{quote(text)} {-i}"
                         for i, (text, _) in enumerate(rows))
        data = "$ab << E\n"
        same = "$same << E\n"
        bars = "$bar << E\n"
        for i, (_, c) in enumerate(rows):
            data += "".join(f"{r} {-i + .12}\n" for r in c["ratios"])
            same += "".join(f"{r} {-i - .25}\n" for r in c["same"])
            bars += f"{c['ratio']} {-i + .12} {c['lo']} {c['hi']}\n"
        many = [x for _, c in rows for x in c["ratios"] + c["same"]]
        lo, hi = min(many + [.8]) / 1.1, max(many + [1.25]) * 1.1
        return self.draw(
            name, 860, 90 + 24 * len(rows),
            data + "E\n" + same + ("" if "\n" in same.strip() else
                                   "NaN NaN\n") + "E\n" + bars + "E\n" +
            f'set title {quote(f"ours / {self.labels[side]}: {unit}")}\n'
            'unset grid\nset grid x lc rgb "#e4e4e4" lt 1\n'
            f'set logscale x\nset xrange [{lo}:{hi}]\n'
            f'set xtics ({ticks(lo, hi)})\n'
            f'set yrange [{.6 - len(rows)}:0.6]\n'
            f'set ytics scale 0 ({tics})\nset lmargin 44\n'
            'set arrow from 1, graph 0 to 1, graph 1 nohead '
            'lc rgb "#555555" dt 2\n'
            'plot $same using 1:2 with points pt 7 ps 0.35 '
            'lc rgb "#aaaaaa" title "equal programs", '
            '$ab using 1:2 with points pt 7 ps 0.4 lc rgb '
            f'"{self.color[side]}" title "pairs", '
            '$bar using 1:2:3:4 with xerrorbars pt 9 ps 0.7 lw 2 '
            'lc rgb "#111111" title "median, 95 %"\n')

    # ---- ceiling ----

    def ceiling(self, cells):
        rows = []
        for (_, cell), runs in cells.items():
            r = runs[0]
            if r["op"] != "flood" or r.get("path") not in BARE:
                continue
            v = stats.values(runs, "rate_pps", "a")
            if v:
                rows.append((f"{r['path']} IPv{r['family']} {r['mtu']} "
                             f"{r['mode']}", [x / 1e3 for x in v],
                             stats.median(stats.values(runs, "idle_pct",
                                                       "a"))))
        if not rows:
            return []
        data = "$d << E\n" + "".join(
            f"{quote(name)} {stats.median(v)} {min(v)} {max(v)}\n"
            for name, v, _ in rows) + "E\n"
        labels = "".join(
            f'set label "idle {idle:.0f} %" at {i}, {max(v)} center '
            'offset 0,0.8 font ",10" textcolor rgb "#666666"\n'
            for i, (_, v, idle) in enumerate(rows))
        return [self.draw(
            "ceiling", 860, 380, data + labels +
            'unset key\nset style data histogram\n'
            'set style histogram errorbars gap 0.6 lw 1\n'
            'set style fill solid 0.9 border lc rgb "#555555"\n'
            'set ylabel "thousand datagrams a second"\nset yrange [0:*]\n'
            'set offsets 0, 0, graph 0.12, 0\n'
            'set xtics scale 0 rotate by -30 left\n'
            f"plot $d using 2:3:4:xtic(1) lc rgb '{COLORS[5]}'\n")]


def ticks(lo, hi):
    """Ratios worth a mark on a logarithmic axis"""
    all_ticks = [.01, .02, .05, .1, .2, .3, .5, .7, .8, .9, 1, 1.1, 1.25, 1.5,
                 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000]
    some = [t for t in all_ticks if lo <= t <= hi]
    if len(some) > 14:
        some = [t for t in some if t not in (.7, .8, .9, 1.1, 1.25, 7, 15)]
    return ", ".join(f'"{t:g}" {t}' for t in some)
