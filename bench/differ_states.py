"""Random sets of files of states, applied here and by Idem 25, for `bench/differ`: two or three runs with memory between them, of files that
change, some with `--test` or `--invert`. Compared are all fields of all results. In some sets, Idem's own loop `basic.py` goes round on both
sides: here it is a reconciler of a user's, read where the peer has it.

Both call the same functions: a module in Python that is written for the comparison, and the states that Idem ships. Those of `test.*` are in
Idem 19.1.2 only: $IDEM_TEST_STATES names its file `states/test.py`.

What is known to differ is the table of `docs/states.md`: `differ_states_table.py`.
"""
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import threading

from differ_states_table import EQUAL_ELEMENTS, History, breaks_difference, id_of, judged_run

MODULE = '''
from typing import Any, Dict, List

from dict_tools.typing import Computed

__contracts__ = ["resource"]
RESULTS = {"yes": True, "no": False, "none": None}


def present(hub, ctx, name: str, resource_id: str = None, size: Any = None, tags: Any = None, made: Computed[str] = None,
            result: str = "yes", told: bool = True, again: Any = None):
    """Changes are what differs between its states."""
    before = ctx.old_state
    after = {"name": name, "resource_id": resource_id or "id-" + name, "size": size, "tags": tags, "made": made}
    ret = {"name": name, "result": RESULTS[result], "comment": ("present", name), "old_state": before, "new_state": after}
    if not told:
        ret["changes"] = {}
    if again is not None:
        ret["rerun_data"] = again
    if ctx.test:
        ret["comment"] = (f"would make {name}",)
    return ret


def absent(hub, ctx, name: str, resource_id: str = None):
    gone = not ctx.old_state
    return {"name": name, "result": True, "comment": "already absent" if gone else f"removed {resource_id}", "old_state": ctx.old_state, "new_state": None}


async def describe(hub, ctx):
    return {}


def act(hub, ctx, name, value=None, result="yes", changed=True, comment="done", **kwargs):
    new = {"value": value, "kept": 1}
    old = {"value": "before", "kept": 1} if changed else new
    return {"name": name, "result": RESULTS[result], "comment": comment, "old_state": old, "new_state": new, "changes": {"to": value} if changed else {}}


def bare(hub, ctx, name, result="yes", changed=True, comment="bare", **kwargs):
    return {"name": name, "result": RESULTS[result], "comment": comment, "changes": {"a": 1} if changed else {}}


def broken(hub, ctx, name, **kwargs):
    raise ValueError("broken " + name)


def mod_watch(hub, ctx, name, **kwargs):
    return {"name": name, "result": True, "comment": "watched", "changes": {"watched": True}}
'''
CONF = 'CLI_CONFIG = {}\nCONFIG = {}\nSUBCOMMANDS = {}\nDYNE = {"states": ["states"], "exec": ["exec"]}\n'
EXEC = '''
def echo(hub, ctx, value=None, ok: bool = True):
    return {"result": ok, "ret": value, "comment": "echoed"}


def get(hub, ctx, name=None, resource_id=None):
    return {"result": True, "ret": {"resource_id": resource_id}, "comment": None}
'''
MOST_SHOWN = 10
AT_ONCE = 4
SHARE_OF_LOOPS = 0.2


