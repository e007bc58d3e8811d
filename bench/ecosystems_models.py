"""Public modules of Inmanta, compiled and exported by Inmanta and by fettle.

Each module gets a project that imports all of its namespaces. With a file of its name in `ecosystems_modules`, the project also has the
instances and the calls there, after the examples of the modules, and the files of the folder of its name.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
CORE = "20.1.0"
MODULES = {
    "ansible": "0.2.1",
    "apache": "0.5.8",
    "apt": "1.1.0",
    "aws": "4.0.6",
    "config": "0.8.0",
    "cron": "1.0.13",
    "docker": "0.4.8",
    "drupal": "0.7.9",
    "dummy-module": "2.1.0",
    "exec": "2.1.1",
    "files": "2.11.1",
    "fs": "1.2.0",
    "git-ops": "0.7.2",
    "graph": "1.0.1",
    "ip": "2.0.3",
    "kubernetes": "0.0.5",
    "mitogen": "0.2.5",
    "mysql": "0.6.15",
    "net": "1.1.3",
    "netbird": "0.2.0",
    "openstack": "6.1.2",
    "php": "0.3.7",
    "platform": "1.1.15",
    "podman": "1.13.4",
    "postgresql": "1.0.12",
    "redhat": "1.0.10",
    "rest": "1.0.1",
    "sops": "0.3.2",
    "ssh": "1.0.5",
    "terraform": "1.3.14",
    "ubuntu": "0.4.21",
    "user": "0.1.23",
    "vyos": "4.0.0",
    "web": "0.3.20",
    "yaml": "1.0.0",
    "yum": "2.1.1",
}
# Requires modules that nobody has published, so pip would not install it.
ALONE = ("postgresql",)
# What the examples read of their project.
FILES = {
    "files/hello.txt": "hello from a file\n",
    "files/values.yaml": "a: {b: [1, two]}\n",
    "templates/login.j2": '{{ hosts[0].name }}: {{ login.password }} {{ login.note | default("none") }} {{ "/a" | files.path_join("b") }}\n',
    "templates/site.j2": "site {{ site }} of {{ about.owner }}\n",
}
# Inmanta does not export it any more; here it says where an agent works.
PLACE = "std::AgentConfig["


def python_of_inmanta():
    """The first of $PATH that is new enough; what is called so may also be the shim of a version that is switched off."""
    for folder in os.environ["PATH"].split(os.pathsep):
        for name in ("python3.13", "python3"):
            python = os.path.join(folder, name)
            asked = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 13))"]
            if os.access(python, os.X_OK) and subprocess.run(asked, capture_output=True).returncode == 0:
                return python
    sys.exit("Inmanta 20.1 needs Python 3.13: put the folder of `python3.13` into $PATH")


def environment(mirror):
    """The Python of MIRROR/inmanta, which has Inmanta and the modules. Inmanta 20.1 needs Python 3.13."""
    folder = os.path.join(os.path.abspath(mirror), "inmanta")
    if not os.path.exists(os.path.join(folder, "bin", "inmanta")):
        subprocess.run([python_of_inmanta(), "-m", "venv", folder], check=True)
        wanted = {name: f"inmanta-module-{name}=={version}" for name, version in MODULES.items()}
        alone = [wanted.pop(name) for name in ALONE]
        pip = [os.path.join(folder, "bin", "python3"), "-m", "pip", "-q", "install"]
        subprocess.run([*pip, "--no-deps", *alone], check=True)
        subprocess.run([*pip, f"inmanta-core=={CORE}", *wanted.values()], check=True)
    return folder


def without_inmanta(mirror, folder):
    """An environment of the same packages but Inmanta itself: then what its modules import of it is fettle's own."""
    made = os.path.join(os.path.abspath(mirror), "without-inmanta")
    site = os.path.relpath(site_of(folder), folder)
    os.makedirs(os.path.join(made, "bin"), exist_ok=True)
    os.makedirs(os.path.join(made, site), exist_ok=True)
    shutil.copy(os.path.join(folder, "pyvenv.cfg"), made)
    python = os.path.realpath(os.path.join(folder, "bin", "python3"))
    links = {os.path.join(site, name): os.path.join(folder, site, name) for name in os.listdir(os.path.join(folder, site))}
    links = {name: to for name, to in links.items() if not re.match(r"inmanta(_core.*)?$", os.path.basename(name))}
    links |= {os.path.join("bin", name): python for name in ("python", "python3")}
    for name, to in links.items():
        if not os.path.lexists(os.path.join(made, name)):
            os.symlink(to, os.path.join(made, name))
    return made


def site_of(folder):
    lib = os.path.join(folder, "lib")
    return os.path.join(lib, next(name for name in os.listdir(lib) if name.startswith("python3")), "site-packages")


def namespaces(folder, module):
    """All that may be imported of a module."""
    model, found = os.path.join(site_of(folder), "inmanta_plugins", module, "model"), []
    for root, _, files in os.walk(model):
        for file in files:
            if file.endswith(".cf"):
                below = os.path.relpath(os.path.join(root, file), model)[: -len(".cf")].split(os.sep)
                found.append("::".join([module, *(below[:-1] if below[-1] == "_init" else below)]))
    return sorted(found)


def write_project(place, folder, module):
    example = os.path.join(here, "ecosystems_modules", f"{module}.cf")
    text = "".join(f"import {name}\n" for name in namespaces(folder, module))
    if os.path.exists(example):
        with open(example) as opened:
            text += opened.read()
    files = {**FILES, "main.cf": text, "project.yml": f"name: {module}\nmodulepath: libs\ndownloadpath: libs\npip:\n  use_system_config: true\n"}
    for name, content in files.items():
        os.makedirs(os.path.dirname(os.path.join(place, name)), exist_ok=True)
        with open(os.path.join(place, name), "w") as out:
            out.write(content)
    os.makedirs(os.path.join(place, "libs"), exist_ok=True)
    beside = os.path.join(here, "ecosystems_modules", module)
    if os.path.isdir(beside):
        shutil.copytree(beside, place, dirs_exist_ok=True)
    return os.path.exists(example)


