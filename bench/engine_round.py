"""A real engine of its own, with our small images, that a benchmark runs packages on: what it is asked, and what was expected and is not so."""
import http.client
import json
import os
import socket
import subprocess
import traceback
import urllib.parse

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
release = os.path.join(top, "build", "release")


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("engine", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class EngineRound:
    """`sort`: podman or docker. Everything is below a folder of that name in `home`."""

    def __init__(self, sort, home):
        self.sort = sort
        self.work = os.path.join(home, sort)
        self.faults = []
        self.checks = 0

    def tool(self, *words):
        return subprocess.run([os.path.join(release, "engine_tool"), *words], check=True, capture_output=True, text=True).stdout.strip()

    def start(self):
        os.makedirs(self.work)
        self.engine = self.tool("start", self.sort, os.path.join(self.work, "engine"), os.path.join(top, "build", "images"), "busybox", "web",
                                "redis")
        self.address = self.engine

    def stop(self):
        self.tool("stop", self.sort, os.path.join(self.work, "engine"), "--wipe")

    def ask(self, path):
        connection = Connection(self.engine)
        connection.request("GET", "/v1.41" + path)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return json.loads(text) if answer.status == 200 else None

    def fettle(self, *words, code=0):
        """What a command writes; with `-o`, to its standard output only."""
        environment = dict(os.environ, FETTLE_HOME=os.path.join(self.work, "home"))
        command = [os.path.join(release, "fettle"), "--engine", "unix://" + self.address, "--progress", "none", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        if done.returncode != code:
            said = done.stdout
            if done.stdout.startswith("{"):
                said = json.dumps(json.loads(done.stdout).get("failures", done.stdout))
            raise RuntimeError(f"`fettle {' '.join(words)}` ended with {done.returncode}:\n{said[-3000:]}{done.stderr[-3000:]}")
        return done.stdout if "-o" in words else done.stdout + done.stderr

    def expect(self, name, what, is_so, shown=""):
        self.checks += 1
        if not is_so:
            self.faults.append(f"{self.sort}, {name}: {what}{': ' if shown != '' else ''}{shown}")

    def containers(self, environment):
        """The ids of its containers by the names of their services."""
        filters = urllib.parse.quote(json.dumps({"label": ["fettle.environment=" + environment, "fettle.kind=service"]}))
        return {each["Labels"]["fettle.key"]: each["Id"] for each in self.ask("/containers/json?all=1&filters=" + filters)}

    def guarded(self, name, work):
        """What ends work before its end is a fault."""
        try:
            work()
        except Exception:
            self.expect(name, traceback.format_exc(), False)
