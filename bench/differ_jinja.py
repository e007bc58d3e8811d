"""Random templates, rendered here and by Jinja2, for `bench/differ`. Compared is the text, or that both end with an error; which of
several errors in a template comes first, and its words, are not compared.

  bench/differ_jinja.py SEED TEMPLATES        what Jinja2 gives, as JSON lines; for a Python that has it

Left out, with the reason:

* `escape` and `safe` before another operation, `autoescape true`: no text counts as escaped here, so it is escaped again;
* `indent`, `truncate` and `wordwrap` of what is no text: Jinja2 fails for most values, here they become texts;
* `random`, `lipsum`: not the same in every run; `reverse` of lists and `range` as they are printed: objects with addresses;
* lists and dicts that a loop over them changes: here it goes over what they had at its beginning;
* a test before an `if` in the same expression: Jinja2 takes the `if` for an argument of the test;
* integers beyond 64 bits, and complex numbers; functions as texts; a number of arguments that only one of the two checks.
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

NAMES = {
    "d": {"b": [1, 2], "c": {"x": "y"}, "k": 1}, "e": "", "ed": {}, "el": [], "f": 2.5, "fl": "3.7", "h": "<b>'x' & \"y\"</b>", "hex": "0x1f",
    "l": [3, 1, 2], "m": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 1, "b": "z"}], "mixed": [1, "a", None, True, 2.0], "n": 3, "neg": -7,
    "nest": [[1, 2], [3, [4]]], "nil": None, "no": False, "num": "42", "s": "Hello World", "sp": "  a b\n c ", "t": True, "u": "äöß Straße 漢字",
    "w": ["b", "A", "c", "a"], "z": 0,
}
LITERALS = """0 1 2 -1 10 3.5 1e3 true false none 'a' '' 'b~c' 'a,b,c' [] {} [1,2,3] ['x','y'] {'k':1} (1,2) (1,) () '\\n' 1_000 0x1F 0b101 0o17""".split()
FILTERS = {
    "text": """capitalize center(10) default('d') first last float float(1.5) forceescape indent indent(2,true) indent('>~') indent(blank=true) int int(9)
        int(0,16) int(base=2) join join('-') length list lower upper replace('a','b') replace('l','L',1) string striptags title trim trim('ab') truncate(8)
        truncate(5,true) truncate(5,false,'..',0) urlencode wordcount wordwrap(5) wordwrap(7,false) pprint count unique|list unique(true)|list sort
        batch(3)|list slice(2)|list tojson reverse format(1,2)""",
    "list": """batch(2)|list batch(2,'x')|list first last join join(',~') length count list map('upper')|list map('int')|list map('string')|join('/')
        map('default',3)|list max min reject('odd')|list reject|list reverse|list select('odd')|list select|list select('string')|list
        select('in',[1,2])|list slice(2)|list slice(3,'f')|list sort sort(true) sort(case_sensitive=true) sum sum(start=5) unique|list tojson tojson(2)
        pprint string default('d')""",
    "records": """groupby('a')|list groupby('b',default='q')|list map(attribute='a')|list map(attribute='q',default='z')|list max(attribute='a')
        rejectattr('a')|list rejectattr('a','eq',1)|list selectattr('a','equalto',1)|list selectattr('b')|list sort(attribute='a') sort(attribute='a,b')
        sort(reverse=true,attribute='b') sum(attribute='a') unique(attribute='a')|list join('-',attribute='a') tojson unique|list sort(attribute='q')""",
    "dict": """dictsort dictsort(true) dictsort(false,'value') dictsort(reverse=true) items|list tojson length list string join first urlencode xmlattr""",
    "number": """abs round round(1) round(0,'floor') round(1,'ceil') round(-1) int float filesizeformat filesizeformat(true) string default('d') tojson
        pprint center(9)""",
}
SUBJECTS = {
    "text": "s sp u h num hex fl e 'a-b'".split(), "list": "l w nest [2,1] ['x','Y','a'] mixed el".split(), "records": ["m"], "dict": ["d", "ed"],
    "number": "n f neg z 3.14159 1234567.891".split(),
}
METHODS = {
    "text": """upper() lower() strip() lstrip() rstrip('d') split() split('-') split(none,1) rsplit('-',1) splitlines() splitlines(true) join(w)
        replace('l','r') replace('','.') startswith('H') endswith(('d','x')) find('o') rfind('o') index('o') count('l') isdigit() isalpha() isupper()
        istitle() isnumeric() isalnum() islower() isspace() ljust(15,'.') rjust(15) center(7) zfill(5) swapcase() title() capitalize() casefold()
        partition('-') rpartition('~') removeprefix('H') removesuffix('d') format(1,'b') expandtabs() isidentifier() isdecimal() isascii() find('l',3)
        count('l',4) startswith('o',4) nope()""",
    "list": "append(1) pop() pop(0) copy() index(1) count(1) extend([4]) insert(0,9) reverse() sort() remove(1) clear()",
    "dict": "items()|list keys()|list values()|list get('k') get('q',7) get('q') setdefault('k',2) update(q=1) pop('k') copy() popitem()",
}
TESTS = """defined undefined none number integer float string mapping iterable sequence boolean true false odd even divisibleby(2) callable eq(3)
    equalto('a') ne(2) lt(3) gt(1) ge(3) le(4) in([1,3]) in(s) sameas(none) sameas(true) lower upper filter test""".split()
CHANGES = re.compile("append|pop|extend|insert|reverse|sort|remove|clear|setdefault|update")
FAILS = re.compile(r"\b(indent|truncate|wordwrap)\b")


def words(text):
    return [word.replace("~", " ") for word in text.split()]


class Template:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.locals, self.macros, self.blocks, self.loops = [], [], 0, 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self):
        if self.locals and self.random.random() < 0.5:
            return self.random.choice(self.locals)
        return self.random.choice(list(NAMES)) if self.random.random() < 0.995 else "nowhere"

    def filtered(self, depth):
        kind = self.random.choice(list(FILTERS))
        subject, chosen = self.random.choice(SUBJECTS[kind]), self.random.choice(words(FILTERS[kind]))
        if self.random.random() < 0.12 and not FAILS.search(chosen):
            subject = f"({self.value(depth + 1)})"
        return f"{subject}|{chosen}"

    def called(self):
        kind = self.random.choice(list(METHODS))
        subject = self.name() if self.random.random() < 0.1 else self.random.choice(SUBJECTS[kind])
        method = self.random.choice(words(METHODS[kind]))
        if self.loops and CHANGES.match(method):
            method = "copy()"
        return f"{'w' if subject.startswith('[') else subject}.{method}"

    def value(self, depth=0):
        pick = self.random.random()
        if depth > 3 or pick < 0.3:
            return self.name() if self.random.random() < 0.65 else self.pick(*words(" ".join(LITERALS)))
        if pick < 0.5:
            return self.filtered(depth)
        within = lambda: self.value(depth + 1)  # noqa: E731
        if pick < 0.64:
            return f"({within()}) {self.pick(*'+ - * / // % ** ~ ~ == != < > <= >= in'.split(), 'not in')} ({within()})"
        if pick < 0.70:
            return self.pick(f"{within()} and {within()}", f"{within()} or {within()}", f"not {within()}", f"-({within()})")
        if pick < 0.75:
            return self.pick(f"({within()} if {within()} else {within()})", f"({within()} if {within()})")
        if pick < 0.83:
            key = self.pick("0", "1", "-1", "'k'", "'a'", "5", ":2", "1:", "::2", "::-1", "-2:", "1:10:3", within())
            return self.pick(f"{self.name()}[{key}]", f"{self.name()}.{self.pick('k', 'b', 'c', 'c.x', 'a', '0', 'nope')}")
        if pick < 0.91:
            return self.called()
        if pick < 0.95:
            return f"({self.name()} is {self.pick('', '', 'not ')}{self.random.choice(TESTS)})"
        if pick < 0.97:
            return f"(range({self.pick('3', '1, 4', '5, 0, -2', '0')})|list)"
        return self.pick(f"[{within()}, {within()}]", f"({within()}, {within()})", f"{{'a': {within()}, 'b': {within()}}}", "dict(a=1, b=n)", "dict(d, k=5)")

    def tag(self, text):
        return "{%" + self.pick("", "", "", "-", "+") + f" {text} " + self.pick("", "", "", "-", "+") + "%}"

    def output(self, text):
        return "{{" + self.pick("", "", "-") + f" {text} " + self.pick("", "", "-") + "}}"

    def body(self, depth, names=()):
        kept, self.locals = self.locals, self.locals + list(names)
        made = "".join(self.piece(depth + 1) for _ in range(self.random.randint(1, 3)))
        self.locals = kept
        return made

    def loop(self, depth):
        is_pair = self.random.random() < 0.15
        name, items = self.pick("i", "j", "x"), "d.items()" if is_pair else self.pick("l", "w", "m", "d", "el", "s", "nest", self.value(2))
        head = f"for {'i, j' if is_pair else name} in {items}"
        self.loops += 1
        if not is_pair and self.random.random() < 0.2:
            head += f" if {self.pick(name, name + ' != 1', self.value(2))}"
        body = self.body(depth, ["i", "j"] if is_pair else [name])
        self.loops -= 1
        if self.random.random() < 0.5:
            told = "index index0 revindex revindex0 first last length depth depth0 previtem nextitem".split()
            body += self.output(self.pick(*[f"loop.{one}" for one in told], f"loop.changed({'i' if is_pair else name})", "loop", "loop.cycle('a', 'b')"))
        if self.random.random() < 0.1:
            body += self.tag("if loop.index > 1") + self.tag(self.pick("break", "continue")) + self.tag("endif")
        otherwise = self.tag("else") + self.body(depth) if self.random.random() < 0.2 else ""
        return self.tag(head) + body + otherwise + self.tag("endfor")

    def choice(self, depth):
        made = self.tag(f"if {self.value()}") + self.body(depth)
        for _ in range(self.pick(0, 0, 0, 1, 2)):
            made += self.tag(f"elif {self.value()}") + self.body(depth)
        return made + (self.tag("else") + self.body(depth) if self.random.random() < 0.5 else "") + self.tag("endif")

    def assignment(self, depth):
        name, pick = self.pick("i", "j", "v", "q"), self.random.random()
        if depth == 0:
            self.locals.append(name)
        if pick < 0.7:
            return self.tag(f"set {name} = {self.value()}")
        if pick < 0.8:
            return self.tag(f"set i, j = {self.pick('1, 2', 'w[:2]', '(1, 2, 3)', self.value(2))}")
        if pick < 0.95:
            return self.tag(f"set {name}{self.pick('', '', ' | upper', ' | trim')}") + self.body(depth) + self.tag("endset")
        return self.tag("set ns = namespace(a=1)") + self.tag(f"set ns.a = {self.value()}") + self.output("ns.a")

    def macro(self, depth):
        name = self.pick("f1", "f2")
        self.macros.append(name)
        body = self.body(depth, ["p", "q"]) + self.pick("", self.output("varargs"), self.output("kwargs"), self.output("p"), self.output(name + ".name"))
        given = self.pick("1", "", "1, 2", "p=s", "1, q=3", "1, 2, 3", "*l", "**d", "1, zz=3", self.value(2))
        return self.tag(f"macro {name}(p{self.pick('', ', q=2', ', q=p', ', q=n')})") + body + self.tag("endmacro") + self.output(f"{name}({given})")

    def piece(self, depth=0):
        pick = self.random.random()
        if pick < 0.25 or depth > 3:
            return self.pick("text", " ", "\n", "\n\n", "  x\n", "a\n  b", "é", "}", "# c\n", "%", "'", "<p>\n")
        if pick < 0.6:
            return self.output(self.value())
        if pick < 0.68:
            return self.loop(depth)
        if pick < 0.76:
            return self.choice(depth)
        if pick < 0.84:
            return self.assignment(depth)
        if pick < 0.88:
            return self.macro(depth)
        if pick < 0.90 and self.macros:
            return self.tag(f"call {self.random.choice(self.macros)}({self.pick('1', 's', 'n')})") + self.body(depth) + self.tag("endcall")
        if pick < 0.92:
            return self.tag(f"filter {self.pick('upper', 'trim', 'indent(2)', 'title', 'lower', 'wordwrap(4)')}") + self.body(depth) + self.tag("endfilter")
        if pick < 0.94:
            return "{%" + self.pick("", "-") + " raw " + self.pick("", "-") + "%}" + self.pick("{{ x }}", "{% if %}", " a ", "\n{# c #}\n") + "{% endraw %}"
        if pick < 0.96:
            return "{#" + self.pick("", "-") + self.pick(" c ", "{{ x }}", "\n", " a \n b ") + self.pick("", "-") + "#}"
        if pick < 0.98:
            return self.tag(self.pick("with i = 1", "with", f"with i = {self.value(2)}")) + self.body(depth, ["i"]) + self.tag("endwith")
        self.blocks += 1
        return self.tag(f"block b{self.blocks}") + self.body(depth) + self.tag("endblock")

    def source(self):
        made = "".join(self.piece() for _ in range(self.random.randint(1, 5)))
        return "a line of the chunk file" if re.search(r"(?m)^(---|>>>)$|^(<<<|===|!!!) ", made) else made


def templates(seed, count):
    return [Template(seed * 1_000_003 + number).source() for number in range(count)]


def theirs(seed, count):
    import jinja2
    import jinja2.sandbox

    def late(*_):
        raise TimeoutError()

    signal.signal(signal.SIGALRM, late)
    for source in templates(seed, count):
        environment = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.loopcontrols"])
        signal.alarm(5)
        try:
            made = environment.from_string(source).render(json.loads(json.dumps(NAMES)))
        except Exception as error:  # whatever a template makes of it
            made = f"!!! {type(error).__name__}: {error}"
        signal.alarm(0)
        print(json.dumps(made))


def compare(jinja_main, python, count, seed):
    """Prints what differs; true when nothing does."""
    sources = templates(seed, count)
    expected = [json.loads(line) for line in subprocess.run([python, __file__, str(seed), str(count)], capture_output=True, text=True, check=True).stdout.splitlines()]
    with tempfile.NamedTemporaryFile("w", suffix=".j2") as file:
        file.write("\n---\n".join(f"<<< {json.dumps(NAMES)}\n{source}" for source in sources))
        file.flush()
        found = subprocess.run([jinja_main, file.name], capture_output=True, text=True, check=True).stdout.split("\n---\n")[:count]
    differing = 0
    for number, (source, ours, other) in enumerate(zip(sources, found, expected, strict=True)):
        has_address = re.search(r"(?i)built-inmethod|<function|Markup\(|at0x|\dj\)", re.sub(r"\s", "", other))
        if has_address or "more than 64 bits" in ours or ours == other or (ours.startswith("!!! ") and other.startswith("!!! ")):
            continue
        differing += 1
        if differing <= 10:
            print(f"--- template {number} of seed {seed}\n{source}\nfettle: {ours!r}\nJinja2: {other!r}\n", flush=True)
    errors = sum(other.startswith("!!! ") for other in expected)
    print(f"{count} templates, {errors} of them end with an error; {differing} differ", flush=True)
    return not differing


if __name__ == "__main__":
    theirs(int(sys.argv[1]), int(sys.argv[2]))
