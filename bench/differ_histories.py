"""Random packages that somebody edits again and again, run in one environment after each edit, beside the last text of each in a fresh
environment: files with their contents and modes, variables, mounts, pinned ports, what was run in services, artifacts and outputs have to
be the same. What an edit may do is the list of `Package.edits`: artifacts with several authors, services that are renamed or swap pinned
ports, and changes of modes are among it.
"""
import json
import os
import random
import shutil
import socket
import subprocess
import sys

IMAGE = "localhost/fettle/busybox:1"
WORDS = ["ash", "beech", "cedar", "elm", "fir", "oak"]
NAMES = ["alder", "birch", "hazel", "larch", "maple"]
MODES = [0o644, 0o600, 0o755, 0o640, 0o444]
# What a service shows of itself: each file below its mounts with its mode, folders, what was run in it, and its variables.
LOOK = ("for f in $(find /m -type f 2>/dev/null | sort); do stat -c '%a %n' $f; cat $f; echo; done; "
        "find /m -type d 2>/dev/null | sort | while read d; do stat -c '%a %n' $d; done; cat /log 2>/dev/null; env | grep ^V_ | sort")


class Package:
    """What its text is made of. What an instruction names and nothing before it makes is left out of the text."""

    def __init__(self, chance):
        self.chance = chance
        self.uploads = {name: {"a": ["ash", 0o644]} for name in ("files", "more")}
        self.items = [self.upload("files"), self.service(), self.task(), self.service()]

    def word(self):
        return self.chance.choice(WORDS)

    def artifact(self):
        return self.chance.choice(["files", "more", "page", "kept"])

    def upload(self, name):
        return {"is": "upload", "name": name}

    def render(self):
        return {"is": "render", "name": "page", "text": self.word()}

    def task(self):
        return {"is": "task", "name": self.artifact(), "reads": self.chance.choice([None, self.artifact()]), "word": self.word()}

    def store(self):
        return {"is": "store", "name": "kept", "service": self.chance.choice(NAMES)}

    def service(self):
        return {"is": "service", "name": self.chance.choice(NAMES), "value": self.word(), "pin": self.chance.choice([None, 0, 1, 2]),
                "mounts": sorted({self.artifact() for _ in range(self.chance.randrange(3))}), "acts": [self.word() for _ in range(self.chance.randrange(3))]}

    def one(self, *sorts):
        found = [item for item in self.items if item["is"] in sorts]
        return self.chance.choice(found) if found else None

    def edit(self):
        self.chance.choice(self.edits)(self)

    def change_content(self):
        self.chance.choice(list(self.uploads.values()))[self.chance.choice("abc")] = [self.word(), self.chance.choice(MODES)]

    def change_mode(self):
        files = self.chance.choice(list(self.uploads.values()))
        files[self.chance.choice(sorted(files))][1] = self.chance.choice(MODES)

    def remove_file(self):
        files = self.chance.choice(list(self.uploads.values()))
        if len(files) > 1:
            del files[self.chance.choice(sorted(files))]

    def add(self):
        made = self.chance.choice([self.service, self.task, self.task, self.render, self.store, lambda: self.upload("more")])()
        self.items.insert(self.chance.randrange(len(self.items) + 1), made)

    def remove(self):
        if len(self.items) > 2:
            self.items.pop(self.chance.randrange(len(self.items)))

    def move(self):
        item = self.items.pop(self.chance.randrange(len(self.items)))
        self.items.insert(self.chance.randrange(len(self.items) + 1), item)

    def rename(self):
        if service := self.one("service"):
            service["name"] = self.chance.choice(NAMES)

    def swap_pins(self):
        one, other = self.one("service"), self.one("service")
        if one and other:
            one["pin"], other["pin"] = other["pin"], one["pin"]

    def change_service(self):
        if service := self.one("service"):
            service[field] = self.service()[field] if (field := self.chance.choice(["value", "pin", "mounts", "acts"])) else None

    def append_act(self):
        if service := self.one("service"):
            service["acts"].append(self.word())

    def change_task(self):
        if task := self.one("task"):
            task.update(self.chance.choice([{"word": self.word()}, {"reads": self.artifact()}, {"name": self.artifact()}]))

    def change_text(self):
        if page := self.one("render"):
            page["text"] = self.word()

    edits = [change_content, change_mode, remove_file, add, add, remove, move, rename, swap_pins, change_service, append_act, change_task, change_task, change_text]

    def text(self):
        """The Starlark of it, and the services that are there at its end."""
        lines, services, artifacts, made, pins = [], [], set(), set(), set()
        for item in self.items:
            name = item["name"]
            if item["is"] in ("upload", "render", "store"):
                if name in made or (item["is"] == "store" and item["service"] not in services):
                    continue
                lines.append({"upload": lambda: f'plan.upload_files("{name}", name = "{name}")',
                              "render": lambda: f'plan.render_templates({{"page": struct(template = "{item["text"]} {{{{.x}}}}", data = {{"x": "{item["text"]}"}})}}, name = "{name}")',
                              "store": lambda: f'plan.store_service_files("{item["service"]}", "/etc/hostname-of", name = "{name}")'}[item["is"]]())
                artifacts.add(name), made.add(name)
            elif item["is"] == "task":
                files = f', files = {{"/in": "{item["reads"]}"}}' if item["reads"] in artifacts else ""
                lines.append(f'out.append(plan.run_sh(run = "mkdir /out; echo {item["word"]} > /out/{item["word"]}; cat $(find /in -type f 2>/dev/null | sort) /dev/null > /out/read; '
                             f'chmod 750 /out/read; cat /out/read", image = "{IMAGE}", store = [StoreSpec(src = "/out/*", name = "{name}")]{files}).output)')
                artifacts.add(name), made.add(name)
            elif name not in services:
                pin = item["pin"] if item["pin"] not in pins else None
                pins.add(pin)
                services.append(name)
                public = f', ports = {{"p": PortSpec(80, wait = None)}}, public_ports = {{"p": PortSpec(base + {pin}, wait = None)}}' if pin is not None else ""
                files = ", ".join(f'"/m/{artifact}": "{artifact}"' for artifact in item["mounts"] if artifact in artifacts)
                lines.append(f'plan.add_service("{name}", ServiceConfig(image = "{IMAGE}", cmd = ["sh", "-c", "echo {name} > /etc/hostname-of; exec sleep 100000"], '
                             f'env_vars = {{"V_X": "{item["value"]}"}}, files = {{{files}}}{public}))')
                lines += [f'out.append(plan.exec("{name}", ExecRecipe(command = ["sh", "-c", "echo {act} >> /log; cat /log"]))["output"])' for act in item["acts"]]
        return "def run(plan, base):\n    out = []\n" + "".join(f"    {line}\n" for line in lines) + "    return out\n", services

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        for upload, files in self.uploads.items():
            os.makedirs(os.path.join(folder, upload))
            for name, (content, mode) in files.items():
                path = os.path.join(folder, upload, name)
                open(path, "w").write(content)
                os.chmod(path, mode)
        open(os.path.join(folder, "kurtosis.yml"), "w").write("name: github.com/test/histories\n")
        text, services = self.text()
        open(os.path.join(folder, "main.star"), "w").write(text)
        return services


