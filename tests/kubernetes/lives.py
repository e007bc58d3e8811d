"""Workloads of which images follow each other, watched at every event: for scripts that kill and disturb."""
import json
import threading
import time

import api
import rollouts

space = "kills"
root = "/apis/apps.kruise.io/v1beta1/namespaces/" + space
longest_rollout = 60  # s: from a change until it is carried out
annotations = {"fettle.test/pull": "300ms"}  # so that some kills fall between the writes of an update
counts = {"ok": 0, "FAIL": 0}
began = time.monotonic()


def note(is_ok, what, detail=""):
    counts["ok" if is_ok else "FAIL"] += 1
    if not is_ok:
        moment = time.strftime("%H:%M:%S", time.gmtime())
        print(f"FAIL  {what} at {time.monotonic() - began:.2f} s, {moment}: {detail}", flush=True)
    return is_ok


class Workload:
    """One of the three, and what is known of its pods."""

    def __init__(self, kind, app, pods, slack, replicas, strategy):
        self.kind, self.app, self.pods, self.slack = kind, app, pods, slack
        self.path = f"{root}/{kind.lower()}s"
        gates = [{"conditionType": "InPlaceUpdateReady"}]
        template = {"metadata": {"labels": {"app": app}, "annotations": annotations},
                    "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "web:1"}],
                             "readinessGates": gates}}
        self.spec = {"selector": {"matchLabels": {"app": app}}, "template": template, "updateStrategy": strategy}
        if replicas is not None:
            self.spec["replicas"] = replicas
        self.known = {}         # UID: the object as of the last event
        self.is_complete = False  # all pods have been available once: from then on it counts
        self.is_short = False
        self.first_uids = set()
        self.number, self.changed = 1, time.monotonic()
        self.is_late = False

    def make(self, server):
        document = {"apiVersion": "apps.kruise.io/v1beta1", "kind": self.kind, "metadata": {"name": self.app}, "spec": self.spec}
        server.ask("POST", self.path, document)

    def available(self):
        return [pod for pod in self.known.values()
                if api.condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]]

    def is_rolled_out(self):
        """All pods have the image that is wanted now, and run it."""
        image = f"web:{self.number}"
        done = [pod for pod in self.available()
                if pod["spec"]["containers"][0]["image"] == image == pod["status"]["containerStatuses"][0]["image"]]
        return len(self.known) == self.pods == len(done)

    def take(self, kind, pod, kill):
        uid = pod["metadata"]["uid"]
        if kind == "DELETED":
            self.known.pop(uid, None)
        else:
            self.known[uid] = pod
        missing = self.pods - len(self.available())
        if not self.is_complete:
            if missing == 0 and len(self.known) == self.pods:
                self.is_complete, self.first_uids = True, {*self.known}
            return
        is_short = missing > self.slack
        if is_short and not self.is_short:
            down = sorted(pod["metadata"]["name"] for pod in self.known.values() if pod not in self.available())
            metadata = pod["metadata"]
            note(False, f"{self.kind}: {missing} of {self.pods} pods are unavailable, {self.slack} may be, after kill {kill}",
                 f"image web:{self.number}, last event {kind} {metadata['name']} {metadata['resourceVersion']}, down {down}")
            failures.append((time.time(), down))
        self.is_short = is_short


failures = []  # when, names of pods


