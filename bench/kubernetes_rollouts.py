"""A rollout in place on a real API server with simulated nodes: fettle's controller, a bare client that makes the same three
writes a pod, and OpenKruise's manager, if it is built and asked for.

A CloneSet is made, all of its pods become ready, its image changes, and time runs until every pod has the new image and is
ready: with the default budget of requests (30 a second), and with one that does not hold anything up. Simulated kubelets take
their time as well, and everything shares the processors; so the moment of the last write to a pod is told too, and how much of
the processors was taken by each program, and by those that are no part of this.
"""
import collections
import dataclasses
import json
import os
import pathlib
import queue
import statistics
import subprocess
import threading
import time

from kubernetes_cluster import a_cluster, any_number, api, bare_kubeconfig, cpu_of, cpu_of_all, group, script, seconds_of, show
import rollouts

budgets = {"30 a second": ["--rest-config-qps", "30", "--rest-config-burst", "50"], "any": any_number}
least_with_budget, least_times, least_of_bare = 9, 3, 0.7  # pods/s; times OpenKruise's; of the bare client's
kruise_before = 15  # pods/s with any number of requests, measured before: where it is not measured now
bare_threads = (4, 16)  # a bare client is as good as its best number of threads


@dataclasses.dataclass
class Run:
    title: str
    pods: int
    seconds: float = 0        # from the change until all are ready with the new image
    last_write: float = 0     # s after the change: the last write to a pod by whom is measured
    kubelet: float = 0        # s, median: from the write of an image until the simulated kubelet has said that it runs
    asked: collections.Counter = None  # requests by verb and resource
    memory: float = 0         # MB, resident at the end
    cpu: float = 0            # s of processor time from the change to the end
    load: float = 0           # of a minute, at the change
    others: float = 0         # processors taken by programs that are no part of the cluster, 1.0: one
    programs: dict = None     # processors taken by each program of the cluster

    @property
    def rate(self):
        return self.pods / self.seconds

    @property
    def rate_of_writes(self):
        return self.pods / self.last_write

    @property
    def per_pod(self):
        return sum(self.asked.values()) / self.pods

    def beside(self):
        return f"load {self.load:.1f}, others {self.others:.1f} processors"


class Pods:
    """Those of one CloneSet in a namespace of its own, watched all the time."""

    def __init__(self, cluster, space, count):
        self.server, self.space, self.count = cluster.server, space, count
        self.path = f"/api/v1/namespaces/{space}/pods"
        self.set = f"{group}/namespaces/{space}/clonesets"
        self.server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
        account = f"/api/v1/namespaces/{space}/serviceaccounts/default"
        while self.server.ask("GET", account, missing_is_fine=True)["kind"] != "ServiceAccount":
            time.sleep(0.1)
        self.watch = api.Watch(self.server, self.path)
        self.watch.start()
        self.seen, self.ready_with, self.last = 0, {}, 0
        self.on_change = lambda pod: None
        spec = rollouts.workload(count, rollouts.in_place(maxUnavailable="100%"))["spec"]
        document = {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "web"}, "spec": spec}
        self.server.ask("POST", self.set, document)

    def wait(self, image, limit):
        """Until all are ready with an image; the moment at which the last one was seen to be."""
        deadline = time.monotonic() + limit
        while True:
            for at, kind, pod in self.watch.changes[self.seen:]:
                self.seen += 1
                name = pod["metadata"]["name"]
                self.on_change(pod)
                if kind == "DELETED":
                    self.ready_with.pop(name, None)
                    continue
                runs = pod["status"].get("containerStatuses") or [{}]
                is_ready = (api.condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]
                            and runs[0].get("image") == pod["spec"]["containers"][0]["image"])
                self.ready_with[name] = runs[0]["image"] if is_ready else None
                self.last = at
            ready = sum(each == image for each in self.ready_with.values())
            if ready == len(self.ready_with) == self.count:
                return self.last
            if time.monotonic() > deadline:
                raise SystemExit(f"after {limit} s only {ready} of {self.count} pods are ready with {image} in {self.space}")
            time.sleep(0.01)

    def change_image(self, image):
        (_, value), = rollouts.image(image).items()
        self.server.merge(f"{self.set}/web", value)

    def objects(self):
        return self.server.ask("GET", self.path)["items"]