class Sets:
    """The runs of one set: files of states, and words of the command line."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.states = {}  # text of arguments by ID: (ref, arguments)
        self.chance = self.random.random

    def pick(self, *choices):
        return self.random.choice(choices)

    # What arguments are.
    def plain(self, depth=0):
        if depth == 2 or self.chance() < 0.6:
            return self.pick(1, 0, -3, 2.5, True, False, None, "text", "1", "true", "", "ä")
        if self.chance() < 0.5:
            return [self.plain(depth + 1) for _ in range(self.random.randint(0, 3))]
        return {f"k{i}": self.plain(depth + 1) for i in range(self.random.randint(0, 3))}

    def value(self):
        """With references to what was made before."""
        targets = [one for one, (ref, _) in self.states.items() if ref in ("differ.act", "differ.present")]
        if not targets or self.chance() < 0.6:
            return self.plain()
        target = self.random.choice(targets)
        path = self.pick("value", "value", "kept", "kept", "none") if self.states[target][0] == "differ.act" else self.pick("size", "name", "tags:k0", "resource_id")
        names = next((argument["names"] for argument in self.states[target][1] if "names" in argument), None)
        reference = "${differ:%s:%s}" % (f"{target}[{self.random.choice(names)}]" if names else target, path)
        shape = self.pick("%s", "%s", "pre %s post", "list", "dict")
        return [reference, 1] if shape == "list" else {"k": reference} if shape == "dict" else shape % reference

    # What states need.
    def requisites(self, id, ref):
        arguments = []
        for requisite in self.random.sample(["require", "require", "watch", "onchanges", "onfail", "require_any", "listen"], self.pick(0, 1, 1, 2)):
            known = [one for one in self.states if one != id]
            if not known or requisite in [key for argument in arguments for key in argument]:
                continue
            chosen = self.random.sample(known, min(len(known), self.pick(1, 1, 1, 2)))
            arguments.append({requisite: [{self.states[one][0].rsplit(".", 1)[0]: one} for one in chosen]})
        return arguments

    def some(self, **arguments):
        """Some of these arguments, in some order."""
        chosen = [{name: value()} for name, value in arguments.items() if self.chance() < 0.5]
        self.random.shuffle(chosen)
        return chosen

    def arguments(self, ref):
        result = lambda: self.pick("yes", "yes", "no", "none")
        comment = lambda: self.pick("one", "two\nlines", ["a", "list"], "", None)
        if ref == "differ.present":
            return self.some(size=self.value, tags=self.value, made=lambda: self.pick("x", "y"), result=result, told=lambda: self.pick(True, False))
        if ref == "differ.act":
            return self.some(value=self.value, changed=lambda: self.pick(True, False), result=result, comment=comment)
        if ref == "differ.bare":
            return self.some(changed=lambda: self.pick(True, False), result=result, comment=comment)
        if ref == "test.succeed_with_comment":
            return [{"comment": comment()}]
        if ref == "test.succeed_with_arg_bind":
            return self.some(parameters=lambda: {"a": self.value()})
        if ref == "test.configurable_test_state":
            return self.some(changes=lambda: self.pick(True, False), result=lambda: self.pick(True, False), comment=lambda: self.pick("", "told"))
        if ref == "test.present":
            return self.some(old_state=lambda: self.pick({}, {"a": 1}), new_state=lambda: self.pick({"a": 1}, {"a": 2, "b": [1, 2]}, {"b": [2, 1]}), result=lambda: self.pick(True, True, False, None), force_save=lambda: True)
        if ref == "test.absent":
            return self.some(new_state=lambda: self.pick({"a": 1}, None), result=lambda: self.pick(True, False))
        if ref == "test.update":
            return [{"param_1": self.plain()}] + self.some(param_2=self.plain, result=lambda: self.pick(True, False))
        if ref == "test.present_resource":
            return self.some(enforce_state=lambda: {"a": self.plain(1)}, remote_state=lambda: {"b": 1}, result=lambda: self.pick(True, False))
        return []

    REFS = ["differ.present"] * 5 + ["differ.act"] * 4 + ["differ.bare"] * 3 + ["differ.broken", "differ.absent", "test.nop", "test.anop",
            "test.succeed_with_comment", "test.succeed_without_changes", "test.none_without_changes", "test.fail_without_changes",
            "test.succeed_with_changes", "test.succeed_with_arg_bind", "test.fail_with_changes", "test.configurable_test_state",
            "test.present", "test.absent", "test.update", "test.present_resource", "test.mod_watch", "test.acct"]

    def make(self, id):
        ref = self.random.choice(self.REFS)
        arguments = self.arguments(ref)
        if self.chance() < 0.25:
            arguments.append({"name": self.pick(f"n{self.random.randint(0, 5)}", id)})
        elif self.chance() < 0.08:
            arguments.append({"names": [f"{id}-{i}" for i in range(self.random.randint(1, 3))]})
        if ref.startswith("differ.") and self.chance() < 0.08:
            arguments.append({"order": self.pick("first", "last", 5, -1)})
        if ref == "differ.present" and self.chance() < 0.1:
            arguments.append({"ignore_changes": ["size"]})
        self.states[id] = (ref, arguments + self.requisites(id, ref))

    def change(self):
        """What the next run finds in the files."""
        for id in list(self.states):
            ref, arguments = self.states[id]
            if self.chance() < 0.15 and not self.is_needed(id):
                del self.states[id]
            elif self.chance() < 0.5:
                kept = [one for one in arguments if next(iter(one)) in ("names", "require", "watch", "onchanges", "onfail", "require_any", "listen", "order", "ignore_changes")]
                known, self.states = self.states, {one: self.states[one] for one in list(self.states)[:list(self.states).index(id)]}
                again = self.arguments(ref)
                self.states = known
                named = [{"name": f"n{self.random.randint(0, 5)}"}] if self.chance() < 0.2 and not any("names" in one for one in kept) else []
                self.states[id] = (ref, again + named + kept)

    def is_needed(self, id):
        return any(f'"{id}"' in json.dumps(arguments) or re.search(rf":{id}[:\[]", json.dumps(arguments)) for one, (_, arguments) in self.states.items() if one != id)

    def text(self):
        ids = list(self.states)
        self.random.shuffle(ids)
        return "".join(f"{id}:\n  {self.states[id][0]}: {json.dumps(self.states[id][1])}\n" for id in ids)

    def runs(self):
        names = [f"s{i}" for i in range(self.random.randint(2, 8))]
        for id in names:
            self.make(id)
        runs = [{"text": self.text(), "words": self.pick([], [], [], ["--test"]), "states": dict(self.states)}]
        for _ in range(self.pick(1, 1, 2)):
            self.change()
            runs.append({"text": self.text(), "words": self.pick([], [], [], ["--test"], ["--invert"]), "states": dict(self.states)})
        return runs


def without(entry, *fields):
    return {key: value for key, value in entry.items() if key not in fields}


def told_of(entry):
    """An entry as both write it."""
    made = without(entry, "start_time", "total_seconds", "ref", "acct_details", "require_re_run", "unmet", "ret")
    comment = made.get("comment")
    text = "\n".join(map(str, comment)) if isinstance(comment, list) else comment
    if text and "ValueError: broken" in text:  # here its place follows
        made["comment"] = text.split("\n")[0].replace("`", "")
    elif text and text.startswith(("Result of require ", "Changes from ")):  # in any order, here each once
        made["comment"] = "\n".join(sorted(set(text.split("\n"))))
    return made


def applied(run, asked):
    """`run`: gives what a command writes to both streams."""
    out, err = run(["state", "g.sls", "--output=json", f"--reconciler={asked['loop']}", *asked["words"]])
    try:
        return {tag: told_of(one) for tag, one in json.loads(out).items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"error": (out + err)[-700:]}


class Idem:
    """Idem, a process for each thread that asks (`differ_idem.py`)."""

    def __init__(self, command, package):
        with open(command) as file:
            self.python = file.readline().removeprefix("#!").strip()
        self.package, self.processes = package, threading.local()

    def source(self, module):
        """The text of a module of Idem's."""
        place = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]).origin)"
        path = subprocess.run([self.python, "-c", place, module], capture_output=True, text=True, check=True).stdout.strip()
        with open(path) as file:
            return file.read()

    def run(self, folder, words):
        if not hasattr(self.processes, "mine"):
            program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "differ_idem.py")
            self.processes.mine = subprocess.Popen([self.python, program], env={**os.environ, "PYTHONPATH": self.package},
                                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process = self.processes.mine
        process.stdin.write(json.dumps({"folder": folder, "words": words}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        return answer["out"], answer["err"]


class Peers:
    """A folder in which both find the same modules."""

    def __init__(self, folder, fettle, idem, test_states):
        self.folder, self.fettle, self.idem = folder, fettle, Idem(idem, os.path.join(folder, "package"))
        for path in ("states", "exec", "reconcile/pending", "package/differ/states", "package/differ/exec"):
            os.makedirs(os.path.join(folder, path))
        basic = self.idem.source("idem.reconcile.basic").replace("DEFAULT_RECONCILE_WAIT = 3", "DEFAULT_RECONCILE_WAIT = 0")
        pending = self.idem.source("idem.reconcile.pending.default")
        for path, text in (("states/differ.py", MODULE), ("exec/differ.py", EXEC), ("package/differ/states/differ.py", MODULE), ("package/differ/exec/differ.py", EXEC),
                           ("reconcile/basic.py", basic), ("reconcile/pending/default.py", pending), ("package/differ/conf.py", CONF), ("package/differ/__init__.py", ""), ("package/differ/states/__init__.py", ""), ("package/differ/exec/__init__.py", "")):
            with open(os.path.join(folder, path), "w") as file:
                file.write(text)
        if test_states:
            with open(test_states) as file, open(os.path.join(folder, "package/differ/states/test.py"), "w") as made:
                made.write(file.read().replace('hub.states.test.ACCT = ["test"]', "pass"))  # it would need a profile to begin at all

    def by_idem(self, place, asked):
        return applied(lambda all: self.idem.run(place, [all[0], f"--root-dir={place}/idem", *all[1:]]), asked)

    def by_fettle(self, place, asked):
        environment = {**os.environ, "FETTLE_HOME": os.path.join(place, "home")}

        def run(all):
            done = subprocess.run([self.fettle, *all, f"--plugin-dir={self.folder}", "-e", "e"], cwd=place, env=environment, capture_output=True, text=True)
            return done.stdout, done.stderr

        return applied(run, asked)

    def both(self, number, runs):
        """For each run what fettle and Idem say."""
        place = os.path.join(self.folder, f"set{number}")
        os.makedirs(place)
        told = []
        for run in runs:
            with open(os.path.join(place, "g.sls"), "w") as file:
                file.write(run["text"])
            theirs = self.by_idem(place, run)
            told.append((self.by_fettle(place, run), theirs))
        shutil.rmtree(place)
        return told


def difference(ours, theirs):
    """What differs in a run: tag, field, and lines that say it."""
    found = []
    for tag in sorted({*ours, *theirs}):
        mine, other = ours.get(tag), theirs.get(tag)
        if isinstance(mine, dict) and isinstance(other, dict):
            for field in sorted({*mine, *other} - {"re_runs_count"}):
                if mine.get(field) != other.get(field):
                    found.append((tag, field, f"{tag} {field}\n  fettle: {mine.get(field, 'missing')!r}\n  Idem:   {other.get(field, 'missing')!r}"))
        elif mine != other:
            found.append((tag, None, f"{tag}\n  fettle: {mine}\n  Idem:   {other}"))
    return found


def leads_nowhere(run, ours):
    """Whether a reference of the files leads into what is no dictionary and no text, which ends Idem; of a list, an element."""
    named = [found for _, arguments in run["states"].values() for found in re.findall(r"\$\{[\w.]+:(\w+)(?:\[[^\]]*\])?:([^}]*)\}", json.dumps(arguments))]
    left = [(id_of(tag), one.get("new_state")) for tag, one in ours.items() if isinstance(one, dict)]
    return any(ends_early(value, path.split(":")) for target, path in named for id, value in left if id == target)


def ends_early(value, steps):
    for step in steps:
        if not isinstance(value, dict):
            return any(one is None or isinstance(one, (int, float)) for one in (value if isinstance(value, list) else [value]))
        if step not in value:
            return False
        value = value[step]
    return False


def judged(runs, told):
    """By run the lines of what is a fault; and the reasons of the rest. What follows from a known difference is none of its own."""
    history, reasons, faults = History(), set(), []
    for run, (ours, theirs) in zip(runs, told):
        if "is not iterable" in str(theirs.get("error")) and leads_nowhere(run, ours):
            return faults, reasons | {"a reference that leads nowhere fails its state only"}
        if "list.remove(x): x not in list" in str(theirs.get("error")) and any(breaks_difference(one.get("old_state"), one.get("new_state")) for one in ours.values() if isinstance(one, dict)):
            return faults, reasons | {EQUAL_ELEMENTS}
        if not run["text"] and not ours and "Could not find SLS ref" in str(theirs.get("error")):
            faults.append([])
            reasons.add("an empty file is one without states")
            continue
        found, rows = judged_run(run, ours, theirs, difference(ours, theirs), history)
        faults.append(found)
        reasons |= rows
    return faults, reasons


def with_loop(runs, seed, number, share):
    """With Idem's own loop in a share of the sets."""
    loop = "basic" if random.Random(f"{seed} {number}").random() < share else "none"
    return [{**run, "loop": loop} for run in runs]


def asked(fettle, idem, count, seed, loops=SHARE_OF_LOOPS):
    """Sets of files with what both say of their runs."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        peers = Peers(folder, fettle, idem, os.environ.get("IDEM_TEST_STATES"))
        sets = [with_loop(Sets(seed * 1_000_003 + number).runs(), seed, number, loops) for number in range(count)]
        yield from zip(sets, pool.map(peers.both, range(count), sets))


def compare(fettle, idem, count, seed):
    """Prints what differs; true when nothing does but what is known."""
    differing, known = 0, collections.Counter()
    for number, (runs, told) in enumerate(asked(fettle, idem, count, seed)):
        faults, reasons = judged(runs, told)
        known.update(reasons)
        run = next((run for run, lines in enumerate(faults) if lines), None)
        if run is None:
            continue
        differing += 1
        if differing <= MOST_SHOWN:
            print(f"--- set {number} of seed {seed}, run {run} {' '.join(runs[run]['words'])} loop {runs[run]['loop']}\n{runs[run]['text']}" + "\n".join(faults[run]) + "\n", flush=True)
    print(f"{count} sets of files of states; {differing} differ")
    for reason, many in known.most_common():
        print(f"  {many} more: {reason}")
    return not differing


def record(path, fettle, idem, count, seed):
    """What Idem says, for the short form, which has no peer whose loop could run; where a row of the table says why it differs, what fettle does."""
    with open(path, "w") as file:
        file.write(json.dumps({"module": MODULE, "exec": EXEC}) + "\n")
        for runs, told in asked(fettle, idem, count, seed, loops=0):
            faults, reasons = judged(runs, told)
            if any(faults):
                raise SystemExit("a set differs without a reason: compare first")
            says = [{tag: without(one, "re_runs_count") for tag, one in (ours if reasons else theirs).items()} for ours, theirs in told]
            file.write(json.dumps({"runs": [{"text": run["text"], "words": run["words"], "says": one} for run, one in zip(runs, says)], "differs": sorted(reasons)}) + "\n")
