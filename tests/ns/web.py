#!/usr/bin/env python3
"""web.py - a web server of files and digests: web.py DIRECTORY IP PORT ...

GET gives a file of the directory, PUT answers with the SHA-256 of what was
sent; HTTP/1.1, connections are kept. Prints "ready".
"""

import hashlib
import os
import socket
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_PUT(self):
        left = int(self.headers["Content-Length"])
        if "100-continue" in self.headers.get("Expect", ""):
            self.send_response_only(100)
            self.end_headers()
        digest = hashlib.sha256()
        while left and (data := self.rfile.read(min(left, 1 << 18))):
            digest.update(data)
            left -= len(data)
        answer = (digest.hexdigest() if not left else "cut").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        TCPServer.server_bind(self)  # no look-up of a name


class Server6(Server):
    address_family = socket.AF_INET6


os.chdir(sys.argv[1])
for ip, port in zip(sys.argv[2::2], sys.argv[3::2]):
    server = (Server6 if ":" in ip else Server)((ip, int(port)), Handler)
    threading.Thread(target=server.serve_forever).start()
print("ready", flush=True)
