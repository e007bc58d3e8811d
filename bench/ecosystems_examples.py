"""The examples that packages of Idem give in the documentation of their functions, as files of states.

    PYTHON ecosystems_examples.py FOLDER PACKAGES    FOLDER has the installed packages

As JSON: `{package: {"left_out": how many blocks are no states of the package, "examples": [[where, number of states, text]]}}`. Examples of one package repeat
their ids, but run in one file: so number N's are called `eN-ID`, wherever it names them.
"""
import ast
import json
import os
import re
import sys
import textwrap

import yaml

BLOCK = re.compile(r"(\s*)\.\. code-block:: *(?:sls|yaml)\s*$")
STATE = re.compile(r"[\w-]+(?:\.[\w-]+)+$")


def blocks_of(text):
    """The text of each block of states in a documentation."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        found = BLOCK.match(lines[at])
        at += 1
        if not found:
            continue
        block = []
        while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > len(found[1])):
            block.append(lines[at])
            at += 1
        yield textwrap.dedent("\n".join(block)).strip("\n")


def documentations(folder):
    """Those of all functions and files below a folder, with their places."""
    for place, _, files in sorted(os.walk(folder)):
        for name in sorted(files):
            if name.endswith(".py"):
                with open(os.path.join(place, name), errors="replace") as text:
                    tree = ast.parse(text.read())
                for node in ast.walk(tree):
                    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                        path = os.path.relpath(os.path.join(place, name), folder)
                        yield f"{path} {getattr(node, 'name', '')}".strip(), ast.get_docstring(node) or ""


def states_of(block):
    """The states of a block; None: it is a form with places to fill in, an answer, or of another language."""
    try:
        states = yaml.safe_load(block)
    except yaml.YAMLError:
        return None
    if not isinstance(states, dict) or not states:
        return None
    for key, state in states.items():
        if not isinstance(key, str) or not isinstance(state, dict) or not all(STATE.match(str(function)) for function in state):
            return None
    return states


def renamed(value, names):
    """A value in which states have the names that they have in the common file."""
    if isinstance(value, dict):
        return {key: renamed(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [renamed(one, names) for one in value]
    if isinstance(value, str):
        return re.sub(r"\$\{([^:}]+):([^:}]+)", lambda found: f"${{{found[1]}:{names.get(found[2], found[2])}", value)
    return value


def required(state, names):
    """Requisites with the names of the common file."""
    for arguments in state.values():
        for argument in arguments if isinstance(arguments, list) else []:
            for key, wanted in argument.items() if isinstance(argument, dict) else ():
                if key in ("require", "require_any", "watch", "onchanges", "onfail", "prereq", "listen", "arg_bind"):
                    argument[key] = [
                        {kind: names.get(one, one) if isinstance(one, str) else one for kind, one in target.items()} if isinstance(target, dict) else target
                        for target in wanted or []
                    ]
    return state


def main(site, packages):
    answer = {}
    for package in packages:
        found, left_out, seen = [], 0, set()
        for part in ("states", "exec"):
            folder = os.path.join(site, package.replace("-", "_"), part)
            for where, text in documentations(folder):
                for block in blocks_of(text):
                    states = states_of(block)
                    if states is None or block in seen:
                        left_out += states is None
                        continue
                    seen.add(block)
                    names = {key: f"e{len(found)}-{key}" for key in states}
                    states = {names[key]: required(renamed(state, names), names) for key, state in states.items()}
                    found.append([f"{part}/{where}", sum(map(len, states.values())), yaml.safe_dump(states, sort_keys=False)])
        answer[package] = {"left_out": left_out, "examples": found}
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
