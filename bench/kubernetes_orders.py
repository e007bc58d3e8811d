"""Orders to nodes on a real API server: an ImageListPullJob of three images for 1,000 simulated nodes, whose daemons answer, beside a
bare client that makes the same patches. Both may send any number of requests a second."""
import collections
import statistics
import time

from kubernetes_cluster import (Dialogue, a_cluster, any_number, bare_kubeconfig, beside, cpu_of, group, memory_of, need, programs, script,
                                seconds_of, show, wait)

images = 3
most_of_bare = 1.5
bare_threads = (4, 16)  # a bare client is as good as its best number of threads
node_images = f"{group}/nodeimages"
jobs = f"{group}/namespaces/default/imagelistpulljobs"


def names_of(round_name):
    return [f"registry.example.com/{round_name}-{number}:1" for number in range(1, images + 1)]


def orders_in(entries, user):
    """How often each node was written to by a user, when, and what of its other writes concerned NodeImages."""
    counts, moments, others = collections.Counter(), [], collections.Counter()
    for entry in entries:
        at, verb = entry.get("objectRef", {}), entry["verb"]
        if at.get("resource") != "nodeimages" or entry["user"]["username"] != user or verb not in ("create", "update", "patch"):
            continue
        code = entry.get("responseStatus", {}).get("code", 0)
        if "subresource" in at or code >= 300:
            others[f"{verb} {at.get('subresource', '')} {code}"] += 1
            continue
        counts[at["name"]] += 1
        moments.append(seconds_of(entry["stageTimestamp"]))
    return counts, moments, others


def order_by_job(cluster, name, nodes):
    """The writes a node, s until the last one, s until the job is complete."""
    start, wall, began = cluster.audit_size(), time.time(), time.monotonic()
    cluster.server.ask("POST", jobs, {
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "ImageListPullJob", "metadata": {"name": name},
        "spec": {"images": names_of(name), "parallelism": "100%", "completionPolicy": {"type": "Always", "activeDeadlineSeconds": 1200}}})
    wait(f"{name} is complete", lambda: cluster.server.ask("GET", f"{jobs}/{name}").get("status", {}).get("completed") == images, 300)
    complete = time.monotonic() - began
    counts, moments, others = orders_in(cluster.audited(start), "fettle")
    print(f"{name}: {sum(counts.values())} writes to {len(counts)} of {nodes} nodes, {dict(others)}; complete after {complete:.1f} s; {beside()}",
          flush=True)
    return counts, max(moments, default=wall) - wall, complete


def order_barely(cluster, kubeconfig, threads):
    """s until the last answer, as the client says, and by the audit log."""
    start = cluster.audit_size()
    client = Dialogue(programs / "bare_cluster", kubeconfig, "order", threads, *names_of(f"bare-{threads}"))
    told = client.end()
    counts, moments, _ = orders_in(cluster.audited(start), "bare")
    print(f"bare client, {threads} threads: {told}; {len(counts)} nodes within {max(moments) - min(moments):.2f} s; {beside()}", flush=True)
    return float(told.split()[0])


def run(folder, asked):
    nodes = asked.nodes or 1000
    need("fettle", "bare_cluster")
    with a_cluster(folder, nodes) as cluster:
        script("ours", "up", cluster.folder, "--enable-leader-election=false", *any_number, check=True)
        pid = cluster.pids()["fettle"]
        wait("each node has a NodeImage", lambda: len(cluster.server.ask("GET", node_images)["items"]) >= nodes, 300, pause=2)
        time.sleep(10)
        daemons = Dialogue(programs / "bare_cluster", bare_kubeconfig(cluster, "daemons"), "daemons")
        try:
            time.sleep(3)
            before = cpu_of(pid)
            ours = [order_by_job(cluster, f"ours-{number}", nodes) for number in (1, 2, 3)]
            cpu, (_, resident) = cpu_of(pid) - before, memory_of(pid)
            script("ours", "stop", cluster.folder, check=True)
            time.sleep(3)
            kubeconfig = bare_kubeconfig(cluster)
            bare = {threads: order_barely(cluster, kubeconfig, threads) for threads in bare_threads}
        finally:
            print(f"daemons: {daemons.end()}")
    return show(list(rows_of(ours, bare, nodes, cpu, resident)))


def rows_of(ours, bare, nodes, cpu, resident):
    counts = [each[0] for each in ours]
    most, least = max(max(each.values(), default=0) for each in counts), min(len(each) for each in counts)
    yield "writes of three orders to a node, at most", "1", f"{most}", beside(), most == 1 and least == nodes
    threads, best = min(bare.items(), key=lambda item: item[1])
    took = statistics.median(each[1] for each in ours)
    yield f"orders to {nodes} nodes, s until the last write", f"<= {most_of_bare * best:.2f}", f"{took:.2f}", \
        f"bare {best:.2f} s with {threads} threads; {beside()}", took <= most_of_bare * best
    yield "... ÷ bare client", f"<= {most_of_bare}", f"{took / best:.2f}", beside(), took <= most_of_bare * best
    yield "... s until the job is complete", "-", f"{statistics.median(each[2] for each in ours):.2f}", beside(), None
    yield "processor time of the controller for one such job, s", "-", f"{cpu / len(ours):.2f}", beside(), None
    yield "resident memory of the controller, MB", "-", f"{resident:.0f}", beside(), None
