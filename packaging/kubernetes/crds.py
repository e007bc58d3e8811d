#!/usr/bin/env python3
"""Writes crds/*.yaml: the kinds of OpenKruise 1.9 that fettle runs on Kubernetes.

    crds.py            writes them
    crds.py --check    fails where a file is not what this would write

Both served versions of a kind have one schema, with the fields of either. The server converts nothing, so an object that was
written in one version is also read, and its status written, in the other: a field that only one of the schemas knew would be
dropped, and a rule that only one of them had would refuse somebody else's object. For the same reason no field that the versions
read differently has a default here; fettle knows which version the writer meant.

The rules are those of src/workloads/read about one object, as far as they hold for every cluster. What they cannot see
(annotations, keys of labels, most of a pod) is refused where it is used, and stands in the status.
"""

import pathlib
import sys

GROUP = "apps.kruise.io"
FOLDER = pathlib.Path(__file__).parent / "crds"

# Texts.

LABEL_VALUE = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
LABEL_KEY = "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
DNS_LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DNS_NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"


def told(schema, description):
    return {"description": description, **schema}


def text(*words, **limits):
    return {"type": "string", **({"enum": list(words)} if words else {}), **limits}


def number(least=0, most=None, wide=False):
    limits = {"minimum": least} | ({} if most is None else {"maximum": most})
    return {"type": "integer", "format": "int64" if wide else "int32", **limits}


FLAG = {"type": "boolean"}
TIME = {"type": "string", "format": "date-time"}
COUNT = {"type": "integer", "format": "int32"}


def rule(condition, message, **more):
    return {"rule": " ".join(condition.split()), "message": message, **more}


def ruled(schema, *rules):
    return {**schema, "x-kubernetes-validations": [*schema.get("x-kubernetes-validations", []), *rules]}


def fields(members, required=(), keeps_unknown=False):
    """A dict with known members."""
    schema = {"type": "object"}
    if required:
        schema["required"] = list(required)
    if keeps_unknown:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    return {**schema, "properties": members}


def mapping(item, most=None):
    limits = {} if most is None else {"maxProperties": most}
    return {"type": "object", **limits, "additionalProperties": item}


def items(item, keys=(), most=None, least=None, unique=False):
    """A list. With keys, or unique, the server refuses a second one, and server-side apply merges item by item."""
    schema = {"type": "array"}
    if least is not None:
        schema["minItems"] = least
    if most is not None:
        schema["maxItems"] = most
    if keys:
        schema |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}
    elif unique:
        schema |= {"x-kubernetes-list-type": "set"}
    return {**schema, "items": item}


INT_OR_TEXT = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}


def amount(whole=False):
    """A number, or a share; `whole`: at most all of them."""
    share = "0*([1-9]?[0-9]|100)" if whole else "[0-9]+"
    return ruled({**INT_OR_TEXT, "maxLength": 20},
                 rule(f"type(self) == int ? self >= 0 : self.matches('^{share}%$')",
                      "must be a number from 0, without quotes, or a percentage" + (" up to 100%" if whole else "")))


def is_zero(path):
    return f"({path} == 0 || {path} == '0%')"


def has_all(start, path):
    """Whether there is a field, and each above it."""
    parts = path.split(".")
    return " && ".join(f"has({'.'.join([start, *parts[:i]])})" for i in range(1, len(parts) + 1))


def is_same(path, otherwise=None, old="o", new="n"):
    """Whether two dicts have the same in a field, be it nothing. `otherwise`: what nothing means."""
    if otherwise is not None:
        return "(" + " == ".join(f"({has_all(start, path)} ? {start}.{path} : {otherwise})" for start in (old, new)) + ")"
    return f"({has_all(old, path)} ? {has_all(new, path)} && {old}.{path} == {new}.{path} : !({has_all(new, path)}))"


# Parts of several kinds.

LABEL_VALUES = text(maxLength=63, pattern=LABEL_VALUE)


