#!/usr/bin/env python3
"""Runs every command with `-o json` and `-o jsonl` and compares the shapes with a page of the manual.

    documents.py [--write] COMMANDS PAGE

COMMANDS has a command a line, in the order in which they are run; `@` is where the output goes, else it goes to the
end. `!` in front: it ends with an error, of which the envelope is looked at. `=` in front: an original defines
the form, so only that it is JSON counts. `+` in front: a step on the way, of which nothing is looked at. The pattern of a
path in front, `/api/nodes`: the document is that of the path. Each command that `fettle help --markdown` knows has to be
there, and each path of `fettle api --openapi` that answers by a document. Prints what differs and ends with 1, else how
many fit.
"""
import json
import re
import subprocess
import sys

# Objects whose keys differ from run to run, beside those of Kubernetes.
OPEN = {"attributes", "outputs", "ports", "arguments", "output", "detail", "states", "before", "after", "settings", "labels"}
ENVELOPE = {"schema", "success", "error"}
FIELDS = {"blame", "column", "file", "line", "message", "trace"}


def merged(a, b):
    if a is None or a == b:
        return b
    if isinstance(a, dict) and isinstance(b, dict):
        return {key: merged(a.get(key), b.get(key)) if key in a and key in b else a.get(key, b.get(key))
                for key in {**a, **b}}
    if isinstance(a, list) and isinstance(b, list):
        return [merged(*(x[0] if x else None for x in (a, b)))] if a and b else a or b
    texts = sorted({part for x in (a, b) for part in (x if isinstance(x, str) else "object").split(" or ")})
    return " or ".join(texts)


def shape(value, name=""):
    if isinstance(value, dict):
        if name in OPEN or "apiVersion" in value:
            return "object"
        return {key: shape(value[key], key) for key in value}
    if isinstance(value, list):
        item = None
        for one in value:
            item = merged(item, shape(one, name))
        return [] if item is None else [item]
    return {str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")


def written(form, indent=""):
    if isinstance(form, dict):
        inner = indent + "  "
        lines = [f'{inner}"{key}": {written(form[key], inner)}' for key in sorted(form)]
        return "{\n" + ",\n".join(lines) + "\n" + indent + "}" if lines else "{}"
    if isinstance(form, list):
        return "[" + ", ".join(written(one, indent) for one in form) + "]"
    return form


def run(line, output):
    command = line.replace("@", "-o " + output) if "@" in line else line + " -o " + output
    return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def main():
    words = sys.argv[1:]
    writes = words[0] == "--write"
    commands, page = words[1:] if writes else words
    wrong, forms, seen = [], {}, set()
    known = re.findall(r"^### fettle (.*)$", subprocess.run(
        ["fettle", "help", "--markdown"], stdout=subprocess.PIPE, text=True, check=True).stdout, re.M)
    for line in open(commands, encoding="utf-8"):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if line[0] == "+":
            done = subprocess.run(["bash", "-c", line[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                wrong.append(f"{line}: ends with {done.returncode}: {done.stdout}")
            continue
        mark, line = (line[0], line[1:].strip()) if line[0] in "!=" else ("", line)
        last = line[line.rfind("fettle "):] + " "
        name = "fettle " + max((one for one in known if last.startswith(f"fettle {one} ")), key=len, default=line)
        if line[0] == "/":
            name, _, line = line.partition(" ")
        seen.add(name)
        for output in ("json", "jsonl"):
            done = run(line, output)
            try:
                documents = ([json.loads(done.stdout)] if output == "json" else
                             [json.loads(one) for one in done.stdout.splitlines()])
            except ValueError as error:
                wrong.append(f"{line} -o {output}: {error}: {done.stdout[:200]!r} {done.stderr[:200]!r}")
                continue
            if mark == "!":
                if (done.returncode == 0 or len(documents) != 1 or set(documents[0]) != (ENVELOPE if output == "json" else ENVELOPE - {"schema"})
                        or set(documents[0]["error"]) != FIELDS or documents[0]["success"] is not False):
                    wrong.append(f"{line} -o {output}: not an error: {done.returncode} {done.stdout[:300]}")
            elif done.returncode not in (0, 4):
                wrong.append(f"{line} -o {output}: ends with {done.returncode}: {done.stderr[:300]}")
            elif mark == "=" and any("schema" in one for one in documents):
                wrong.append(f"{line} -o {output}: an original's document has `schema`")
            elif output == "json" and mark != "=" and isinstance(documents[0], dict) and "schema" not in documents[0]:
                wrong.append(f"{line} -o json: `schema` is missing")
            elif output == "jsonl" and any(isinstance(one, dict) and "schema" in one for one in documents):
                wrong.append(f"{line} -o jsonl: a line has `schema`")
            elif output == "json" and mark != "=":
                forms[name] = merged(forms.get(name), shape(documents[0]))
    paths = json.loads(subprocess.run(["fettle", "api", "--openapi"], stdout=subprocess.PIPE, text=True, check=True).stdout)["paths"]
    for name in [f"fettle {one}" for one in known] + [one for one in paths if one.startswith("/api/") and one != "/api/openapi.json"]:
        if name not in seen:
            wrong.append(f"no command is run for `{name}`")
    text = ("# JSON\n\n"
            "This page shows the shape of every document that commands print with `-o json`, and that `GET /api/…` of [a server](server.md)\n"
            "answers by. `tests/scenarios/documents.py` runs all of them and compares; with `--write`, it writes this page, of which the\n"
            "OpenAPI document has its schemas. [The contract](cli.md#json) explains the fields.\n"
            "`object` stands for an object whose keys differ from case to case. `-o jsonl` prints a list item by item, and anything\n"
            "else on one line. An error has the envelope of the contract.\n\n"
            "A document that is an object has `schema`, the version of this page, which is raised when a field is removed or\n"
            "changes its meaning. Lists, their items, the lines of `jsonl`, and documents whose shape an original defines have\n"
            "none.\n")
    for name in sorted(forms):
        text += f"\n## {name}\n\n```\n{written(forms[name])}\n```\n"
    if writes:
        open(page, "w", encoding="utf-8").write(text)
    else:
        there = open(page, encoding="utf-8").read()
        for name, part in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
            if f"## {name}\n{part}" not in there + "\n":
                wrong.append(f"`{name}` has another shape than {page} says:\n{part}")
        for name in re.findall(r"^## (.*)$", there, re.M):
            if name not in forms:
                wrong.append(f"{page} has `{name}`, which was not run")
    print("\n".join(wrong) if wrong else f"{len(forms)} documents")
    sys.exit(1 if wrong else 0)


main()