def measure(cluster, pods, title, user, pid, image, change, limit):
    """Runs `change` and waits until all pods have the image."""
    run = Run(title, pods.count, load=os.getloadavg()[0])
    start = cluster.audit_size()
    before, own, mine = cpu_of_all(), cluster.cpu(), cpu_of(pid)
    began, wall = time.monotonic(), time.time()
    change()
    run.seconds = pods.wait(image, limit) - began
    passed = time.monotonic() - began
    taken = {name: (cpu - own.get(name, 0)) / passed for name, cpu in cluster.cpu().items()}
    run.others = max(0, (cpu_of_all() - before) / passed - sum(taken.values()))
    run.programs = {name: each for name, each in sorted(taken.items(), key=lambda item: -item[1]) if each >= 0.01}
    run.cpu = cpu_of(pid) - mine
    run.memory = int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1000
    time.sleep(3)  # the status of the workload comes last, and counts
    study(run, cluster.audited(start), user, pods.space, wall)
    requests = ", ".join(f"{count} {what}" for what, count in run.asked.most_common())
    programs = ", ".join(f"{name} {each:.2f}" for name, each in run.programs.items())
    print(f"{title}: {run.seconds:.1f} s, {run.rate:.1f} pods/s; last write to a pod after {run.last_write:.1f} s; "
          f"{run.per_pod:.2f} requests a pod: {requests}; a kubelet answers after {run.kubelet * 1000:.0f} ms; "
          f"{run.memory:.0f} MB, {run.cpu:.1f} s of processor time; {run.beside()}; processors: {programs}", flush=True)
    return run


def study(run, entries, user, space, wall):
    """What the audit log says of a run: who asked for how much, when the last write to a pod was, how long kubelets took."""
    run.asked, images, answers = collections.Counter(), {}, []
    for entry in entries:
        at, who, verb = entry.get("objectRef", {}), entry["user"]["username"], entry["verb"]
        what = at.get("resource", entry["requestURI"]) + ("/" + at["subresource"] if "subresource" in at else "")
        moment = seconds_of(entry["stageTimestamp"])
        is_pod = at.get("resource") == "pods" and at.get("namespace") == space
        if who == user and verb != "watch" and at.get("resource") not in ("leases", "events"):
            code = entry.get("responseStatus", {}).get("code", 0)
            run.asked[f"{verb} {what}" + ("" if code < 300 else f" {code}")] += 1
            if is_pod and verb in ("create", "update", "patch", "delete"):
                run.last_write = max(run.last_write, moment - wall)
                if "subresource" not in at and code < 300:
                    images[at["name"]] = moment
        elif who == "kwok" and is_pod and at.get("name") in images:
            answers.append(moment - images.pop(at["name"]))
    run.kubelet = statistics.median(answers) if answers else 0


def run_manager(cluster, starter, user, flags, title, count, then=None):
    """A rollout by a controller on a new CloneSet. `then` goes on with its pods when the controller has stopped."""
    script(starter, "up", cluster.folder, *flags, check=True)
    pods = Pods(cluster, "rollout", count)
    limit = 120 + count * 2
    pods.wait("web:1", limit)
    time.sleep(3)
    pid = cluster.pids()[user]
    run = measure(cluster, pods, title, user, pid, "web:2", lambda: pods.change_image("web:2"), limit)
    script(starter, "stop", cluster.folder, check=True)
    others = then(pods) if then else []
    pods.watch.is_over = True
    return run, others


class Bare:
    """What any client has to do: three writes a pod, over connections that stay. Writes carry no version, so none is refused."""

    def __init__(self, cluster, pods, threads, image):
        self.server, self.pods, self.threads, self.image = api.Server(cluster.folder, "bare.kubeconfig"), pods, threads, image
        self.work, self.failures, self.opened = queue.SimpleQueue(), [], set()

    def begin(self):
        for pod in self.pods.objects():
            self.work.put((self.update, pod["metadata"]["name"], pod["metadata"]["uid"]))
        self.pods.on_change = self.look
        for _ in range(self.threads):
            threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        connection = self.server.connect()
        while (item := self.work.get()) is not None:
            try:
                item[0](connection, *item[1:])
            except Exception as error:  # told when all is over
                self.failures.append(repr(error))
        connection.close()

    def write(self, connection, name, change, subresource=""):
        api.ask_on(connection, "PATCH", f"{self.pods.path}/{name}{subresource}", change, "application/strategic-merge-patch+json")

    def gate(self, uid, stage, status):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        state = json.dumps({"revision": self.image, "updateTimestamp": now})
        return {"metadata": {"uid": uid, "labels": {"lifecycle.apps.kruise.io/state": stage},
                             "annotations": {"apps.kruise.io/inplace-update-state": state}},
                "status": {"conditions": [{"type": "InPlaceUpdateReady", "status": status, "lastTransitionTime": now}]}}

    def update(self, connection, name, uid):
        self.write(connection, name, self.gate(uid, "Updating", "False"), "/status")
        labels = {"controller-revision-hash": self.image.replace(":", "-")}
        containers = [{"name": "main", "image": self.image}]
        self.write(connection, name, {"metadata": {"uid": uid, "labels": labels}, "spec": {"containers": containers}})

    def look(self, pod):
        """The image runs: the gate opens."""
        uid, runs = pod["metadata"]["uid"], pod["status"].get("containerStatuses") or [{}]
        if runs[0].get("image") == self.image and uid not in self.opened and api.condition(pod, "InPlaceUpdateReady") == "False":
            self.opened.add(uid)
            self.work.put((self.open, pod["metadata"]["name"], uid))

    def open(self, connection, name, uid):
        self.write(connection, name, self.gate(uid, "Normal", "True"), "/status")

    def end(self):
        for _ in range(self.threads):
            self.work.put(None)
        if self.failures:
            raise SystemExit(f"the bare client failed {len(self.failures)} times: {self.failures[0]}")


