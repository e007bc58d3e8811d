"""Random files of states, applied here and by Idem, for `bench/differ`.

Both call the same functions, a module in Python that is written for the comparison. Compared are, for each state, its result, changes, new
state, and the lines of its comment in any order. Left out, with the reason:

* a state that watches and fails: Idem calls `mod_watch` all the same, whose result replaces the failure;
* `onfail` of a state that was not needed: that is no failure here;
* `onchanges_any`, `watch_any`, `onfail_any`: Idem runs a state of the first without a change, and does not know the others;
* an empty string before a second reference: Idem puts one in after the other, so the second stands alone then and keeps its type;
* `prereq`: Idem finds no order for most, and an exception in the target ends its run.
"""
import json
import os
import random
import subprocess
import tempfile

MODULE = '''
RESULTS = {"yes": True, "no": False, "none": None}


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
CONF = 'CLI_CONFIG = {}\nCONFIG = {}\nSUBCOMMANDS = {}\nDYNE = {"states": ["states"]}\n'
MOST_SHOWN = 10


class States:
    """One file: states in any order, whose requisites and references name those that were made before."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions, self.plain = {}, []  # plain: without requisites and references

    def value(self, depth=0):
        pick = self.random.random()
        acts = [one for one, function in self.functions.items() if function == "act"]
        if acts and pick < 0.45:
            target, path = self.random.choice(acts), self.random.choice(["value", "value", "kept", "kept", "kept", "none"])
            self.refers = True
            return self.random.choice(["${differ:%s:%s}", "pre ${differ:%s:%s} post", "${differ:%s:%s}${differ:" + target + ":kept}"]) % (target, path)
        if pick < 0.6 or depth == 2:
            return self.random.choice([1, 0, -3, 2.5, True, False, None, "text", "1", "true"])
        if pick < 0.8:
            return [self.value(depth + 1) for _ in range(self.random.randint(0, 3))]
        return {f"k{i}": self.value(depth + 1) for i in range(self.random.randint(0, 3))}

    def requisites(self):
        arguments = []
        for requisite in self.random.sample(["require", "require", "watch", "onchanges", "onfail", "require_any"], self.random.choice([0, 1, 1, 2])):
            targets = self.plain if requisite == "onfail" else list(self.functions)
            if targets and requisite not in [key for argument in arguments for key in argument]:
                chosen = self.random.sample(targets, min(len(targets), self.random.choice([1, 1, 1, 2])))
                arguments.append({requisite: [{"differ": target} for target in chosen]})
        return arguments

    def state(self, name):
        function, self.refers = self.random.choice(["act", "act", "act", "bare", "bare", "broken"]), False
        requisites = self.requisites()
        watches = any("watch" in argument for argument in requisites)
        arguments = []
        if watches and function == "broken":
            function = "bare"
        if function == "act" and self.random.random() < 0.8:
            arguments.append({"value": self.value()})
        if function != "broken" and self.random.random() < 0.35:
            arguments.append({"changed": False})
        if function != "broken" and not watches and self.random.random() < 0.3:
            arguments.append({"result": self.random.choice(["no", "none", "yes", None])})
        if self.random.random() < 0.25:
            arguments.append({"comment": self.random.choice(["one", "two\nlines", ["a", "list"], "", None])})
        if not requisites and not self.refers:
            self.plain.append(name)
        self.functions[name] = function
        return f"{name}:\n  differ.{function}: {json.dumps(arguments + requisites)}\n"

    def file(self):
        names = [f"s{i}" for i in range(self.random.randint(3, 9))]
        self.random.shuffle(names)
        states = [self.state(name) for name in names]
        self.random.shuffle(states)
        return "".join(states)


def comment_of(comment):
    text = "\n".join(map(str, comment)) if isinstance(comment, list) else str(comment)
    if "ValueError: broken" in text:  # here its place follows
        text = text.split("\n")[0].replace("`", "")
    return sorted(set(text.split("\n")))


def applied(command, folder, environment):
    done = subprocess.run([*command, "g.sls", "--output=json", "--reconciler=none"], cwd=folder, env=environment, capture_output=True, text=True)
    try:
        told = json.loads(done.stdout)
        return {tag: (one["result"], one["changes"], one["new_state"], comment_of(one["comment"])) for tag, one in told.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"error": (done.stdout + done.stderr)[-500:]}


def compare(fettle, idem, files, seed):
    """Prints what differs; true when nothing does."""
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in ("states", "package/differ/states"):
            os.makedirs(os.path.join(folder, path))
            with open(os.path.join(folder, path, "differ.py"), "w") as file:
                file.write(MODULE)
        for path, text in (("conf.py", CONF), ("__init__.py", ""), ("states/__init__.py", "")):
            with open(os.path.join(folder, "package/differ", path), "w") as file:
                file.write(text)
        for number in range(files):
            source = States(seed * 1_000_003 + number).file()
            with open(os.path.join(folder, "g.sls"), "w") as file:
                file.write(source)
            place = os.path.join(folder, f"home{number}")
            environment = {**os.environ, "FETTLE_HOME": place, "PYTHONPATH": os.path.join(folder, "package")}
            theirs = applied([idem, "state", f"--root-dir={place}"], folder, environment)
            ours = applied([fettle, "state"], folder, environment)
            if ours == theirs:
                continue
            differing += 1
            if differing <= MOST_SHOWN:
                print(f"--- states {number} of seed {seed}\n{source}", flush=True)
                for tag in sorted({*ours, *theirs}):
                    if ours.get(tag) != theirs.get(tag):
                        print(f"{tag}\nfettle: {ours.get(tag)}\nIdem:   {theirs.get(tag)}\n", flush=True)
    print(f"{files} files of states; {differing} differ")
    return not differing
