#!/usr/bin/env python3
"""Makes a Helm chart of install.yaml, the files about Secrets and crds, so that rights and pods stand in one place.

    chart.py FOLDER    writes the chart into FOLDER, which is made or empty

    helm install fettle FOLDER --set image=registry.example/fettle:1

Helm takes definitions from `crds`: it applies those that are missing, and never changes or deletes one.
"""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent

VALUES = """# With the program `fettle`; none is published.
image: ""
# Where the controller and its lease are: the one of OpenKruise's manager, where there is one.
namespace: kruise-system
# Off where the namespace is there already.
createNamespace: true
# One acts, and the others wait for its lease.
replicas: 2
resources:
  requests:
    cpu: 100m
    memory: 128Mi
  limits:
    memory: 512Mi
nodeSelector:
  kubernetes.io/os: linux
tolerations: []
# More flags of `fettle controller`, such as --feature-gates=InPlaceWorkloadVerticalScaling=true
flags: []
# On each node, what pulls images ahead. Off where OpenKruise's daemon stays, since two would pull the same.
daemon:
  enabled: true
  resources:
    requests:
      cpu: 10m
      memory: 24Mi
    limits:
      memory: 128Mi
  nodeSelector:
    kubernetes.io/os: linux
  tolerations:
  - operator: Exists
  # More flags of `fettle node-daemon`, such as --max-workers-for-pull-image=2
  flags: []
# Namespaces in which the daemon may read Secrets, which are logins for registries.
pullSecrets: []
# On where OpenKruise's daemon pulls: the controller copies those Secrets into kruise-daemon-config.
copyPullSecrets: false
"""

CHART = """apiVersion: v2
name: fettle
description: Keeps OpenKruise's workloads in a cluster
type: application
version: {version}
appVersion: "{version}"
kubeVersion: ">=1.29.0-0"
"""


def put(text, before, after, times=1):
    """`text` with another piece in place of one that stands there so often."""
    if text.count(before) != times:
        raise SystemExit(f"install.yaml has {text.count(before)} times, and not {times}: {before!r}")
    return text.replace(before, after)


def block(values, name, indent):
    """A value of several lines, below its name."""
    return f"{' ' * indent}{name}:\n{' ' * (indent + 2)}{{{{- toYaml {values}.{name} | nindent {indent + 2} }}}}\n"


def only_if(condition, text):
    return f"{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"


def pods(text, values, last_flag):
    """A Deployment or DaemonSet with values in place of what people choose."""
    text = put(text, '"IMAGE"', '{{ required "none is published; name yours by `image`" .Values.image | quote }}')
    selector = "      nodeSelector:\n        kubernetes.io/os: linux\n"
    fixed = "      tolerations:\n      - operator: Exists\n"
    text = put(text, selector, block(values, "nodeSelector", 6))
    if fixed in text:
        text = put(text, fixed, block(values, "tolerations", 6))
    else:
        last = block(values, "nodeSelector", 6)
        text = put(text, last, last + block(values, "tolerations", 6))
    resources = re.search(r"        resources:\n(?:          .*\n)+", text)
    text = put(text, resources.group(), block(values, "resources", 8))
    flag = f"        - {last_flag}\n"
    more = f"        {{{{- range {values}.flags }}}}\n        - {{{{ . | quote }}}}\n        {{{{- end }}}}\n"
    return put(text, flag, flag + more)


def template_of(document):
    """One document of install.yaml."""
    kind = re.search(r"^kind: (\w+)$", document, re.MULTILINE).group(1)
    is_of_daemon = "app.kubernetes.io/component: node-daemon\n" in document
    text = "---\n" + document.replace("kruise-system", "{{ .Values.namespace }}")
    if kind == "Namespace":
        return only_if(".Values.createNamespace", text)
    if kind == "Deployment":
        text = put(text, "replicas: 2\n", "replicas: {{ .Values.replicas }}\n")
        text = pods(text, ".Values", "--health-probe-addr=:8000")
        flag = "        - --health-probe-addr=:8000\n"
        text = put(text, flag, flag + "        {{- if .Values.copyPullSecrets }}\n        - --copy-pull-secrets\n        {{- end }}\n")
    if kind == "DaemonSet":
        text = pods(text, ".Values.daemon", "--addr=:10221")
    if kind.startswith("ValidatingAdmissionPolicy"):
        text = only_if(f'.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/{kind}"', text)
    return only_if(".Values.daemon.enabled", text) if is_of_daemon else text


def for_each_space(secrets):
    of_secrets = secrets.replace("kruise-system", "{{ $.Values.namespace }}").replace('"PULLED"', "{{ . | quote }}")
    return f"{{{{- range .Values.pullSecrets }}}}\n---\n{of_secrets}{{{{- end }}}}\n"


def template(text, secrets, copied, copies):
    of_copies = "---\n" + copies.replace("kruise-system", "{{ .Values.namespace }}")
    return ("".join(template_of(each) for each in text.split("---\n")) + only_if(".Values.daemon.enabled", for_each_space(secrets))
            + only_if("and .Values.copyPullSecrets .Values.pullSecrets", for_each_space(copied) + of_copies))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    if folder.exists() and any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty")
    version = re.search(r"project\(fettle VERSION ([0-9.]+)", (here.parent.parent / "CMakeLists.txt").read_text()).group(1)
    (folder / "templates").mkdir(parents=True)
    (folder / "crds").mkdir()
    (folder / "Chart.yaml").write_text(CHART.format(version=version))
    (folder / "values.yaml").write_text(VALUES)
    (folder / "templates" / "install.yaml").write_text(template(*(
        (here / file).read_text() for file in ("install.yaml", "pull_secrets.yaml", "copied_secrets.yaml", "secret_copies.yaml"))))
    for definition in sorted((here / "crds").glob("*.yaml")):
        (folder / "crds" / definition.name).write_text(definition.read_text())


main()