def selector(selects_something=True, **members):
    expression = ruled(
        fields({"key": text(minLength=1, maxLength=317, pattern=LABEL_KEY),
                "operator": text("In", "NotIn", "Exists", "DoesNotExist"),
                "values": items(LABEL_VALUES, most=256)}, required=["key", "operator"]),
        rule("self.operator in ['In', 'NotIn'] == (has(self.values) && size(self.values) > 0)",
             "In and NotIn need values, Exists and DoesNotExist take none"))
    schema = {**fields({"matchLabels": mapping(LABEL_VALUES, most=256), "matchExpressions": items(expression, most=64), **members}),
              "x-kubernetes-map-type": "atomic"}
    if not selects_something:
        return schema
    return ruled(schema, rule("has(self.matchLabels) && size(self.matchLabels) > 0 || has(self.matchExpressions) && size(self.matchExpressions) > 0",
                              "must select something: a selector must not be empty"))


UNCHANGED = rule("self == oldSelf", "cannot change: delete the object and create it again")


def containers(members=None, rules=(), least=None):
    container = fields({"name": text(maxLength=63, pattern=DNS_LABEL), "image": text(minLength=1, maxLength=4096, pattern=r"^\S+$"),
                        **(members or {})}, required=["name", "image"], keeps_unknown=True)
    return items(ruled(container, *rules) if rules else container, keys=["name"], most=256, least=least)


POD_TEMPLATE = fields({
    "metadata": fields({"labels": mapping(LABEL_VALUES, most=1024)}, keeps_unknown=True),
    "spec": ruled(
        fields({"containers": containers(least=1),
                "initContainers": containers(),
                "restartPolicy": text("Always"),
                "activeDeadlineSeconds": {"type": "integer", "format": "int64"}}, required=["containers"], keeps_unknown=True),
        rule("!has(self.activeDeadlineSeconds)", "`activeDeadlineSeconds` is not allowed for pods that keep running")),
}, required=["spec"], keeps_unknown=True)

# Sizes are known of fields only, not of what stands in for one that is absent: without them, a rule seems to cost too much.
HAS_LABELS = "has(self.template.metadata) && has(self.template.metadata.labels)"
LABELS = "self.template.metadata.labels"
SELECTOR_MATCHES = [
    rule(f"""!has(self.selector.matchLabels) || self.selector.matchLabels.all(k,
             {HAS_LABELS} && k in {LABELS} && {LABELS}[k] == self.selector.matchLabels[k])""",
         "`selector` does not match the labels of `template`"),
    rule(f"""!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e,
             e.operator in ['In', 'Exists'] == ({HAS_LABELS} && e.key in {LABELS}
             && (e.operator in ['Exists', 'DoesNotExist'] || has(e.values) && {LABELS}[e.key] in e.values)))""",
         "`selector` does not match the labels of `template`"),
]

CLAIMS = items(fields({
    "metadata": fields({"name": text(minLength=1, maxLength=253, pattern=DNS_NAME)}, required=["name"], keeps_unknown=True),
    "spec": fields({"accessModes": items(text(maxLength=64), most=8), "storageClassName": text(maxLength=253),
                    "volumeMode": text("Filesystem", "Block", maxLength=16),
                    "resources": fields({"requests": fields({"storage": {**INT_OR_TEXT, "maxLength": 64}}, keeps_unknown=True)}, keeps_unknown=True)},
                   keeps_unknown=True),
}, required=["metadata"], keeps_unknown=True), most=32)
CLAIM_NAMES = rule("""!has(self.volumeClaimTemplates) || self.volumeClaimTemplates.all(a,
                      self.volumeClaimTemplates.exists_one(b, b.metadata.name == a.metadata.name))""",
                   "two claim templates have the same name")

HOOK = fields({"labelsHandler": mapping(text()), "finalizersHandler": items(text()), "markPodNotReady": FLAG})
HOOKS = fields({"preNormal": HOOK, "inPlaceUpdate": HOOK, "preDelete": HOOK})

PRIORITIES = ruled(
    fields({"weightPriority": items(fields({"weight": number(0, 100), "matchSelector": selector()}, required=["weight", "matchSelector"]), most=64),
            "orderPriority": items(fields({"orderedKey": text(minLength=1)}, required=["orderedKey"]), most=64)}),
    rule("!has(self.weightPriority) || !has(self.orderPriority)", "takes weights or order keys, not both"))
