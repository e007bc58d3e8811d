"""A fleet on this machine, for the demo, benchmarks and trials of rollouts: private engines as nodes, a loopback registry
that gives each connection so many bytes a second, a controller, and what is seen of it from outside.

    with Fleet("build/rollout", nodes=["podman"] * 3, rate=5e6) as fleet:
        image = fleet.registry.push("shop", "2", megabytes=150)
        fleet.start_controller()
        fleet.fettle("apply", "-f", "examples/rollout")
"""
import contextlib
import gzip
import hashlib
import http.client
import io
import json
import os
import random
import shutil
import socket
import subprocess
import tarfile
import threading
import time

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
release = os.path.join(top, "build", "release")
fettle_program = os.path.join(release, "fettle")
engine_tool = os.path.join(release, "engine_tool")
busybox = os.path.join(top, "build", "images", "busybox.tar")
longest_start = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Throttle:
    """Passes connections on to a port of this machine; what comes back is limited to `rate` bytes a second for each."""

    def __init__(self, target, rate):
        self.target, self.rate = target, rate
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.join, args=(client,), daemon=True).start()

    def join(self, client):
        with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", self.target)) as server:
            threading.Thread(target=self.pass_on, args=(client, server, None), daemon=True).start()
            self.pass_on(server, client, self.rate)

    @staticmethod
    def pass_on(source, sink, rate):
        free_at = time.monotonic()
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
                if rate:
                    free_at = max(free_at, time.monotonic() - 0.05) + len(data) / rate
                    time.sleep(max(0.0, free_at - time.monotonic()))
            sink.shutdown(socket.SHUT_WR)

    def close(self):
        self.listener.close()


