"""Stands before an API server and answers a share of the requests itself, as a server that is overloaded or loses its store.

HTTP/1.1 with TLS towards its client, by the certificate of the cluster's server, and as whom a kubeconfig names towards the server.
"""
import collections
import http.client
import http.server
import json
import random
import ssl
import threading

import api

passed_on = ("Content-Type", "Accept", "User-Agent")


class Proxy(http.server.ThreadingHTTPServer):
    """`shares`: of a name in `answers`, how many of the requests get that, from 0 to 1."""

    daemon_threads = True

    def __init__(self, folder, kubeconfig, shares, seed):
        super().__init__(("127.0.0.1", 0), Handler)
        self.shares, self.dice, self.lock = shares, random.Random(seed), threading.Lock()
        self.counts = collections.Counter()  # of answers by their names, and of what was passed on
        self.server = api.Server(folder, kubeconfig)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "pki/server.crt", folder / "pki/server.key")
        # Each connection says hello on its own thread, or one that is slow would hold up all.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """A client that goes is no error."""

    def draw(self, method):
        """Which of the answers a request gets; empty: that of the server."""
        with self.lock:
            number, drawn = self.dice.random(), ""
            for name, share in self.shares.items():
                if not drawn and number < share and not (method == "GET" and name == "lost"):
                    drawn = name
                number -= share
            self.counts[drawn or "passed"] += 1
            return drawn


# `lost`: the server does what is asked, and says that it failed.
answers = {"busy": (429, "TooManyRequests", {"Retry-After": "1"}), "failed": (500, "InternalError", {}), "lost": (500, "InternalError", {})}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 600
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        drawn = self.server.draw(self.command)
        if drawn in ("", "lost"):
            connection, response = self.ask(body)
            try:
                if not drawn:
                    self.pass_back(response)
                    return
                response.read()
            finally:
                connection.close()
        code, reason, headers = answers[drawn]
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": f"refused by the test: {drawn}"}
        self.give(code, json.dumps(status).encode(), {"Content-Type": "application/json", **headers})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def ask(self, body):
        to = self.server.server
        connection = http.client.HTTPSConnection(to.host, to.port, context=to.context, timeout=600)
        headers = {name: self.headers[name] for name in passed_on if name in self.headers}
        connection.request(self.command, self.path, body or None, headers)
        return connection, connection.getresponse()

    def give(self, code, body, headers):
        self.send_response(code)
        for name, value in {**headers, "Content-Length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def pass_back(self, response):
        headers = {name: response.headers[name] for name in ("Content-Type", "Retry-After") if name in response.headers}
        if not response.chunked:
            self.give(response.status, response.read(), headers)
            return
        self.send_response(response.status)
        for name, value in {**headers, "Transfer-Encoding": "chunked"}.items():
            self.send_header(name, value)
        self.end_headers()
        # What is here of a stream goes on at once.
        while data := response.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
