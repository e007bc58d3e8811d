"""The rollouts that `record` runs: a name, a kind, and what a user does, step by step."""

LABELS = {"app": "web"}


def template(image="web:1", labels=None, containers=None, **spec):
    return {"metadata": {"labels": {**LABELS, **(labels or {})}},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": containers or [{"name": "main", "image": image}], **spec}}


def workload(replicas, strategy=None, **more):
    spec = {"selector": {"matchLabels": LABELS}, "template": template(), **({} if replicas is None else {"replicas": replicas}), **more}
    return {"spec": {**spec, **({"updateStrategy": strategy} if strategy is not None else {})}}


def rolling(**fields):
    return {"rollingUpdate": fields}


def in_place(**fields):
    return rolling(podUpdatePolicy="InPlaceIfPossible", **fields)


def spec(**fields):
    return {"patch": {"spec": fields}}


def image(name="web:2"):
    return spec(template={"spec": {"containers": [{"name": "main", "image": name}]}})


def strategy(**fields):
    return spec(updateStrategy=rolling(**fields))


def labelled(name, **labels):
    return {name: {"metadata": {"labels": labels}}}


workload_of = workload


def clone_sets():
    one = in_place(maxUnavailable=1)

    def grown(count, update, **more):
        """Pods with a second between them: their order is defined."""
        return [{"create": workload(1, update, **more)}, {"grow": list(range(2, count + 1))}]

    weights = {"weightPriority": [{"weight": 50, "matchSelector": {"matchLabels": {"tier": "a"}}}, {"weight": 20, "matchSelector": {"matchLabels": {"tier": "b"}}}]}
    hook = {"inPlaceUpdate": {"labelsHandler": {"hold": "true"}}}
    held = template(labels={"hold": "true"})
    two = [{"name": "main", "image": "web:1"}, {"name": "side", "image": "side:1"}]
    yield "clone-create", [{"create": workload(5)}]
    yield "clone-in-place", [*grown(5, one), image()]
    yield "clone-in-place-half", [*grown(6, in_place(maxUnavailable="50%")), image()]
    yield "clone-recreate", [*grown(5, rolling(maxUnavailable=1)), image()]
    yield "clone-surge", [*grown(4, rolling(maxUnavailable=1, maxSurge=2)), image()]
    yield "clone-surge-in-place", [*grown(4, in_place(maxUnavailable=1, maxSurge=1)), image()]
    yield "clone-partition", [*grown(5, in_place(maxUnavailable=1, partition=3)), image(), strategy(partition=1), strategy(partition=0)]
    yield "clone-partition-percent", [*grown(5, in_place(maxUnavailable=1, partition="99%")), image(), strategy(partition="40%"), strategy(partition="0%")]
    yield "clone-pause", [*grown(5, in_place(maxUnavailable=1, partition=3)), image(), strategy(paused=True, partition=0), strategy(paused=False)]
    yield "clone-rollback", [*grown(5, in_place(maxUnavailable=1, partition=2)), image(), image("web:1"), strategy(partition=0)]
    yield "clone-third-revision", [*grown(5, in_place(maxUnavailable=1, partition=3)), image(), image("web:3"), strategy(partition=0)]
    yield "clone-weights", [*grown(5, in_place(maxUnavailable=1, partition=5, priorityStrategy=weights)), image(),
                            {"patch_pods": {**labelled("p2", tier="a"), **labelled("p4", tier="b")}}, strategy(partition=3), strategy(partition=0)]
    yield "clone-order", [*grown(4, in_place(maxUnavailable=1, partition=4, priorityStrategy={"orderPriority": [{"orderedKey": "rank"}]})), image(),
                          {"patch_pods": {**labelled("p1", rank="r-3"), **labelled("p2", rank="r-9"), **labelled("p3", rank="r-1")}}, strategy(partition=0)]
    yield "clone-scatter", [*grown(6, in_place(maxUnavailable=1, partition=6, scatterStrategy=[{"key": "tier", "value": "a"}])), image(),
                            {"patch_pods": {**labelled("p1", tier="a"), **labelled("p2", tier="a")}}, strategy(partition=0)]
    yield "clone-hook", [*grown(2, one, lifecycle=hook, template=held), image(),
                         {"patch_pods": {**labelled("p1", hold=None), **labelled("p2", hold=None)}},
                         {"patch_pods": {**labelled("p1", hold="true"), **labelled("p2", hold="true")}}]
    yield "clone-hook-delete", [*grown(2, one, lifecycle={"preDelete": {"labelsHandler": {"hold": "true"}}}, template=held), spec(replicas=0),
                                {"patch_pods": labelled("p1", hold=None)}, {"patch_pods": labelled("p2", hold=None)}]
    yield "clone-hook-rollback", [{"create": workload(1, in_place(maxUnavailable=1), lifecycle=hook, template=held)}, image(), image("web:1")]
    yield "clone-specified", [*grown(4, one), {"patch_pods": labelled("p2", **{"apps.kruise.io/specified-delete": "true"})}]
    yield "clone-pods-to-delete", [*grown(4, one), {"podsToDelete": {"replicas": 3, "names": ["p1"]}}]
    yield "clone-scale", [*grown(3, one), spec(replicas=6), spec(replicas=2)]
    yield "clone-scale-cost", [*grown(3, one), {"patch_pods": {"p3": {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "100"}}}}},
                               spec(replicas=1)]
    yield "clone-scale-in-update", [*grown(4, in_place(maxUnavailable=1, partition=2)), image(), spec(replicas=6), spec(replicas=3), strategy(partition=0)]
    yield "clone-impossible", [*grown(3, one), spec(template={"spec": {"containers": [{"name": "main", "image": "web:2", "env": [{"name": "A", "value": "b"}]}]}})]
    yield "clone-in-place-only", [*grown(3, rolling(podUpdatePolicy="InPlaceOnly", maxUnavailable=1)), image()]
    yield "clone-grace", [*grown(3, in_place(maxUnavailable=1, inPlaceUpdateStrategy={"gracePeriodSeconds": 2})), image()]
    yield "clone-label", [*grown(3, one), spec(template={"metadata": {"labels": {"version": "2"}}})]
    yield "clone-two-containers", [*grown(2, one, template=template(containers=two)),
                                   spec(template={"spec": {"containers": [{"name": "main", "image": "web:2"}, {"name": "side", "image": "side:2"}]}})]
    yield "clone-broken", [*grown(4, in_place(maxUnavailable=2)), image("web:broken-2"), image("web:3")]
    yield "clone-missing", [*grown(4, in_place(maxUnavailable=1)), image("web:missing-2"), image("web:1")]
    yield "clone-on-delete", [*grown(3, {"type": "OnDelete"}), image(), {"delete_pods": ["p1"]}]
    yield "clone-ready-seconds", [*grown(3, one, minReadySeconds=2), image()]


