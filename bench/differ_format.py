"""Programs of Starlark for `bench/differ`, laid out by fettle and by black, whose layout it is. What differs is shown with its reason, if it
has one in `ACCEPTED`. `--record` keeps what black makes of programs that are made here.

With $STAR_FILES, a folder, all its `.star` files are laid out instead of programs that are made.
"""
import glob
import json
import os
import random
import subprocess

MOST_SHOWN = 10
# A reason, and when it holds: (text, ours, theirs).
ACCEPTED = [
    ("black does not read it", lambda text, ours, theirs: theirs is None),
    ("it is no Starlark of Kurtosis", lambda text, ours, theirs: ours[0] == "!" and "cannot be laid out" not in ours),
    ("types and remarks within a statement are refused", lambda text, ours, theirs: ours[0] == "!" and ("a type cannot" in ours or "cannot be obeyed" in ours)),
]


class Programs:
    """Statements that are too long, too short, crooked, with comments where they may stand."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *options):
        chosen = self.random.choice(options)
        return chosen() if callable(chosen) else chosen

    def chance(self, share):
        return self.random.random() < share

    def name(self):
        return self.pick("a", "b", "plan", "value", "service_name", "configuration_of_the_service", "el_context", "participants", "x1")

    def text(self):
        return self.pick("'a'", '"b"', "'it\\'s'", "'say \"hi\"'", '"it\'s"', "r'\\d'", "'\\x1B'", "'" + "long " * self.random.randrange(12) + "'", '"{0}-{1}"', "''", "b'\\xFF'")

    def number(self):
        return self.pick("0", "1", "0XfF", "10", "1E5", "1.", ".5", "1e+3", "0o17")

    def gap(self):
        return self.pick("", "", " ", "\n    ", " # why\n    ") if self.chance(0.15) else self.pick("", "", " ")

    def separated(self, item, depth, least=0):
        items = [item(depth) for _ in range(self.random.randrange(least, 5))]
        comma = self.pick(",", ", ", " , ", ",\n        ")
        text = comma.join(items)
        return self.gap() + text + (self.pick(",", "") if items else "") + self.gap()

    def argument(self, depth):
        return self.pick(lambda: self.test(depth), lambda: self.name() + self.pick("=", " = ") + self.test(depth))

    def call(self, depth):
        extra = self.pick("", "", "", "*args", "**kwargs")
        inside = ", ".join(filter(None, [self.separated(lambda d: self.test(d), depth).strip().rstrip(","), extra])) if extra else self.arguments(depth)
        return "(" + inside + ")"

    def arguments(self, depth):
        positional = [self.test(depth) for _ in range(self.random.randrange(3))]
        named = [f"{name}{self.pick('=', ' = ')}{self.test(depth)}" for name in self.random.sample(["image", "ports", "env_vars", "entrypoint", "cmd"], self.random.randrange(3))]
        every = positional + named
        return self.gap() + self.pick(",", ", ", ",\n   ").join(every) + (self.pick(",", "", "") if every else "") + self.gap()

    def operand(self, depth):
        if depth <= 0:
            return self.pick(self.name, self.text, self.number, "True", "None", "[]", "{}", "()")
        return self.pick(
            self.name, self.text, self.number,
            lambda: self.name() + "".join(self.suffix(depth - 1) for _ in range(self.random.randrange(1, 4))),
            lambda: self.name() + "".join(self.suffix(depth - 1) for _ in range(self.random.randrange(1, 4))),
            lambda: "[" + self.separated(self.test, depth - 1) + "]",
            lambda: "{" + self.separated(lambda d: self.text() + self.pick(":", ": ", " : ") + self.test(d), depth - 1) + "}",
            lambda: "(" + self.test(depth - 1) + ")",
            lambda: "(" + self.gap() + self.test(depth - 1) + ", " + self.test(depth - 1) + self.pick(",", "") + self.gap() + ")",
            lambda: "(" + self.test(depth - 1) + ",)",
            lambda: "[" + self.test(depth - 1) + " for " + self.name() + " in " + self.logical(depth - 1) + self.pick("", lambda: " if " + self.logical(depth - 1)) + "]",
            lambda: "{" + self.name() + ": " + self.test(depth - 1) + " for " + self.name() + ", b in " + self.logical(depth - 1) + "}")

    def suffix(self, depth):
        return self.pick(
            lambda: "." + self.name(), lambda: "." + self.name() + self.call(depth), lambda: self.call(depth), lambda: "[" + self.test(depth) + "]",
            lambda: "[" + self.pick("", lambda: self.logical(depth)) + ":" + self.pick("", lambda: self.logical(depth)) + self.pick("", "", ":", ":2") + "]")

    def sum(self, depth):
        if self.chance(0.6):
            return self.pick("", "", "", "", "-", "- ") + self.operand(depth)
        operator = self.pick("+", "-", "*", "%", "//", "|", "&", "<<")
        return self.pick(" ", "").join([self.operand(depth), operator, self.operand(depth)])

    def logical(self, depth):
        if depth <= 0 or self.chance(0.6):
            return self.sum(depth)
        return self.pick(
            lambda: self.sum(depth) + self.pick(" == ", " < ", "!=", " in ", " not in ") + self.sum(depth),
            lambda: self.sum(depth) + " and " + self.sum(depth), lambda: self.sum(depth) + " or " + self.sum(depth) + " or " + self.sum(depth),
            lambda: "not " + self.sum(depth))

    def test(self, depth):
        if depth > 0 and self.chance(0.12):
            return self.logical(depth - 1) + " if " + self.logical(depth - 1) + " else " + self.test(depth - 1)
        if depth > 0 and self.chance(0.04):
            return "lambda " + self.pick("", "a", "a, b=1", "*args") + ": " + self.test(depth - 1)
        return self.logical(depth)

    def small(self, depth):
        return self.pick(
            lambda: self.name() + self.pick(" = ", "=", " += ") + self.test(depth), lambda: self.name() + self.pick(" = ", "=") + self.test(depth),
            lambda: self.name() + "[" + self.test(1) + "] = " + self.test(depth), lambda: "(a, b) = " + self.test(depth), lambda: "a, b = " + self.test(depth) + ", " + self.test(depth),
            lambda: self.name() + self.call(depth), lambda: self.name() + "." + self.name() + self.call(depth), "pass", lambda: self.test(depth))

    def comment(self, indent):
        return indent + self.pick("# a remark", "#no space", "#!odd", "#", "#: x") + "\n"

    def lines(self, indent, depth, in_function):
        text = ""
        for _ in range(self.random.randrange(1, 5)):
            text += self.pick("", "", "", "\n", "\n\n", "\n\n\n\n")
            if self.chance(0.15):
                text += self.comment(indent)
            text += self.statement(indent, depth, in_function)
        return text

    def statement(self, indent, depth, in_function):
        if depth > 0 and self.chance(0.35):
            inner = indent + self.pick("    ", "  ", "    ")
            body = lambda: self.pick("", "", "", "\n") + self.lines(inner, depth - 1, in_function)
            if self.chance(0.3):
                doc = inner + self.pick('"""Text."""', "'''Text'''", f'"""Text.\n\n{inner}  Args:\n{inner}    a: b  \n{inner}"""', '" Text "') + "\n" if self.chance(0.5) else ""
                return indent + "def " + self.name() + "(" + self.pick("", "plan", "plan, args = {}", "a,b=1,*args", "plan,", "configuration_of_the_service, el_context, participants, value = None, **kwargs", "plan, # why\n        b") + "):\n" + doc + self.lines(inner, depth - 1, True)
            if self.chance(0.5):
                return indent + "for " + self.pick("a", "a, b", "(a, b)") + " in " + self.pick(lambda: self.test(2), "(1, 2)") + ":\n" + body()
            text = indent + "if " + self.pick(lambda: self.test(2), lambda: "(" + self.test(2) + ")") + ":" + self.pick("", "  # why") + "\n" + body()
            if self.chance(0.3):
                text += indent + "elif " + self.test(1) + ":\n" + body()
            if self.chance(0.3):
                text += indent + "else:\n" + body()
            return text
        small = self.small(self.pick(1, 2, 3))
        if in_function and self.chance(0.15):
            small = "return " + self.pick(lambda: self.test(3), lambda: "(" + self.test(3) + ")", lambda: self.test(2) + ", " + self.test(2))
        return indent + small + self.pick("", "", "", "", ";", " # why", "  #why", "; pass") + "\n"

    def program(self):
        return self.pick("", "", '"""A file."""\n', "# a file\n\n", "\n\n") + self.lines("", 2, False) + self.pick("", "", "# the end\n", "\n\n")


def made(seed, count):
    folder = os.environ.get("STAR_FILES")
    if folder:
        return [open(path, newline="").read() for path in sorted(glob.glob(folder + "/**/*.star", recursive=True))]
    return [Programs(seed * 1_000_003 + number).program() for number in range(count)]


def ours_of(format_main, texts):
    answers = subprocess.run([format_main], input="".join(text + "\0" for text in texts).encode(), stdout=subprocess.PIPE, check=True).stdout
    return answers.decode().split("\0")[:-1]


BLACK = """
import json, sys
import black
for line in sys.stdin:
    text = json.loads(line)
    try:
        result = black.format_file_contents(text, fast=False, mode=black.Mode())
    except black.NothingChanged:
        result = text
    except Exception:
        result = None
    print(json.dumps(result))