class Registry:
    """docker-registry on a port of its own; `host` is how engines reach it, through the throttle."""

    def __init__(self, folder, rate):
        os.makedirs(folder)
        self.port = free_port()
        settings = os.path.join(folder, "registry.yml")
        with open(settings, "w") as file:
            json.dump({"version": 0.1, "storage": {"filesystem": {"rootdirectory": os.path.join(folder, "data")}},
                       "http": {"addr": f"127.0.0.1:{self.port}"}, "log": {"level": "error", "accesslog": {"disabled": True}}}, file)
        with open(os.path.join(folder, "log"), "w") as log:
            self.process = subprocess.Popen(["docker-registry", "serve", settings], stdout=log, stderr=log)
        self.throttle = Throttle(self.port, rate)
        self.host = f"127.0.0.1:{self.throttle.port}"
        end = time.monotonic() + longest_start
        while True:
            try:
                self.call("GET", "/v2/")
                return
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    self.close()
                    raise SystemExit(f"docker-registry does not start, see {folder}/log")
                time.sleep(0.02)

    def call(self, method, path, body=None, kind="application/octet-stream"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path, body, {"Content-Type": kind} if body is not None else {})
        answer = connection.getresponse()
        answer.read()
        if answer.status >= 400:
            raise SystemExit(f"the registry answers {answer.status} to {method} {path}")
        return answer

    def put_blob(self, name, data):
        place = self.call("POST", f"/v2/{name}/blobs/uploads/").getheader("Location").split("/v2/", 1)[1]
        self.call("PUT", f"/v2/{place}{'&' if '?' in place else '?'}digest={digest_of(data)}", data)
        return {"size": len(data), "digest": digest_of(data)}

    def push(self, name, tag, megabytes=0):
        """Busybox and as many megabytes that nothing can make smaller, as one layer; its reference."""
        with open(busybox, "rb") as file:
            layer = io.BytesIO(file.read())
        with tarfile.open(fileobj=layer, mode="a") as tar:
            text = random.Random(f"{name}:{tag}").randbytes(int(megabytes * 1e6)) + f"{name}:{tag}\n".encode()
            entry = tarfile.TarInfo("./payload")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))
        plain = layer.getvalue()
        settings = {"architecture": "amd64", "os": "linux", "config": {"Cmd": ["sh"], "Env": [f"VERSION={tag}"]},
                    "rootfs": {"type": "layers", "diff_ids": [digest_of(plain)]}, "history": [{"created_by": name}]}
        kind = "application/vnd.docker"
        manifest = {"schemaVersion": 2, "mediaType": f"{kind}.distribution.manifest.v2+json",
                    "config": {"mediaType": f"{kind}.container.image.v1+json", **self.put_blob(name, json.dumps(settings).encode())},
                    "layers": [{"mediaType": f"{kind}.image.rootfs.diff.tar.gzip",
                                **self.put_blob(name, gzip.compress(plain, 0, mtime=0))}]}
        self.call("PUT", f"/v2/{name}/manifests/{tag}", json.dumps(manifest).encode(), manifest["mediaType"])
        return f"{self.host}/{name}:{tag}"

    def close(self):
        self.throttle.close()
        self.process.terminate()
        self.process.wait()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("engine")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Engine:
    """A private Podman or Docker below a folder, asked over its socket."""

    def __init__(self, name, sort, folder, registry):
        self.name, self.sort, self.folder, self.registry = name, sort, folder, registry
        self.socket = os.path.join(folder, "engine.sock")

    def start(self):
        subprocess.run([engine_tool, "start", self.sort, self.folder, "--registry", self.registry], check=True, stdout=subprocess.DEVNULL)

    def stop(self, wipe=True):
        subprocess.run([engine_tool, "stop", self.sort, self.folder, *(["--wipe"] if wipe else [])], check=True)

    def call(self, method, path, body=None):
        """The decoded answer; None where there is nothing of that name."""
        connection = UnixConnection(self.socket)
        connection.request(method, "/v1.41" + path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 404:
            return None
        if answer.status >= 400:
            raise OSError(f"{self.name}: {method} {path}: {answer.status} {text[:300]}")
        return [json.loads(line) for line in text.splitlines()] if path.startswith("/images/create") else json.loads(text) if text.strip() else None

    def containers(self):
        return self.call("GET", "/containers/json?all=1")

    def pull(self, reference):
        name, tag = reference.rsplit(":", 1)
        for told in self.call("POST", f"/images/create?fromImage={name}&tag={tag}"):
            if "error" in told:
                raise OSError(f"{self.name}: {told['error']}")


class Fleet:
    """Engines, a registry and a home of fettle below one folder; all of it ends with the block."""

    def __init__(self, folder, nodes, rate=None):
        self.folder = os.path.abspath(folder)
        self.sorts, self.rate = nodes, rate
        self.engines, self.controllers, self.registry = [], [], None
        self.environment = {**os.environ, "FETTLE_HOME": os.path.join(self.folder, "home")}

    def __enter__(self):
        self.close()
        try:
            self.registry = Registry(os.path.join(self.folder, "registry"), self.rate)
            for number, sort in enumerate(self.sorts, 1):
                self.engines.append(Engine(f"n{number}", sort, os.path.join(self.folder, f"n{number}"), self.registry.host))
                self.engines[-1].start()
                self.fettle("node", "add", f"n{number}", "--engine", f"unix://{self.engines[-1].socket}")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for controller in self.controllers:
            if controller.poll() is None:
                controller.kill()
                controller.wait()
        if self.registry is not None:
            self.registry.close()
        for number, sort in enumerate(self.sorts, 1):
            folder = os.path.join(self.folder, f"n{number}")
            if os.path.isdir(folder):
                subprocess.run([engine_tool, "stop", sort, folder, "--wipe"], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.engines, self.controllers, self.registry = [], [], None

    def fettle(self, *words, codes=(0,), **more):
        """What a command printed; it has to end with one of `codes`."""
        done = subprocess.run([fettle_program, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, **more)
        if done.returncode not in codes:
            raise SystemExit(f"`fettle {' '.join(words)}` ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-1500:]}")
        return done.stdout

    def start_controller(self, *flags):
        with open(os.path.join(self.folder, "controller.log"), "a") as log:
            self.controllers.append(subprocess.Popen([fettle_program, "controller", *flags], env=self.environment, stdout=log, stderr=log))
        return self.controllers[-1]

    def pods(self):
        """Pods by name, as Kubernetes writes them."""
        return {pod["metadata"]["name"]: pod for pod in json.loads(self.fettle("get", "pods", "-A", "-o", "json"))["items"]}

    def events(self):
        """Everything that happened, the oldest first."""
        return [json.loads(line) for line in self.fettle("events", "fleet", "-n", "0", "-o", "jsonl").splitlines()]