SCATTER = items(fields({"key": text(minLength=1), "value": text()}, required=["key", "value"]), keys=["key", "value"], most=64)
IN_PLACE = fields({"gracePeriodSeconds": number(), "imagePreDownloadParallelism": amount(),
                   "imagePreDownloadTimeoutSeconds": number(1), "imagePreDownloadMinUpdatedReadyPods": amount()})
POD_POLICY = text("ReCreate", "InPlaceIfPossible", "InPlaceOnly")


def partition(schema=None):
    return told(schema or amount(whole=True), "How many, or which share, keep the older revision.")


def conditions(**more):
    condition = fields({"type": text(), "status": text(), "reason": text(), "message": text(), "lastTransitionTime": TIME, **more},
                       required=["type", "status"])
    return items(condition, keys=["type"])


def status(*counts, **members):
    """Keeps what it does not know: the next version of fettle, or the last one of OpenKruise, may say more."""
    known = {"observedGeneration": {"type": "integer", "format": "int64"}, "conditions": conditions(), **members,
             **{name: COUNT for name in counts}}
    return fields(dict(sorted(known.items())), keeps_unknown=True)


# The kinds.


def clone_set():
    rolling = {"partition": partition(), "maxUnavailable": amount(whole=True), "maxSurge": amount(whole=True), "paused": FLAG,
               "priorityStrategy": PRIORITIES, "scatterStrategy": SCATTER, "inPlaceUpdateStrategy": IN_PLACE}
    moves = rule(f"!has(self.maxUnavailable) || !{is_zero('self.maxUnavailable')} || has(self.maxSurge) && !{is_zero('self.maxSurge')}",
                 "`maxUnavailable` and `maxSurge` cannot both be 0: no pod could change")

    def adds_no_pod(policy):
        return rule(f"self.?{policy}.orValue('') != 'InPlaceOnly' || !has(self.maxSurge) || {is_zero('self.maxSurge')}",
                    "`maxSurge` cannot be used with InPlaceOnly: no pod is recreated")

    # v1alpha1 has all of it beside `type`, v1beta1 below `rollingUpdate`.
    strategy = ruled(
        fields({"type": text("RollingUpdate", "OnDelete", "ReCreate", "InPlaceIfPossible", "InPlaceOnly"), **rolling,
                "rollingUpdate": ruled(fields({"podUpdatePolicy": POD_POLICY, **rolling}), moves, adds_no_pod("podUpdatePolicy"))}),
        moves, adds_no_pod("type"))
    spec = ruled(
        fields({"replicas": {**number(0, 200_000), "default": 1},
                "selector": ruled(selector(), UNCHANGED),
                "template": POD_TEMPLATE,
                "volumeClaimTemplates": CLAIMS,
                "scaleStrategy": fields({"podsToDelete": told(items(text(minLength=1), unique=True), "Pods that go first, or are replaced."),
                                         "maxUnavailable": amount(), "enablePVCReuse": FLAG, "disablePVCReuse": FLAG,
                                         "excludePreparingDelete": FLAG}),
                "updateStrategy": strategy,
                "minReadySeconds": number(), "revisionHistoryLimit": number(), "progressDeadlineSeconds": number(),
                "lifecycle": HOOKS}, required=["selector", "template"]),
        *SELECTOR_MATCHES, CLAIM_NAMES,
        rule("!has(self.progressDeadlineSeconds) || self.progressDeadlineSeconds > self.?minReadySeconds.orValue(0)",
             "`progressDeadlineSeconds` must be more than `minReadySeconds`"))
    return kind("CloneSet", "Pods that are alike, updated in place where that is possible.", spec,
                status("replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "updatedReadyReplicas",
                       "updatedAvailableReplicas", "expectedUpdatedReplicas", "collisionCount",
                       updateRevision=text(), currentRevision=text(), labelSelector=text(), conditions=conditions(lastUpdateTime=TIME)),
                short=["clone"], scales=True,
                columns=["DESIRED .spec.replicas", "UPDATED .status.updatedReplicas", "UPDATED_READY .status.updatedReadyReplicas",
                         "UPDATED_AVAILABLE .status.updatedAvailableReplicas", "READY .status.readyReplicas",
                         "TOTAL .status.replicas", AGE, CONTAINERS, IMAGES, "SELECTOR .status.labelSelector wide"])


