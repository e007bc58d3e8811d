"""Rollouts that somebody begins and somebody else ends: for scripts that change who keeps a cluster in the middle of them.

They are held half way in a grace period, the first of two batches, a hook that holds an update, a pod that a surge has made, an image that
is pulled ahead on some nodes, and a partition, in both versions of the API and of a sidecar. All are in the namespace `space`.
"""
import json
import os
import pathlib
import subprocess
import threading
import time

import api
import rollouts

here = pathlib.Path(__file__).resolve().parent
fettle = pathlib.Path(os.environ.get("FETTLE", here.parent.parent / "build/release/fettle"))
space, system = "halves", "kruise-system"
root = f"/apis/apps.kruise.io/v1beta1/namespaces/{space}"
alpha_root = root.replace("v1beta1", "v1alpha1")
sets = "/apis/apps.kruise.io/v1beta1/sidecarsets"
pods_path = f"/api/v1/namespaces/{space}/pods"
longest = 240  # s
counts = {"ok": 0, "FAIL": 0}


def note(is_ok, what, detail=""):
    counts["ok" if is_ok else "FAIL"] += 1
    print("ok   " if is_ok else "FAIL ", what, "" if is_ok else detail, flush=True)
    return is_ok


def wait(what, is_so, limit=longest):
    deadline = time.monotonic() + limit
    while not (found := is_so()):
        if time.monotonic() > deadline:
            return note(False, what, f"not after {limit} s")
        time.sleep(0.2)
    return found


def run(*words, text=None, may_fail=False, env=None):
    done = subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode and not may_fail:
        raise SystemExit(f"`{' '.join(map(str, words))}` ended with {done.returncode}: {done.stderr[-1500:]}")
    return done


class Cluster:
    def __init__(self, folder):
        self.folder, self.server = folder, api.Server(folder)

    def items(self, path):
        return self.server.ask("GET", path).get("items") or []

    def kubectl(self, *words, document=None, may_fail=False):
        text = None if document is None else json.dumps(document)
        return run(here / "cluster", "kubectl", self.folder, *words, text=text, may_fail=may_fail)

    def fettle(self, *words, program=fettle):
        return run(program, *words, "--kubeconfig", self.folder / "fettle.kubeconfig", may_fail=True, env={"FETTLE_HOME": str(self.folder / "fettle-command")})

    def runs(self, name):
        return run(here / "cluster", "pid", self.folder, name, may_fail=True).returncode == 0


class Trial:
    """A workload with a rollout that somebody has begun and somebody else ends."""

    kind, version, applies = "CloneSet", "v1beta1", ()

    def __init__(self, cluster, name, spec):
        self.cluster, self.name, self.number = cluster, name, 1
        labels = {"app": name}
        spec = json.loads(json.dumps(spec))
        spec["selector"] = {"matchLabels": labels}
        spec["template"]["metadata"]["labels"] = {**spec["template"]["metadata"].get("labels", {}), **labels}
        self.document = {"apiVersion": f"apps.kruise.io/{self.version}", "kind": self.kind, "metadata": {"name": name, "namespace": space}, "spec": spec}
        self.path = f"{root}/{self.kind.lower()}s/{name}"

    def apply(self, **more):
        """As its user does."""
        return self.cluster.kubectl("apply", *self.applies, "-f", "-", document=self.document, **more)

    def make(self):
        self.apply()

    def touch(self, what):
        """A write that says nothing about pods."""
        done = self.cluster.kubectl("annotate", "--overwrite", "-n", space, f"{self.kind.lower()}s.apps.kruise.io/{self.name}",
                                    f"fettle.test/touched={what.replace(' ', '-')}", may_fail=True)
        note(done.returncode == 0, f"{self.name}: an annotation is not refused", done.stderr)

    def pods(self):
        return [pod for pod in self.cluster.items(f"{pods_path}?labelSelector=app%3D{self.name}") if "deletionTimestamp" not in pod["metadata"]]

    def wanted_pods(self):
        return self.document["spec"].get("replicas", 0)

    def image(self, number=None):
        return f"{self.name}:{number or self.number}"

    def are_updated(self):
        return [pod for pod in self.pods() if pod["spec"]["containers"][0]["image"] == self.image()
                and pod["status"].get("containerStatuses", [{}])[0].get("image") == self.image() and api.condition(pod, "Ready") == "True"]

    def is_done(self):
        pods = self.pods()
        return len(pods) == self.wanted_pods() == len(self.are_updated())

    def set_image(self):
        for container in self.document["spec"]["template"]["spec"]["containers"]:
            container["image"] = f"{self.name if container['name'] == 'main' else 'side'}:{self.number}"

    def begin(self):
        self.number += 1
        self.uids = {pod["metadata"]["uid"] for pod in self.pods()}
        self.set_image()
        self.apply()

    def is_half(self):
        raise NotImplementedError

    def end(self):
        """What its user does so that it can end."""

    def close(self):
        """No thread of it asks the server any more."""

    def check_end(self, by):
        note(self.is_done() and self.keeps_pods(), f"{self.name}: {by} has ended the rollout, with the same pods",
             json.dumps([[pod["metadata"]["name"], pod["spec"]["containers"][0]["image"], api.condition(pod, "Ready"),
                          pod["metadata"].get("annotations", {}).get("apps.kruise.io/inplace-update-state")] for pod in self.pods()]))

    def keeps_pods(self):
        return {pod["metadata"]["uid"] for pod in self.pods()} == self.uids


