"""Workloads of which images follow each other, watched at every event: for scripts that kill and disturb.

A pod is available while it is ready and not deleted; one that is made counts from its first time. What is seen again after a watch
could not go on counts as one event: what was in between, nobody knows.
"""
import calendar
import http.client
import json
import threading
import time

import api
import rollouts

annotations = {"fettle.test/pull": "300ms"}  # so that some faults fall between the writes of an update
state_note, grace_note = "apps.kruise.io/inplace-update-state", "apps.kruise.io/inplace-update-grace"
in_place_gate = "InPlaceUpdateReady"
counts = {"ok": 0, "FAIL": 0}
began = time.monotonic()
failures = []  # when, namespace, names of pods


def note(is_ok, what, detail=""):
    counts["ok" if is_ok else "FAIL"] += 1
    if not is_ok:
        moment = time.strftime("%H:%M:%S", time.gmtime())
        print(f"FAIL  {what} at {time.monotonic() - began:.2f} s, {moment}: {detail}", flush=True)
    return is_ok


def patiently(call, *words, limit=120):
    """What a server answers that may be away for a while. It must not matter if it is done twice."""
    deadline = time.monotonic() + limit
    while True:
        try:
            return call(*words)
        except (OSError, http.client.HTTPException, ValueError, RuntimeError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


class Workload:
    """One of the three, and what is known of its pods."""

    def __init__(self, space, kind, app, pods, slack, replicas, strategy):
        self.space, self.kind, self.app, self.pods, self.slack = space, kind, app, pods, slack
        self.path = f"/apis/apps.kruise.io/v1beta1/namespaces/{space}/{kind.lower()}s"
        template = {"metadata": {"labels": {"app": app}, "annotations": annotations},
                    "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "web:1"}],
                             "readinessGates": [{"conditionType": in_place_gate}]}}
        self.spec = {"selector": {"matchLabels": {"app": app}}, "template": template, "updateStrategy": strategy}
        if replicas is not None:
            self.spec["replicas"] = replicas
        self.known = {}         # UID: the object as of the last event
        self.is_complete = False  # all pods have been available once: from then on it counts
        self.is_short = False
        self.first_uids = set()
        self.drained = set()    # names of pods whose gate was seen closed
        self.number, self.changed = 1, time.monotonic()
        self.is_late = False

    def make(self, server):
        document = {"apiVersion": "apps.kruise.io/v1beta1", "kind": self.kind, "metadata": {"name": self.app}, "spec": self.spec}
        server.ask("POST", self.path, document)

    def roll(self, server):
        """The next image."""
        self.number += 1
        self.changed, self.is_late = time.monotonic(), False
        (_, value), = rollouts.image(f"web:{self.number}").items()
        patiently(server.merge, f"{self.path}/{self.app}", value)

    def available(self):
        return [pod for pod in self.known.values()
                if api.condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]]

    def down(self):
        serving = self.available()
        return sorted(pod["metadata"]["name"] for pod in self.known.values() if pod not in serving)

    def runs(self, image):
        """All pods have it, and run it."""
        done = [pod for pod in self.available()
                if pod["spec"]["containers"][0]["image"] == image == pod["status"]["containerStatuses"][0]["image"]]
        return len(self.known) == self.pods == len(done)

    def is_rolled_out(self):
        return self.runs(f"web:{self.number}")

    def take(self, kind, pod, moment):
        metadata = pod["metadata"]
        if kind == "DELETED":
            self.known.pop(metadata["uid"], None)
        else:
            self.known[metadata["uid"]] = pod
            self.note_gate(pod)
        self.count(moment, f"last event {kind} {metadata['name']} {metadata['resourceVersion']}")

    def take_all(self, pods, moment):
        self.known = {pod["metadata"]["uid"]: pod for pod in pods}  # at once, for others look at it
        for pod in pods:
            self.note_gate(pod)
        self.count(moment, "all pods were listed")

    def note_gate(self, pod):
        if api.condition(pod, in_place_gate) == "False":
            self.drained.add(pod["metadata"]["name"])

    def count(self, moment, event):
        missing = self.pods - len(self.available())
        if not self.is_complete:
            if missing == 0 and len(self.known) == self.pods:
                self.is_complete, self.first_uids = True, {*self.known}
            return
        is_short = missing > self.slack
        if is_short and not self.is_short:
            down = self.down()
            note(False, f"{self.kind}: {missing} of {self.pods} pods are unavailable, {self.slack} may be, {moment}",
                 f"image web:{self.number}, {event}, down {down}")
            failures.append((time.time(), self.space, down))
        self.is_short = is_short

    def half_written(self, revision, says_state=True):
        """By name of the pod. `says_state`: the state annotation is of that revision as well; one that was taken back stays."""
        half = {}
        for pod in self.known.values():
            metadata, notes = pod["metadata"], pod["metadata"].get("annotations", {})
            types = [gate["conditionType"] for gate in pod["spec"]["readinessGates"]]
            gates = {each: api.condition(pod, each) for each in types}
            label = metadata["labels"].get("controller-revision-hash", "")
            state = json.loads(notes.get(state_note, "{}"))
            is_whole = (all(value == "True" for value in gates.values()) and label and revision.endswith(label)
                        and (not says_state or revision.endswith(state.get("revision", revision))) and grace_note not in notes)
            if not is_whole:
                half[metadata["name"]] = [gates, label, state, revision]
        return half


