#!/usr/bin/env python3
"""Times the programs of this folder against the peers that are installed, with the targets.

    bench/starlark/run.py [--ours PROGRAM] [--go PROGRAM] [--rust PROGRAM] [NAME ...]

Each time is CPU seconds of the whole process, the best of three. CPython runs the same text with a
prelude for `json`. A ratio is that of the best peer's time to ours; those of programs that work on
texts, sort or compute with large integers have a target of their own. Programs that mean harm,
`hostile` as a name, each have to end within a second.
Peers are `starlark` and `starlark-rust` of the search path unless they are given.
With --corpus DIR, as for `./dev corpus DIR`, the plan of ethereum-package is timed as well.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PRELUDE = (
    "import json as _json\n"
    "class json:\n"
    "    encode = staticmethod(_json.dumps)\n"
    "    decode = staticmethod(_json.loads)\n"
)

MEAN, LEAST, WORDS = 3.0, 1.5, 1.7
WORD_PROGRAMS = {"big_integers", "dict_text", "format", "sort_key", "sort_records", "strings",
                 "text_building", "wide_integers", "word_count", "words"}
READING = 80  # MB/s
DEPTHS, DEPTH_RATIO, DEPTH_CALLS = (1, 30, 200), 1.2, 3_000_000


def target_of(name):
    """The least ratio that a program must reach."""
    return WORDS if name in WORD_PROGRAMS else LEAST


def seconds(command):
    """CPU seconds of a process, best of three; None when it fails."""
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode != 0:
            return None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = spent if best is None else min(best, spent)
    return best


def peak_megabytes(command):
    """The most memory that a process held, and at least what this one holds; None when it fails."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / 1024 if process.returncode == 0 else None


def whole_processes(options, folder):
    """Start, front end and memory, which no ratio of times tells; names the missed targets."""
    missed = []
    for path in sorted(HERE.glob("programs/*.star")):
        ours = peak_megabytes([options.ours, "--recursion", str(path)])
        go = options.go and peak_megabytes([options.go, "-recursion", str(path)])
        target = f"target {1.2 * go + 10:.0f}" if go else "no starlark-go to compare with"
        print(f"peak memory of {path.stem}: {ours:.0f} MB, {target}")
        missed += [f"memory of {path.stem}"] if go and ours > 1.2 * go + 10 else []
    hello = pathlib.Path(folder) / "hello.star"
    hello.write_text("print('hello world')\n")
    spent = min(seconds([options.ours, str(hello)]) for _ in range(5))
    print(f"hello world, whole process: {spent * 1000:.1f} ms, target 8")
    missed += ["hello world"] if spent > 0.008 else []
    source = pathlib.Path(folder) / "large.star"
    source.write_text(large_source(38_000))
    size = os.path.getsize(source) / 1e6
    rate = size / seconds([options.ours, str(source)])
    print(f"front end, {size:.0f} MB, whole process: {rate:.0f} MB/s, target {READING}")
    missed += ["front end"] if rate < READING else []
    return missed + depths(options, folder)


def depths(options, folder):
    """Calls below other calls: the check for recursion must not cost more there."""
    spent = {}
    for depth in DEPTHS:
        functions = [f"def f{i}(n): return f{i - 1}(n)\n" for i in range(1, depth)]
        path = pathlib.Path(folder) / f"depth_{depth}.star"
        path.write_text("def leaf(x): return x\n"
                        "def f0(n):\n    for i in range(n): leaf(i)\n" + "".join(functions) +
                        f"f{depth - 1}({DEPTH_CALLS})\n")
        spent[depth] = min(seconds([options.ours, str(path)]) for _ in range(3))
    shown = ", ".join(f"{spent[depth] / DEPTH_CALLS * 1e9:.1f} ns at {depth}" for depth in DEPTHS)
    ratio = max(spent.values()) / min(spent.values())
    print(f"calls by depth: {shown}: a ratio of {ratio:.2f}, target {DEPTH_RATIO}")
    return ["calls by depth"] if ratio > DEPTH_RATIO else []


def embedding(options):
    """What a host sees; names the missed targets."""
    program = pathlib.Path(options.ours).with_name("starlark_bench")
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    figures = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    missed = []
    for name, value in figures.items():
        unit, target = ("ms", 10) if name.endswith("_ms") else ("ns", 1000)
        print(f"{name.rpartition('_')[0]}: {value:.4g} {unit}, target {target}")
        missed += [name] if value > target else []
    return missed