def state_of(pod):
    return json.loads(pod["metadata"].get("annotations", {}).get("apps.kruise.io/inplace-update-state", "{}"))


def stage_of(pod):
    return pod["metadata"]["labels"].get("lifecycle.apps.kruise.io/state", "")


def templated(name, containers=None, **annotations):
    # OpenKruise's webhook refuses StatefulSets without this gate.
    return {"metadata": {"annotations": annotations}, "spec": {
        "terminationGracePeriodSeconds": 1, "readinessGates": [{"conditionType": "InPlaceUpdateReady"}],
        "containers": containers or [{"name": "main", "image": f"{name}:1"}]}}


class Grace(Trial):
    def __init__(self, cluster):
        strategy = rollouts.in_place(maxUnavailable=1, inPlaceUpdateStrategy={"gracePeriodSeconds": 40})
        super().__init__(cluster, "grace", {"replicas": 2, "updateStrategy": strategy, "template": templated("grace")})

    def is_half(self):
        """It drains, and has its old image still."""
        return any(api.condition(pod, "InPlaceUpdateReady") == "False" and pod["spec"]["containers"][0]["image"] == self.image(self.number - 1)
                   for pod in self.pods())


class Batches(Trial):
    def __init__(self, cluster):
        def container(name, image, priority):
            return {"name": name, "image": image, "env": [{"name": "KRUISE_CONTAINER_PRIORITY", "value": priority}]}

        containers = [container("main", "batches:1", "10"), container("side", "side:1", "5")]
        super().__init__(cluster, "batches", {"replicas": 1, "updateStrategy": rollouts.in_place(maxUnavailable=1),
                                              "template": templated("batches", containers, **{"fettle.test/pull": "40s"})})

    def is_half(self):
        return any(state_of(pod).get("nextContainerImages") for pod in self.pods())

    def is_done(self):
        return super().is_done() and all(pod["spec"]["containers"][1]["image"] == f"side:{self.number}" for pod in self.pods())


class Hook(Trial):
    def __init__(self, cluster):
        template = templated("hook")
        template["metadata"]["labels"] = {"hold": "true"}
        super().__init__(cluster, "hook", {"replicas": 2, "updateStrategy": rollouts.in_place(maxUnavailable=1), "template": template,
                                           "lifecycle": {"inPlaceUpdate": {"labelsHandler": {"hold": "true"}}}})

    def is_half(self):
        return any(stage_of(pod) == "PreparingUpdate" for pod in self.pods())

    def end(self):
        threading.Thread(target=self.let_go, daemon=True).start()

    def let_go(self):
        """What the one that holds it does, pod by pod."""
        while not self.is_done():
            for pod in self.pods():
                hold = {"PreparingUpdate": None, "Updated": "true"}
                if stage_of(pod) in hold:
                    try:
                        self.cluster.server.merge(f"{pods_path}/{pod['metadata']['name']}", {"metadata": {"labels": {"hold": hold[stage_of(pod)]}}})
                    except RuntimeError:
                        pass
            time.sleep(0.3)

    def is_done(self):
        return super().is_done() and all(stage_of(pod) == "Normal" for pod in self.pods())


class Surge(Trial):
    def __init__(self, cluster):
        super().__init__(cluster, "surge", {"replicas": 2, "updateStrategy": rollouts.rolling(maxUnavailable=1, maxSurge=1),
                                            "template": templated("surge", **{"fettle.test/pull": "40s"})})

    def is_half(self):
        return len(self.pods()) > self.wanted_pods()

    def keeps_pods(self):
        return True


