"""Random templates and calls of plugins over values of a model, for `bench/differ`, beside Inmanta: instances, lists and dicts with something
unknown in them, null, options that are not set, references, integers of any size.

One model for each seed has one call. Compared are whether it compiles, whether the result is unknown, and the result; the words of errors are
not. `REASONS` says what is known to differ. A plugin stands in two files with one meaning: Starlark for fettle, Python for Inmanta.

    python differ_values.py FETTLE PYTHON COUNT FILE      writes what both say of so many models, for the test `ValuesRecorded`
"""
import collections
import json
import os
import random
import re
import sys

from differ_pair import Pair

SHOWN = 20  # so many that differ are shown

HEAD = """import v
u = std::get_env("FETTLE_NO_SUCH_VARIABLE")
r = std::create_environment_reference("FETTLE_NO_SUCH_VARIABLE")
entity Node:
  string name
  string? note = null
  string secret
  int size
  string[] tags
  dict meta
end
Node.peer [0:1] -- Node.backs [0:]
Node.kids [0:] -- Node.above [0:]
index Node(name)
b = Node(name="b", secret=u, size={size}, tags=["t", u], meta={{"k": u, "x": 1}})
c = Node(name="c", secret=r, size=7, tags=[], meta={{"k": [1, u], "x": {{"y": null}}}}, peer=b)
a = Node(name="a", note="note", secret="s3", size=1, tags=["p", "q"], meta={{"k": "v", "x": {{"y": 2}}}}, peer=b, kids=[b, c])
l = [1, 2, "x"]
k = ["1", u]
d = {{"k": "v", "u": u, "n": null, "r": 1}}
i = {size}
"""

# The plugins, in the words that both languages have: (name, parameter, its type, expression).
PLUGINS = [
    ("name_of", "Node", "x.name"), ("secret_of", "Node", "x.secret"), ("note_of", "Node", "x.note"), ("size_of", "Node", "x.size + 1"), ("same", "Node", "x"),
    ("first_tag", "Node", "x.tags[0]"), ("key_of", "Node", 'x.meta["k"]'), ("other_key", "Node", 'x.meta["x"]'), ("length", "list", "len(x)"), ("first", "list", "x[0]"),
    ("last", "list", "x[len(x) - 1]"), ("key", "dict", 'x["k"]'), ("unknown_key", "dict", 'x["u"]'), ("has_key", "dict", '"k" in x'), ("itself", "any", "x"), ("more", "int", "x + 1"),
    ("is_none", "any", "x == None"), ("texts", "list", "[e for e in x]"), ("pair", "any", "[x, x]"), ("wrapped", "any", '{"k": x}'),
]


