#!/usr/bin/env python3
"""Makes a Helm chart of install.yaml and crds, so that rights and pods stand in one place.

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


def block(name, indent):
    """A value of several lines, below its name."""
    return f"{' ' * indent}{name}:\n{' ' * (indent + 2)}{{{{- toYaml .Values.{name} | nindent {indent + 2} }}}}\n"


def template(text):
    head, _, rest = text.partition("---\n")
    if "kind: Namespace\n" not in head:
        raise SystemExit("install.yaml does not begin with the namespace")
    text = f"{{{{- if .Values.createNamespace }}}}\n{head}---\n{{{{- end }}}}\n{rest}"
    text = text.replace("kruise-system", "{{ .Values.namespace }}")
    text = put(text, '"IMAGE"', '{{ required "none is published; name yours by `image`" .Values.image | quote }}')
    text = put(text, "replicas: 2\n", "replicas: {{ .Values.replicas }}\n")
    selector = "      nodeSelector:\n        kubernetes.io/os: linux\n"
    text = put(text, selector, block("nodeSelector", 6) + block("tolerations", 6))
    resources = re.search(r"        resources:\n(?:          .*\n)+", text)
    text = put(text, resources.group(), block("resources", 8))
    flag = "        - --health-probe-addr=:8000\n"
    return put(text, flag, flag + "        {{- range .Values.flags }}\n        - {{ . | quote }}\n        {{- end }}\n")


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
    (folder / "templates" / "install.yaml").write_text(template((here / "install.yaml").read_text()))
    for definition in sorted((here / "crds").glob("*.yaml")):
        (folder / "crds" / definition.name).write_text(definition.read_text())


main()