def stateful_set():
    unordered = fields({"priorityStrategy": PRIORITIES})
    at_least_one = rule(f"!{is_zero('self')}", "must be at least 1")
    rolling = fields({"partition": partition(number()), "maxUnavailable": ruled(amount(whole=True), at_least_one), "paused": FLAG,
                      "podUpdatePolicy": POD_POLICY, "minReadySeconds": number(0, 300),
                      "inPlaceUpdateStrategy": IN_PLACE, "unorderedUpdate": unordered})
    # A rule for each of so many is too dear for servers 1.33. A range that ends before it begins stands in the status.
    ordinal = {**INT_OR_TEXT, "minimum": 0, "pattern": "^[0-9]{1,9}(-[0-9]{1,9})?$", "maxLength": 20}
    parallel = "self.?podManagementPolicy.orValue('') == 'Parallel'"
    same_claim = f"""o.metadata.name == n.metadata.name && {is_same('spec.storageClassName')} && {is_same('spec.accessModes')}
        && {is_same('spec.volumeMode', "'Filesystem'")}"""
    storages = "volumeClaimTemplates.map(c, c.?spec.resources.requests.storage.orValue(0))"
    spec = ruled(
        fields({"replicas": {**number(0, 200_000), "default": 1},
                "selector": ruled(selector(), UNCHANGED),
                "template": POD_TEMPLATE,
                "volumeClaimTemplates": CLAIMS,
                "serviceName": text(maxLength=253), "podManagementPolicy": text("OrderedReady", "Parallel", maxLength=16),
                "updateStrategy": ruled(fields({"type": text("RollingUpdate", "OnDelete"), "rollingUpdate": rolling}),
                                        rule("self.?type.orValue('') != 'OnDelete' || !has(self.rollingUpdate)",
                                             "`rollingUpdate` has no meaning with OnDelete")),
                "revisionHistoryLimit": number(),
                "reserveOrdinals": told(items(ordinal, most=4096), "Numbers, and ranges such as 3-5, that no pod gets."),
                "ordinals": fields({"start": number()}),
                "scaleStrategy": fields({"maxUnavailable": ruled(amount(), at_least_one)}),
                "persistentVolumeClaimRetentionPolicy": fields({"whenScaled": text("Retain", "Delete"), "whenDeleted": text("Retain", "Delete")}),
                "volumeClaimUpdateStrategy": fields({"type": text("OnPodRollingUpdate", "OnDelete")}),
                "lifecycle": HOOKS}, required=["selector", "template"]),
        *SELECTOR_MATCHES, CLAIM_NAMES,
        rule(f"{parallel} || self.?updateStrategy.?rollingUpdate.?maxUnavailable.orValue(1) == 1",
             "`updateStrategy.rollingUpdate.maxUnavailable` must be 1 unless `podManagementPolicy` is Parallel: in order, one pod changes at a time"),
        rule(f"{parallel} || self.?scaleStrategy.?maxUnavailable.orValue(1) == 1",
             "`scaleStrategy.maxUnavailable` must be 1 unless `podManagementPolicy` is Parallel: in order, one pod changes at a time"),
        rule(f"{parallel} || !self.?updateStrategy.?rollingUpdate.?unorderedUpdate.hasValue()",
             "`updateStrategy.rollingUpdate.unorderedUpdate` needs `podManagementPolicy` Parallel"),
        rule(is_same("serviceName", old="oldSelf", new="self"), "`serviceName` cannot change"),
        rule(is_same("podManagementPolicy", "'OrderedReady'", old="oldSelf", new="self"), "`podManagementPolicy` cannot change"),
        rule(f"""has(self.volumeClaimTemplates) == has(oldSelf.volumeClaimTemplates) && (!has(self.volumeClaimTemplates)
                 || size(self.volumeClaimTemplates) == size(oldSelf.volumeClaimTemplates)
                 && self.volumeClaimTemplates.all(n, oldSelf.volumeClaimTemplates.exists(o, {same_claim})))""",
             "`volumeClaimTemplates` cannot change; with `volumeClaimUpdateStrategy` sizes may"),
        rule(f"has(self.volumeClaimUpdateStrategy) || !has(self.volumeClaimTemplates) || self.{storages} == oldSelf.{storages}",
             "`volumeClaimTemplates` cannot change; with `volumeClaimUpdateStrategy` sizes may"))
    volume_claims = items(fields({"volumeClaimName": text(), "compatibleReplicas": COUNT, "compatibleReadyReplicas": COUNT},
                                 required=["volumeClaimName"]))
    return kind("StatefulSet", "Pods with numbers, and claims of their own, updated in place where that is possible.", spec,
                status("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas",
                       "updatedReadyReplicas", "updatedAvailableReplicas", "collisionCount", currentRevision=text(), updateRevision=text(),
                       labelSelector=text(), volumeClaims=volume_claims),
                short=["sts", "asts"], scales=True,
                columns=["DESIRED .spec.replicas", "CURRENT .status.replicas", "UPDATED .status.updatedReplicas",
                         "READY .status.readyReplicas", AGE, CONTAINERS, IMAGES])


