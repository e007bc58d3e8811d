"""Files of public repositories: `.star` files, laid out by fettle and by the black that `kurtosis lint` runs, and compose files, read by
fettle and by compose-go.

The repositories are all git directories below a folder; what counts is their newest commit. Each part gives a table, a row for each
repository, and a line for each file that differs without a reason that `bench/differ` knows.
"""
import collections
import glob
import os
import subprocess
import sys
import tempfile

import differ_compose
import differ_format
import differ_jq
import peers

BLACK = "23.9.1"


def repositories(folder):
    """Git directories by the names of their repositories: `OWNER+NAME/repo` or `OWNER/NAME/.git`."""
    found = {}
    for place, below, files in os.walk(folder):
        below.sort()
        if "HEAD" in files and "objects" in below:
            name = os.path.relpath(place, folder).removesuffix("/repo").removesuffix(".git").strip("/")
            found[name.replace("+", "/", 1)] = place
        if "HEAD" in files or "pyvenv.cfg" in files:
            below.clear()
    return found


def unpack(repository, place, is_wanted, with_folders):
    """The files of these names of the newest commit, or all of the folders that they are in; false: there are none."""
    git = ["git", "--literal-pathspecs", f"--git-dir={repository}"]
    listed = subprocess.run([*git, "ls-tree", "-rz", "--name-only", "HEAD", "--"], capture_output=True).stdout.decode(errors="replace").split("\0")
    names = [name for name in listed if is_wanted(os.path.basename(name))]
    if not names:
        return False
    os.makedirs(place)
    wanted = sorted({os.path.dirname(name) for name in names}) if with_folders else names
    packed = subprocess.Popen([*git, "archive", "HEAD", "--", *([] if "" in wanted else wanted)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    subprocess.run(["tar", "-x", "--no-same-owner", "-C", place], stdin=packed.stdout, stderr=subprocess.DEVNULL)
    packed.wait()
    return True


def black(mirror):
    """The Python of MIRROR/black."""
    folder = os.path.join(os.path.abspath(mirror), "black")
    python = os.path.join(folder, "bin", "python3")
    if not os.path.exists(os.path.join(folder, "bin", "black")):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "-q", "install", f"black=={BLACK}"], check=True)
    return python


def compare_layouts(python, format_main, found):
    """`{repository: counts}` by "files", "equal", "as they are", "black refuses", and the files that differ."""
    rows, differences = {}, []
    for name, repository in found.items():
        with tempfile.TemporaryDirectory() as place:
            if not unpack(repository, os.path.join(place, "files"), lambda file: file.endswith(".star"), False):
                continue
            paths = sorted(path for path in glob.glob(place + "/**/*.star", recursive=True) if os.path.isfile(path))
            texts = []
            for path in paths:
                with open(path, newline="", encoding="utf-8") as opened:
                    texts.append(opened.read())
        counts = rows[name] = collections.Counter(files=len(texts))
        answers = zip(paths, texts, differ_format.ours_of(format_main, texts), differ_format.theirs_of(python, texts))
        for path, text, ours, theirs in answers:
            if theirs is not None and ours == "=" + theirs:
                counts["equal"] += 1
                counts["as they are"] += theirs == text
            elif differ_format.reason_of(text, ours, theirs):
                counts["black refuses" if theirs is None else "refused"] += 1
            else:
                differences.append(f"{name}: {os.path.relpath(path, place)[len('files/'):]} is laid out in another way")
    return rows, differences


def layouts(mirror, folder, format_main):
    """(table, differences)."""
    rows, differences = compare_layouts(black(mirror), format_main, repositories(folder))
    lines = ["| repository | files | laid out as by black | of these, unchanged by both |", "|---|---|---|---|"]
    for name, counts in rows.items():
        lines.append(f"| {name} | {counts['files']} | {counts['equal']} | {counts['as they are']} |")
    total = sum(rows.values(), collections.Counter())
    lines.append(f"| **all** | {total['files']} | {total['equal']} | {total['as they are']} |")
    return "\n".join(lines), differences


def compose_files(folder, compose_main):
    """(table, differences)."""
    lines = ["| repository | projects | read as by compose-go | refused by both | refused here alone |", "|---|---|---|---|---|"]
    total, differences, reasons = collections.Counter(), [], collections.Counter()
    for name, repository in repositories(folder).items():
        with tempfile.TemporaryDirectory() as place:
            if not unpack(repository, os.path.join(place, "files"), differ_compose.is_project, True):
                continue
            asked = list(differ_compose.projects(place))
            ours, theirs = differ_jq.answers([compose_main], asked), differ_jq.answers([peers.built(), "compose"], asked)
        counts = collections.Counter(projects=len(asked))
        for question, one, other in zip(asked, ours, theirs):
            if differ_compose.same(one, other):
                counts["refused" if "error" in one else "alike"] += 1
            elif reason := differ_compose.reason_of(question, one, other):
                reasons[reason] += 1
                counts["refused" if "error" in other else "alone"] += 1
            else:
                where = os.path.relpath(os.path.join(question["folder"], question["files"][0]), os.path.join(place, "files"))
                differences.append(f"{name}: {where}: {one.get('error', 'another project')}; compose-go: {other.get('error', 'reads it')}")
        total += counts
        lines.append(f"| {name} | {counts['projects']} | {counts['alike']} | {counts['refused']} | {counts['alone']} |")
    lines.append(f"| **all** | {total['projects']} | {total['alike']} | {total['refused']} | {total['alone']} |")
    for reason, count in reasons.most_common():
        print(f"  {count} compose files: {reason}", flush=True)
    return "\n".join(lines), differences
