"""What the benchmarks on Kubernetes have in common: a real API server with simulated nodes, programs that are measured, rows that
are printed."""
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

top = pathlib.Path(__file__).resolve().parent.parent
scripts = top / "tests" / "kubernetes"
programs = top / "build" / "release"
sys.path.insert(0, str(scripts))
import api  # noqa: E402

group = "/apis/apps.kruise.io/v1beta1"
any_number = ["--rest-config-qps", "100000", "--rest-config-burst", "100000"]
ticks = os.sysconf("SC_CLK_TCK")


def script(name, *words, **more):
    return subprocess.run([str(scripts / name), *map(str, words)], text=True, **more)


def need(*names):
    """Programs of the build that a benchmark runs."""
    missing = [name for name in names if not (programs / name).exists()]
    if missing:
        raise SystemExit(f"not built: {', '.join(missing)}; `./dev bench kubernetes` builds them")


def cpu_of(pid):
    """Processor time of one process, s; 0 if it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    except (OSError, IndexError):
        return 0
    return (int(fields[11]) + int(fields[12])) / ticks


def cpu_of_all():
    """Of the whole machine, s: all that is neither idle nor waiting for a disk."""
    fields = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / ticks


def run_time(pid):
    """Processor time of the threads that a process has now, s, finer than `cpu_of`."""
    return sum(int(file.read_text().split()[0]) for file in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def share_of(pid, seconds):
    """Which part of one processor a process takes meanwhile."""
    before, began = run_time(pid), time.monotonic()
    time.sleep(seconds)
    return (run_time(pid) - before) / (time.monotonic() - began)


def memory_of(pid):
    """Anonymous and resident memory, MB."""
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return tuple(int(fields[name].split()[0]) / 1000 for name in ("Anonymous", "Rss"))


def start_of(pid):
    """When a process was started, s since 1970."""
    since = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[19]) / ticks
    return time.time() - float(pathlib.Path("/proc/uptime").read_text().split()[0]) + since


def beside():
    return f"load {os.getloadavg()[0]:.1f}"


def wait(what, is_so, limit, pause=0.2):
    deadline = time.monotonic() + limit
    while not (found := is_so()):
        if time.monotonic() > deadline:
            raise SystemExit(f"not after {limit} s: {what}")
        time.sleep(pause)
    return found


class Dialogue:
    """A program that answers each line with a line and ends with its input."""

    def __init__(self, *words, **more):
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"`{self.process.args[0]}` has ended")
        return line.strip()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read()

    def end(self):
        """Its last lines."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        text = self.process.stdout.read()
        self.process.wait()
        return text.strip()


def seconds_of(stamp):
    """A moment of the audit log, s since 1970."""
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


class Cluster:
    def __init__(self, folder, nodes):
        self.folder = folder / "cluster"
        script("cluster", "up", self.folder, "--nodes", nodes, "--manager", "--scheduler", "--audit", check=True)
        self.server = api.Server(self.folder)

    def pids(self):
        lines = [line.split() for line in (self.folder / "pids").read_text().splitlines()]
        return {words[0]: int(words[1]) for words in lines}

    def cpu(self):
        """Processor time of each program of the cluster, and of this script, s."""
        return {**{name: cpu_of(pid) for name, pid in self.pids().items()}, "this script": sum(os.times()[:2])}

    def audited(self, start):
        """Entries of the audit log from one offset on."""
        with open(self.folder / "audit.log", "rb") as log:
            log.seek(start)
            return [json.loads(line) for line in log if line.endswith(b"\n")]

    def audit_size(self):
        return (self.folder / "audit.log").stat().st_size


@contextlib.contextmanager
def a_cluster(folder, nodes):
    """A new one for each manager: none finds what another has left."""
    try:
        yield Cluster(folder, nodes)
    finally:
        script("cluster", "down", folder / "cluster", check=True)


def bare_kubeconfig(cluster, name="bare"):
    """Of a user who may do everything, and whom the audit log tells from others."""
    file = cluster.folder / f"{name}.kubeconfig"
    file.write_text(script("cluster", "user", cluster.folder, name, "system:masters", check=True, stdout=subprocess.PIPE).stdout)
    return file


def show(rows):
    """Rows of what, target, result, load, and whether the target is met; None: there is none. Returns the code to exit with."""
    print(f"{'what':66s} {'target':9s} {'result':>8s}  load")
    for what, target, result, load, is_met in rows:
        print(f"{what:66s} {target:9s} {result:>8s}  {load}{'' if is_met is None else '; met' if is_met else '; MISSED'}", flush=True)
    return 0 if all(row[4] is not False for row in rows) else 1
