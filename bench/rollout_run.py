"""One rollout on real engines, recorded: what `./dev demo rollout`, `./dev bench rollout` and docs/pictures/rollout.py share.

A run is a dict: `seconds` from the first pod that was not ready to the last one that was ready again; `pods` and `pulls`
in their order, each with its node, its `begin` and its `end` in seconds since the change was stored; a pod also with the
seconds in which it answered nobody (`silent`).
"""
import http.client
import json
import os
import sys
import threading
import time
from datetime import datetime

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rollout_fleet import Fleet, top  # noqa: E402

example = os.path.join(top, "examples", "rollout")
settling = 2  # seconds that a new version answers before what was seen counts
asking = 0.1


class Asker:
    """Asks each pod for its version over and over, as its clients would."""

    def __init__(self, addresses):
        self.seen = {name: [] for name in addresses}  # (when, what it answered or None)
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.ask, args=each, daemon=True) for each in addresses.items()]
        for thread in self.threads:
            thread.start()

    def ask(self, name, address):
        while not self.is_over.wait(asking):
            connection = http.client.HTTPConnection(address, 80, timeout=1)
            try:
                connection.request("GET", "/")
                told = connection.getresponse().read().decode().strip()
            except (OSError, http.client.HTTPException):
                told = None
            finally:
                connection.close()
            self.seen[name].append((time.time(), told))

    def wait_for(self, version, limit=600):
        end = time.monotonic() + limit
        while any(not seen or seen[-1][1] != version for seen in self.seen.values()):
            if time.monotonic() > end:
                raise SystemExit(f"not every pod answers with version {version}")
            time.sleep(asking)

    def end(self):
        time.sleep(settling)
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def first(self, name, version):
        return next(at for at, told in self.seen[name] if told == version)

    def silence(self, name):
        """Seconds between the last answer of the old version and the first one of the new."""
        answers = [(at, told) for at, told in self.seen[name] if told is not None]
        return max((b[0] - a[0] for a, b in zip(answers, answers[1:]) if a[1] != b[1]), default=0.0)


def moment(event):
    return datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


def spans(events, kind, since):
    """For each resource of a kind: its node, and when the first act since then began and the last one ended."""
    found = {}
    for event in events:
        key = event["key"] or ""  # what is about no resource has none
        name = key.removeprefix(kind + "/")
        if name == key or moment(event) < since or event["type"] not in ("started", "done", "failed"):
            continue
        each = found.setdefault(name.split("/")[-1] if kind == "pod" else name, {"node": name.split("|")[0]})
        each.setdefault("begin", moment(event))
        if event["type"] != "started":
            each["end"] = moment(event)
    return found


def manifest(fleet, **more):
    """The manifest of the example, with its images in the registry of the fleet."""
    with open(os.path.join(example, "shop.yaml")) as file:
        text = file.read()
    for before, after in {"localhost:5000/": f"{fleet.registry.host}/", **more}.items():
        if before not in text:
            raise SystemExit(f"examples/rollout/shop.yaml has no `{before}` any more")
        text = text.replace(before, after)
    return text


def begin(fleet, **more):
    """The example at its first version, ready; the addresses of its pods."""
    for engine in fleet.engines:
        engine.pull(f"{fleet.registry.host}/shop:1")
    # Engines that share one machine share its firewall, and may get into each other's way when the first networks are made.
    fleet.fettle("apply", "-f", "-", input=manifest(fleet, **more), codes=(0, 1))
    fleet.fettle("apply")
    return {name: pod["status"]["podIP"] for name, pod in fleet.pods().items()}


def roll(fleet, addresses):
    """Updates all pods to version 2 and records it."""
    asker = Asker(addresses)
    asker.wait_for("1")
    since = time.time()
    fleet.fettle("set", "image", "cloneset/shop", f"main={fleet.registry.host}/shop:2")
    asker.wait_for("2")
    asker.end()
    events = fleet.events()
    pods = spans(events, "pod", since)
    for name, pod in pods.items():
        pod["end"] = max(pod["end"], asker.first(name, "2"))
        pod["silent"] = asker.silence(name)
    first, last = min(pod["begin"] for pod in pods.values()), max(pod["end"] for pod in pods.values())
    pulls = spans(events, "image", since)
    for each in [*pods.values(), *pulls.values()]:
        each["begin"] -= since
        each["end"] -= since
    return {"seconds": last - first, "pods": pods, "pulls": pulls}


def record(folder, megabytes, rate, is_ahead, nodes=3, before=None, **more):
    """A new fleet, and one rollout in it with or without pulls ahead of it; `before` is called with the fleet at its first version."""
    with Fleet(folder, ["podman"] * nodes, rate) as fleet:
        fleet.registry.push("shop", "1")
        fleet.registry.push("shop", "2", megabytes)
        if not is_ahead:
            fleet.fettle("apply", "--feature-gates", "PreDownloadImageForInPlaceUpdate=false")
        addresses = begin(fleet, **more)
        if before:
            before(fleet)
        return roll(fleet, addresses)


def lines(run, step):
    """A row of text for each pod and pull: `.` ready, `#` not ready, `>` pulled."""
    length = max(each["end"] for each in [*run["pods"].values(), *run["pulls"].values()])
    rows = []
    for title, marks, spent in (("pull", " >", run["pulls"]), ("", ".#", run["pods"])):
        for name, each in sorted(spent.items(), key=lambda one: (one[1]["begin"], one[0])):
            row = "".join(marks[each["begin"] < (i + 1) * step and each["end"] > i * step] for i in range(int(length / step) + 1))
            rows.append(f"  {title or name} on {each['node']}".ljust(24) + row)
    return rows
