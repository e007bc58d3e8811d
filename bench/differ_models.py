"""Random models of the `.cf` language for `bench/differ`: typed, mostly valid, one in three with something wrong in it.

Entities that an implementation constructs have no implementation that constructs, so every model comes to an end. Each entity has an
implementation that prints its attributes and the names of those that its relations hold, so that the printed lines show the result.
"""
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


class Models:
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
                   lambda: f"string({self.any(self.pick('int', 'bool', 'float', 'str'), scope, d)})", lambda: f"std::limit({s()}, {self.pick(0, 1, 3)})", lambda: f'std::format("{{}}-{{0}}"'.replace("{}-{0}", self.pick("{}-{}", "{1}{0}", "{0!r}:{1:>4}")) + f", {s()}, {i()})",
                   lambda: f"std::json_dumps({self.any(self.pick('dict', 'ints', 'strs'), scope, d)})", lambda: self.pick(f"std::at([{s()}], 0)", f'std::dict_get({{"a": {s()}}}, "a")'),
                   lambda: "\"{}\"".format("-".join(f"{{{{ {x} }}}}" for x in [inner(), inner()]).replace(" }}", self.pick(" }}", "}}")).replace("{{ ", self.pick("{{ ", "{{"))) if shown else '"s"',
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

    # Statements.

    def statement(self, scope, depth, inside, indent):
        """The lines of one statement; `inside` is the entity whose implementation it is in. Names that it adds go into `scope`."""
        pad, what = "    " * indent, self.random.random()
        owners = [(text, of) for text, of in scope if isinstance(of, Entity)]
        if what < 0.2:
            kind = self.pick(*KINDS)
            name = self.name("x") if self.chance(0.9) or not inside else "n_"
            line = f"{pad}{name} = {self.any(kind, scope, depth)}"
            scope.append((name, kind))
            return [line]
        if what < 0.4:
            kind = self.pick(*KINDS)
            return [f"{pad}std::print({self.any(kind, scope, depth)})"]
        if what < 0.55 and owners:
            text, of = self.random.choice(owners)
            relations = [(name, r) for name, r in of.relations().items() if self.allowed(r[0], scope) and (r[2] != 1 or (r[1] == 0 and self.chance(0.3)))]
            if relations:
                name, (target, low, high, back) = self.random.choice(relations)
                if high == 1:
                    return [f"{pad}{text}.{name} = {self.to_one(target, scope, 0, back)}"]
                more = self.to_one(target, scope, 1, back) if self.chance(0.6) or self.taken(target, back) else self.any((target,), scope, 1)
                return [f"{pad}{text}.{name} {self.pick('+=', '+=', '=')} {more}"]
        if what < 0.63 and self.constructs != "none":
            entity = self.random.choice([e for e in self.entities if self.may_construct(e)])
            name = self.name("i")
            line = f"{pad}{name} = {self.constructor(entity, scope, 1, self.key_within(inside, scope))}"
            scope.append((name, entity))
            return [line]
        if what < 0.8 and depth > 0:
            name = self.name("l")
            lists = [(of, ("one", target)) for text, owner in owners for of, target in [(f"{text}.{r}", t[0]) for r, t in owner.relations().items() if t[2] != 1]]
            of, kind = self.random.choice(lists) if lists and self.chance(0.6) else self.pick((self.any("ints", scope, 1), "int"), (self.any("strs", scope, 1), "str"))
            before, kind = self.constructs, kind[1] if isinstance(kind, tuple) else kind
            self.constructs = "none" if isinstance(kind, Entity) else before
            lines = [f"{pad}for {name} in {of}:", *self.block([*scope, (name, kind)], depth - 1, inside, indent + 1), pad + "end"]
            self.constructs = before
            return lines
        if what < 0.95 and depth > 0:
            lines = [f"{pad}if {self.any('bool', scope, 2)}:", *self.block([*scope], depth - 1, inside, indent + 1)]
            if self.chance(0.3):
                lines += [f"{pad}elif {self.any('bool', scope, 1)}:", *self.block([*scope], depth - 1, inside, indent + 1)]
            if self.chance(0.4):
                lines += [f"{pad}else:", *self.block([*scope], depth - 1, inside, indent + 1)]
            return [*lines, pad + "end"]
        if what < 0.975 and self.keyed and not inside:
            entity, index = self.random.choice(self.keyed)
            name = self.name("i")
            scope.append((name, entity))
            return [f"{pad}{name} = {index}"]
        return [f"{pad}std::assert({self.any('bool', scope, 1)} or true)"]

    def key_within(self, inside, scope):
        return f'"{{{{n}}}}.{self.name("c")}{"".join(".{{" + text + "}}" for text, of in scope if text[0] == "l" and of in ("int", "str"))}"' if inside else None

    def block(self, scope, depth, inside, indent):
        return [line for _ in range(self.pick(1, 1, 2, 3)) for line in self.statement(scope, depth, inside, indent)]

    # Definitions.

    def typedef(self):
        name = self.name("t")
        base, rule, good, bad = self.pick(
            ("string", "matching /^[a-c]+$/", ['"a"', '"abc"'], ['"d"', "1"]), ("int", "matching self > 0 and self < 100", ["1", "99"], ["0", "100", '"1"']), ("string", 'matching self in ["a", "b"]', ['"a"', "'b'"], ['"c"']),
            ("string", "matching std::length(self) < 4", ['""', '"abc"'], ['"abcd"']), ("int", "matching self in [1, 2, 3] or self == 10", ["1", "10"], ["4"]), ("string", "matching /[0-9]+/", ['"1a"', '"22"'], ['"a1"']),
            ("float", "matching self >= 0.5", ["0.5", "3.25"], ["0.25"]), ("bool", "matching self", ["true"], ["false"]), ("string", 'matching std::validate_type("ipaddress.IPv4Address", self)', ['"10.0.0.1"'], ['"10.0.0"', '"x"']),
            ("int", "matching not (self < 5)", ["5", "6"], ["4"]), ("string", 'matching self == "a" or self == "b"', ['"a"', '"b"'], ['"c"']))
        same = [t for t, (of, *_) in self.typedefs.items() if of == base == "int"]
        if same and self.chance(0.5):
            before = self.random.choice(same)
            self.typedefs[name] = (base, ["1"], self.typedefs[before][2])
            return [f"typedef {name} as {before} matching self <= 5"]
        self.typedefs[name] = (base, good, bad)
        return [f"typedef {name} as {base} {rule}"]

    def entity(self, number, last):
        leaf = number == last
        parents = [] if leaf else self.random.sample(self.entities, min(len(self.entities), self.pick(0, 0, 1, 1, 2)))
        entity = Entity(f"E{number}", parents, leaf)
        lines = [f"entity {entity.name}" + (" extends " + ", ".join(p.name for p in parents) if parents else "") + ":"]
        if not parents:
            entity.own["n"] = "string"
            lines.append("    string n")
        for _ in range(self.random.randrange(4)):
            of = self.pick(*PRIMITIVE, *self.typedefs)
            nullable = self.chance(0.2)
            name = self.name("a") if self.chance(0.97) or not parents else self.random.choice(list(entity.attributes()))
            if name in entity.attributes():
                of, nullable = entity.attributes()[name].rstrip("?"), entity.attributes()[name].endswith("?")
                if name == "n" or name in entity.own:
                    continue
            default = None
            if self.chance(0.45):
                default = "null" if nullable and self.chance(0.5) else self.random.choice(self.typedefs[of][1]) if of in self.typedefs else self.literal(PRIMITIVE[of])
                if self.wrong and self.chance(0.03):
                    default = self.pick("1", '"s"', "null", "[]", "undef", "[1, 2]", "1.5", "{}")
                entity.defaults[name] = default
            entity.own[name] = of + "?" * nullable
            lines.append(f"    {of}{'?' * nullable} {name}" + (f" = {default}" if default else ""))
        self.entities.append(entity)
        return [*lines, "end"]

    def relation(self):
        left, right = self.random.choice(self.entities), self.random.choice(self.entities)
        a, b, bound, back = self.name("r"), self.name("r"), self.pick(*BOUNDS), self.pick(*BOUNDS)
        if bound[-1] == "1" and self.chance(0.8):
            back = "0:"
        order = self.entities.index(left) - self.entities.index(right)
        if not self.wrong or self.chance(0.8):  # what an instance needs must not need it in turn
            bound = "0" + bound[1:] if bound[1:] and (order <= 0 or left.leaf) else "0:1" if bound == "1" and (order <= 0 or left.leaf) else bound
            back = "0" + back[1:] if back[1:] and (order >= 0 or right.leaf) else "0:1" if back == "1" and (order >= 0 or right.leaf) else back
        one_way = self.chance(0.3)
        read = lambda bound: (int(bound.split(":")[0] or 0), int(bound.split(":")[-1]) if bound.split(":")[-1] else None)
        left.own_relations[a] = (right, *read(bound), None if one_way else b)
        if one_way:
            return [f"{left.name}.{a} [{bound}] {self.pick('--', '->')} {right.name}"]
        if left is right and self.chance(0.3):
            b, back = a, bound
        right.own_relations[b] = (left, *read(back), a)
        return [f"{left.name}.{a} [{bound}] -- {right.name}.{b} [{back}]"]

    def indexes(self):
        lines = []
        for entity in self.entities:
            if "n" in entity.own and self.chance(0.5):
                more = [name for name, r in entity.own_relations.items() if r[1:3] == (1, 1)]
                names = ["n"] + ([self.random.choice(more)] if more and self.chance(0.5) else [])
                entity.index.append(names)
                lines.append(f"index {entity.name}({', '.join(self.random.sample(names, len(names)))})")
        return lines

    def dump(self, entity):
        """An implementation that prints everything of an instance; nothing in it waits for a relation to be complete."""
        lines = [f"implementation dump for {entity.name}:".replace("dump", "dump_" + entity.name)]
        shown = [name for name in entity.attributes() if name != "n"]
        lines.append(f'    std::print("{entity.name} {{{{self.n}}}}' + "".join(f" {name}={{{{self.{name}}}}}" for name in shown) + '")')
        for name, (_, low, high, _) in entity.relations().items():
            if high != 1:
                lines += [f"    for d in self.{name}:", f'        std::print("{{{{self.n}}}}.{name} has {{{{d.n}}}}")', "    end"]
            elif low:
                lines.append(f'    std::print("{{{{self.n}}}}.{name} is {{{{self.{name}.n}}}}")')
            else:
                lines += [f"    if self.{name} is defined:", f'        std::print("{{{{self.n}}}}.{name} is {{{{self.{name}.n}}}}")', "    end"]
        return [*lines, "end", f"implement {entity.name} using dump_{entity.name}"]

    def implementations(self, entity):
        lines = []
        within = [("self", entity)] + [(name, self.kind_of(of)) for name, of in entity.attributes().items() if not of.endswith("?")]
        for _ in range(self.pick(0, 1, 1, 2)):
            name = self.name("m")
            scope, body = [*within], []
            if entity.leaf:
                body = [f'    std::print({self.any("str", scope, 2)})']
            else:
                self.constructs = "leaves"
                for _ in range(self.pick(1, 2, 3)):
                    body += self.statement(scope, 2, entity, 1)
            lines += [f"implementation {name} for {entity.name}:", *body, "end"]
            lines.append(f"implement {entity.name} using {name}{self.pick('', '', ', std::none')}" + (f" when {self.any('bool', within, 2)}" if self.chance(0.5) else ""))
        if entity.parents and self.chance(0.4):
            lines.append(f"implement {entity.name} using parents")
        return lines

    def model(self):
        lines = [line for _ in range(self.random.randrange(3)) for line in self.typedef()]
        last = self.random.randrange(1, 5)
        for number in range(last + 1):
            lines += self.entity(number, last)
        lines += [line for _ in range(self.random.randrange(1, 5)) for line in self.relation()]
        lines += self.indexes()
        for entity in self.entities:
            lines += self.dump(entity) + self.implementations(entity)
        self.constructs, scope, groups = "all", [], []
        for _ in range(self.random.randrange(1, 5)):
            name, key = self.name("i"), self.name("n")
            entity = self.random.choice(self.entities)
            groups.append([f"{name} = {self.constructor(entity, scope, 1, chr(34) + key + chr(34))}"])
            entity = next(e for e in self.entities if groups[-1][0].startswith(f"{name} = {e.name}("))
            scope.append((name, entity))
            if any(index == ["n"] for index in entity.indexes()) and self.chance(0.5):
                self.keyed.append((entity, f'{entity.name}[n="{key}"]'))
        for _ in range(self.random.randrange(2, 8)):
            groups.append(self.statement(scope, 3, None, 0))
        if self.chance(0.3):
            self.random.shuffle(groups)
        lines += [line for group in groups for line in group]
        return self.spoiled("\n".join(lines) + "\n") if self.chance(0.08) else "\n".join(lines) + "\n"

    def spoiled(self, source):
        """The text with one line, word or sign changed."""
        lines = source.splitlines()
        at = self.random.randrange(len(lines))
        words = lines[at].split(" ")
        word = self.random.randrange(len(words))
        self.pick(lambda: lines.pop(at), lambda: lines.insert(at, lines[self.random.randrange(len(lines))].strip()), lambda: words.pop(word), lambda: words.__setitem__(word, self.pick("null", "1", '"s"', "x", "E0", "and", "self", "[", ")", "end", "n_", "true", "[0:1]", "[1]", "string", "int?")),
                  lambda: words.__setitem__(word, words[word].replace("n", "m", 1)), lambda: words.insert(word, self.random.choice(words)))()
        if len(lines) == len(source.splitlines()):
            lines[at] = " ".join(words)
        return "\n".join(lines) + "\n"
