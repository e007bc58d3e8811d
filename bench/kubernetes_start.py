"""From the start of a controller to its first right decision, with 10,000 pods on 1,000 simulated nodes of a real API server: while
no controller runs, a CloneSet gets one replica more, and time runs from the start of the process until its pod is made. Beside it a
bare client lists all that a controller follows."""
import statistics
import time

from kubernetes_cluster import (Dialogue, a_cluster, any_number, bare_kubeconfig, beside, group, memory_of, need, programs, script, seconds_of,
                                show, start_of, wait)
import rollouts

sets = 10
rounds = 3
more_than_bare = 1.0  # s
path = f"{group}/namespaces/default/clonesets"


def make_pods(cluster, count):
    """By the controller itself, which has no budget meanwhile."""
    script("ours", "up", cluster.folder, "--enable-leader-election=false", *any_number, check=True)
    for number in range(1, sets + 1):
        spec = rollouts.workload(count // sets, rollouts.in_place(maxUnavailable="20%"))["spec"]
        labels = {"app": f"set-{number}"}
        spec["selector"], spec["template"]["metadata"]["labels"] = {"matchLabels": labels}, labels
        cluster.server.ask("POST", path, {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet",
                                          "metadata": {"name": f"set-{number}"}, "spec": spec})

    def are_ready():
        ready = [each.get("status", {}).get("readyReplicas", 0) for each in cluster.server.ask("GET", path)["items"]]
        print(f"{sum(ready)} of {count} pods are ready", flush=True)
        return ready == [count // sets] * sets

    wait("all pods are ready", are_ready, 120 + count // 4, pause=15)
    time.sleep(30)  # what is left to be written
    script("ours", "stop", cluster.folder, check=True)


def first_pod(entries):
    return min((seconds_of(entry["stageTimestamp"]) for entry in entries
                if entry["user"]["username"] == "fettle" and entry["verb"] == "create" and entry.get("objectRef", {}).get("resource") == "pods"
                and "subresource" not in entry["objectRef"] and entry.get("responseStatus", {}).get("code", 0) < 300), default=None)


def start_once(cluster, number):
    """s from the start of the process to the first pod that it makes, which is the only one; and its memory, MB."""
    at = f"{path}/set-{number}"
    cluster.server.merge(at, {"spec": {"replicas": cluster.server.ask("GET", at)["spec"]["replicas"] + 1}})
    before = cluster.audit_size()
    script("ours", "again", cluster.folder, "--enable-leader-election=false", check=True)
    pid = cluster.pids()["fettle"]
    made = wait("a pod is made", lambda: first_pod(cluster.audited(before)), 120, pause=0.5)
    took = made - start_of(pid)
    time.sleep(10)
    made = sum(entry["user"]["username"] == "fettle" and entry["verb"] in ("create", "delete")
               and entry.get("objectRef", {}).get("resource") == "pods" and "subresource" not in entry["objectRef"]
               for entry in cluster.audited(before))
    resident = memory_of(pid)[1]
    script("ours", "stop", cluster.folder, check=True)
    print(f"start {number}: {took:.2f} s until the first pod, {made} pods made or removed, {resident:.0f} MB; {beside()}", flush=True)
    return took, made, resident


def run(folder, asked):
    nodes, count = asked.nodes or 1000, asked.pods or 10000
    need("fettle", "bare_cluster")
    with a_cluster(folder, nodes) as cluster:
        make_pods(cluster, count)
        kubeconfig = bare_kubeconfig(cluster)
        lists, starts = [], []
        for number in range(1, rounds + 1):
            told = Dialogue(programs / "bare_cluster", kubeconfig, "list").end()
            print(f"bare list: {told}; {beside()}", flush=True)
            lists.append(float(told.split()[0]))
            starts.append(start_once(cluster, number))
    bare, took = statistics.median(lists), statistics.median(each[0] for each in starts)
    target = bare + more_than_bare
    return show([
        (f"{count} pods, s from the start to the first right decision", f"<= {target:.2f}", f"{took:.2f}",
         f"bare list {bare:.2f} s; {beside()}", took <= target and all(each[1] == 1 for each in starts)),
        ("resident memory of the controller, MB", "-", f"{max(each[2] for each in starts):.0f}", beside(), None)])
