"""Runs the functions of `bench/hub_calls` on a hub, and prints what they answer as JSON, by their names.

    PYTHON ecosystems_calls.py idem|fettle
"""
import asyncio
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
CALLS = [
    ("subs.added", {}), ("subs.classes", {}), ("subs.imported", {}), ("subs.dynamic", {}), ("subs.missing", {}), ("subs.references", {}), ("subs.maps", {}),
    ("loops.wrapped", {}), ("loops.futures", {}), ("loops.yielded", {}),
    ("around.logged", {"log": []}), ("around.plain", {"log": []}), ("around.instead", {"log": []}), ("around.aliased", {"type": "large"}),
    ("around.aliased", {"type_": "large"}), ("deep.down.plain", {"log": []}), ("soft.fails", {}), ("soft.fails_at_once", {}),
    ("accounts.gathered", {}), ("accounts.sealed", {}), ("accounts.rendered", {}), ("accounts.commented", {}), ("accounts.called", {}),
    ("accounts.many", {}), ("accounts.unlocked", {}),
]
# States of `auto_state`, one after the other: function, test mode, what memory has, arguments.
STATES = [
    ("present", True, None, {"size": 1}),
    ("present", False, None, {"size": 1}),
    ("present", False, None, {"size": 1, "resource_id": "d-a"}),
    ("present", True, None, {"size": 2, "resource_id": "d-a"}),
    ("present", False, None, {"size": 2, "resource_id": "d-a"}),
    ("present", False, None, {"size": 500, "resource_id": "d-a"}),
    ("present", False, None, {"size": 3, "resource_id": "gone"}),
    ("present", False, None, {"fails": True}),
    ("present", False, None, {"resource_id": "broken"}),
    ("describe", False, None, {}),
    ("absent", False, None, {}),
    ("absent", True, {"resource_id": "d-a"}, {}),
    ("present", False, None, {"size": 13, "resource_id": "d-a"}),
    ("absent", False, {"resource_id": "d-a"}, {}),
    ("present", False, None, {"size": 1, "resource_id": "d-a"}),
    ("absent", False, {"resource_id": "d-a"}, {}),
    ("absent", False, {"resource_id": "d-a"}, {}),
]


def hub_of_idem():
    import pop.hub

    hub = pop.hub.Hub()
    hub.pop.sub.add(dyne_name="idem")
    hub.pop.config.load(["idem", "acct", "rend", "evbus"], cli="idem", parse_cli=False)
    hub.pop.loop.create()
    hub.idem.RUN_NAME = "bench"
    return hub


def hub_of_fettle():
    sys.path.insert(0, os.path.join(here, "..", "python"))
    from fettle_plugins import builtin, loader, packages
    from fettle_plugins.hub import Hub

    hub = Hub()
    builtin.add(hub)
    hub.pop.Loop = hub.pop.loop.CURRENT_LOOP = asyncio.new_event_loop()
    found, problems = packages.find(packages.places())
    problems += loader.load(hub, [], [package for package in found if package.name == "hub_calls"])
    if problems:
        sys.exit(str(problems))
    return hub


def plain(value):
    """As JSON has it. What Idem adds to memory by `force_save` is decided by fettle itself."""
    if isinstance(value, dict):
        value = {key: one for key, one in value.items() if key != "force_save"}
    return json.loads(json.dumps(value, default=lambda one: dict(one) if hasattr(one, "items") else list(one), sort_keys=True))


async def run(hub, is_idem):
    from dict_tools.data import NamespaceDict

    if is_idem:
        await hub.evbus.broker.init()
    answers = []
    for path, arguments in CALLS:
        ctx = NamespaceDict(test=False, acct=NamespaceDict(), old_state=None)
        try:
            answer = await hub.pop.loop.unwrap(hub.exec.calls[path](ctx, **json.loads(json.dumps(arguments))))
            answers.append([path, plain(answer)])
        except Exception as error:
            answers.append([path, f"{type(error).__name__}: {error}"])
    hub.SUBPARSER = "describe"
    for function, is_test, memory, arguments in STATES:
        ctx = NamespaceDict(test=is_test, acct=NamespaceDict(), old_state=memory, exec_mod_ref="calls.disk")
        if function != "describe":
            arguments = {"name": "a", "exec_mod_ref": "calls.disk", **arguments}
        answer = await hub.states.auto_state[function](ctx, **arguments)
        answers.append([f"{function} {arguments}", plain(answer)])
    return answers


if __name__ == "__main__":
    sys.path.append(here)
    the_hub = hub_of_idem() if sys.argv[1] == "idem" else hub_of_fettle()
    print("\n" + json.dumps(the_hub.pop.Loop.run_until_complete(run(the_hub, sys.argv[1] == "idem"))))
    sys.stdout.flush()
    os._exit(0)