def package_plan(options, folder):
    """The interpretation of a large package with its largest arguments file, whole process."""
    package = pathlib.Path(options.corpus) / "github.com/ethpandaops/ethereum-package"
    files = [*package.glob(".github/tests/**/*.y*ml"), *package.glob("network_params*.y*ml")]
    if not files:
        return ["ethereum-package, which is not there"]
    arguments = max(files, key=lambda path: path.stat().st_size)
    os.environ["FETTLE_HOME"] = folder
    spent = seconds([options.fettle, "plan", str(package), "--args-file", str(arguments),
                     "--package-mirror", options.corpus])
    if spent is None:
        return ["ethereum-package, which fails"]
    print(f"plan of ethereum-package with {arguments.name}: {spent * 1000:.0f} ms, target 150")
    return ["ethereum-package"] if spent > 0.15 else []


def large_source(functions):
    """A text of definitions, to time the front end."""
    body = (
        "def function_{0}(plan, name, image = 'registry/app:latest', ports = {{}}, *, labels = None):\n"
        "    '''Starts a service.'''\n"
        "    config = {{'name': name, 'image': image, 'ports': ports}}\n"
        "    if labels != None:\n"
        "        config['labels'] = dict(labels)\n"
        "    for key, value in config.items():\n"
        "        if key == 'name' and len(value) > {0}:\n"
        "            fail('name is too long: {{}}'.format(value))\n"
        "    result = [x * 2 for x in range(10) if x % 3 == 1]\n"
        "    return struct(config = config, result = result, total = name + str(len(result)))\n\n"
    )
    return "".join(body.format(i) for i in range(functions))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", default=str(ROOT / "build/release/starlark_main"))
    parser.add_argument("--go", default=shutil.which("starlark"))
    parser.add_argument("--rust", default=shutil.which("starlark-rust"))
    parser.add_argument("--fettle", default=str(ROOT / "build/release/fettle"))
    parser.add_argument("--corpus", help="a folder with github.com/ethpandaops/ethereum-package")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    product, count, missed = 1.0, 0, []
    print(f"{'program':18} {'ours':>8} {'cpython':>8} {'go':>8} {'rust':>8} {'ratio':>7} {'target':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(HERE.glob("programs/*.star")):
            if options.names and path.stem not in options.names:
                continue
            text = path.read_text()
            twin = pathlib.Path(folder) / "program.py"
            pop_first = "(lambda k: (k, d.pop(k)))(next(iter(d)))"
            twin.write_text((PRELUDE if "json." in text else "") + text.replace("d.popitem()", pop_first))
            ours = seconds([options.ours, "--recursion", str(path)])
            peers = {
                "cpython": seconds([sys.executable, "-S", "-E", str(twin)]),
                "go": options.go and seconds([options.go, "-recursion", str(path)]),
                "rust": options.rust and seconds([options.rust, str(path)]),
            }
            known = [value for value in peers.values() if value]
            if ours is None or not known:
                missed.append(path.stem)
                print(f"{path.stem:18} failed")
                continue
            ratio = min(known) / ours
            product, count = product * ratio, count + 1
            if ratio < target_of(path.stem):
                missed.append(path.stem)
            shown = [f"{value:8.3f}" if value else "       -" for value in peers.values()]
            print(f"{path.stem:18} {ours:8.3f} {' '.join(shown)} {ratio:7.2f} "
                  f"{target_of(path.stem):7.1f}", flush=True)
        if count:
            mean = product ** (1 / count)
            print(f"geometric mean {mean:.2f} of {count} programs, target {MEAN}")
            if mean < MEAN:
                missed.append("geometric mean")
        if not options.names:
            missed += whole_processes(options, folder)
            missed += embedding(options)
            missed += package_plan(options, folder) if options.corpus else []
    if not options.names or "hostile" in options.names:
        timed = subprocess.run([str(ROOT / "build/release/hostile_bench")], check=False)
        missed += ["hostile programs"] if timed.returncode != 0 else []
    print("missed: " + ", ".join(missed) if missed else "every target reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