def daemon_set():
    surges = f"(has(self.maxSurge) && !{is_zero('self.maxSurge')})"
    spares = f"(has(self.maxUnavailable) ? !{is_zero('self.maxUnavailable')} : !has(self.maxSurge))"
    rolling = ruled(
        fields({"rollingUpdateType": text("Standard", "InPlaceIfPossible"), "partition": partition(),
                "maxUnavailable": amount(whole=True), "maxSurge": amount(whole=True), "paused": FLAG,
                "selector": told(selector(selects_something=False), "The nodes whose pods are updated.")}),
        rule(f"{surges} || {spares}", "`maxUnavailable` and `maxSurge` cannot both be 0: no pod could change"),
        rule(f"!{surges} || !{spares}", "`maxSurge` cannot be used with `maxUnavailable`: either new pods come first, or old ones go first"),
        rule(f"!{surges} || self.?rollingUpdateType.orValue('') != 'InPlaceIfPossible'",
             "`maxSurge` cannot be used with InPlaceIfPossible: no pod is added"))
    hooks = ruled(HOOKS, rule("!has(self.inPlaceUpdate)", "`inPlaceUpdate` is not a hook of a DaemonSet, only `preDelete` is"))
    spec = ruled(
        fields({"selector": ruled(selector(), UNCHANGED), "template": POD_TEMPLATE,
                "updateStrategy": fields({"type": text("RollingUpdate", "OnDelete"), "rollingUpdate": rolling}),
                "minReadySeconds": number(), "revisionHistoryLimit": number(), "burstReplicas": amount(),
                "scaleStrategy": fields({"partitionedScaling": told(FLAG, "The partition also holds back new pods.")}),
                "lifecycle": hooks}, required=["selector", "template"]),
        *SELECTOR_MATCHES)
    return kind("DaemonSet", "A pod on each node, updated in place where that is possible.", spec,
                status("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady", "numberAvailable",
                       "numberUnavailable", "updatedNumberScheduled", "collisionCount", updateRevision=text(), daemonSetHash=text()),
                short=["daemon", "ads"],
                columns=["DESIRED .status.desiredNumberScheduled", "CURRENT .status.currentNumberScheduled", "READY .status.numberReady",
                         "UP-TO-DATE .status.updatedNumberScheduled", "AVAILABLE .status.numberAvailable", AGE, CONTAINERS, IMAGES])