"""


def theirs_of(python, texts):
    answers = subprocess.run([python, "-c", BLACK], input="\n".join(json.dumps(text) for text in texts), stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(line) for line in answers.splitlines()]


def reason_of(text, ours, theirs):
    return next((reason for reason, holds in ACCEPTED if holds(text, ours, theirs)), None)


def record(path, count, seed, format_main, python):
    """Writes what black makes of programs, for tests that have none; without those that it does not read."""
    texts = made(seed, count)
    with open(path, "w") as file:
        for text, ours, theirs in zip(texts, ours_of(format_main, texts), theirs_of(python, texts)):
            if theirs is not None and not (ours != "=" + theirs and reason_of(text, ours, theirs)):
                file.write(json.dumps({"text": text, "layout": theirs}) + "\n")


def compare(format_main, python, count, seed):
    """Prints what differs without a reason; true when nothing does."""
    texts = made(seed, count)
    equal, shown, reasons = 0, 0, {}
    for number, (text, ours, theirs) in enumerate(zip(texts, ours_of(format_main, texts), theirs_of(python, texts))):
        reason = reason_of(text, ours, theirs)
        if theirs is not None and ours == "=" + theirs:
            equal += 1
        elif reason:
            reasons[reason] = reasons.get(reason, 0) + 1
        else:
            shown += 1
            if shown <= MOST_SHOWN:
                print(f"program {number}:\n{text}\n--- fettle\n{ours[1:]}\n--- black\n{theirs}")
    print(f"format: {len(texts)} programs, {equal} equal, {shown} not" + "".join(f"; {count}: {reason}" for reason, count in sorted(reasons.items())))
    return shown == 0
