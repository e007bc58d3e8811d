"""Random typed expressions of the `.cf` language for differ_models.py: values, instances and lists of them, constructors."""
import random

WORDS = ["", "a", "b", "ab", "a-b", "x.y", "Abc", "10", "k v", "zz"]
PRIMITIVE = {"string": "str", "int": "int", "float": "float", "bool": "bool", "number": "float", "string[]": "strs", "int[]": "ints", "dict": "dict"}
KINDS = ["str", "int", "float", "bool", "ints", "strs", "dict"]
BOUNDS = ["0:"] * 12 + ["0:1"] * 6 + ["1"] * 4 + ["1:", "0:2", "2:", "1:3"]


class Entity:
    def __init__(self, name, parents, leaf):
        self.name, self.parents, self.leaf = name, parents, leaf
        self.own, self.defaults, self.own_relations, self.index = {}, {}, {}, []

    def attributes(self):
        found = {}
        for parent in self.parents:
            found.update(parent.attributes())
        return {**found, **self.own}

    def relations(self):
        found = {}
        for parent in self.parents:
            found.update(parent.relations())
        return {**found, **self.own_relations}

    def has_default(self, name):
        return name in self.defaults if name in self.own else any(parent.has_default(name) for parent in self.parents if name in parent.attributes())

    def indexes(self):
        return self.index + [index for parent in self.parents for index in parent.indexes()]

    def is_a(self, other):
        return self is other or any(parent.is_a(other) for parent in self.parents)