class Values:
    """One call for each seed: the model, and the files beside it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.size = self.pick(3, 0, 2**62, 2**63, 2**70, -(2**80), 10**30)

    def pick(self, *choices):
        return self.random.choice(choices)

    def node(self):
        return self.pick("a", "b", "c", "a.peer", "c.peer", "a.kids[0]", "a.kids[1]", "b")

    def expression(self):
        node = self.node()
        part = self.pick("name", "note", "secret", "size", "tags", "tags[0]", "tags[1]", "meta.k", "meta['x']", "meta.x.y", "meta.nope", "peer", "peer.name", "peer.peer", "peer.peer.name", "nope", "kids | length",
                         "tags | length", "size + 1", "size * size", "size // 7", "size > 5", "kids | map(attribute='name') | join(',')", "kids[0].name", "backs | length")
        return self.pick(f"{node}.{part}", f"{node}.{part}", f"{node}.{part}", "i", "i + 1", "-i", "i % 97", "u", "n", "r", "l", "l[0]", "k[0]", "k[1]", "k | length", "k | first", "d.k", "d.u", "d.n", "d['k']", "d.get('u')", "d | length",
                         f"{self.node()} == {self.node()}", f"{self.node()} in a.kids", f"{self.node()}.name == 'b'", "nope", "d.nope")

    def piece(self, depth=1):
        value, other = self.expression(), self.expression()
        plain = [f"{{{{ {value} }}}}", f"{{{{ {value} }}}}", f"{{{{ {value} is defined }}}}", f"{{{{ {value} is none }}}}", f"{{{{ {value} | default('-') }}}}", f"{{{{ ({value}) is number }}}}", f"{{{{ ({value}) is string }}}}"]
        if depth:
            inner = self.piece(0)
            of = self.pick("l", "k", "a.kids", "a.tags", "b.tags", "d", "d.items()", "c.meta.k", "a.nope", "b.peer")
            plain += [f"{{% if {value} %}}{inner}{{% else %}}no{{% endif %}}", f"{{% if {value} is defined %}}{inner}{{% endif %}}", f"{{% for x in {of} %}}{self.pick('{{ x }}', '-', '{{ x.name }}', '{{ loop.index }}')};{{% endfor %}}",
                      f"{{{{ {value} if {other} else 0 }}}}", f"{{% set y = {value} %}}{self.pick('{{ y }}', 'y')}", f"{{{{ a.kids | selectattr('{self.pick('peer', 'note', 'name')}', '{self.pick('defined', 'none')}') | list | length }}}}"]
        return self.random.choice(plain)

    def template(self):
        return self.pick("", "x ") + "".join(self.piece() for _ in range(self.pick(1, 1, 1, 2)))

    def argument(self, of):
        return {"Node": self.node, "list": lambda: self.pick("l", "k", "a.tags", "b.tags", "c.tags", "[1, u]", "[r]", "[]", "[a.secret]"), "dict": lambda: self.pick("d", "a.meta", "b.meta", "c.meta", '{"k": r}'),
                "int": lambda: self.pick("i", "a.size", "b.size", "u", "1"), "any": lambda: self.pick("i", "u", "r", "null", "a", "l", "k", "d", "a.meta", "b.meta", "a.secret", "b.secret", "c.secret", "a.note", "b.note", "[null]")}[of]()

    def model(self):
        """The model, and what the template is (None for a call of a plugin)."""
        head, text = HEAD.format(size=self.size), None
        if self.random.random() < 0.4:
            name, of, _ = self.random.choice(PLUGINS)
            argument = self.argument(of)
            for spelled, value in (("a.kids[0]", "b"), ("a.kids[1]", "c")):
                argument = argument.replace(spelled, value)
            call, head = f"v::{name}({argument})", head + "implement Node using std::none\n"
        elif self.random.random() < 0.7:
            given = self.pick(*["a=a, b=b, c=c, l=l, k=k, d=d, i=i, n=null"] * 9, "a=a, r=r")
            text, call, head = self.template(), f'std::template("v/t.j2", {given})', head + "implement Node using std::none\n"
        else:
            text = self.template().replace("a.", self.pick("self.", "", "a."), 1)
            head += 'implementation show for Node:\n  z = std::template("v/t.j2")\n  z1 = std::is_unknown(z)\n  std::print("unknown: {{ z1 }}")\n  std::print(z)\nend\nimplement Node using std::none when self.name != "a"\nimplement Node using show when self.name == "a"\n'
            return head, text
        return head + f"z = {call}\nz1 = std::is_unknown(z)\n" + 'std::print("unknown: {{ z1 }}")\nstd::print(z)\n', text


def plugin_files():
    star = "".join(f'def {name}(x: "{"__config__::Node" if of == "Node" else of}") -> "any":\n    return {does}\n' for name, of, does in PLUGINS)
    python = "from inmanta.plugins import plugin\n" + "".join(f'@plugin\ndef {name}(x: "{"std::Entity" if of == "Node" else of}") -> "any":\n    return {does}\n' for name, of, does in PLUGINS)
    return star.replace("__config__::Node", "std::Entity"), python


class ValuesPair(Pair):
    """A pair with the module `v`, whose template is another one for each model."""

    def __init__(self, fettle, python):
        super().__init__(fettle, python)
        star, python_text = plugin_files()
        for name, text in (("model/_init.cf", ""), ("module.yml", "name: v\nversion: 1.0.0\nlicense: x\n"), ("plugins/p.star", star), ("plugins/__init__.py", python_text), ("templates/t.j2", "")):
            self.write(name, text)

    def write(self, name, text):
        path = os.path.join(self.folder.name, "libs/v", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def asked(self, source, text):
        return self.with_template(self.in_fettle, source, text), self.with_template(self.in_inmanta, source, text)

    def with_template(self, ask, source, text):
        if text is None:
            return ask(source)
        name = f"t{self.count}.j2"  # another name for each, since Jinja keeps what it has parsed
        self.write("templates/" + name, text)
        answer = ask(source.replace("v/t.j2", "v/" + name))
        os.remove(os.path.join(self.folder.name, "libs/v/templates", name))
        return answer

    def reason(self, source, text, ours, theirs):
        """Why this is known to differ; None: it is a fault."""
        if text is not None and "self." in text:  # there it is the template itself, which has no attributes, as none has none
            again = self.with_template(self.in_fettle, source, text.replace("self.", "none."))
            if outcome(again) == outcome(theirs):
                return SELF
            ours = again  # it may differ for another reason, too
        return reason_of(source, text, outcome(ours), outcome(theirs), theirs.trace)


def outcome(result):
    """What is compared: an error, an unknown, or the lines."""
    if result.trace is not None:
        return "error"
    if "unknown: True" in result.lines:
        return "unknown"
    return "\n".join(sorted(re.sub(r"__config__::Node( \w+| \(instantiated at [^)]*\))", "Node", line).replace("@", "") for line in result.lines))


def is_raw(kind, theirs):
    return kind in ("Raw", "TooLong", "Ended") or "'Unknown' object" in (theirs.trace or "")


# The names of the model that are unknown or a reference, where a template looks at them.
BARE = re.compile(r"(?<![\w.'\[(])[ur](?![\w'(])|\([ur]\)")


def prints_hidden(text):
    return re.search(r"\{\{ ([abc][.\w\[\]]*\.(tags|meta)|[abc]\.meta[.\w\['\]]*|k|d) \}\}", text) is not None


# Reason, and whether it applies to (source, template, our outcome, theirs, their error). Each names one thing that is known to differ, and why
# it stays.
SELF = "`self` is the instance here, and the template itself there"
REASONS = [
    ("an option that is not set is undefined here, and an error there in a template with arguments by name",
     lambda source, text, ours, theirs, trace: text is not None and theirs == "error" and "Optional variable accessed that has no value" in trace),
    ("the text of a list or dict with something unknown in it is unknown here, and deployed as `<<undefined>>` there", lambda source, text, ours, theirs, trace: ours == "unknown" and "<<un" in theirs),
    ("such a text lets the template go on to an error there", lambda source, text, ours, theirs, trace: text is not None and ours == "unknown" and theirs == "error" and prints_hidden(text)),
    ("Jinja looks at every bare name before it runs, also where it is never used", lambda source, text, ours, theirs, trace: text is not None and (theirs == "unknown" or "Encountered reference" in trace)
     and (BARE.search(text) is not None or "r=r" in source)),
    ("the values of `items()` are read with their pairs there, and when something uses them here", lambda source, text, ours, theirs, trace: text is not None and theirs == "unknown" and ".items()" in text),
    ("`in` reads the value of a key of a dict there, and looks for the key here", lambda source, text, ours, theirs, trace: text is None and "v::has_key(" in source and (theirs == "unknown" or "Reference" in trace)),
    ("a plugin that copies a list hands on a reference in it there, and is refused here", lambda source, text, ours, theirs, trace: text is None and "v::texts(" in source and ours == "error" and "Reference object" in theirs),
]


def reason_of(source, text, ours, theirs, trace):
    for reason, applies in REASONS:
        if applies(source, text, ours, theirs, trace or ""):
            return reason
    return None


def compare(fettle, python, count, seed):
    """Prints what differs without a reason; true when nothing does."""
    pair, reasons, differing, sorts = ValuesPair(fettle, python), collections.Counter(), 0, collections.Counter()
    for number in range(count):
        source, text = Values(seed * 1_000_003 + number).model()
        ours, (theirs, _) = pair.asked(source, text)
        sorts[outcome(theirs) if outcome(theirs) in ("error", "unknown") else "a value"] += 1
        if outcome(ours) == outcome(theirs):
            continue
        reason = pair.reason(source, text, ours, theirs)
        if reason:
            reasons[reason] += 1
            continue
        differing += 1
        if differing <= SHOWN:
            print(f"--- {number} of seed {seed}\n{text if text is not None else ''}\n" + "\n".join(source.splitlines()[21:]) + f"\nfettle:  {outcome(ours)!r} {(ours.trace or '')[-300:]}\nInmanta: {outcome(theirs)!r} {(theirs.trace or '')[-300:]}\n", flush=True)
    pair.close()
    print(f"{count} calls ({', '.join(f'{many} give {sort}' for sort, many in sorts.most_common())}); {differing} differ")
    for reason, many in reasons.most_common():
        print(f"  {many} more: {reason}")
    return not differing


def record(fettle, python, count, path):
    pair = ValuesPair(fettle, python)
    with open(path, "w") as file:
        json.dump({"plugins": plugin_files()[0], "head": HEAD.format(size="{size}")}, file)
        file.write("\n")
        for number in range(count):
            values = Values(77_000_000 + number)
            source, text = values.model()
            ours, (theirs, _) = pair.asked(source, text)
            reason = None if outcome(ours) == outcome(theirs) else pair.reason(source, text, ours, theirs)
            row = {"size": str(values.size), "model": source[len(HEAD.format(size=values.size)):], "template": text, "says": outcome(theirs)}
            if reason:
                row |= {"here": outcome(ours), "differs": reason}
            json.dump(row, file)
            file.write("\n")
    pair.close()


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
