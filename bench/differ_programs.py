"""Random Starlark programs for `bench/differ`, run here and in CPython, which a shim gives Starlark's builtins; and in starlark-go where
$STARLARK_GO names its binary. The programs stay within what the three mean to have in common. Left out, with the reason:

* white space by `strip("")`: starlark-go takes no characters for white space, CPython strips nothing;
* `rsplit` with a limit and a separator that can overlap itself: starlark-go finds it from the left;
* floats as text, quotes of `repr`, names of types: spelled otherwise by CPython, so the shim spells ours;
* `f(*a, x=1)`: Starlark wants names first; comparisons in chains, `True + 1`, texts as lists: no Starlark;
* texts beyond ASCII: bytes in starlark-go, code points in CPython.
"""
import os
import random
import subprocess
import sys
import tempfile

at_once = 50
flags = ["--recursion", "--globalreassign", "--set", "--steps", "20000000"]


# What CPython spells otherwise.
def show(value):
    if value is None or isinstance(value, (bool, int)):
        return str(value)
    if isinstance(value, str):
        table = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
        return '"' + "".join(table.get(c, c) for c in value) + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(show, value)) + (",)" if len(value) == 1 else ")")
    if isinstance(value, dict):
        return "{" + ", ".join(show(k) + ": " + show(v) for k, v in value.items()) + "}"
    raise TypeError(type(value).__name__)


def text(value):
    return value if isinstance(value, str) else show(value)


class Error(Exception):
    pass


def lists(function):
    return lambda *given, **named: list(function(*given, **named))


def fail(*given):
    raise Error(" ".join(map(text, given)))


shim = {"repr": show, "str": text, "zip": lists(zip), "enumerate": lists(enumerate), "reversed": lists(reversed),
        "keys": lambda d: list(d.keys()), "values": lambda d: list(d.values()), "items": lambda d: list(d.items()), "fail": fail,
        "type": lambda v: {bool: "bool", int: "int", str: "string", list: "list", tuple: "tuple", dict: "dict", type(None): "NoneType"}[type(v)]}
prelude = "def keys(d): return d.keys()\ndef values(d): return d.values()\ndef items(d): return d.items()\n"