class Expressions:
    """Kinds of expressions: those of KINDS, and an entity for an instance, a tuple of one entity for a list of them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.wrong = self.random.random() < 0.25
        self.constructs = "none"  # which entities may be constructed where a statement stands: all, leaves, none
        self.typedefs = {}
        self.entities = []
        self.keyed = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, odds):
        return self.random.random() < odds

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def quoted(self, text):
        return self.pick('"{}"', '"{}"', "'{}'").format(text)

    # Expressions.

    def of_kind(self, kind, scope):
        found = [text for text, of in scope if of == kind or (isinstance(kind, Entity) and isinstance(of, Entity) and of.is_a(kind))]
        for text, of in scope:
            if isinstance(of, Entity) and kind in KINDS:
                found += [f"{text}.{a}" for a, t in of.attributes().items() if self.kind_of(t) == kind and not t.endswith("?")]
            elif isinstance(of, Entity):
                for relation, (target, low, high, _) in of.relations().items():
                    if high == 1 and low == 1 and isinstance(kind, Entity) and target.is_a(kind):
                        found.append(f"{text}.{relation}")
                    elif high != 1 and isinstance(kind, tuple) and target is kind[0]:
                        found.append(f"{text}.{relation}")
        return found

    def kind_of(self, of):
        of = of.rstrip("?")
        return PRIMITIVE.get(of) or PRIMITIVE[self.typedefs[of][0]]

    def literal(self, kind):
        if kind == "int":
            return str(self.pick(0, 1, 2, 3, 5, 10, -1, 100, 2**40, self.random.randrange(-20, 20)))
        if kind == "float":
            return self.pick("0.5", "1.0", "2.25", "-3.5", ".5", "10.0", "100000.125")
        if kind == "bool":
            return self.pick("true", "false")
        if kind == "str":
            if self.chance(0.004):
                return 'std::get_env("THAT_IS_NOT_SET")'  # an unknown
            return self.pick(self.quoted(self.pick(*WORDS)), self.quoted(self.pick(*WORDS)), 'r"a\\n"', '"""m"""', '"\\t|\\x41"')
        if kind == "dict":
            return "{" + ", ".join(f'"{key}": {self.literal(self.pick("int", "int", "int", "str", "bool"))}' for key in self.random.sample("abcd", self.random.randrange(4))) + "}"
        return "[" + ", ".join(self.literal("int" if kind == "ints" else "str") for _ in range(self.random.randrange(4))) + "]"

    def any(self, kind, scope, depth):
        if self.wrong and self.chance(0.015):
            kind = self.pick(*KINDS)
            if self.chance(0.3):
                return "null"
        if isinstance(kind, Entity):
            return self.instance(kind, scope, depth)
        if isinstance(kind, tuple):
            return self.instances(kind[0], scope, depth)
        known = self.of_kind(kind, scope)
        if known and self.chance(0.35 if depth > 0 else 0.7):
            return self.random.choice(known)
        if depth <= 0 or self.chance(0.2):
            return self.literal(kind)
        depth -= 1
        if self.chance(0.08):
            return f"({self.any('bool', scope, depth)} ? {self.any(kind, scope, depth)} : {self.any(kind, scope, depth)})"
        if self.chance(0.03):
            return f"std::inlineif({self.any('bool', scope, depth)}, {self.any(kind, scope, depth)}, {self.any(kind, scope, depth)})"
        return getattr(self, "a_" + kind)(scope, depth)

    def wrap(self, text):
        return f"({text})" if self.chance(0.6) else text

    def a_int(self, scope, d):
        i = lambda: self.any("int", scope, d)
        many = lambda: self.any(self.pick("ints", "strs", *([(e,) for e in self.entities[:2]])), scope, d)
        return self.pick(
            lambda: self.wrap(f"{i()} {self.pick('+', '-', '*')} {i()}"), lambda: self.wrap(f"{i()} % {self.pick(2, 3, -3, 7)}"), lambda: f"({i()} % 5) ** {self.pick(0, 2, 3)}",
            lambda: f"std::count({many()})", lambda: f"std::len({many()})", lambda: f"std::length({self.any('str', scope, d)})", lambda: f"int({self.pick(self.quoted('12'), self.quoted('-7'), self.any('float', scope, 0), self.any('bool', scope, 0))})",
            lambda: f"std::at([{i()}, {i()}], {self.pick(0, 1, -1)})", lambda: self.looked_up(scope))()

    def looked_up(self, scope):
        known = [text for text, of in scope if of == "dict"]
        return f'{self.random.choice(known)}["{self.pick(*"abcd")}"]' if known and self.chance(0.3) else "4"

    def a_float(self, scope, d):
        i, f = (lambda: self.any("int", scope, d)), (lambda: self.any("float", scope, d))
        return self.pick(lambda: self.wrap(f"{i()} / {self.pick(2, 4, -8)}"), lambda: self.wrap(f"{f()} {self.pick('+', '-', '*')} {f()}"), lambda: f"float({self.pick(i(), self.quoted('2.5'))})", lambda: f"number({i()}) + 0.5",
                         lambda: self.wrap(f"{f()} % {self.pick('2.0', '-1.5', '3')}"))()

    def a_str(self, scope, d):
        s, strs, i = (lambda: self.any("str", scope, d)), (lambda: self.any("strs", scope, d)), (lambda: self.any("int", scope, d))
        shown = [text for text, of in scope if of in KINDS] + self.of_kind("str", scope)
        numbers, texts = self.of_kind("int", scope), self.of_kind("str", scope)
        inner = lambda: self.random.choice(shown) if shown else "n_"
        options = [lambda: self.wrap(f"{s()} + {s()}"), lambda: f"std::{self.pick('upper', 'lower', 'capitalize', 'hostname')}({s()})", lambda: f"std::replace({s()}, \"a\", {s()})",
                   lambda: f"string({self.any(self.pick('int', 'bool', 'float', 'str'), scope, d)})", lambda: f"std::limit({s()}, {self.pick(0, 1, 3)})", lambda: f'std::format("{self.pick("{}-{}", "{1}{0}", "{0!r}:{1:>4}")}", {s()}, {i()})',
                   lambda: f"std::json_dumps({self.any(self.pick('dict', 'ints', 'strs'), scope, d)})", lambda: self.pick(f"std::at([{s()}], 0)", f'std::dict_get({{"a": {s()}}}, "a")'),
                   lambda: f'"{{{{ {inner()} }}}}-{{{{{inner()}}}}}"' if shown else '"s"',
                   lambda: f'f"<{{{inner()}}}>"' if shown else '"s"', lambda: f'f"{{{self.random.choice(numbers)}:{self.pick("d", ">5", "04d", "+d", "x", ",", "<4", "^6", ".1f")}}}"' if numbers else '"n"',
                   lambda: f'f"{{{self.random.choice(texts)}:{self.pick(">5", "<4", "^6", ".1", "*^7", "s")}}}|{{{{}}}}"' if texts else '"t"', lambda: f'f"{{{self.random.choice(texts)}!r}}"' if texts else '"t"']
        return self.random.choice(options)()

    def a_bool(self, scope, d):
        i, s, b = (lambda: self.any("int", scope, d)), (lambda: self.any("str", scope, d)), (lambda: self.any("bool", scope, d))
        same = lambda kind: self.wrap(f"{self.any(kind, scope, d)} {self.pick('==', '!=')} {self.any(kind, scope, d)}")
        return self.pick(
            lambda: self.wrap(f"{i()} {self.pick('<', '<=', '>', '>=')} {self.any(self.pick('int', 'float'), scope, d)}"), lambda: same(self.pick(*KINDS)), lambda: self.wrap(f"{b()} {self.pick('and', 'or')} {b()}"), lambda: f"(not {b()})", lambda: f"not ({b()})",
            lambda: self.wrap(f"{i()} {self.pick('in', 'not in')} {self.any('ints', scope, 0)}"), lambda: self.wrap(f"{s()} {self.pick('in', 'not in')} {self.any(self.pick('strs', 'dict'), scope, 0)}"), lambda: f"bool({self.any(self.pick('int', 'str'), scope, d)})",
            lambda: self.defined(scope), lambda: self.defined(scope), lambda: f"std::unique({self.any('ints', scope, d)})", lambda: f"std::isset({self.any('int', scope, d)})", lambda: f"({self.any('int', scope, d)} == {self.any('float', scope, d)})",
            lambda: f"std::is_unknown({i()})", lambda: f"({s()} == null)")()

    def defined(self, scope):
        found = [text for text, of in scope if "." not in text or text.startswith("self.")] + [f"{text}.{x}" for text, of in scope if isinstance(of, Entity) for x in [*of.attributes(), *of.relations()]]
        found += [f'{text}["a"]' for text, of in scope if of == "dict"]
        found = [text for text in found if not text.endswith("]") or "]" not in text[:-1]]
        return f"({self.random.choice(found)} is defined)" if found else "true"

    def a_ints(self, scope, d):
        x = self.name("v")
        i, ints, inner = (lambda: self.any("int", scope, d)), (lambda: self.any("ints", scope, d)), [*scope, (x, "int")]
        guard = lambda: f" if {self.any('bool', inner, d)}" if self.chance(0.5) else ""
        y = self.name("v")
        return self.pick(
            lambda: f"[{i()}, {i()}]", lambda: f"[{i()}, {ints()}]", lambda: f"std::sequence({self.pick(0, 1, 3, 4)}{self.pick('', ', 2', ', start=1')})", lambda: f"[{self.any('int', inner, d)} for {x} in {ints()}{guard()}]",
            lambda: f"[{x} for {x} in {ints()}{guard()}{guard()}]", lambda: f"[{x} * 10 + {y} for {x} in {ints()} for {y} in {ints()} if {x} != {y}]", 
            lambda: f"std::flatten([{ints()}])" if self.wrong and self.chance(0.1) else f"[{ints()}, {ints()}]", lambda: f"[{x} > 1 ? {x} : [{x}, {x}] for {x} in {ints()}]")()

    def a_strs(self, scope, d):
        x = self.name("v")
        s, strs, inner = (lambda: self.any("str", scope, d)), (lambda: self.any("strs", scope, d)), [*scope, (x, "str")]
        entity = self.random.choice(self.entities)
        return self.pick(
            lambda: f"[{s()}, {s()}]", lambda: f"std::split({s()}, {self.quoted(self.pick('-', '.', 'b'))})", lambda: f"[{self.any('str', inner, d)} for {x} in {strs()}]", lambda: f"[{x} for {x} in {strs()} if {self.any('bool', inner, d)}]",
            lambda: f"std::dict_keys({self.any('dict', scope, d)})", lambda: f"[string({x}) for {x} in {self.any('ints', scope, d)}]", lambda: f"[{x}.n for {x} in {self.pick('{}', '{}', 'std::key_sort({}, ' + chr(34) + 'n' + chr(34) + ')').format(self.instances(entity, scope, d))}]",
            lambda: f"[{s()}, {strs()}]")()

    def a_dict(self, scope, d):
        return "{" + ", ".join(f'"{key}": {self.any(self.pick("int", "int", "str", "ints", "dict"), scope, d)}' for key in self.random.sample("abcd", self.random.randrange(1, 4))) + "}"

    # Instances.

    def instance(self, entity, scope, depth):
        known = self.of_kind(entity, scope)
        looked = [index for of, index in self.keyed if of.is_a(entity)] + self.short_lookups(entity, scope)
        if looked and self.chance(0.15):
            return self.random.choice(looked)
        if known and (self.chance(0.8) or depth <= 0):
            return self.random.choice(known)
        return self.constructor(entity, scope, depth - 1) if self.may_construct(entity) else self.random.choice(known) if known else "null"

    def short_lookups(self, entity, scope):
        """`parent.children[n="..."]`, of names that may be there."""
        found = []
        for text, of in scope:
            for relation, (target, _, high, back) in of.relations().items() if isinstance(of, Entity) and "." not in text else []:
                if high != 1 and back and target.is_a(entity) and ["n", back] in target.indexes() and self.chance(0.5):
                    found.append(f'{text}.{relation}[n="n{self.random.randrange(self.count - 8, self.count)}"]')
        return found

    def instances(self, entity, scope, depth):
        known = self.of_kind((entity,), scope)
        x = self.name("v")
        if known and self.chance(0.6):
            of, guard = self.random.choice(known), self.pick("", f" if {self.any('bool', [*scope, (x, entity)], depth - 1)}")
            return of if self.chance(0.6) or depth <= 0 else f"[{x} for {x} in {of}{guard}]"
        many = self.pick(0, 1, 1, 2, 2, 3) if self.of_kind(entity, scope) else self.pick(0, 0, 1) if self.may_construct(entity) else 0
        return "[" + ", ".join(self.instance(entity, scope, depth - 1) for _ in range(many)) + "]"

    def value(self, of, scope, depth):
        """A value for an attribute of a type, in most cases a fitting one."""
        if of.endswith("?"):
            return "null" if self.chance(0.3) else self.value(of[:-1], scope, depth)
        if of in self.typedefs:
            base, good, bad = self.typedefs[of]
            return self.random.choice(bad if self.wrong and self.chance(0.1) else good)
        if of == "number" and self.chance(0.5):
            return self.any("int", scope, depth)
        return self.any(PRIMITIVE[of], scope, depth)

    def constructor(self, entity, scope, depth, key=None, back=None):
        """One of an entity or of one that extends it; `back` is the relation that the place where it stands sets."""
        entity = self.random.choice([e for e in self.entities if e.is_a(entity)]) if depth > -3 else entity
        names = [text for text, of in scope if of in ("int", "str") and text.startswith("l")]
        key = key or (f'"{self.name("n")}_{{{{{names[-1]}}}}}"' if names else f'"{self.name("n")}"')
        given = [f"n={key}"] if not self.wrong or self.chance(0.998) else []
        packed = []
        for name, of in entity.attributes().items():
            if name != "n" and self.chance(0.35 if entity.has_default(name) else 0.985 if self.wrong else 1):
                (packed if self.chance(0.06) else given).append((name, self.value(of, scope, depth)))
        given = [f"{g[0]}={g[1]}" if isinstance(g, tuple) else g for g in given]
        if packed:
            given.append("**{" + ", ".join(f'"{name}": {value}' for name, value in packed) + "}")
        for name, (target, low, high, inverse) in entity.relations().items():
            if (name != back or self.chance(0.03)) and self.chance(0.97 if low else 0.25 if depth > -3 and self.allowed(target, scope) else 0):
                given.append(f"{name}={self.to_one(target, scope, depth, inverse) if high == 1 else self.to_many(target, low, scope, depth, inverse)}")
        return f"{entity.name}({', '.join(given)})"

    def allowed(self, target, scope):
        """Whether there is one, or one may be constructed."""
        return self.may_construct(target) or self.of_kind(target, scope)

    def may_construct(self, target):
        return self.constructs == "all" or (self.constructs == "leaves" and target.leaf)

    def taken(self, target, back):
        """Whether one that exists probably belongs to another already."""
        return back and target.relations()[back][2] == 1 and self.may_construct(target) and self.chance(0.95)

    def to_one(self, target, scope, depth, back=None):
        known = [] if self.taken(target, back) else self.of_kind(target, scope)
        if known and (depth <= 0 or not self.may_construct(target) or self.chance(0.7)):
            return self.random.choice(known)
        return self.constructor(target, scope, depth - 1, None, back) if self.may_construct(target) and depth > -6 else "null"

    def to_many(self, target, low, scope, depth, back=None):
        known = [] if self.taken(target, back) else [text for text in self.of_kind(target, scope) if text.count(".") < 2]
        if len(known) >= max(low, 1) and (self.chance(0.8) or not self.may_construct(target)):
            some = self.random.sample(known, min(len(known), max(low, self.pick(1, 1, 2, 3))))
            return some[0] if len(some) == 1 and self.chance(0.5) else "[" + ", ".join(some) + "]"
        if not self.may_construct(target) or depth < -4:
            return "[]"
        return "[" + ", ".join(self.constructor(target, scope, depth - 2, None, back) for _ in range(low or self.pick(1, 2))) + "]"
