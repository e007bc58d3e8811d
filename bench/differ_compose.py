"""Compose files, read here (compose_main) and by compose-go (bench/peers): $COMPOSE_FILES names a folder with public ones, of which each
`compose*.yml` and `docker-compose*.yml` at any depth is a project; without it, those of tests/compose. Asked is for the same project, or
that both refuse it. What is known to differ, with the reason, stands in `ACCEPTED`.
"""
import json
import os
import re

import peers
from differ_jq import answers



def contexts(answer):
    services = (answer.get("value") or {}).get("services", {})
    return [service["build"] for service in services.values() if isinstance(service.get("build"), dict)]


def has_outer_context(answer):
    return any(str(build.get("context", "")).startswith("..") for build in contexts(answer))


def without_contexts(answer):
    copy = json.loads(json.dumps(answer))
    for build in contexts(copy):
        build.pop("context", None)
    return copy


# A reason, and when it holds: (text, ours, theirs).
ACCEPTED = [
    ("a service of a `provider`, an inline Dockerfile or a context elsewhere is refused here", lambda t, ours, theirs: re.search("provider|dockerfile_inline|is not a folder of the project", ours.get("error", ""))),
    ("a file outside of the project's folder is not read here", lambda t, ours, theirs: "leads outside" in ours.get("error", "")),
    ("a file of the first version, with services at the top, is refused by both in other words", lambda t, ours, theirs: "error" in ours and "error" in theirs),
    ("services need each other: compose-go finds that when they start", lambda t, ours, theirs: "services need each other" in ours.get("error", "")),
    ("a context outside of the project's folder is refused when it is to be built", lambda t, ours, theirs: has_outer_context(ours) and without_contexts(ours) == without_contexts(theirs)),
    ("two services would have one name in an environment", lambda t, ours, theirs: "would both be called" in ours.get("error", "")),
]


def is_project(name):
    """Whether a file of this name is one by itself."""
    return bool(re.fullmatch(r"(docker[-_])?compose[\w.-]*\.ya?ml", name)) and "override" not in name


def projects(top=os.environ.get("COMPOSE_FILES")):
    """Each: folder and files."""
    if not top:
        for line in open("tests/compose/projects.jsonl"):
            asked = json.loads(line)
            asked.pop("value")
            asked["folder"] = os.path.abspath("tests/compose/" + asked["folder"])
            yield asked
        return
    for folder, folders, files in sorted(os.walk(os.path.abspath(top))):
        folders.sort()
        for name in sorted(files):
            if is_project(name):
                yield {"folder": folder, "files": [name], "profiles": ["*"], "variables": {}}


def same(ours, theirs):
    # Neither mounts what is in a home; only compose-go says where that is.
    ours = json.loads(json.dumps(ours).replace('"~/', '"' + os.path.expanduser("~/")))
    return ("error" in ours) == ("error" in theirs) and ours.get("value") == theirs.get("value")


def reason_of(asked, ours, theirs):
    return next((why for why, holds in ACCEPTED if holds(asked, ours, theirs)), None)


def compare(main, count, seed):
    asked = list(projects())[:count]
    rows = list(zip(map(json.dumps, asked), answers([main], asked), answers([peers.built(), "compose"], asked)))
    return peers.report("compose files", seed, rows, same, reason_of)