def sidecar_set():
    field = {**fields({"apiVersion": text(), "fieldPath": text(minLength=1)}, required=["fieldPath"]), "x-kubernetes-map-type": "atomic"}
    transfer = ruled(
        fields({"sourceContainerName": text(), "sourceContainerNameFrom": fields({"fieldRef": field}),
                "envName": text(), "envNames": items(text(minLength=1), most=256)}),
        rule("self.?sourceContainerName.orValue('') != '' || has(self.sourceContainerNameFrom)",
             "needs `sourceContainerName` or `sourceContainerNameFrom`"),
        rule("self.?envName.orValue('') != '' || has(self.envNames)", "needs `envName` or `envNames`"))
    upgrade = ruled(
        fields({"upgradeType": text("ColdUpgrade", "HotUpgrade"), "hotUpgradeEmptyImage": text()}),
        rule("self.?upgradeType.orValue('') != 'HotUpgrade' || self.?hotUpgradeEmptyImage.orValue('') != ''",
             "HotUpgrade needs `hotUpgradeEmptyImage`: what the idle one of the two containers runs"))
    share = fields({"type": text("enabled", "disabled")})
    amounts = fields({"cpu": text(), "memory": text()})
    sidecar = {"podInjectPolicy": text("BeforeAppContainer", "AfterAppContainer"), "shareVolumePolicy": share,
               "shareVolumeDevicePolicy": share, "upgradeStrategy": upgrade, "transferEnv": items(transfer, most=256),
               "resourcesPolicy": fields({"targetContainersMode": text("sum", "max"), "targetContainersNameRegex": text(),
                                          "resourcesExpr": fields({"limits": amounts, "requests": amounts})})}
    no_expressions = rule("!has(self.resourcesPolicy)", "`resourcesPolicy` is not supported: write `resources`")
    injected = ruled(
        fields({"revisionName": text(), "customVersion": text(), "policy": text("Always", "Partial")}),
        rule("self.?revisionName.orValue('') != '' || self.?customVersion.orValue('') != ''", "needs `revisionName` or `customVersion`"))
    strategy = ruled(
        fields({"type": text("NotUpdate", "RollingUpdate"), "paused": FLAG, "selector": selector(), "partition": partition(),
                "maxUnavailable": amount(whole=True), "priorityStrategy": PRIORITIES, "scatterStrategy": SCATTER}),
        rule(f"!has(self.selector) || !has(self.partition) || {is_zero('self.partition')}", "`partition` and `selector` exclude each other"))
    volume = fields({"name": text(minLength=1, maxLength=63)}, required=["name"], keeps_unknown=True)
    spec = ruled(
        fields({"selector": selector(), "namespace": text(), "namespaceSelector": selector(),
                "containers": containers(sidecar, [no_expressions]), "initContainers": containers(sidecar, [no_expressions]),
                "volumes": items(volume, keys=["name"], most=256),
                "imagePullSecrets": items(fields({"name": text()}), most=64),
                "injectionStrategy": fields({"paused": FLAG, "revision": injected}),
                "updateStrategy": strategy,
                "patchPodMetadata": items(fields({"annotations": mapping(text()), "patchPolicy": text()})),
                "customVersion": text(), "revisionHistoryLimit": number()}, required=["selector"]),
        rule("has(self.containers) && size(self.containers) > 0 || has(self.initContainers)", "`containers` must list at least one container"),
        rule("!has(self.namespace) || !has(self.namespaceSelector)", "`namespace` and `namespaceSelector` exclude each other"),
        rule("!has(self.patchPodMetadata)", "`patchPodMetadata` is not supported"))
    return kind("SidecarSet", "Containers that other pods get, and how they are updated there.", spec,
                status("matchedPods", "updatedPods", "readyPods", "updatedReadyPods", "collisionCount", latestRevision=text()),
                is_of_cluster=True,
                columns=["MATCHED .status.matchedPods", "UPDATED .status.updatedPods", "READY .status.readyPods", AGE])


SANDBOX = fields({"labels": mapping(text()), "annotations": mapping(text())})


