"""SidecarSets and pods for scripts that look at what is injected."""
import random

nasty = "\" + object.metadata.name + \"' \\ ${A} $(B) {{c}}\nnext\ttab größe ☃ 🐟"

# Labels of pods choose among the sets, so that one pod can have several. OpenKruise refuses a set
# with a native sidecar that may be updated.
sets = {
    "plain": {"containers": [
        {"name": "first", "image": "first:1"},
        {"name": "log", "image": "log:1", "podInjectPolicy": "AfterAppContainer", "ports": [{"containerPort": 9000, "name": "log"}],
         "env": [{"name": "NASTY", "value": nasty}], "resources": {"requests": {"cpu": "10m"}},
         "volumeMounts": [{"name": "logs", "mountPath": "/logs"}],
         "livenessProbe": {"httpGet": {"path": "/", "port": 9000, "httpHeaders": [{"name": "X", "value": "\""}]}, "periodSeconds": 7}}],
        "volumes": [{"name": "logs", "emptyDir": {"sizeLimit": "1Mi"}}]},
    "lends": {"containers": [
        {"name": "reader", "image": "reader:1", "shareVolumePolicy": {"type": "enabled"},
         "volumeMounts": [{"name": "own", "mountPath": "/data"}],
         "env": [{"name": "KNOWN", "value": "own"}],
         "transferEnv": [{"sourceContainerName": "main", "envNames": ["TEXT", "KNOWN", "FIELD", "SECRET", "LIMIT", "MAP", "NONE"]},
                         {"sourceContainerNameFrom": {"fieldRef": {"fieldPath": "metadata.labels['lender']"}}, "envName": "SIDE"}]},
        {"name": "only-volumes", "image": "reader:1", "podInjectPolicy": "AfterAppContainer", "shareVolumePolicy": {"type": "enabled"}}],
        "volumes": [{"name": "own", "emptyDir": {}}]},
    "inits": {"initContainers": [
        {"name": "m-native", "image": "native:1", "restartPolicy": "Always", "shareVolumePolicy": {"type": "enabled"}},
        {"name": "b-init", "image": "init:1", "command": ["sh", "-c", "echo \"$A\"; exit 0"]}],
        "containers": [{"name": "with-inits", "image": "with:1"}], "updateStrategy": {"type": "NotUpdate"}},
    "more-inits": {"initContainers": [{"name": "c-init", "image": "init:2"}]},
    "hot": {"containers": [{"name": "mesh", "image": "mesh:1", "upgradeStrategy": {
        "upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "empty:1"}, "podInjectPolicy": "AfterAppContainer",
        "shareVolumePolicy": {"type": "enabled"}}]},
    "also-hot": {"containers": [{"name": "proxy", "image": "proxy:1", "upgradeStrategy": {
        "upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "empty:1"}}]},
    "devices": {"containers": [{"name": "disk", "image": "disk:1", "shareVolumeDevicePolicy": {"type": "enabled"}}]},
    "updated": {"containers": [{"name": "agent", "image": "agent:1", "shareVolumePolicy": {"type": "enabled"}}],
                "updateStrategy": {"maxUnavailable": 1}},
}

lender = {
    "containers": [
        {"name": "main", "image": "main:1",
         "env": [{"name": "TEXT", "value": nasty}, {"name": "KNOWN", "value": "pod"}, {"name": "EMPTY"},
                 {"name": "FIELD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                 {"name": "LIMIT", "valueFrom": {"resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}},
                 {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}},
                 {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
                 {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
         "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "data", "mountPath": "/read", "readOnly": True, "subPath": "a\"b"},
                          {"name": "data", "mountPath": "/pod", "subPathExpr": "x/$(POD)"}]},
        {"name": "side", "image": "side:1", "env": [{"name": "SIDE", "value": "s"}],
         "volumeMounts": [{"name": "data", "mountPath": "/read"}, {"name": "data", "mountPath": "/side"}]}],
    "volumes": [{"name": "data", "emptyDir": {}}]}
simple = {"containers": [{"name": "main", "image": "main:1"}]}
with_inits = {"initContainers": [{"name": "z-own", "image": "own:1"}, {"name": "a-own", "image": "own:1"}], **simple}
with_disk = {"containers": [{"name": "main", "image": "main:1", "volumeDevices": [{"name": "disk", "devicePath": "/dev/x"}]}],
             "volumes": [{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]}

# Name of the pod: its spec, the sets that it is to have.
pods = {
    "nothing": (simple, []),
    "one": (simple, ["plain"]),
    "lending": (lender, ["lends"]),
    "lends-nothing": (simple, ["lends"]),
    "inits": (with_inits, ["inits"]),
    "two-inits": (with_inits, ["inits", "more-inits"]),
    "hot": (lender, ["hot"]),
    "two-hot": (lender, ["hot", "also-hot"]),
    "disk": (with_disk, ["devices"]),
    "all": (lender, ["plain", "lends", "inits", "more-inits", "hot", "also-hot", "devices"]),
}


def shuffled(dice, items, fewest, most):
    return dice.sample(items, dice.randint(fewest, min(most, len(items))))


def random_variable(dice, name, container):
    """One of each sort that a server takes."""
    sources = [{"fieldRef": {"fieldPath": "metadata.name"}}, {"resourceFieldRef": {"containerName": container, "resource": "limits.cpu"}},
               {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}, {"configMapKeyRef": {"name": "m", "key": "k"}}]
    return dice.choice([{"name": name, "value": f"{name}-{dice.randint(1, 9)}"}, {"name": name}, {"name": name, "valueFrom": dice.choice(sources)}])


def random_container(dice, name, volumes):
    """Its variables are those for which sidecars ask, and others."""
    container = {"name": name, "image": f"{name}:1", "env": [random_variable(dice, each, name)
                                                             for each in shuffled(dice, ["TEXT", "KNOWN", "FIELD", "SECRET", "LIMIT", "MAP", "SIDE", "OTHER"], 0, 6)]}
    paths = dice.sample(["/data", "/read", "/logs", "/a", "/b"], min(4, 2 * len(volumes)))
    container["volumeMounts"] = [{"name": dice.choice(volumes)["name"], "mountPath": path, **({"readOnly": True} if dice.random() < 0.3 else {})}
                                 for path in shuffled(dice, paths, 0, 3)] if volumes else []
    if dice.random() < 0.3:
        container["ports"] = [{"containerPort": dice.randint(1000, 8000)}]
    return container


def random_pod(dice):
    volumes = shuffled(dice, [{"name": "data", "emptyDir": {}}, {"name": "files", "configMap": {"name": "m", "optional": True}},
                              {"name": "keys", "secret": {"secretName": "s", "optional": True}}], 0, 3)
    spec = {"containers": [random_container(dice, name, volumes) for name in shuffled(dice, ["main", "side", "worker"], 1, 3)], "volumes": volumes}
    for name in shuffled(dice, ["a-own", "k-own", "z-own"], 0, 2):
        native = {"restartPolicy": "Always"} if dice.random() < 0.4 else {}
        spec.setdefault("initContainers", []).append({**random_container(dice, name, volumes), **native})
    if dice.random() < 0.4:
        spec["imagePullSecrets"] = [{"name": name} for name in shuffled(dice, ["own", "shared"], 1, 2)]
    if dice.random() < 0.2:
        spec["volumes"] = [*volumes, {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
        spec["containers"][0]["volumeDevices"] = [{"name": "disk", "devicePath": "/dev/x"}]
    return spec, sorted(shuffled(dice, [*sets, *more_sets], 1, 5)), dice.choice(["main", "side", "worker", "nobody"])


# Only `webhook` has them.
more_sets = {
    "secrets": {"containers": [{"name": "private", "image": "private:1"}], "imagePullSecrets": [{"name": "of-set"}, {"name": "shared"}]},
    "named": {"containers": [{"name": "pinned", "image": "pinned:2", "podInjectPolicy": "AfterAppContainer"}]},
    "paused": {"containers": [{"name": "never", "image": "never:1"}], "injectionStrategy": {"paused": True}},
}


def sixty_pods():
    """Name: its spec, the sets that it is to have, the container that lends `SIDE`. Those above, and random ones, always the same."""
    dice = random.Random(60)
    found = {name: (spec, wanted, "side") for name, (spec, wanted) in pods.items()}
    for number in range(60 - len(found)):
        found[f"random-{number}"] = random_pod(dice)
    return found
