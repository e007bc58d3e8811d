"""Random models of the `.cf` language for `bench/differ`: typed, mostly valid, some with a wrong expression or word in them on purpose.

Entities that an implementation constructs have no implementation that constructs, so nearly all models come to an end. Each entity has an
implementation that prints its attributes and the names of those that its relations hold, so that the printed lines show the result.
"""
from differ_expressions import BOUNDS, KINDS, PRIMITIVE, Entity, Expressions


class Models(Expressions):
    """One model for each seed."""

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
        if what < 0.93 and depth > 0:
            lines = [f"{pad}if {self.any('bool', scope, 2)}:", *self.block([*scope], depth - 1, inside, indent + 1)]
            if self.chance(0.3):
                lines += [f"{pad}elif {self.any('bool', scope, 1)}:", *self.block([*scope], depth - 1, inside, indent + 1)]
            if self.chance(0.4):
                lines += [f"{pad}else:", *self.block([*scope], depth - 1, inside, indent + 1)]
            return [*lines, pad + "end"]
        if what < 0.96 and self.keyed and not inside:
            entity, index = self.random.choice(self.keyed)
            name = self.name("i")
            scope.append((name, entity))
            return [f"{pad}{name} = {index}"]
        return [self.rare(scope, pad, owners)]

    def key_within(self, inside, scope):
        return f'"{{{{n}}}}.{self.name("c")}{"".join(".{{" + text + "}}" for text, of in scope if text[0] == "l" and of in ("int", "str"))}"' if inside else None

    def rare(self, scope, pad, owners):
        """A line of what models seldom have; much of it is wrong, or is so for some values."""
        i, s = self.any("int", scope, 1), self.any("str", scope, 1)
        lines = [f"std::print({self.pick('int', 'float', 'bool', 'number')}({s}))", f'x_ = {i}', 'std::print("""a\n  b {{ x_ }}""")', f"std::print({{'a': {i}}} == {{'a': {i}}})",
                 f'std::print({s} {self.pick("<", ">=", "-", "*", "%", "/")} {self.any(self.pick("str", "int"), scope, 0)})', f'std::print("\\u0041\\\\\\"\\101")', f"{i} {self.pick('+', '-', '**')} {i}",
                 f"std::print({i} {self.pick('in', 'not in')} {self.any('dict', scope, 1)})", f"std::print([{i}, null, {s}])", f"std::print(std::at({self.any('ints', scope, 1)}, {i}))", f'std::print({i} ** {self.pick("0.5", "-2", "20")})']
        for text, of in owners[-3:]:
            attributes = list(of.attributes())
            lines += [f'std::print(std::attr({text}, "{self.random.choice(attributes)}"))', f"std::print(std::getattr({text}, \"{self.pick(*attributes, 'none')}\", {i}))", f'std::print(std::is_instance({text}, "__config__::E{self.pick(0, 1)}"))',
                      f"std::print({text} == {self.random.choice(owners)[0]})", f"{text}.{self.random.choice(attributes)} = {text}.{self.random.choice(attributes)}", f"{text}.requires += {self.random.choice(owners)[0]}",
                      f"std::print(std::count({text}.{self.pick('requires', 'provides')}))", f"std::print({text} in [{self.random.choice(owners)[0]}])", f"x_ = {text}.{self.random.choice(attributes)}"]
            for relation, (target, *_) in list(of.relations().items())[-2:]:
                lines += [f"{text}.{relation} = {self.pick('null', '[]', 'null', text)}", f"std::print({text}.{relation}.n)", f"std::print([x.n for x in {text}.{relation} if {self.any('bool', [*scope, ('x', target)], 1)}])", f"std::print({text}.{relation} == {text}.{relation})",
                          f"std::print(std::len({text}.{relation}) {self.pick('>', '==')} {i})"]
        return pad + self.random.choice(lines)

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