class Pull(Trial):
    def __init__(self, cluster):
        strategy = rollouts.in_place(maxUnavailable=1, partition=3, inPlaceUpdateStrategy={"imagePreDownloadParallelism": 6})
        template = templated("pull")
        # On one node, the job would be whole or not begun.
        template["spec"]["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
                                                          "labelSelector": {"matchLabels": {"app": "pull"}}}]
        super().__init__(cluster, "pull", {"replicas": 6, "updateStrategy": strategy, "template": template})
        self.daemon = None

    def jobs(self):
        return [job for job in self.cluster.items(f"{root}/imagepulljobs")
                if job["spec"]["image"] == self.image() and job["metadata"].get("ownerReferences", [{}])[0].get("name") == self.name]

    def begin(self):
        nodes = sorted({pod["spec"]["nodeName"] for pod in self.pods()})
        self.close()
        self.daemon = api.Daemon(self.cluster.server, nodes[:1])
        self.daemon.start()
        self.set_partition(3)
        super().begin()

    def close(self):
        if self.daemon:
            self.daemon.is_over = True
            self.daemon.join()

    def set_partition(self, partition):
        self.document["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition

    def is_half(self):
        return any(job.get("status", {}).get("active", 0) > 0 for job in self.jobs())

    def end(self):
        self.daemon.nodes = None
        wait("pull: the job ends on all nodes", lambda: all(not job.get("status", {}).get("active", 0) for job in self.jobs()))
        self.set_partition(0)
        self.apply()


class Held(Trial):
    """By a partition, which no exchange may lose."""

    def __init__(self, cluster, name, version, applies=()):
        self.version, self.applies = version, applies
        super().__init__(cluster, name, {"replicas": 4, "updateStrategy": self.strategy(version, 2), "template": templated(name)})

    @staticmethod
    def strategy(version, partition):
        flat = {"partition": partition, "maxUnavailable": 1}
        return {"type": "InPlaceIfPossible", **flat} if version == "v1alpha1" else rollouts.in_place(**flat)

    def begin(self):
        self.document["spec"]["updateStrategy"] = self.strategy(self.version, 2)
        super().begin()

    def is_half(self):
        return len(self.are_updated()) == 2 == len([pod for pod in self.pods() if pod["spec"]["containers"][0]["image"] == self.image(self.number - 1)])

    def end(self):
        done = self.apply(may_fail=True)
        note(done.returncode == 0, f"{self.name}: its manifest as it was is not refused", done.stderr)
        time.sleep(3)
        note(self.is_half(), f"{self.name}: the partition holds", json.dumps([pod["spec"]["containers"][0]["image"] for pod in self.pods()]))
        self.document["spec"]["updateStrategy"] = self.strategy(self.version, 0)
        done = self.apply(may_fail=True)
        note(done.returncode == 0, f"{self.name}: a changed manifest is not refused", done.stderr)


class Injected(Trial):
    """A sidecar in two pods of a CloneSet, and where others get it in two of a Deployment. A partition holds its rollout.
    `is_of_openkruise`: by its webhook. Then the CloneSet has no pods, since in those of ours fettle leaves such sidecars as they are."""

    def __init__(self, cluster, is_of_openkruise):
        self.own = 0 if is_of_openkruise else 2
        super().__init__(cluster, "injected", {"replicas": self.own, "template": templated("injected")})
        self.is_served = is_of_openkruise or None

    def make(self):
        self.cluster.server.ask("POST", sets, {
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet", "metadata": {"name": self.name},
            "spec": {"selector": {"matchLabels": {"app": self.name}}, "containers": [self.sidecar()], "updateStrategy": {"maxUnavailable": 1}}})
        if self.is_served is None:
            self.is_served = wait("the server can inject sidecars, or not", self.condition)["reason"] == "PolicyInPlace"
        wait("the set is kept", lambda: "latestRevision" in self.status())
        time.sleep(1)  # for the server to hear of its policy, or a webhook of the set
        self.apply()
        if self.is_served:
            spec = {**self.document["spec"], "replicas": 2, "selector": {"matchLabels": {"app": self.name, "of": "others"}}}
            spec["template"] = {**spec["template"], "metadata": {"labels": {"app": self.name, "of": "others"}}}
            self.cluster.server.ask("POST", f"/apis/apps/v1/namespaces/{space}/deployments", {
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": self.name}, "spec": {**spec, "template": self.without_gates(spec["template"])}})

    @staticmethod
    def without_gates(template):
        return {**template, "spec": {key: value for key, value in template["spec"].items() if key != "readinessGates"}}

    def sidecar(self):
        return {"name": "log", "image": f"log:{self.number}", "podInjectPolicy": "AfterAppContainer"}

    def status(self):
        return self.cluster.server.ask("GET", f"{sets}/{self.name}").get("status", {})

    def condition(self):
        return next((row for row in self.status().get("conditions", []) if row["type"] == "InjectsPodsOfOthers"), None)

    def wanted_pods(self):
        return self.own + (2 if self.is_served else 0)

    def with_sidecar(self, number):
        return [pod for pod in self.pods() if api.condition(pod, "Ready") == "True"
                and [each["image"] for each in pod["spec"]["containers"] if each["name"] == "log"] == [f"log:{number}"]
                and any(each["image"] == f"log:{number}" for each in pod["status"].get("containerStatuses", []))]

    def is_done(self):
        return len(self.pods()) == self.wanted_pods() == len(self.with_sidecar(self.number))

    def begin(self):
        self.number += 1
        self.uids = {pod["metadata"]["uid"] for pod in self.pods()}
        self.change(1)

    def change(self, partition):
        self.cluster.server.merge(f"{sets}/{self.name}", {"spec": {"containers": [self.sidecar()], "updateStrategy": {"partition": partition}}})

    def is_half(self):
        return len(self.with_sidecar(self.number)) == self.wanted_pods() - 1 and len(self.with_sidecar(self.number - 1)) == 1

    def end(self):
        self.change(0)


class Still(Trial):
    """Nothing changes about it, whoever keeps it."""

    def __init__(self, cluster, kind, version, strategy):
        self.kind, self.version = kind, version
        name = f"still-{kind.lower()}"
        super().__init__(cluster, name, {"updateStrategy": strategy, "template": templated(name)})
        if kind != "DaemonSet":
            self.document["spec"]["replicas"] = 2
        if kind == "StatefulSet":
            self.document["spec"]["serviceName"] = name

    def wanted_pods(self):
        return len(self.cluster.items("/api/v1/nodes")) if self.kind == "DaemonSet" else super().wanted_pods()

    def picture(self):
        return {pod["metadata"]["uid"]: [[each.get("containerID"), each["restartCount"]] for each in pod["status"].get("containerStatuses", [])] for pod in self.pods()}

    def write_again(self):
        # What `replace` leaves out, the server has no more; whoever comes next must not refuse the object for that.
        for words in (("apply",), ("replace",)):
            done = self.cluster.kubectl(*words, "-f", "-", document=self.document, may_fail=True)
            note(done.returncode == 0, f"{self.name}: kubectl {words[0]} of its {self.version} is not refused", done.stderr)


def still_trials(cluster):
    """One of each kind."""
    return [Still(cluster, "CloneSet", "v1alpha1", {"type": "InPlaceIfPossible"}), Still(cluster, "StatefulSet", "v1beta1", rollouts.in_place()),
            Still(cluster, "DaemonSet", "v1alpha1", rollouts.rolling(maxUnavailable=1))]


class Halves:
    """All that are held: the steady ones, and those that go on by themselves after 40 s. `is_of_openkruise`: see `Injected`."""

    def __init__(self, cluster, is_of_openkruise=False):
        self.injected = Injected(cluster, is_of_openkruise)
        self.steady = [Hook(cluster), Pull(cluster), Held(cluster, "alpha", "v1alpha1"), Held(cluster, "beta", "v1beta1"),
                       Held(cluster, "applied", "v1alpha1", ("--server-side",)), self.injected]
        self.brief = [Grace(cluster), Batches(cluster), Surge(cluster)]
        self.all = [*self.steady, *self.brief]

    def begin(self, by):
        for trials in (self.steady, self.brief):
            for trial in trials:
                trial.begin()
            for trial in trials:
                wait(f"{trial.name}: {by} comes half way", trial.is_half)
        for trial in self.all:
            note(trial.is_half(), f"{trial.name}: {by} has come half way")

    def end(self, by):
        for trial in self.all:
            trial.end()
        for trial in self.all:
            wait(f"{trial.name}: {by} ends the rollout", trial.is_done)
            trial.check_end(by)

    def close(self):
        for trial in self.all:
            trial.close()


def revisions_in(cluster):
    return {each["metadata"]["name"] for each in cluster.items(f"/apis/apps/v1/namespaces/{space}/controllerrevisions")}


def leader_of(cluster):
    """Empty: nobody."""
    lease = cluster.server.ask("GET", f"/apis/coordination.k8s.io/v1/namespaces/{system}/leases/kruise-manager", missing_is_fine=True)
    return lease.get("spec", {}).get("holderIdentity", "")
