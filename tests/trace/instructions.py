#!/usr/bin/env python3
# instructions.py - does the forwarder spend more on a datagram or segment?
#
#   tests/trace/instructions.py            compare with the file "instructions"
#   tests/trace/instructions.py --renew    write that file anew
#
# valgrind counts what the forwarder's own functions execute for each scene of
# replay.c. Left out are the kernel, what the replay itself does, and libc, which
# differs by processor: of that, calls are counted. The counts are the same in
# every run, so a difference is a change of the code, or of the compiler: figures
# of another compiler or other flags are not compared.
#
# A scene may cost 0.5 % more instructions, since compilers move a few about: a
# copy of 64 bytes per datagram is 8 of them, and is found. It may cost no call
# more. If a change is worth its cost, or if it saves some, "make trace-renew"
# writes the file anew, and the commit says why.
# limit: 60

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
REPLAY = os.path.join(TOP, "build/tests/trace/replay")
STORED = os.path.join(HERE, "instructions")
ALLOWED = .005  # more instructions than were stored
LEAST = .5  # of them: the same for the cheapest scenes
COST = re.compile(r"\d+ (\d+)$")
# Functions of the replay, by the files they are in
MINE = {f for f in os.listdir(HERE) if f.endswith(".c")}


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(77)


def compiler():
    """What the counts depend on; "" if it cannot be told"""
    path = os.path.join(TOP, "build/flags")
    if not os.path.exists(path):
        return ""
    with open(path, encoding="ascii") as f:
        words = f.read().split()
    major = subprocess.run([words[0], "-dumpversion"], capture_output=True,
                           text=True, check=False).stdout.split(".")[0]
    # Warnings change nothing
    flags = [w for w in words[1:] if not w.startswith("-W")]
    return " ".join([words[0], major.strip(), os.uname().machine] + flags)


def own(path):
    """Of the forwarder's own functions in one profile: instructions, and calls
    into libraries"""
    total = calls = 0
    is_ours = is_call = False
    ob = cob = fl = ""
    with open(path, encoding="utf-8") as f:
        for line in f:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                ob = value
            elif key == "cob":
                cob = value
            elif key == "fl":
                fl = os.path.basename(value)
            elif key == "fn":
                is_ours = ob.endswith("/replay") and fl not in MINE
            elif key == "calls":
                if is_ours and cob not in ("", ob):
                    calls += int(value.split()[0])
                cob = ""
                is_call = True  # the next line is the cost of who is called
            elif is_call:
                is_call = False
            elif is_ours and (cost := COST.match(line)):
                total += int(cost[1])
    return total, calls


def measure():
    """{scene: (instructions per datagram or other unit, calls of libc per 100,
    of the kernel per 100)}"""
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "profile")
        run = subprocess.run(
            ["valgrind", "--quiet", "--tool=callgrind", "--compress-strings=no",
             "--compress-pos=no", f"--callgrind-out-file={out}",
             "--toggle-collect=replay_counted",
             "--dump-after=replay_end", REPLAY],
            stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            print(run.stdout, end="")
            sys.exit("the replay failed: did a scene lose anything?")
        ret = {}
        for i, line in enumerate(run.stdout.splitlines(), 1):
            name, n, kernel, _ = line.split()
            instr, libc = own(f"{out}.{i}")
            ret[name] = (round(instr / int(n), 1),
                         round(100 * libc / int(n), 1),
                         round(100 * int(kernel) / int(n), 1))
        return ret


def stored():
    """Its compiler, and as measure()"""
    with open(STORED, encoding="ascii") as f:
        lines = [x.rstrip("\n") for x in f]
    built = next(x[12:] for x in lines if x.startswith("# compiler: "))
    rows = [x.split() for x in lines if x and not x.startswith("#")]
    return built, {r[0]: tuple(float(x) for x in r[1:]) for r in rows}


def renew(built, now):
    with open(STORED, "w", encoding="ascii") as f:
        f.write("# Scenes of replay.c: the forwarder's own instructions per datagram, of TCP per\n"
                "# what replay_tcp.c says, its calls of libc and of the kernel per 100. Written\n"
                "# by make trace-renew\n"
                f"# compiler: {built}\n")
        for name, row in now.items():
            f.write(f"{name:14}" + "".join(f"{x:9.1f}" for x in row) + "\n")


def compare(was, now):
    bad = 0
    for i, (name, row) in enumerate(now.items(), 1):
        if name not in was:
            print(f"not ok {i} - {name}: is new here: make trace-renew")
            bad += 1
            continue
        old = was[name]
        limit = (old[0] + max(LEAST, old[0] * ALLOWED), old[1], old[2])
        fine = all(x <= y for x, y in zip(row, limit))
        bad += not fine
        print(f"{'ok' if fine else 'not ok'} {i} - {name}: {row[0]} "
              f"instructions each, were {old[0]} "
              f"({100 * (row[0] / old[0] - 1):+.1f} %); per 100 {row[1]} calls "
              f"of libc, were {old[1]}, and {row[2]} of the kernel, were "
              f"{old[2]}")
    for name in was.keys() - now.keys():
        print(f"not ok - {name}: is no scene any more: make trace-renew")
        bad += 1
    print(f"1..{len(now)}")
    return bad


def main():
    if not shutil.which("valgrind"):
        skip("no valgrind")
    built = compiler()
    if sys.argv[1:] == ["--renew"]:
        renew(built, measure())
        return 0
    was_built, was = stored()
    if built != was_built:
        skip(f"figures are of: {was_built}; this is: {built}")
    return 1 if compare(was, measure()) else 0


sys.exit(main())