def stateful_sets():
    def workload(replicas, strategy=None, **more):
        # OpenKruise wants the gate to be written down here, and adds it by itself elsewhere.
        gates = {"readinessGates": [{"conditionType": "InPlaceUpdateReady"}]}
        return workload_of(replicas, strategy, **{"template": template(**gates), **more})

    one = in_place()
    parallel = {"podManagementPolicy": "Parallel"}
    ranks = {"unorderedUpdate": {"priorityStrategy": {"orderPriority": [{"orderedKey": "rank"}]}}}
    yield "stateful-create", [{"create": workload(4, one)}]
    yield "stateful-in-place", [{"create": workload(4, one)}, image()]
    yield "stateful-recreate", [{"create": workload(3)}, image()]
    yield "stateful-partition", [{"create": workload(4, in_place(partition=3))}, image(), strategy(partition=1), strategy(partition=0)]
    yield "stateful-parallel", [{"create": workload(5, in_place(maxUnavailable=2), **parallel)}, image()]
    yield "stateful-pause", [{"create": workload(4, in_place(partition=2))}, image(), strategy(paused=True, partition=0), strategy(paused=False)]
    yield "stateful-rollback", [{"create": workload(4, in_place(partition=2))}, image(), image("web:1"), strategy(partition=0)]
    yield "stateful-scale", [{"create": workload(2, one)}, spec(replicas=4), spec(replicas=1)]
    yield "stateful-reserved", [{"create": workload(3, one, reserveOrdinals=[1])}, spec(reserveOrdinals=[]), spec(reserveOrdinals=[0])]
    yield "stateful-unordered", [{"create": workload(4, in_place(partition=4, maxUnavailable=1, **ranks), **parallel)}, image(),
                                 {"patch_pods": {**labelled("web-0", rank="r-5"), **labelled("web-2", rank="r-7")}}, strategy(partition=2), strategy(partition=0)]
    yield "stateful-broken", [{"create": workload(3, one)}, image("web:broken-2"), image("web:3")]
    yield "stateful-on-delete", [{"create": workload(3, {"type": "OnDelete"})}, image(), {"delete_pods": ["web-1"]}]