def pull_members():
    nodes = ruled(
        selector(selects_something=False, names=items(text(minLength=1, maxLength=253), unique=True)),
        rule("!has(self.names) || !has(self.matchLabels) && !has(self.matchExpressions)", "takes names or labels, not both"))
    completion = ruled(
        fields({"type": text("Always", "Never"), "activeDeadlineSeconds": number(1, wide=True), "ttlSecondsAfterFinished": number()}),
        rule("self.?type.orValue('') != 'Never' || !has(self.activeDeadlineSeconds)", "`activeDeadlineSeconds` is only for jobs that complete"),
        rule("self.?type.orValue('') != 'Never' || !has(self.ttlSecondsAfterFinished)", "`ttlSecondsAfterFinished` is only for jobs that complete"))
    parallelism = ruled({**INT_OR_TEXT, "maxLength": 10},
                        rule("type(self) == int ? self >= 0 : self.matches('^[0-9]+$')", "must be a number from 0"))
    return {"imagePullPolicy": text("Always", "IfNotPresent"), "pullSecrets": items(text(minLength=1), most=64),
            "selector": told(nodes, "The nodes that pull; without it, all."),
            "podSelector": told(selector(selects_something=False), "The nodes of these pods pull."),
            "parallelism": told(parallelism, "How many nodes pull at once; 0 pauses."),
            "pullPolicy": fields({"timeoutSeconds": number(1), "backoffLimit": number()}),
            "completionPolicy": completion, "sandboxConfig": SANDBOX}


def pull_rules():
    return [
        rule("!has(self.selector) || !has(self.podSelector)", "`selector` and `podSelector` exclude each other"),
        rule("""!self.?completionPolicy.?activeDeadlineSeconds.hasValue()
                || self.completionPolicy.activeDeadlineSeconds >= self.?pullPolicy.?timeoutSeconds.orValue(600)""",
             "`completionPolicy.activeDeadlineSeconds` must not be less than `pullPolicy.timeoutSeconds`, which is 600 unless it is given"),
        rule("has(self.pullSecrets) ? has(oldSelf.pullSecrets) && self.pullSecrets == oldSelf.pullSecrets : !has(oldSelf.pullSecrets)",
             "`pullSecrets` cannot change")]


IMAGE = text(minLength=1, maxLength=4096, pattern=r"^\S+$")


def image_pull_job():
    spec = ruled(fields({"image": IMAGE, **pull_members()}, required=["image"]), *pull_rules())
    return kind("ImagePullJob", "An image that nodes pull ahead.", spec,
                status("desired", "active", "succeeded", "failed", startTime=TIME, completionTime=TIME, message=text(),
                       failedNodes=items(text())),
                columns=["TOTAL .status.desired", "ACTIVE .status.active", "SUCCEED .status.succeeded", "FAILED .status.failed",
                         AGE], columns_of_alpha=["MESSAGE .status.message"])


def image_list_pull_job():
    spec = ruled(fields({"images": items(IMAGE, unique=True, least=1, most=255), **pull_members()}, required=["images"]), *pull_rules())
    failed = items(fields({"imagePullJob": text(), "name": text(), "message": text()}))
    return kind("ImageListPullJob", "Images that nodes pull ahead, each by a job of its own.", spec,
                status("desired", "active", "completed", "succeeded", startTime=TIME, completionTime=TIME, failedImageStatuses=failed),
                columns=["TOTAL .status.desired", "SUCCEEDED .status.succeeded", "COMPLETED .status.completed", AGE])