def free_ports(first):
    """The first of three ports in a row that nobody has on this machine; of 5,000 below those that the kernel hands out."""
    while True:
        base = random.randrange(first, first + 5000, 10)
        try:
            for port in range(base, base + 3):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue


class World:
    """One engine of its own and a home."""

    def __init__(self, fettle, sort):
        self.fettle, self.sort = fettle, sort
        self.root = os.path.abspath(os.path.join("build", "histories", sort))
        self.tool = os.path.join(os.path.dirname(fettle), "engine_tool")
        shutil.rmtree(os.path.join(self.root, "home"), ignore_errors=True)
        os.makedirs(self.root, exist_ok=True)
        address = subprocess.run([self.tool, "start", sort, os.path.join(self.root, "engine"), os.path.abspath("build/images"), "busybox"], check=True, capture_output=True, text=True).stdout.strip()
        self.variables = {**os.environ, "FETTLE_HOME": os.path.join(self.root, "home"), "DOCKER_HOST": f"unix://{address}"}
        self.ports = {"h": free_ports(20000), "f": free_ports(25000)}

    def stop(self):
        subprocess.run([self.tool, "stop", self.sort, os.path.join(self.root, "engine"), "--wipe"], capture_output=True)

    def call(self, *words):
        return subprocess.run([self.fettle, *words], env=self.variables, capture_output=True, text=True, timeout=300)

    def run(self, folder, environment, *more):
        base = self.ports[environment]
        done = self.call("run", folder, json.dumps({"base": base}), "-e", environment, "-q", "--show-enclave-inspect=false", "-o", "json", *more)
        return done.returncode, done.stdout, done.stderr

    def seen(self, environment, services, ran):
        """All that has to be equal."""
        found = {"output": json.loads(ran[1])["output"] if ran[0] == 0 else f"exit code {ran[0]}: {ran[1]}{ran[2]}"}
        for artifact in json.loads(self.call("files", "ls", environment, "-o", "json").stdout or "[]"):
            found["artifact " + artifact["name"]] = artifact["digest"]
        for service in services:
            done = self.call("service", "exec", environment, service, LOOK)
            about = json.loads(self.call("service", "inspect", environment, service, "-o", "json").stdout or "{}")
            found["service " + service] = done.stdout if done.returncode == 0 else done.stderr
            found["ports " + service] = {port["number"]: port["public"] - self.ports[environment] for port in about.get("ports", {}).values() if port.get("public")}
        there = json.loads(self.call("service", "ls", environment, "-o", "json").stdout or "[]")
        found["services"] = sorted(f'{service["name"]} {service["status"]}' for service in there)
        return found