class Fleet(threading.Thread):
    """Counts pods at every event, and changes an image as soon as the one before is rolled out."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.server = api.Server(folder)
        in_place, of_daemons = {"podUpdatePolicy": "InPlaceIfPossible"}, {"rollingUpdateType": "InPlaceIfPossible"}
        self.workloads = {each.app: each for each in (
            Workload("CloneSet", "clone", 12, 2, 12, rollouts.rolling(**in_place, maxUnavailable=2)),
            Workload("StatefulSet", "stateful", 4, 1, 4, rollouts.rolling(**in_place, maxUnavailable=1)),
            Workload("DaemonSet", "daemon", 6, 1, None, rollouts.rolling(**of_daemons, maxUnavailable=1)))}
        self.server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
        account = f"/api/v1/namespaces/{space}/serviceaccounts/default"
        while self.server.ask("GET", account, missing_is_fine=True)["kind"] != "ServiceAccount":
            time.sleep(0.1)
        self.watch = api.Watch(self.server, f"/api/v1/namespaces/{space}/pods")
        self.watch.start()
        for workload in self.workloads.values():
            workload.make(self.server)
        self.kill, self.goes_on, self.is_over, self.error = 0, False, False, None

    def run(self):
        seen = 0
        try:
            while not self.is_over:
                fresh = self.watch.changes[seen:]
                for _, kind, pod in fresh:
                    workload = self.workloads.get(pod["metadata"]["labels"].get("app"))
                    if workload:
                        workload.take(kind, pod, self.kill)
                seen += len(fresh)
                self.go_on()
                time.sleep(0.01)
        except Exception as error:  # told at the end
            self.error = error

    def go_on(self):
        for workload in self.workloads.values():
            is_done = workload.is_rolled_out()
            if is_done and self.goes_on:
                workload.number += 1
                workload.changed, workload.is_late = time.monotonic(), False
                (_, value), = rollouts.image(f"web:{workload.number}").items()
                self.server.merge(f"{workload.path}/{workload.app}", value)
                continue
            is_late = workload.is_complete and not is_done and time.monotonic() - workload.changed > longest_rollout
            if is_late and not workload.is_late:
                workload.is_late = True
                down = [pod["metadata"]["name"] for pod in workload.known.values() if pod not in workload.available()]
                old = [pod["metadata"]["name"] for pod in workload.known.values()
                       if pod["spec"]["containers"][0]["image"] != f"web:{workload.number}"]
                note(False, f"{workload.kind}: web:{workload.number} is not rolled out after {longest_rollout} s",
                     f"down {down}, old {old}")
                failures.append((time.time(), down + old))

    def wait(self, what, is_so, limit):
        deadline = time.monotonic() + limit
        while not all(map(is_so, self.workloads.values())):
            if self.error or not self.watch.is_alive():
                raise SystemExit(f"the watch has ended: {self.error}")
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def check_end(self):
        """Everything as it is wanted, and nothing half written."""
        for workload in self.workloads.values():
            note(workload.is_rolled_out(), f"{workload.kind}: all pods have the last image web:{workload.number}",
                 str({pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"] for pod in workload.known.values()}))
            note({*workload.known} == workload.first_uids, f"{workload.kind}: pods are those of the beginning",
                 str({*workload.known} ^ workload.first_uids))
            status = self.server.ask("GET", f"{workload.path}/{workload.app}")["status"]
            revision = status.get("updateRevision") or status.get("daemonSetHash", "")
            half = {}
            for pod in workload.known.values():
                metadata, notes = pod["metadata"], pod["metadata"].get("annotations", {})
                types = [gate["conditionType"] for gate in pod["spec"]["readinessGates"]]
                gates = {each: api.condition(pod, each) for each in types}
                label = metadata["labels"].get("controller-revision-hash", "")
                state = json.loads(notes.get("apps.kruise.io/inplace-update-state", "{}"))
                is_whole = (all(value == "True" for value in gates.values()) and label and revision.endswith(label)
                            and revision.endswith(state.get("revision", revision))
                            and "apps.kruise.io/inplace-update-grace" not in notes)
                if not is_whole:
                    half[metadata["name"]] = [gates, label, state, revision]
            note(not half, f"{workload.kind}: nothing is half written", json.dumps(half))
            if half:
                failures.append((time.time(), [*half]))


def audited(folder, names, moment):
    """Lines of the audit log about some pods, from 8 s before a moment to 3 s after it."""
    for line in open(folder / "audit.log", encoding="utf-8"):
        entry = json.loads(line)
        at = entry.get("objectRef", {})
        stamp = entry["requestReceivedTimestamp"]
        seconds = time.mktime(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
        is_one = at.get("namespace") == space and at.get("resource") == "pods" and at.get("name") in names
        if is_one and -8 <= seconds - moment <= 3 and entry["verb"] not in ("get", "list", "watch"):
            what = at["name"] + ("/" + at["subresource"] if "subresource" in at else "")
            yield f"      {stamp} {entry['user']['username']} {entry['verb']} {what} {entry['responseStatus']['code']}"