def run_bare(cluster, pods):
    """On the pods of a controller that has stopped; the processor time is the one of this whole script."""
    runs = []
    bare_kubeconfig(cluster)
    for number, threads in enumerate(bare_threads):
        image = f"web:{number + 3}"
        bare = Bare(cluster, pods, threads, image)
        runs.append(measure(cluster, pods, f"bare client, {threads} threads", "bare", os.getpid(), image, bare.begin, 300))
        bare.end()
    return runs


def rows_of(ours, bare, kruise):
    """What, target, result, load; and whether it is met."""
    slow, fast = ours["30 a second"], ours["any"]
    best = max(bare, key=lambda run: run.rate)
    theirs = kruise.get("any")
    than = theirs.rate if theirs else kruise_before
    told = f"{than:.1f} pods/s of OpenKruise, " + (theirs.beside() if theirs else "measured before")
    target = least_with_budget
    yield "pods/s, 30 requests a second", f">= {target}", f"{slow.rate:.1f}", slow.beside(), slow.rate >= target
    target, load = least_times * than, f"{fast.beside()}; {told}"
    yield "pods/s, any number of requests", f">= {target:.1f}", f"{fast.rate:.1f}", load, fast.rate >= target
    ratio, load = fast.rate / best.rate, f"bare {best.rate:.1f} pods/s, {best.beside()}"
    yield "… ÷ bare client", f">= {least_of_bare}", f"{ratio:.2f}", load, ratio >= least_of_bare
    ratio = fast.rate_of_writes / best_of_writes(bare)
    yield "… ÷ bare client, until the last write to a pod", "-", f"{ratio:.2f}", fast.beside(), None
    runs = {"30 requests a second": slow, "any number": fast, **{f"OpenKruise, {budget}": run for budget, run in kruise.items()}}
    for title, run in runs.items():
        if title.startswith("OpenKruise"):
            yield f"pods/s, {title}", "-", f"{run.rate:.1f}", run.beside(), None
        yield f"requests a pod, {title}", "-", f"{run.per_pod:.2f}", run.beside(), None
        yield f"resident memory, MB, {title}", "-", f"{run.memory:.0f}", run.beside(), None
        yield f"processor time, s, {title}", "-", f"{run.cpu:.1f}", run.beside(), None


def best_of_writes(bare):
    return max(run.rate_of_writes for run in bare)


def is_built():
    """Whether there is a manager of OpenKruise; nothing is stopped."""
    told = script("upstream", "stop", "/nowhere", stdout=subprocess.PIPE, stderr=subprocess.PIPE).stderr
    return not told.startswith("there is no manager")


def run(folder, asked):
    count, nodes = asked.pods or 300, asked.nodes or 100
    ours, kruise, bare = {}, {}, []
    for budget, flags in budgets.items():
        with a_cluster(folder, nodes) as cluster:
            is_slow = budget != "any"
            after = None if is_slow else lambda pods: run_bare(cluster, pods)
            ours[budget], more = run_manager(cluster, "ours", "fettle", flags, f"fettle, {budget}", count, after)
            bare += more
    if asked.upstream and not is_built():
        print("OpenKruise's manager is left out: it is not built; `tests/kubernetes/upstream build SOURCE` builds it")
    elif asked.upstream:
        for budget, flags in budgets.items():
            with a_cluster(folder, nodes) as cluster:
                kruise[budget], _ = run_manager(cluster, "upstream", "kruise-manager", flags, f"OpenKruise, {budget}", count)
    best = max(bare, key=lambda run: run.rate)
    taken = best.cpu / best.seconds
    print(f"the best bare client took {taken:.2f} processors: Python is {'its' if taken > 0.8 else 'not its'} limit")
    return show(list(rows_of(ours, bare, kruise)))