class Fleet(threading.Thread):
    """A CloneSet of 12 pods (two may be unavailable), a StatefulSet of 4 and a DaemonSet on six nodes (one each). It counts pods at every
    event, and while `goes_on`, changes an image as soon as the one before is rolled out."""

    def __init__(self, folder, space, longest_rollout=60):
        super().__init__(daemon=True)
        self.server, self.space = api.Server(folder), space
        self.longest_rollout = longest_rollout  # s: from a change until it is carried out
        in_place, of_daemons = {"podUpdatePolicy": "InPlaceIfPossible"}, {"rollingUpdateType": "InPlaceIfPossible"}
        self.workloads = {each.app: each for each in (
            Workload(space, "CloneSet", "clone", 12, 2, 12, rollouts.rolling(**in_place, maxUnavailable=2)),
            Workload(space, "StatefulSet", "stateful", 4, 1, 4, rollouts.rolling(**in_place, maxUnavailable=1)),
            Workload(space, "DaemonSet", "daemon", 6, 1, None, rollouts.rolling(**of_daemons, maxUnavailable=1)))}
        self.server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
        account = f"/api/v1/namespaces/{space}/serviceaccounts/default"
        while self.server.ask("GET", account, missing_is_fine=True)["kind"] != "ServiceAccount":
            time.sleep(0.1)
        self.watch = api.Watch(self.server, f"/api/v1/namespaces/{space}/pods", lasts=True)
        self.watch.start()
        for workload in self.workloads.values():
            workload.make(self.server)
        self.moment = "before the first fault"  # of what comes now, for failures
        self.goes_on, self.is_over, self.error = False, False, None

    def run(self):
        seen = 0
        try:
            while not self.is_over:
                fresh = self.watch.changes[seen:]
                for _, kind, found in fresh:
                    self.take(kind, found)
                seen += len(fresh)
                self.go_on()
                time.sleep(0.01)
        except Exception as error:  # told at the end
            self.error = error

    def take(self, kind, found):
        if kind != "LISTED":
            workload = self.workloads.get(found["metadata"]["labels"].get("app"))
            if workload:
                workload.take(kind, found, self.moment)
            return
        for app, workload in self.workloads.items():
            workload.take_all([pod for pod in found if pod["metadata"]["labels"].get("app") == app], self.moment)

    def go_on(self):
        for workload in self.workloads.values():
            is_done = workload.is_rolled_out()
            if is_done and self.goes_on:
                workload.roll(self.server)
                continue
            is_late = workload.is_complete and not is_done and time.monotonic() - workload.changed > self.longest_rollout
            if is_late and not workload.is_late:
                workload.is_late = True
                down = workload.down()
                old = [pod["metadata"]["name"] for pod in workload.known.values()
                       if pod["spec"]["containers"][0]["image"] != f"web:{workload.number}"]
                note(False, f"{workload.kind}: web:{workload.number} is not rolled out after {self.longest_rollout} s",
                     f"down {down}, old {old}")
                failures.append((time.time(), self.space, down + old))

    def under_way(self):
        return [each.kind for each in self.workloads.values() if not each.is_rolled_out()]

    def wait(self, is_so, limit):
        """Until something is so of each workload; false: it is not."""
        deadline = time.monotonic() + limit
        while not all(map(is_so, self.workloads.values())):
            if self.error or not self.watch.is_alive():
                raise SystemExit(f"the watch has ended: {self.error}")
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def await_images(self, more, limit):
        """Until each workload was given so many images more; what still has to be given if not."""
        wanted = {each.app: each.number + more for each in self.workloads.values()}
        self.wait(lambda each: each.number >= wanted[each.app], limit)
        return {app: number for app, number in wanted.items() if self.workloads[app].number < number}

    def check_end(self):
        """Everything as it is wanted, and nothing half written."""
        for workload in self.workloads.values():
            note(workload.is_rolled_out(), f"{workload.kind}: all pods have the last image web:{workload.number}",
                 str({pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"] for pod in workload.known.values()}))
            note({*workload.known} == workload.first_uids, f"{workload.kind}: pods are those of the beginning",
                 str({*workload.known} ^ workload.first_uids))
            status = self.server.ask("GET", f"{workload.path}/{workload.app}")["status"]
            half = workload.half_written(status.get("updateRevision") or status.get("daemonSetHash", ""))
            note(not half, f"{workload.kind}: nothing is half written", json.dumps(half))
            if half:
                failures.append((time.time(), self.space, [*half]))

    def end(self):
        self.is_over = self.watch.is_over = True

    def told(self):
        rolled = ", ".join(f"{each.kind} web:{each.number}" for each in self.workloads.values())
        return f"{len(self.watch.changes)} events; {rolled}"


def seconds_of(stamp):
    """Of a time as a server writes it, with microseconds, since 1970."""
    whole, _, rest = stamp.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{rest or 0}")


def audited(folder):
    """What was written, by the lines of the audit log."""
    for line in open(folder / "audit.log", encoding="utf-8"):
        if any(f'"verb":"{verb}"' in line for verb in ("get", "list", "watch")):
            continue
        try:
            entry = json.loads(line)
        except ValueError:  # a server that was killed has left a part of it
            continue
        if "objectRef" in entry:
            yield entry


def told_of(entry):
    at = entry["objectRef"]
    what = "/".join(filter(None, (at.get("resource"), at.get("name"), at.get("subresource"))))
    return f"{entry['requestReceivedTimestamp']} {entry['user']['username']} {entry['verb']} {what} {entry.get('responseStatus', {}).get('code', 0)}"


def tell_failures(folder):
    """The writes around each, from 8 s before it to 3 s after it."""
    for moment, space, names in failures[:10]:
        print(f"  writes around {time.strftime('%H:%M:%S', time.gmtime(moment))} to {', '.join(names)}")
        for entry in audited(folder):
            at = entry["objectRef"]
            is_one = at.get("namespace") == space and at.get("resource") == "pods" and at.get("name") in names
            if is_one and -8 <= seconds_of(entry["requestReceivedTimestamp"]) - moment <= 3:
                print(f"      {told_of(entry)}")