def node_image():
    owner = {**fields({name: text() for name in ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath")}),
             "x-kubernetes-map-type": "atomic"}
    version = {"type": "integer", "format": "int64"}
    tag = fields({"tag": text(minLength=1), "version": version, "createdAt": TIME, "imagePullPolicy": text("Always", "IfNotPresent"),
                  "pullPolicy": fields({"timeoutSeconds": number(1), "backoffLimit": number(), "ttlSecondsAfterFinished": number(),
                                        "activeDeadlineSeconds": number(1, wide=True)}),
                  "ownerReferences": items(owner)}, required=["tag"])
    image = fields({"pullSecrets": items(fields({"namespace": text(), "name": text(), "mode": text()})), "sandboxConfig": SANDBOX,
                    "tags": items(tag, keys=["tag"])}, required=["tags"])
    seen = fields({"tag": text(), "version": version, "phase": text("Waiting", "Pulling", "Succeeded", "Failed"),
                   "progress": number(0, 100), "startTime": TIME, "completionTime": TIME, "imageID": text(), "message": text()},
                  required=["tag", "phase"])
    return kind("NodeImage", "What a node is to pull, and what became of it. Its name is the node's.",
                fields({"images": mapping(image, most=256)}),
                status("desired", "succeeded", "failed", "pulling", "waiting",
                       imageStatuses=mapping(fields({"tags": items(seen)}, required=["tags"])),
                       firstSyncStatus=fields({"syncAt": TIME, "status": text(), "message": text()})),
                is_of_cluster=True, needs_spec=False,
                columns=["DESIRED .status.desired", "PULLING .status.pulling", "SUCCEED .status.succeeded", "FAILED .status.failed", AGE])


AGE = "AGE .metadata.creationTimestamp"
CONTAINERS = "CONTAINERS .spec.template.spec.containers[*].name wide"
IMAGES = "IMAGES .spec.template.spec.containers[*].image wide"


def column(line):
    name, path, *wide = line.split()
    is_text = bool(wide) or name in ("MESSAGE",)
    return {"name": name, "type": "date" if name == "AGE" else "string" if is_text else "integer", "jsonPath": path,
            **({"priority": 1} if wide else {})}


def kind(name, description, spec, state, columns, columns_of_alpha=(), short=(), scales=False, is_of_cluster=False, needs_spec=True):
    schema = told(fields({"apiVersion": text(), "kind": text(), "metadata": {"type": "object"}, "spec": spec, "status": state},
                         required=["spec"] if needs_spec else ()), description)
    if name in ("CloneSet", "StatefulSet", "DaemonSet"):
        # Pods and revisions are named after it, and carry the name as a label.
        schema = ruled(schema, rule("size(self.metadata.name) <= 63", "the name must not be longer than 63 characters: it is a label of pods"))
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.labelSelector"}

    def version(label, stored):
        shown = [*columns, *(() if stored else columns_of_alpha)]
        return {"name": label, "served": True, "storage": stored, "subresources": {"status": {}, **({"scale": scale} if scales else {})},
                "additionalPrinterColumns": [column(line) for line in shown], "schema": {"openAPIV3Schema": schema}}

    plural = name.lower() + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}", "labels": {"app.kubernetes.io/name": "fettle"}},
            "spec": {"group": GROUP, "scope": "Cluster" if is_of_cluster else "Namespaced",
                     "names": {"kind": name, "listKind": name + "List", "plural": plural, "singular": name.lower(),
                               **({"shortNames": list(short)} if short else {})},
                     "conversion": {"strategy": "None"},
                     "versions": [version("v1alpha1", False), version("v1beta1", True)]}}


# YAML, as much of it as is needed.


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'" if is_quoted(value) else value


def is_quoted(value):
    return (not value or value[0] in " !&*-?|>@`%{}[]'\"#,^~" or ": " in value or " #" in value or value[-1] in ": "
            or value.lower() in ("true", "false", "null", "yes", "no", "on", "off", "y", "n") or value.replace(".", "").isdigit())


def lines(value, indent=""):
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)) and item:
                yield f"{indent}{key}:"
                yield from lines(item, indent + ("" if isinstance(item, list) else "  "))
            else:
                yield f"{indent}{key}: {'{}' if item == {} else '[]' if item == [] else scalar(item)}"
    else:
        for item in value:
            if isinstance(item, dict):
                first, *rest = lines(item, indent + "  ")
                yield f"{indent}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{indent}- {scalar(item)}"


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(__doc__)
    FOLDER.mkdir(exist_ok=True)
    stale = []
    for make in (clone_set, stateful_set, daemon_set, sidecar_set, image_pull_job, image_list_pull_job, node_image):
        document = make()
        path = FOLDER / (document["spec"]["names"]["plural"] + ".yaml")
        written = "# Written by ../crds.py.\n" + "\n".join(lines(document)) + "\n"
        if is_check and (not path.exists() or path.read_text() != written):
            stale.append(path.name)
        elif not is_check:
            path.write_text(written)
    if stale:
        sys.exit(f"not what crds.py writes: {', '.join(stale)}")


if __name__ == "__main__":
    main()
