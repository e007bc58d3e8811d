"""Compares random models (differ_models.py) with Inmanta for `bench/differ`, and makes those that differ small.

Compared are whether a model compiles, the lines that it prints, in any order, and for an error its kind and its line. Its words are not.
`REASONS` says what is known to differ; docs/model-language.md says it to users.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from differ_models import Models
from differ_smaller import without_argument, without_block, without_lines, without_words

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 10
MOST_OF_A_SORT = 3  # so many models that differ in the same way are shown
MOST_STEPS, MOST_TRIED = 5, 400


def kinds_of(trace):
    """What an error and its causes say, without names, values and places."""
    if trace.startswith("Syntax error"):
        return ("Syntax error",)
    found = []
    for part in trace.split("caused by:"):
        text = re.split(r"\(reported in|\(original at|set at m\.cf", part.strip().split("\n")[0])[0]
        text = re.sub(r"[vV]alue .*,? (?=expected|does not match|of plugin|for argument)|value .*(?=, should be)", "_ ", text)
        text = re.sub(r"^Failed to cast .* to (?=\w+$)", "Failed to cast _ to ", text)
        text = re.sub(r"Hint: .*", "", re.sub(r"\b(variable|key|attribute) \S+", r"\1 _", text))
        text = re.sub(r"`[^`]*`|'[^']*'|\[.*\]", "_", text)
        text = re.sub(r"\(m\.cf[^)]*\)|__config__::\w+|(?<!\w)-?\d+(\.\d+)?", "_", text)
        found.append(re.sub(r"\s+", " ", text).strip())
    return tuple(found)


def errors_of(trace):
    """The kinds of one error, or of each of several."""
    parts = re.split(r"^error \d+:$", trace, flags=re.M)
    return tuple(sorted(kinds_of(part) for part in parts[1:])) if parts[1:] else (kinds_of(trace),)


def places_of(trace):
    return {int(line) for line in re.findall(r"m\.cf:(\d+)", trace)}


class Result:
    def __init__(self, lines, trace, line=None):
        self.lines = [re.sub(r"@(?=[\[{])", "", re.sub(r"<inmanta\.execute\.util\.Unknown object at \w+>", "<<unknown>>", line)) for line in lines]
        trace = trace and re.split(r"^m\.cf:\d+:\d+$", trace, flags=re.M)[0]  # the lines that fettle shows below several errors
        self.trace = trace and "\n".join(part.strip() for part in trace.splitlines() if part.strip())
        self.line = line

    def sort(self):
        return "compiles" if self.trace is None else errors_of(self.trace)

    def root(self):
        """The kind of the cause of the only error, if there is one."""
        return None if self.trace is None or len(errors_of(self.trace)) > 1 else kinds_of(self.trace)[-1]

    def same_kind(self, other):
        return self.sort() == other.sort() or (self.root() is not None and self.root() == other.root())


def in_any_order(lines):
    """The lines without the order of the values within them."""
    return collections.Counter(tuple(sorted(re.findall(r"[^\s,\[\]<>|]+", line))) for line in lines)


class Pair:
    """fettle, and a process that compiles with Inmanta."""

    def __init__(self, fettle, python):
        self.fettle, self.python, self.process = fettle, python, None
        self.folder = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(self.folder.name, "libs"))
        with open(os.path.join(self.folder.name, "project.yml"), "w") as file:
            file.write("name: differ\nmodulepath: libs\n")
        self.count, self.failed = 0, False

    def ask(self, name):
        if self.process is None or self.count % 500 == 0:
            self.close()
            self.process = subprocess.Popen([self.python, os.path.join(HERE, "differ_inmanta.py"), self.folder.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            self.close()
            return {"lines": [], "error": "Inmanta's process ended", "kind": "Ended"}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def in_inmanta(self, source):
        self.count += 1
        name = f"m{self.count}.cf"  # another name for each, since Inmanta keeps what it has parsed
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(source)
        answer = self.ask(name)
        os.remove(path)
        shutil.rmtree(os.path.join(self.folder.name, ".cfcache", "__config__"), ignore_errors=True)
        trace = answer["error"]
        return Result(answer["lines"], trace and re.sub(rf"[^\s('\",]*{re.escape(name)}", "m.cf", trace)), answer["kind"]

    def in_fettle(self, source):
        path = os.path.join(self.folder.name, "m.cf")
        with open(path, "w") as file:
            file.write(source)
        try:
            done = subprocess.run([self.fettle, "compile", "-o", "json", "-f", "m.cf"], cwd=self.folder.name, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Result([], "takes too long")
        if done.returncode not in (0, 2):
            return Result([], f"ended with {done.returncode}: {done.stderr[-300:]}")
        told = json.loads(done.stdout)
        if told["success"]:
            return Result([line for text in told["printed"] for line in text.splitlines() or [""]], None)
        return Result([], told["error"]["message"], told["error"].get("line"))

    def difference(self, source):
        """None, or how the two differ, what each says, and the reason when it is known."""
        ours = self.in_fettle(source)
        theirs, kind = self.in_inmanta(source)
        self.failed = theirs.trace is not None
        if ours.trace is None and theirs.trace is None:
            if collections.Counter(ours.lines) == collections.Counter(theirs.lines):
                return None
            sort = ("prints", "order" if in_any_order(ours.lines) == in_any_order(theirs.lines) else "values")
        elif ours.trace == theirs.trace:
            return None
        else:
            sort = (ours.sort(), theirs.sort())
            if ours.same_kind(theirs):
                if ours.line in places_of(theirs.trace) or places_of(ours.trace) == places_of(theirs.trace):
                    return None
                sort = ("place", ours.root())
        return Difference(sort, ours, theirs, kind)


    def same_error(self, source, own, other, ask):
        """Whether who ends with the error `own` ends with `other` when a few blocks and arguments are gone: both errors are in the model."""
        lines = source.splitlines()
        for _ in range(MOST_STEPS):
            places, next_step = places_of(own.trace), None
            candidates = sorted([*without_block(lines), *without_argument(lines)], key=lambda one: one[0] + 1 not in places)
            for _, candidate in candidates[:MOST_TRIED]:
                found = ask("\n".join(candidate) + "\n")
                if found.trace is None:
                    continue
                moved = own.root() != other.root() or places_of(found.trace) != places_of(own.trace)
                # An unknown variable is told at another place there.
                is_there = places_of(found.trace) & places_of(other.trace) or other.root() == "variable _ not found"
                if found.same_kind(other) and moved and is_there:
                    return True
                if next_step is None and found.trace != own.trace and not re.search("not found|could not find|Invalid Constructor", found.trace):
                    next_step = candidate, found
            if next_step is None:
                return False
            lines, own = next_step
        return False

    def several_errors(self, source, difference):
        ours, theirs = difference.ours, difference.theirs
        if ours.trace is None or theirs.trace is None:
            return False
        return self.same_error(source, ours, theirs, self.in_fettle) and self.same_error(source, theirs, ours, lambda text: self.in_inmanta(text)[0])


class Difference:
    def __init__(self, sort, ours, theirs, kind):
        self.sort, self.ours, self.theirs, self.kind = sort, ours, theirs, kind

    def show(self):
        if self.sort[0] == "prints":
            ours, theirs = collections.Counter(self.ours.lines), collections.Counter(self.theirs.lines)
            return f"fettle only:  {sorted((ours - theirs).elements())}\nInmanta only: {sorted((theirs - ours).elements())}"
        return f"fettle:  {self.ours.trace or self.ours.lines}\nInmanta: {self.theirs.trace or self.theirs.lines}"


def reduced(pair, source, sort, tries=500):
    """The smallest model found that differs in the same way."""
    lines = source.splitlines()
    for smaller in (without_lines, without_words, without_lines):
        found = True
        while found and tries > 0:
            found = False
            for candidate in smaller(lines):
                tries -= 1
                if tries <= 0:
                    break
                difference = pair.difference("\n".join(candidate) + "\n")
                if difference is not None and difference.sort == sort:
                    lines, found = candidate, True
                    break
    return "\n".join(lines) + "\n"


def enough_values(trace):
    return any(int(has) >= int(needs) for needs, has in re.findall(r"requires (\d+) values but only (\d+) are set", trace))


def is_wrong_or_second(difference):
    """Whether the same statement gives an attribute, that has a value, one of a wrong type."""
    if difference.ours.trace is None or difference.theirs.trace is None:
        return False
    ours, theirs = difference.ours, difference.theirs
    roots = sorted(root or "" for root in (ours.root(), theirs.root()))
    return roots[0].startswith("Invalid _") and roots[1].startswith("value set twice") and bool(places_of(ours.trace) & places_of(theirs.trace))


def is_null_or_value(difference):
    said = sorted(result.trace or "" for result in (difference.ours, difference.theirs))
    return any("to null but it has values" in text for text in said) and any("List modified after freeze" in text for text in said)


REASONS = [
    ("the order of statements that do not depend on each other, and so of values in a relation", lambda d: d.sort == ("prints", "order")),
    ("Inmanta ends with an exception of Python", lambda d: d.kind == "Raw" and (d.ours.trace is None or not d.ours.trace.startswith("ended with"))),
    ("Inmanta takes too long", lambda d: d.kind == "TooLong"),
    ("a negative number to a fractional power is complex there", lambda d: "fractional power" in (d.ours.trace or "") and "fractional" not in (d.theirs.trace or "")),
    ("a name and parentheses in the next line are a call there", lambda d: not (d.ours.trace or "").startswith("Syntax error") and "invalid namespace access" in (d.theirs.trace or "")),
    ("`not a not in b` is a syntax error there", lambda d: "not is a reserved keyword" in (d.theirs.trace or "")),
    ("a syntax error is at the token before it there", lambda d: d.sort == ("place", "Syntax error") and min(places_of(d.theirs.trace)) < d.ours.line),
    ("an unknown variable in a loop over a relation is reported at the loop there", lambda d: d.sort == ("place", "variable _ not found")),
    ("Inmanta freezes another relation first and refuses a later value", lambda d: d.ours.trace is None and "List modified after freeze" in (d.theirs.trace or "")),
    ("a second value of a wrong type is refused for the one or the other, by which of the two statements runs first", is_wrong_or_second),
    ("which value is one too many depends on the order of the statements", lambda d: d.sort[0] == "place" and bool(re.match("Exceeded relation arity|List over full", d.sort[1] or ""))),
    ("null for a relation and a value for it: which of the two is refused depends on the order of the statements", is_null_or_value),
    ("a relation that waits for itself is not complete there, though it has enough values", lambda d: d.ours.trace is None and enough_values(d.theirs.trace or "")),
]


def reason_of(pair, source, difference):
    for reason, applies in REASONS:
        if applies(difference):
            return reason
    return "another of several errors" if pair.several_errors(source, difference) else None


def compare(fettle, python, models, seed):
    """Prints what differs without a reason; true when nothing does."""
    pair, reasons, shown, failing = Pair(fettle, python), collections.Counter(), collections.Counter(), 0
    empty = pair.in_inmanta("\n")[0]
    if empty.trace is not None:
        sys.exit(f"{python} does not compile an empty model: {empty.trace}")
    for number in range(models):
        source = Models(seed * 1_000_003 + number).model()
        difference = pair.difference(source)
        failing += pair.failed
        reason = difference and reason_of(pair, source, difference)
        if difference and not reason:
            small = reduced(pair, source, difference.sort)
            reason = reason_of(pair, small, pair.difference(small))
        if reason:
            reasons[reason] += 1
        elif difference:
            shown[difference.sort] += 1
            if shown[difference.sort] <= MOST_OF_A_SORT:
                print(f"--- model {number} of seed {seed}\n{small}{pair.difference(small).show()}\n", flush=True)
    pair.close()
    print(f"{models} models, {failing} of them end with an error; {sum(shown.values())} differ")
    for reason, count in reasons.most_common():
        print(f"  {count} more: {reason}")
    return not shown