class Generator:
    """Typed expressions and statements: `int`, `str`, `bool`, `ints`, `strs`, `dict` (text to integer)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.names = {}
        self.count = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def variable(self, kind, depth):
        known = [name for name, of in self.names.items() if of == kind]
        return self.random.choice(known) if known and self.random.random() < 0.7 else self.literal(kind, depth)

    def word(self):
        return "".join(self.random.choice("abcXYZ 01_-.%") for _ in range(self.random.randrange(6)))

    def literal(self, kind, depth):
        if kind == "int":
            return str(self.pick(0, 1, 2, 3, 7, -1, -5, 10, 255, 1 << 31, -(1 << 63), 10**20, self.random.randrange(-50, 50)))
        if kind == "str":
            return show(self.word())
        if kind == "bool":
            return self.pick("True", "False")
        if kind == "dict":
            return "{" + ", ".join(f"{show(k)}: {self.any('int', depth - 1)}" for k in dict.fromkeys(self.word() for _ in range(self.random.randrange(4)))) + "}"
        return "[" + ", ".join(self.any(kind[:-1], depth - 1) for _ in range(self.random.randrange(4))) + "]"

    def index(self, depth):
        return self.pick("", "", str(self.random.randrange(-4, 5)), self.any("int", depth - 3) if depth > 3 else "1")

    def part(self, of, depth):
        step = self.pick("", "", ":2", ":-1", ":-2", ":3")
        return f"{of}[{self.index(depth)}:{self.index(depth)}{step}]"

    def any(self, kind, depth):
        if depth <= 0 or self.random.random() < 0.2:
            return self.variable(kind, depth)
        d = depth - 1
        if self.random.random() < 0.08:
            return f"({self.any(kind, d)} if {self.any('bool', d)} else {self.any(kind, d)})"
        if self.random.random() < 0.04:
            return f"(lambda p, q=1: p)({self.any(kind, d)}, q={self.any('int', d)})"
        return getattr(self, "a_" + kind)(d)

    def a_int(self, d):
        i, s, ints = (lambda: self.any("int", d)), (lambda: self.any("str", d)), (lambda: self.any("ints", d))
        return self.pick(
            lambda: f"({i()} {self.pick('+', '-', '*')} {i()})", lambda: f"({i()} {self.pick('//', '%')} {self.pick(2, 3, -3, 7, 10**15, -1)})",
            lambda: f"({i()} {self.pick('&', '|', '^')} {i()})", lambda: f"(~{i()})", lambda: f"(-{i()})",
            lambda: f"({i()} {self.pick('<<', '>>')} {self.random.randrange(70)})", lambda: f"len({self.any(self.pick('str', 'ints', 'strs', 'dict'), d)})",
            lambda: f"abs({i()})", lambda: f"{self.pick('min', 'max')}({i()}, {i()})", lambda: f"{self.pick('min', 'max')}({ints()} + [0])",
            lambda: f"{s()}.{self.pick('find', 'rfind', 'count')}({s()})", lambda: f"{self.any('dict', d)}.get({s()}, {i()})", lambda: f"int(str({i()}))",
            lambda: f"int({show(self.pick('12', '-7', '0', '+3', '007'))})", lambda: f"int('{self.pick('ff', '1f', '0x1f', 'A')}', 16)", lambda: f"ord({s()}[:1] or 'a')",
            lambda: f"({ints()} or [1])[0]", lambda: f"({ints()} + [5]).index(5)", lambda: f"{ints()}[{self.pick('0', '-1', i())}]" if self.random.random() < 0.2 else f"len({ints()})", lambda: f"{self.any('dict', d)}[{s()}]" if self.random.random() < 0.2 else "3",
            lambda: f"({ints()} + [4]).pop()", lambda: f"(lambda *a, **k: len(a) + len(k))(x={i()}, *{ints()})")()

    def a_str(self, d):
        i, s, strs = (lambda: self.any("int", d)), (lambda: self.any("str", d)), (lambda: self.any("strs", d))
        simple = self.pick("upper", "lower", "strip", "lstrip", "rstrip", "title", "capitalize")
        return self.pick(
            lambda: f"({s()} + {s()})", lambda: f"({s()} * {self.random.randrange(-1, 4)})", lambda: f"{s()}.{simple}()", lambda: f"{s()}.{self.pick('strip', 'lstrip', 'rstrip')}({s()} or 'a')",
            lambda: f"{s()}.replace({show(self.word() or 'a')}, {s()}{self.pick('', ', 1', ', 2')})", lambda: f"{s()}.join({strs()})",
            lambda: self.part(s(), d), lambda: f"str({self.any(self.pick('int', 'bool', 'ints', 'strs', 'dict'), d)})", lambda: f"repr({self.any(self.pick('str', 'strs', 'dict'), d)})",
            lambda: f"('%d|%x|%o' % ({i()}, {i()}, {i()}))", lambda: f"('%s-%r%%' % ({s()}, {i()}))", lambda: f"'{{}}<{{}}>'.format({i()}, {s()})",
            lambda: f"'{{1}}{{0}}{{a}}{{{{'.format({s()}, {i()}, a={s()})", lambda: f"{s()}.partition({show(self.word() or '-')})[{self.pick(0, 1, 2)}]",
            lambda: f"{s()}.rpartition({show(self.word() or '-')})[{self.pick(0, 1, 2)}]", lambda: f"({strs()} or ['z'])[-1]", lambda: f"type({self.any(self.pick('int', 'str', 'bool', 'ints', 'dict'), d)})",
            lambda: f"chr({self.random.randrange(32, 126)})", lambda: f"{s()}.{self.pick('removeprefix', 'removesuffix')}({s()})")()

    def a_bool(self, d):
        i, s = (lambda: self.any("int", d)), (lambda: self.any("str", d))
        return self.pick(
            lambda: f"({i()} {self.pick('<', '<=', '>', '>=', '==', '!=')} {i()})", lambda: f"({s()} {self.pick('<', '<=', '==', '!=')} {s()})",
            lambda: f"({self.any('bool', d)} {self.pick('and', 'or')} {self.any('bool', d)})", lambda: f"(not {self.any('bool', d)})", lambda: f"({s()} {self.pick('in', 'not in')} {s()})",
            lambda: f"({i()} in {self.any('ints', d)})", lambda: f"({s()} in {self.any('dict', d)})", lambda: f"{s()}.{self.pick('startswith', 'endswith')}({s()})",
            lambda: f"{s()}.{self.pick('isalpha', 'isdigit', 'isalnum', 'isspace', 'isupper', 'islower', 'istitle')}()", lambda: f"bool({self.any(self.pick('int', 'str', 'ints', 'dict'), d)})",
            lambda: f"({self.any('ints', d)} {self.pick('==', '!=', '<', '>=')} {self.any('ints', d)})", lambda: f"({self.any('dict', d)} == {self.any('dict', d)})",
            lambda: f"{self.pick('any', 'all')}([{self.any('bool', d)} for x in {self.any('ints', d)}])")()

    def a_ints(self, d):
        i, ints = (lambda: self.any("int", d)), (lambda: self.any("ints", d))
        return self.pick(
            lambda: f"({ints()} + {ints()})", lambda: f"({ints()} * {self.random.randrange(-1, 3)})", lambda: self.part(ints(), d), lambda: f"sorted({ints()}{self.pick('', ', reverse=True')})",
            lambda: f"list(range({self.random.randrange(-3, 9)}, {self.random.randrange(-3, 9)}, {self.pick(1, 2, -1, -3)}))", lambda: f"[x {self.pick('+', '*', '-')} {i()} for x in {ints()}]",
            lambda: f"[x for x in {ints()} if x {self.pick('<', '>', '!=')} {i()}]", lambda: f"reversed({ints()})", lambda: f"values({self.any('dict', d)})", lambda: f"[len(x) for x in {self.any('strs', d)}]",
            lambda: f"[x * 10 + y for x in {ints()} for y in {ints()} if x != y]", lambda: f"[p[0] for p in zip({ints()}, {self.any('strs', d)})]",
            lambda: f"sorted({ints()}, key=lambda x: x % 3)", lambda: f"[n for n, x in enumerate({self.any('strs', d)}, {self.random.randrange(3)})]", lambda: f"list({ints()})",
            lambda: f"list((lambda *a: a)(*{ints()}))")()

    def a_strs(self, d):
        s, strs = (lambda: self.any("str", d)), (lambda: self.any("strs", d))
        return self.pick(
            lambda: f"{s()}.split()", lambda: f"{s()}.split({show(self.word() or '-')}{self.pick('', ', 1', ', 2')})", lambda: f"{s()}.rsplit({show((self.word() or '-')[0])}{self.pick('', ', 1', ', 2')})", lambda: f"({strs()} + {strs()})", lambda: self.part(strs(), d),
            lambda: f"sorted({strs()}{self.pick('', ', reverse=True', ', key=len', ', key=lambda x: x[::-1]')})", lambda: f"keys({self.any('dict', d)})", lambda: f"[x.upper() for x in {strs()}]",
            lambda: f"[str(x) for x in {self.any('ints', d)}]", lambda: f"[k for k, v in items({self.any('dict', d)}) if v > 0]", lambda: f"{s()}.splitlines()",
            lambda: f"list({strs()})")()

    def a_dict(self, d):
        i, s = (lambda: self.any("int", d)), (lambda: self.any("str", d))
        return self.pick(
            lambda: f"{{x: len(x) for x in {self.any('strs', d)}}}", lambda: f"dict({self.any('dict', d)}, a={i()})", lambda: f"dict(zip({self.any('strs', d)}, {self.any('ints', d)}))",
            lambda: f"dict([({s()}, {i()}), ({s()}, {i()})])", lambda: f"{{k: v + 1 for k, v in items({self.any('dict', d)})}}", lambda: f"dict(**{{'b': {i()}}})",
            lambda: f"({self.any('dict', d)} | {self.any('dict', d)})")()

    def new_name(self, kind):
        self.count += 1
        self.names[f"v{self.count}"] = kind
        return f"v{self.count}"

    def kind(self):
        return self.pick("int", "str", "bool", "ints", "strs", "dict")

    def statement(self, depth, indent):
        pad = "  " * indent
        what = self.random.random()
        lists_known = [name for name, of in self.names.items() if of == "ints"]
        dicts_known = [name for name, of in self.names.items() if of == "dict"]
        if what < 0.45 or indent > 3:
            kind = self.kind()
            value = self.any(kind, depth)
            self.lines.append(f"{pad}{self.new_name(kind)} = {value}")
        elif what < 0.6 and lists_known:
            name = self.random.choice(lists_known)
            self.lines.append(pad + self.pick(f"{name} = list({name}); {name}.append({self.any('int', 2)})", f"{name} += [{self.any('int', 2)}]", f"{name}.insert({self.index(2) or 0}, 3)",
                                              f"{name}.extend({self.any('ints', 2)}[:4])", f"{name}.pop()", f"{name}[0] = {self.any('int', 2)}", f"{name}.remove({self.any('int', 1)})", f"{name}.clear()"))
        elif what < 0.7 and dicts_known:
            name = self.random.choice(dicts_known)
            self.lines.append(pad + self.pick(f"{name}[{self.any('str', 2)}] = {self.any('int', 2)}", f"{name}.setdefault({self.any('str', 2)}, 9)", f"{name}.update([({self.any('str', 2)}, 1)])",
                                              f"{name}.pop({self.any('str', 2)}, None)", f"{name}.pop({self.any('str', 2)})", f"{name}.update(z={self.any('int', 2)})"))
        elif what < 0.82:
            self.lines.append(f"{pad}for e{indent} in {self.any('ints', 2)}[:5]:")
            self.block(depth, indent, {f"e{indent}": "int"}, self.pick(None, None, "break", "continue"))
        elif what < 0.94:
            self.lines.append(f"{pad}if {self.any('bool', depth)}:")
            self.block(depth, indent, {}, None)
            if self.random.random() < 0.5:
                self.lines.append(f"{pad}else:")
                self.block(depth, indent, {}, None)
        else:
            name = self.new_name("function")
            self.lines.append(f"{pad}def {name}(a, b=2, *c, **d): return a + b + len(c) + len(d)")
            given = self.any("int", 2) + self.pick("", ", 3", ", b=4", ", 3, 4", ", x=1", ", *[1, 2]", ", **{'x': 1}")
            self.lines.append(f"{pad}{self.new_name('int')} = {name}({given})")

    def block(self, depth, indent, more, end):
        """What is assigned within may not be there afterwards."""
        before = dict(self.names)
        self.names.update(more)
        for _ in range(self.random.randrange(1, 3)):
            self.statement(depth - 1, indent + 1)
        if end:
            self.lines.append("  " * (indent + 1) + f"if {self.any('bool', 2)}: {end}")
        self.names = before

    def program(self, number):
        self.lines, self.names = [f"def program{number}():"], {}
        for _ in range(self.random.randrange(2, 8)):
            self.statement(4, 1)
            name, kind = list(self.names.items())[-1] if self.names else ("None", "")
            if kind != "function":
                self.lines.append(f"  print({number}, repr({name}))")
        return "\n".join(self.lines) + "\n"


def in_python(source, calls):
    lines = []
    space = dict(shim, print=lambda *given: lines.append(" ".join(map(text, given))))
    exec(compile(source, "program", "exec"), space)
    for call in calls:
        try:
            space[call]()
        except (ArithmeticError, Error, LookupError, TypeError, ValueError, AttributeError, MemoryError, UnboundLocalError):
            lines.append(f"{call}: error")
    return lines


def in_starlark(command, source, call):
    with tempfile.NamedTemporaryFile("w", suffix=".star") as file:
        file.write(prelude + source + f"{call}()\n")
        file.flush()
        done = subprocess.run([*command, file.name], capture_output=True, text=True)
    if done.returncode < 0 or done.returncode > 2:
        return [f"ended with {done.returncode}: {done.stderr[-300:]}"]
    lines = done.stderr.splitlines()  # where `print` goes
    if done.returncode != 0:
        lines = [line for line in lines if line.split(" ")[0].isdigit()] + [f"{call}: error"]
    return lines


def in_one_go(command, sources, calls):
    """The lines of many programs; none when one of them failed."""
    with tempfile.NamedTemporaryFile("w", suffix=".star") as file:
        file.write(prelude + "".join(sources) + "".join(f"{call}()\n" for call in calls))
        file.flush()
        done = subprocess.run([*command, file.name], capture_output=True, text=True)
    return done.stderr.splitlines() if done.returncode == 0 else None


def compare(fettle, programs, seed):
    """Prints what differs; true when nothing does."""
    sys.set_int_max_str_digits(0)
    others = {"fettle": [fettle, "starlark", *flags]}
    if os.environ.get("STARLARK_GO"):
        others["starlark-go"] = [os.environ["STARLARK_GO"], "-recursion", "-globalreassign", "-set"]
    failed, errors = 0, 0
    for begin in range(0, programs, at_once):
        numbers = range(begin, min(begin + at_once, programs))
        sources = {number: Generator(seed * 1_000_003 + number).program(number) for number in numbers}
        expected = {number: in_python(sources[number], [f"program{number}"]) for number in numbers}
        good = [number for number in numbers if not expected[number][-1:] == [f"program{number}: error"]]
        errors += len(numbers) - len(good)
        for who, command in others.items():
            calls = [f"program{number}" for number in good]
            if who == "fettle" and in_one_go(command, [sources[n] for n in good], calls) == [line for n in good for line in expected[n]]:
                left = [n for n in numbers if n not in good]
            else:
                left = numbers
            for number in left:
                found = in_starlark(command, sources[number], f"program{number}")
                if found != expected[number]:
                    failed += 1
                    print(f"--- program {number} of seed {seed}, {who}\n{sources[number]}CPython: {expected[number]}\n{who}: {found}\n", flush=True)
                    if failed >= 20:
                        print("20 programs differ; no more are tried")
                        return False
    print(f"{programs} programs, {errors} of them end with an error; {failed} differ", flush=True)
    return not failed