def exported(words, place, folder):
    """What a program says and exports: its exit code, what the model printed, the resources, and all of its words."""
    known = dict(os.environ, VIRTUAL_ENV=folder, PATH=os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"])
    out = os.path.join(place, "out.json")
    if os.path.exists(out):
        os.remove(out)
    run = subprocess.run([*words, "export", "-j", out], capture_output=True, text=True, cwd=place, env=known, timeout=300)
    resources = None
    if run.returncode == 0:
        with open(out) as opened:
            resources = json.load(opened)
    printed = [line for line in run.stdout.split("\n") if line and not re.match(r"(compiler|exporter|inmanta\S*|asyncio|pip|root) +[A-Z]+ ", line)]
    # Statements have no order, so neither have their lines. An `@` is how Inmanta marks what came through a proxy.
    printed = sorted(re.sub(r"^@(?=[\[{])", "", line) for line in printed)
    return run.returncode, printed, resources, run.stdout + run.stderr


def comparable(resources):
    """By id, without what means nothing: the order of what is required; and without places of agents."""
    found = {}
    for one in resources:
        if not one["id"].startswith(PLACE):
            needs = sorted(need for need in one["requires"] if not need.startswith(PLACE))
            found[one["id"]] = {**one, "requires": needs}
    return found


def difference(theirs, ours):
    """The first difference between what both export; an empty text: there is none."""
    theirs, ours = comparable(theirs), comparable(ours)
    for name in sorted(theirs.keys() | ours.keys()):
        if name not in ours or name not in theirs:
            return f"{name} is only exported by {'Inmanta' if name in theirs else 'fettle'}"
        for field in sorted(theirs[name].keys() | ours[name].keys()):
            if theirs[name].get(field) != ours[name].get(field):
                return f"{name} has {field} = {ours[name].get(field)}, in Inmanta {theirs[name].get(field)}"
    return ""


def error_of(text):
    """The line that says what is wrong."""
    found = re.search(r"^(?:Error|error): (?:\S+:\d+:\d+: )?(.*(?:\n\t.*)?)", text, re.M)
    said = found.group(1) if found else (text.strip().split("\n") or [""])[-1]
    said = re.sub(r" \(instantiated at [^)]*\)|(?<=[ `'])/\S*/inmanta_plugins/", "", said)
    said = re.sub(r"\s*\((?:reported in |/|\./).*", "", said, flags=re.S)
    return re.sub(r"\s+", " ", said).strip()


def compared(module, folder, alone, fettle):
    """A row: what Inmanta does, whether fettle does the same, and how it falls short."""
    package = module.replace("-", "_")
    with tempfile.TemporaryDirectory() as place:
        has_example = write_project(place, folder, package)
        theirs = exported([os.path.join(folder, "bin", "inmanta")], place, folder)
        ours = exported([fettle], place, folder)
        without = exported([fettle], place, alone)
    row = {"module": module, "example": has_example, "short": "", "without": ""}
    if theirs[0]:
        row["inmanta"] = f"refuses it: {error_of(theirs[3])}"
        row["fettle"] = f"refuses it: {error_of(ours[3])}" if ours[0] else "compiles"
        return row
    row["inmanta"] = f"{len(theirs[2])} resource{'' if len(theirs[2]) == 1 else 's'}"
    for key, made in (("short", ours), ("without", without)):
        if made[0]:
            row[key] = error_of(made[3])
        elif theirs[1] != [line for line in made[1] if not line.startswith("warning: ")]:
            row[key] = f"prints {made[1]}, Inmanta {theirs[1]}"
        else:
            row[key] = difference(theirs[2], made[2])
    row["fettle"] = "falls short" if row["short"] else "the same"
    return row


def table_of(rows):
    lines = ["| module | Inmanta | fettle | without inmanta-core |", "|---|---|---|---|"]
    for row in rows:
        without = "" if row["inmanta"].startswith("refuses") else short(row["without"]) or "the same"
        ours = short(row["short"]) or row["fettle"]
        ours = "refuses it, too" if row["fettle"][:60] == row["inmanta"][:60] else ours
        lines.append(f"| `{row['module']}` {MODULES[row['module']]} | {short(row['inmanta'])} | {short(ours)} | {without} |")
    return "\n".join(lines)


def short(text):
    text = text.replace("|", "/").replace("<", "(").replace(">", ")")
    return text if len(text) <= 100 else text[:97] + "…"


def run(mirror, fettle, names):
    """Prints a row for each module. Returns the table, how many Inmanta compiles, and how many of them fall short."""
    folder = environment(mirror)
    alone = without_inmanta(mirror, folder)
    rows = []
    for name in names or MODULES:
        row = compared(name, folder, alone, fettle)
        print(f"{name:14}{row['inmanta']:16.100}  {row['short'] and 'falls short: ' + row['short'] or row['fettle']}", flush=True)
        if row["without"] != row["short"]:
            print(f"{'':14}without inmanta-core: {row['without'] or 'the same'}", flush=True)
        rows.append(row)
    compiled = [row for row in rows if not row["inmanta"].startswith("refuses")]
    wrong = [row for row in compiled if row["short"]]
    print(f"Inmanta compiles {len(compiled)} of {len(rows)} modules; {len(compiled) - len(wrong)} are the same here, {len(wrong)} fall short")
    return table_of(rows), len(wrong)
