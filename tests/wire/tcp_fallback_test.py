# Bytes in both directions on a kernel without a peek offset (before 6.9): the
# option is refused by a library in front of the C library.
# once
# parallel
# limit: 180

import runpy
import shutil

import lib
from lib import *

CODE = """
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (level == SOL_SOCKET && name == 42 /* SO_PEEK_OFF */) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}
"""

cc = shutil.which("cc") or shutil.which("gcc")
if not cc:
    skip("no compiler")
with tempfile.TemporaryDirectory() as tmp:
    so, script = os.path.join(tmp, "no.so"), os.path.join(tmp, "passt")
    if subprocess.run([cc, "-shared", "-fPIC", "-x", "c", "-o", so, "-"],
                      input=CODE.encode()).returncode:
        skip("the library does not build")
    with open(script, "w") as f:
        f.write('#!/bin/sh\nLD_PRELOAD=%s exec "%s" "$@"\n' % (so, lib.PASST))
    os.chmod(script, 0o755)
    lib.PASST = script
    for name in "tcp_data_test.py", "tcp_close_test.py":
        try:
            runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), name))
        except SystemExit as e:
            ok(not e.code, "%s without a peek offset" % name)
done()