def differences(ours, fresh):
    return [f"  {what}: {ours.get(what)!r} after edits, {fresh.get(what)!r} in a fresh environment" for what in sorted(ours.keys() | fresh.keys()) if ours.get(what) != fresh.get(what)]


def history(world, seed):
    """What differs after one history."""
    chance = random.Random(seed)
    package = Package(chance)
    folder = os.path.join(world.root, "package")
    edits = chance.randint(1, 4)
    try:
        for step in range(edits + 1):
            services = package.write(folder)
            last = step == edits
            prunes = last or chance.random() < 0.5
            ran = world.run(folder, "h", *(["--prune"] if prunes else []))
            # What is no longer wanted and stays may hold a port, which is told.
            if ran[0] != 0 and not prunes and "orphan" in ran[1]:
                ran = world.run(folder, "h", "--prune")
            if ran[0] != 0:
                return [f"  run {step + 1} of {edits + 1} failed: {(ran[1] + ran[2])[-1500:]}", package.text()[0]]
            if not last:
                for _ in range(chance.randint(1, 3)):
                    package.edit()
        ours = world.seen("h", services, ran)
        again = world.run(folder, "h", "--prune")
        found = [] if again[0] == 0 and json.loads(again[1])["output"] == ours["output"] else [f"  run again: {again}"]
        fresh = world.seen("f", services, world.run(folder, "f"))
        found += differences(ours, fresh)
        return found + [package.text()[0]] if found else []
    finally:
        world.call("enclave", "rm", "h", "f")


def compare(fettle, count, seed, sort):
    world = World(fettle, sort)
    bad = 0
    try:
        for n in range(count):
            if found := history(world, f"{seed}/{n}"):
                bad += 1
                print(f"history {n} of seed {seed}:", *found, sep="\n", file=sys.stderr, flush=True)
    finally:
        world.stop()
    print(f"histories on {sort}, compared with fresh environments:\n{count - bad} passed, {bad} failed", flush=True)
    return bad == 0
