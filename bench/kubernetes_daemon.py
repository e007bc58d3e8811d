"""The daemon of a node: its memory, its processor time at rest, and the time from the runtime's answer to a pull until a watch tells of it.
The API server is a real one. The runtime is a containerd of its own, with a registry on loopback, where that can be started (root,
Debian's packages containerd, runc and docker-registry, and what `./dev kubernetes build` builds), else the runtime of the tests."""
import contextlib
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import threading
import time

from kubernetes_cluster import (Dialogue, a_cluster, api, bare_kubeconfig, beside, group, memory_of, need, programs, script, share_of, show, top,
                                wait)
import rollout_fleet

most_anonymous, most_resident, most_at_rest, most_delay = 8, 25, 0.1, 200  # MB, MB, % of a core, ms
rest = 60  # s
pulls = 10
megabytes, rate = 5, 5e6  # of an image; bytes a second
path = f"{group}/nodeimages"


class Tap(threading.Thread):
    """Passes connections to a runtime on, and notes when each was opened and when the runtime last said something before its
    client left. The daemon has a connection for each call, so the longest one since a moment is a pull."""

    def __init__(self, place, runtime):
        super().__init__(daemon=True)
        self.runtime, self.calls = runtime, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(place))
        self.listener.listen(50)

    def run(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.join_calls, args=(client,), daemon=True).start()

    def join_calls(self, client):
        call = {"opened": time.monotonic(), "answered": 0, "is_over": False}
        self.calls.append(call)
        with contextlib.suppress(OSError), client, socket.socket(socket.AF_UNIX) as runtime:
            runtime.connect(self.runtime)
            threading.Thread(target=self.ask, args=(client, runtime, call), daemon=True).start()
            while data := runtime.recv(65536):
                if not call["is_over"]:
                    call["answered"] = time.monotonic()
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def ask(client, runtime, call):
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                runtime.sendall(data)
        call["is_over"] = True
        with contextlib.suppress(OSError):
            runtime.shutdown(socket.SHUT_WR)

    def end_of_pull(self, since):
        calls = [call for call in list(self.calls) if call["opened"] >= since and call["answered"]]
        return max(calls, key=lambda call: call["answered"] - call["opened"])["answered"]


def lacks_for_real():
    """What is missing to run a containerd."""
    lacks = [name for name in ("containerd", "runc", "docker-registry") if shutil.which(name) is None]
    if os.geteuid() != 0:
        lacks.append("root")
    if not pathlib.Path(rollout_fleet.busybox).exists():
        lacks.append("build/images/busybox.tar")
    return lacks


@contextlib.contextmanager
def real_runtime(cluster):
    registry = rollout_fleet.Registry(f"{cluster.folder}/registry", rate)
    try:
        images = [registry.push("shop/image", str(number), megabytes) for number in range(pulls + 1)]
        script("kubelets", "up", cluster.folder, 1, "--port", re.search(r":(\d+)$", registry.host).group(1), check=True)
        yield "real-1", str(cluster.folder / "real-1/containerd.sock"), images
    finally:
        script("kubelets", "down", cluster.folder)
        registry.close()


@contextlib.contextmanager
def played_runtime(_):
    images = [f"registry.example.com/shop/image:{number}" for number in range(pulls + 1)]
    runtime = Dialogue(programs / "played_runtime", 1000, *images)
    try:
        yield "node-0001", runtime.read(), images
    finally:
        runtime.end()


def make_types(cluster):
    definitions = top / "packaging/kubernetes/crds"
    script("cluster", "kubectl", cluster.folder, "apply", "--server-side", "-f", definitions, check=True, stdout=subprocess.DEVNULL)
    script("cluster", "kubectl", cluster.folder, "wait", "--for=condition=Established", "--timeout=30s", "-f", definitions, check=True, stdout=subprocess.DEVNULL)


class Node:
    """The NodeImage of a node, watched."""

    def __init__(self, cluster, name):
        self.server, self.name = cluster.server, name
        self.server.ask("POST", path, {"apiVersion": "apps.kruise.io/v1beta1", "kind": "NodeImage", "metadata": {"name": name},
                                       "spec": {"images": {}}})
        self.watch = api.Watch(self.server, path)
        self.watch.start()

    def order(self, image):
        name, tag = image.rsplit(":", 1)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.server.merge(f"{path}/{self.name}", {"spec": {"images": {name: {"tags": [{"tag": tag, "version": 0, "createdAt": now}]}}}})

    def told(self, image):
        """When the watch told that an image is there; None: it has not."""
        name, tag = image.rsplit(":", 1)
        for at, _, node in list(self.watch.changes):
            for row in node.get("status", {}).get("imageStatuses", {}).get(name, {}).get("tags", []):
                if node["metadata"]["name"] == self.name and row["tag"] == tag and row["phase"] == "Failed":
                    raise SystemExit(f"the pull of {image} failed: {row.get('message')}")
                if node["metadata"]["name"] == self.name and row["tag"] == tag and row["phase"] == "Succeeded":
                    return at
        return None

    def pull(self, image):
        self.order(image)
        return wait(f"{image} is there", lambda: self.told(image), 120, pause=0.05)


def measure(cluster, name, socket_of_runtime, images):
    """Anonymous and resident memory, part of a processor at rest, the delays in ms."""
    place = cluster.folder / "tapped.sock"
    tap = Tap(place, socket_of_runtime)
    tap.start()
    node = Node(cluster, name)
    script("cluster", "run", cluster.folder, "daemon", programs / "fettle", "node-daemon", "--kubeconfig", bare_kubeconfig(cluster, "daemon"),
           "--node-name", name, "--socket-file", place, check=True)
    node.pull(images[0])
    delays = []
    for image in images[1:]:
        time.sleep(1)
        began = time.monotonic()
        told = node.pull(image)
        delays.append((told - tap.end_of_pull(began)) * 1000)
        print(f"{image}: pulled after {tap.end_of_pull(began) - began:.2f} s, told {delays[-1]:.0f} ms later; {beside()}", flush=True)
    time.sleep(5)
    pid = cluster.pids()["daemon"]
    anonymous, resident = memory_of(pid)
    at_rest = share_of(pid, rest)
    node.watch.is_over = True
    return anonymous, resident, at_rest, delays


def run(folder, asked):
    lacks = ["--played was given"] if asked.played else lacks_for_real()
    need("fettle", *(["played_runtime"] if lacks else []))
    if lacks:
        print(f"the runtime is played: {', '.join(lacks)}")
    with a_cluster(folder, 1) as cluster:
        make_types(cluster)
        with (played_runtime if lacks else real_runtime)(cluster) as (name, socket_of_runtime, images):
            anonymous, resident, at_rest, delays = measure(cluster, name, socket_of_runtime, images)
            script("cluster", "stop", cluster.folder, "daemon", check=True)
    runtime = "played runtime" if lacks else "containerd"
    return show([
        ("anonymous memory, MB", f"<= {most_anonymous}", f"{anonymous:.1f}", beside(), anonymous <= most_anonymous),
        ("resident memory, MB", f"<= {most_resident}", f"{resident:.1f}", beside(), resident <= most_resident),
        (f"processor at rest over {rest} s, % of a core", f"<= {most_at_rest}", f"{at_rest * 100:.3f}", beside(), at_rest * 100 <= most_at_rest),
        (f"end of a pull until its status, ms, the slowest of {len(delays)}", f"<= {most_delay}", f"{max(delays):.0f}",
         f"{runtime}; {beside()}", max(delays) <= most_delay),
        ("... the median", "-", f"{statistics.median(delays):.0f}", f"{runtime}; {beside()}", None)])
