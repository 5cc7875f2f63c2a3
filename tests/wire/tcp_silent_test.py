# A guest that falls silent: asked a bounded number of times, ever later, then
# given up, and the remote is told. SLOW=1: it takes two minutes.
# once
# parallel
# limit: 180

from lib_tcp import *

if not os.environ.get("SLOW"):
    skip("two minutes of silence: SLOW=1")

with Daemon() as d:
    fam = next(families())
    guest, gw, loopback = fam
    fds = descriptors(d)
    with listener(loopback) as s:
        syn = Conn(d, guest, gw, s.getsockname()[1])
        syn.syn()
        h_syn = s.accept()[0]
    data, h_data = pair(d, fam)
    h_data.send(b"anybody there?")
    fin, h_fin = pair(d, fam)
    h_fin.shutdown(socket.SHUT_WR)
    full, h_full = pair(d, fam, wscale=0)
    full.send(window=0)
    h_full.send(b"no room for this")
    start = time.monotonic()
    times = {c.me: [] for c in (syn, data, fin, full)}
    end = {}
    while len(end) < 4 and time.monotonic() - start < 150:
        f = next_tcp(d, 20)
        if f and f.tflags & RST:
            end[f.me] = time.monotonic() - start
        elif f and f.me in times:
            times[f.me].append(time.monotonic() - start)
    for what, c, low, high, n, h in (
            ("SYN and ACK", syn, 25, 40, 5, h_syn), ("data", data, 100, 135, 13, h_data),
            ("FIN", fin, 100, 135, 13, h_fin), ("probes", full, 100, 140, 12, h_full)):
        t = times[c.me]
        print("#", what, ["%.1f" % x for x in t], end.get(c.me))
        ok(low < end.get(c.me, 0) < high, "%s: given up after %s s" % (what, end.get(c.me)))
        ok(n - 1 <= len(t) <= n + 1, "%d times" % len(t))
        ok(all(b - a < 17 for a, b in zip(t, t[1:])), "at most 16 s apart")
        h.settimeout(WAIT)
        same(ends(h), "RST", "the remote is told")
    descriptors_back(d, fds)
done()
