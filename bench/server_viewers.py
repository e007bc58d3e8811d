"""Many viewers of one run, as cheap as they can be: `server_viewers.py PORT COOKIE AFTER COUNT`.

A client that reads each event of a hundred streams as JSON is itself what does not keep up. Here a viewer counts events, and
looks at the number of the last one: they have to be consecutive. Prints `ready`, and at the end of the run a JSON document:
for each viewer the times (ms since 1970) at which bytes came, with how many events it had by then, and what it had of gaps."""
import json
import resource
import selectors
import socket
import sys
import time

MARK, TAIL = b"\nid: ", 64


class Viewer:
    def __init__(self, port, cookie, after):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(f"GET /api/stream?after={after}&environment=run HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        self.rest, self.count, self.first, self.gaps, self.times, self.is_over = b"", 0, None, 0, [], False

    def take(self):
        piece = self.socket.recv(1 << 20)
        now = time.time() * 1000
        if not piece:
            self.is_over = True
            return
        text = self.rest + piece
        # The last, perhaps half, line of a number is left for the next time.
        end = text.rfind(b"\n")
        whole = text[:end]
        self.rest = text[max(0, end):]
        found = whole.count(MARK)
        if found == 0:
            return
        if self.first is None:
            self.first = int(whole[whole.find(MARK) + len(MARK):].split(b"\n", 1)[0])
        self.count += found
        last = int(whole[whole.rfind(MARK) + len(MARK):].split(b"\n", 1)[0])
        self.gaps += last != self.first + self.count - 1
        self.times.append((now, self.count))
        self.is_over = b'"type":"run_finished"' in text


def main():
    port, cookie, after, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    waiting = selectors.DefaultSelector()
    viewers = [Viewer(port, cookie, after) for _ in range(count)]
    for viewer in viewers:
        waiting.register(viewer.socket, selectors.EVENT_READ, viewer)
    print("ready", flush=True)
    left = count
    while left > 0:
        for key, _ in waiting.select():
            key.data.take()
            if key.data.is_over:
                waiting.unregister(key.data.socket)
                left -= 1
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime,
                      "viewers": [{"first": v.first, "gaps": v.gaps, "times": v.times} for v in viewers]}))


main()
