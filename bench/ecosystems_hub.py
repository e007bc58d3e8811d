"""The hub of an environment of Python with plugins of Idem, as JSON: `{path of a module: its functions}`.

    PYTHON ecosystems_hub.py idem                    the hub of Idem itself
    PYTHON ecosystems_hub.py fettle PATHS            ours, and which of the paths in a file lead nowhere
"""
import asyncio
import json
import os
import sys


def of_idem():
    import pop.hub

    hub = pop.hub.Hub()
    hub.pop.sub.add(dyne_name="idem")
    found = {}

    def walk(part, path):
        for name in getattr(part, "_subs", ()):
            walk(part[name], f"{path}.{name}")
        for name, module in dict(getattr(part, "_loaded", {})).items():
            # What a file imports of the standard library gets the hub as its first argument there, so nobody calls it.
            found[f"{path}.{name}"] = sorted(key for key, one in module._funcs.items() if not one.implicit_hub or takes_hub(one))

    for part in ("exec", "states", "tool", "acct"):
        walk(hub[part], part)
    return {"modules": found}


def takes_hub(function):
    return next(iter(function.signature.parameters), None) == "hub"


def of_fettle(file):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
    from fettle_plugins import builtin, loader, packages
    from fettle_plugins.hub import Hub

    hub = Hub()
    builtin.add(hub)
    hub.pop.Loop = hub.pop.loop.CURRENT_LOOP = asyncio.new_event_loop()
    found, problems = packages.find(packages.places())
    # Ours alone: what the packages of Idem's authors could add is not counted.
    problems += loader.load(hub, [], [package for package in found if not package.is_original])
    hub.pop.config.load(["idem", "acct"])
    with open(file) as text:
        paths = json.load(text)
    nowhere = {}
    for path in paths:
        try:
            hub.pop.ref.last(path)
        except Exception as error:
            nowhere[path] = str(error)
    return {
        "modules": {path: sorted(module.functions) for path, module in hub._modules.items()},
        "problems": [[problem["file"], problem["text"]] for problem in problems],
        "nowhere": nowhere,
    }


if __name__ == "__main__":
    answer = of_idem() if sys.argv[1] == "idem" else of_fettle(sys.argv[2])
    print("\n" + json.dumps(answer))
