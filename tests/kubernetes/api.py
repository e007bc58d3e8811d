"""The API server of a cluster that `cluster` has started, for scripts that test and measure."""
import base64
import http.client
import json
import pathlib
import re
import ssl
import tempfile
import threading
import time


class Server:
    """The API server, as an administrator or as whom another kubeconfig names, by a certificate or a token."""

    def __init__(self, folder, kubeconfig="kubeconfig"):
        text = (pathlib.Path(folder) / kubeconfig).read_text()
        self.host, port = re.search(r"https://([0-9.]+):(\d+)", text).groups()
        self.port = int(port)
        parts = {}
        token = re.search(r'token: "([^"]+)"', text)
        self.headers = {"Authorization": f"Bearer {token.group(1)}"} if token else {}
        for name in ("certificate-authority-data", *(() if token else ("client-certificate-data", "client-key-data"))):
            parts[name] = base64.b64decode(re.search(name + r": ([A-Za-z0-9+/=]+)", text).group(1))
        self.context = ssl.create_default_context(cadata=parts["certificate-authority-data"].decode())
        if token:
            return
        with tempfile.NamedTemporaryFile() as both:
            both.write(parts["client-certificate-data"] + parts["client-key-data"])
            both.flush()
            self.context.load_cert_chain(both.name)

    def open(self, method, path, body=None, kind="application/json", timeout=60):
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=timeout)
        headers = {"Content-Type": kind, "User-Agent": "record", "Accept": "application/json", **self.headers}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return connection, connection.getresponse()

    def ask(self, method, path, body=None, kind="application/json", missing_is_fine=False):
        connection, response = self.open(method, path, body, kind)
        text = response.read()
        connection.close()
        if response.status >= 300 and not (missing_is_fine and response.status == 404):
            raise RuntimeError(f"{method} {path}: {response.status} {json.loads(text).get('message', '')}")
        return json.loads(text)

    def connect(self, timeout=60):
        """One connection that stays, for one thread: `ask_on` sends requests over it."""
        return http.client.HTTPSConnection(self.host, self.port, context=self.context, timeout=timeout)

    def merge(self, path, change):
        return self.ask("PATCH", path, change, "application/merge-patch+json")


def ask_on(connection, method, path, body, kind):
    """Sends a request over a connection that stays, without a second try."""
    connection.request(method, path, json.dumps(body), {"Content-Type": kind, "Accept": "application/json"})
    response = connection.getresponse()
    text = response.read()
    if response.status >= 300:
        raise RuntimeError(f"{method} {path}: {response.status} {text[:300]}")
    return json.loads(text)


class Watch(threading.Thread):
    """All changes of a resource, with the time of each. One that `lasts` goes on when its server was away; where it cannot go on from
    the last change, `LISTED` with all objects takes the place of what it has missed."""

    def __init__(self, server, path, selector="", lasts=False):
        super().__init__(daemon=True)
        self.server, self.path, self.selector, self.lasts = server, path, selector, lasts
        self.changes, self.is_over = [], False
        self.list()

    def list(self):
        listed = self.server.ask("GET", f"{self.path}?labelSelector={self.selector}")
        self.version = listed["metadata"]["resourceVersion"]
        return listed["items"]

    def run(self):
        while not self.is_over:
            try:
                self.follow()
            except (OSError, http.client.HTTPException, ValueError, RuntimeError):
                if not self.lasts:
                    raise
                time.sleep(0.05)

    def follow(self):
        if not self.version:
            self.changes.append((time.monotonic(), "LISTED", self.list()))
        connection, response = self.server.open("GET", f"{self.path}?watch=1&resourceVersion={self.version}&labelSelector={self.selector}", timeout=600)
        try:
            if response.status == 410:
                self.version = ""
            if response.status != 200:
                raise RuntimeError(f"watching {self.path}: {response.status}")
            for line in response:
                change = json.loads(line)
                if change["type"] == "ERROR":
                    if change["object"].get("code") == 410:
                        self.version = ""
                    raise RuntimeError(str(change))
                self.version = change["object"]["metadata"]["resourceVersion"]
                self.changes.append((time.monotonic(), change["type"], change["object"]))
        finally:
            connection.close()


class Daemon(threading.Thread):
    """The daemons of simulated nodes, all or those named: what they are ordered to pull is there at once."""

    path = "/apis/apps.kruise.io/v1beta1/nodeimages"

    def __init__(self, server, nodes=None):
        super().__init__(daemon=True)
        self.server, self.nodes, self.is_over = server, nodes, False

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()

    def run(self):
        while not self.is_over:
            for node in self.all():
                if self.nodes is None or node["metadata"]["name"] in self.nodes:
                    self.answer(node)
            time.sleep(0.1)

    def all(self):
        try:
            return self.server.ask("GET", self.path)["items"]
        except RuntimeError:  # a definition that was replaced is not served for a moment
            return []

    def answer(self, node):
        told = node.get("status", {}).get("imageStatuses", {})
        statuses = {name: {"tags": [self.row(tag, told.get(name, {}).get("tags", [])) for tag in image["tags"]]}
                    for name, image in node["spec"].get("images", {}).items()}
        if statuses == told:
            return
        rows = sum(len(image["tags"]) for image in statuses.values())
        try:
            self.server.merge(f"{self.path}/{node['metadata']['name']}/status", {
                "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
                # OpenKruise's definition refuses a status without numbers.
                "status": {"desired": rows, "succeeded": rows, "pulling": 0, "failed": 0,
                           "imageStatuses": {**{name: None for name in told}, **statuses}}})
        except RuntimeError as error:
            if ": 422 " in str(error):  # else it has changed or gone
                raise

    @staticmethod
    def row(tag, told):
        version = tag.get("version", 0)
        for row in told:
            if row["tag"] == tag["tag"] and row.get("version", 0) == version:
                return row
        return {"tag": tag["tag"], "version": version, "phase": "Succeeded", "completionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def condition(pod, name):
    return next((each["status"] for each in pod.get("status", {}).get("conditions", []) if each["type"] == name), "")
