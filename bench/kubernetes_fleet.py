"""A controller with 5,000 nodes and 50,000 pods on the API server of the tests, over TLS, with its default budget of requests: its memory,
its processor time at rest and while pods change, and the time from a change at the server to its first write of a pod there.

A relay before the server speaks TLS, so its time is part of the result. The controller has found everything as it wants it, but for
statuses, which are written before anything is measured."""
import contextlib
import base64
import os
import re
import socket
import statistics
import subprocess
import sys
import time

from kubernetes_cluster import Dialogue, beside, cpu_of, memory_of, need, programs, run_time, scripts, share_of, show

most_memory, most_busy, most_at_rest = 150, 5, 0.5  # MB, % of a core
changes_a_second = 200
most_delay = {"small": 50, "large": 100}  # ms, the 99th of a hundred
longest_settling = 1200  # s
rest = 60  # s
pulses = 200


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class OwnCluster:
    """The server with its objects, a relay that speaks TLS, and a controller; all end with the block."""

    def __init__(self, folder, nodes, sets, pods, large=0):
        self.folder, self.words = folder, (nodes, sets, pods, large)
        self.programs = contextlib.ExitStack()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.programs.close()
            raise
        return self

    def __exit__(self, *_):
        self.programs.close()

    def start(self):
        self.folder.mkdir()
        began = time.monotonic()
        self.server = Dialogue(programs / "cluster_server", *self.words)
        self.programs.callback(self.end_server)
        port = re.fullmatch(r"port (\d+)", self.server.read()).group(1)
        print(f"{self.words[0]} nodes and {self.words[1] * self.words[2] + self.words[3]} pods are there after {time.monotonic() - began:.0f} s",
              flush=True)
        pem = self.folder / "server.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pem, "-out", self.folder / "certificate.pem"],
                       check=True, stderr=subprocess.DEVNULL)
        certificate = (self.folder / "certificate.pem").read_bytes()
        pem.write_bytes(pem.read_bytes() + certificate)
        secured = free_port()
        self.run("relay", sys.executable, scripts / "relay.py", f"tls:127.0.0.1:{secured}:{pem}", f"tcp:127.0.0.1:{port}")
        (self.folder / "kubeconfig").write_text(f"""apiVersion: v1
kind: Config
current-context: test
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
clusters: [{{name: test, cluster: {{server: "https://127.0.0.1:{secured}", certificate-authority-data: {base64.b64encode(certificate).decode()}}}}}]
users: [{{name: test, user: {{token: "test"}}}}]
""")
        time.sleep(1)
        self.controller = self.run("fettle", programs / "fettle", "controller", "--kubeconfig", self.folder / "kubeconfig",
                                   "--enable-leader-election=false")

    def run(self, name, *words):
        log = self.programs.enter_context(open(self.folder / f"{name}.log", "w"))
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={**os.environ, "FETTLE_HOME": str(self.folder / "home")})
        self.programs.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def end_server(self):
        """Its threads may have a controller to wait for."""
        self.server.process.kill()
        self.server.process.wait()

    def log(self):
        return (self.folder / "fettle.log").read_text()

    def settle(self):
        """Waits until the controller has begun and writes nothing for twenty seconds."""
        began, written, is_quiet = time.monotonic(), [], False
        while not is_quiet or "keeping the workloads" not in self.log():
            if self.controller.poll() is not None or time.monotonic() - began > longest_settling:
                raise SystemExit(f"the controller does not settle: {self.log()[-1000:]}")
            time.sleep(20)
            writes = self.server.ask("writes")
            is_quiet = writes == "none"
            if not is_quiet:
                written.append(writes)
        print(f"settled after {time.monotonic() - began:.0f} s; written every 20 s: {'; '.join(written) or 'nothing'}", flush=True)

    def rate(self, seconds, sort):
        """Which part of a processor the controller takes while pods change."""
        pid = self.controller.pid
        before, began = run_time(pid), time.monotonic()
        before_ticks = cpu_of(pid)
        told = self.server.ask(f"rate {changes_a_second} {seconds} {sort}")
        passed = time.monotonic() - began
        # Threads that have ended are counted in the ticks alone.
        share = max(run_time(pid) - before, cpu_of(pid) - before_ticks) / passed
        print(f"{told} ({sort}): {share * 100:.1f} % of a core; written: {self.server.ask('writes')}; {beside()}", flush=True)
        return share

    def delays(self, name, times):
        found = sorted(float(word) for word in self.server.ask(f"pulse {name} {times}").split())
        print(f"{name}: {times} changes, first write after {statistics.median(found):.1f} ms in the median, {found[0]:.1f} to {found[-1]:.1f} ms; "
              f"written: {self.server.ask('writes')}; {beside()}", flush=True)
        return found


def ninety_ninth(found):
    """The smallest that 99 of 100 do not exceed."""
    return found[max(0, -(-99 * len(found) // 100) - 1)]


def run(folder, asked):
    nodes, pods = asked.nodes or 5000, asked.pods or 50000
    need("fettle", "cluster_server")
    rows = []
    with OwnCluster(folder / "small", nodes, pods // 100, 100) as cluster:
        cluster.settle()
        at_rest = share_of(cluster.controller.pid, rest)
        anonymous, resident = memory_of(cluster.controller.pid)
        busy, flipping = cluster.rate(rest, "plain"), cluster.rate(rest, "ready")
        _, after = memory_of(cluster.controller.pid)
        what = f"{nodes} nodes, {pods} pods of {pods // 100} workloads"
        rows += [
            (f"{what}: resident memory, MB", f"<= {most_memory}", f"{resident:.0f}", f"anonymous {anonymous:.0f} MB; {beside()}",
             resident <= most_memory),
            ("... after the changes below", "-", f"{after:.0f}", beside(), None),
            (f"... at rest over {rest} s, % of a core", f"<= {most_at_rest}", f"{at_rest * 100:.2f}", beside(), at_rest * 100 <= most_at_rest),
            (f"... {changes_a_second} changes of pods a second, % of a core", f"<= {most_busy}", f"{busy * 100:.1f}", beside(),
             busy * 100 <= most_busy),
            ("... each makes a pod ready or not", "-", f"{flipping * 100:.1f}", beside(), None)]
    large = pods // 5
    size = min(1000, pods - large)
    with OwnCluster(folder / "large", nodes, (pods - large) // size, size, large) as cluster:
        cluster.settle()
        _, resident = memory_of(cluster.controller.pid)
        rows.append((f"{nodes} nodes, {pods} pods, {large} of them of one workload: resident memory, MB", "-", f"{resident:.0f}", beside(), None))
        for sort, name, count in (("small", "set-1", size), ("large", "large", large)):
            found = cluster.delays(name, pulses)
            target, reached = most_delay[sort], ninety_ninth(found)
            rows.append((f"change to first write, workload of {count} pods, p99 of {pulses}, ms", f"<= {target}", f"{reached:.1f}",
                         f"median {statistics.median(found):.1f} ms; {beside()}", reached <= target))
    return show(rows)