def daemon_sets():
    one = rolling(rollingUpdateType="InPlaceIfPossible", maxUnavailable=1)
    first = {"matchLabels": {"kubernetes.io/hostname": "node-0002"}}
    yield "daemon-create", [{"create": workload(None)}]
    yield "daemon-in-place", [{"create": workload(None, one)}, image()]
    yield "daemon-recreate", [{"create": workload(None, rolling(maxUnavailable=2))}, image()]
    yield "daemon-surge", [{"create": workload(None, rolling(maxUnavailable=0, maxSurge=2))}, image()]
    yield "daemon-partition", [{"create": workload(None, one)}, strategy(partition=4), image(), strategy(partition=0)]
    yield "daemon-selector", [{"create": workload(None, rolling(rollingUpdateType="InPlaceIfPossible", maxUnavailable=1, selector=first))}, image(), strategy(selector=None)]
    yield "daemon-pause", [{"create": workload(None, rolling(rollingUpdateType="InPlaceIfPossible", maxUnavailable=1, paused=True))}, image(), strategy(paused=False)]


def sidecar_sets():
    def sidecars(name, **update):
        return {"spec": {"selector": {"matchLabels": LABELS}, "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "record-" + name}},
                         "containers": [{"name": "side", "image": "side:1"}], "updateStrategy": update}}

    pods = {"create_pods_of": {"kind": "CloneSet", **workload(4, in_place(maxUnavailable=1))}}
    update = spec(containers=[{"name": "side", "image": "side:2"}])
    yield "sidecar-in-place", lambda name: [{"create": sidecars(name, maxUnavailable=1)}, pods, update]
    yield "sidecar-partition", lambda name: [{"create": sidecars(name, maxUnavailable=1, partition=3)}, pods, update, spec(updateStrategy={"partition": 0})]
    yield "sidecar-pause", lambda name: [{"create": sidecars(name, maxUnavailable=2)}, pods, spec(updateStrategy={"paused": True}), update,
                                         spec(updateStrategy={"paused": False})]
    yield "sidecar-not", lambda name: [{"create": sidecars(name, type="NotUpdate")}, pods, update]


ALL = {name: {"kind": kind, "steps": steps}
       for kind, made in (("CloneSet", clone_sets()), ("StatefulSet", stateful_sets()), ("DaemonSet", daemon_sets())) for name, steps in made}
ALL |= {name: {"kind": "SidecarSet", "pods_of": "CloneSet", "steps": steps(name)} for name, steps in sidecar_sets()}
ALL["clone-alpha"] = {"kind": "CloneSet", "version": "v1alpha1", "steps": [
    {"create": workload(1, {"type": "InPlaceIfPossible", "maxUnavailable": 1, "partition": 2})}, {"grow": [2, 3, 4]}, image(),
    spec(updateStrategy={"partition": 0})]}
ALL["clone-alpha-recreate"] = {"kind": "CloneSet", "version": "v1alpha1", "steps": [{"create": workload(1, {"maxUnavailable": 1})}, {"grow": [2, 3]}, image()]}
ALL["stateful-alpha"] = {"kind": "StatefulSet", "version": "v1alpha1", "steps": ALL["stateful-in-place"]["steps"]}

# Where fettle differs from OpenKruise and means to: the manual has a line for each (docs/kubernetes.md, "Compared with OpenKruise").
DIFFERENT = {"sidecar-not", "stateful-broken", "clone-missing"}
