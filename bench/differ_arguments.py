"""Random arguments of a package, read here and by what Kurtosis reads them with: `json.decode` for a JSON object, else yaml.v2, JSON and
then `json.decode` (bench/peers). Asked is for the same value with the same types of numbers, or that both fail. What is known to differ,
with the reason, stands in `ACCEPTED`.
"""
import json
import random
import re

import peers
from differ_jq import answers

# A reason, and when it holds: (text, ours, theirs).
ACCEPTED = [
    ("a key that occurs twice is an error here; Go takes the last one, or any one of `1` and `\"1\"`", lambda t, ours, theirs: "occurs twice" in ours.get("error", "")),
    ("a key of the mapping itself stays where another key that is merged has its text, as `1` and `\"1\"`; Go takes either", lambda t, ours, theirs: theirs.get("either") and "value" in ours and same_but(theirs["either"], ours, theirs)),
    ("arguments that say nothing are none here; Go finds no mapping", lambda t, ours, theirs: ours.get("value") == {} and "not a mapping: None" in theirs.get("error", "")),
    ("half a surrogate pair is an error here; Go puts U+FFFD there", lambda t, ours, theirs: "surrogate pair" in ours.get("error", "")),
    ("`\\/` and `\\e` are escapes of YAML, which yaml.v2 does not know", lambda t, ours, theirs: "unknown escape" in theirs.get("error", "") and ("\\/" in t or "\\e" in t)),
    ("a key that Go makes no JSON of, in a value that a second key like it replaces", lambda t, ours, theirs: re.search("cannot be a key|beyond 63 bits|cannot be an argument", ours.get("error", ""))),
    ("to yaml.v2 a comma or a bracket right behind a tag belongs to it", lambda t, ours, theirs: re.search(r"![\w!:]*[,\[{]", t)),
    ("the scanner of yaml.v2 is older than libyaml 0.2.5: marks of byte order, `?`, `:` and brackets in flow", lambda t, ours, theirs: "\ufeff" in t or re.search(r"[\[{,].*\?|!!\w*[\]}]|^[{\[].*[}\]]\s*:|[\w ]:[,\]}]", t, re.M)),
    ("`!!timestamp` of what is none", lambda t, ours, theirs: "as a !!timestamp" in theirs.get("error", "")),
    ("a text that is no UTF-8 is an error here", lambda t, ours, theirs: "UTF-8" in ours.get("error", "")),
    ("the peer panics", lambda t, ours, theirs: theirs.get("error", "").startswith("panic")),
]
SCALARS = """1 0 -1 +1 007 017 0o17 0O17 08 089 0x1F 0X1f -0x1f +0x1F 0b101 -0b11 0B1 1_000 1__0 _1 1_ 0x_1 0_7 1.0 -1.0 1.5 -0.0 -0 +0 .5 5. -.5 +.5 1e3 1E3 1e+3 1e-3 1.5e3 1e18 1e20
1e21 1e22 123456789e15 1e400 -1e400 1e-400 1e-7 1e-6 0.1 0.30000000000000004 1_0.5 1.e5 .e5 . .. - + -- 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
18446744073709551615 18446744073709551616 -18446744073709551616 123456789012345678901 1234567890123456789012 123456789012345678901234567890 0xFFFFFFFFFFFFFFFF 0xFFFFFFFFFFFFFFFFF
0777777777777777777777777 .inf -.inf +.inf .Inf .INF .nan .NaN .NAN inf nan 1:20 190:20:30 190:20:30.15 2001-12-14 2001-12-14t21:59:43.10-05:00 2001-1-1 12:30:45 y Y yes Yes YES yEs n N no No NO on On ON
off Off OFF true True TRUE tRue false False FALSE null Null NULL nUll ~ = << a abc a-b x_y 1a 1.2.3 10.0.0.1 1,000 0x 0b 0o 1e 1e+ e5 0xG 16777217 33554433 1234567.0 100000.0 1000000.0 0.0001 0.00001
4294967296.0 3.4e38 3.5e38 1.17e-38 http://a.b/c?d=e user@host 50% $x C:\\\\x a=b ünï 日本 @a `a %a &a *a !a |a >a ?a :a a:b a#b 'a "a a,b""".split()
QUOTED = ['""', "''", '"1"', "'1.0'", '"a\\n"', '"\\x41\\u00e9\\U0001F600"', "'it''s'", '"\\ud800"', '"\\0"', '"yes"', "'~'", '" a "', '"a: b # c"', '"\\/\\e"', '"<&>"', '"\\u2028"', "'\\n'"]
TAGS = ["!!str", "!!int", "!!float", "!!bool", "!!null", "!!binary", "!!timestamp", "!", "!custom", "!!map", "!!seq", "!!set", "!!merge", "!!omap", "!<tag:yaml.org,2002:int>", "!<x>"]
KEYS = ["a", "b", "c", "key", "some-key", "x y", "1", "1.5", "1e18", "0x1F", "true", "yes", "~", "null", '"q"', "'q'", '"1"', ".inf", ".nan", "-1", "2001-01-01", "18446744073709551615", "1e400", "0.1", "-0.0", "1234567.0", "<<", "[x]", "{x: y}", "? a", "é", "!!str 1", "!!float 1", "!!binary YQ=="]
NUMBERS = "0 -0 1 -1 1.0 -0.0 1e18 1E18 1e+18 1.5 1e400 -1e400 1e-400 123456789012345678901234567890 18446744073709551616 0.1 1e21 1e5 9007199254740993 9007199254740993.0 01 1. .5 +1 0x1 NaN Infinity".split()
TEXTS = ["", "a", "1", "1.0", "\\n", "\\u0041", "\\ud83d\\ude00", "\\ud800", "\\u0000", "\\/", "é", "<&>", "\\x", "yes", "line 1\\nline 2\\n"]


class Texts:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.anchors = []

    def pick(self, *choices):
        made = self.random.choice(choices)
        return made() if callable(made) else made

    def chance(self, share):
        return self.random.random() < share

    # JSON
    def json_value(self, depth):
        if depth == 0 or self.chance(0.4):
            return self.pick(lambda: self.pick(*NUMBERS), lambda: self.pick(*NUMBERS[:18]), lambda: self.json_text(), "true", "false", "null")
        space = self.pick("", " ", "\n ", "\t")
        if self.chance(0.4):
            return "[" + ("," + space).join(self.json_value(depth - 1) for _ in range(self.random.randrange(4))) + "]"
        return self.json_object(depth)

    def json_text(self):
        return '"' + self.pick(*TEXTS) + '"'

    def json_object(self, depth):
        space = self.pick("", " ", "\n ", "\n\t")
        members = (self.pick(self.json_text(), '"a"', '"b"', '"c"') + ":" + self.pick("", " ") + self.json_value(depth - 1) for _ in range(self.random.randrange(4)))
        return "{" + space + ("," + space).join(members) + self.pick("", "", "", "", ",") + space + "}"

    # YAML
    def scalar(self):
        made = self.pick(lambda: self.pick(*SCALARS), lambda: self.pick(*SCALARS), lambda: self.pick(*SCALARS), lambda: self.pick(*QUOTED), lambda: self.number())
        if self.chance(0.08):
            made = self.pick(*TAGS) + " " + made
        return self.anchored(made)

    def number(self):
        digits = "".join(self.pick(*"0123456789") for _ in range(self.random.randrange(1, 24)))
        return self.pick("", "-", "+") + digits + self.pick("", "", ".", "." + digits[:3]) + self.pick("", "", "e" + self.pick("", "-", "+") + str(self.random.randrange(320)))

    def anchored(self, made):
        if self.chance(0.06):
            name = self.pick("x", "y", "z1")
            self.anchors.append(name)
            return f"&{name} {made}"
        if self.anchors and self.chance(0.12):
            return "*" + self.pick(*self.anchors)
        return made

    def flow(self, depth):
        if depth == 0 or self.chance(0.4):
            return self.scalar()
        if self.chance(0.4):
            return self.anchored("[" + ", ".join(self.flow(depth - 1) for _ in range(self.random.randrange(4))) + self.pick("", "", ",") + "]")
        return self.anchored("{" + self.pick(", ", ",").join(self.pick(*KEYS) + self.pick(": ", ": ", ": ", ":", "") + self.flow(depth - 1) for _ in range(self.random.randrange(4))) + self.pick("", "", ",") + "}")

    def merge(self):
        if self.anchors:
            name = lambda: "*" + self.pick(*self.anchors)
            return "<<: " + self.pick(name, name, lambda: f"[{name()}, {name()}]", lambda: f"[{name()}, {{a: 9, k: 8}}]", "{a: 5, b: 6}", "1")
        return "<<: {a: 5, b: 6}"

    def block_text(self, indent):
        lines = [self.pick("line", "  more", "", "# no comment", "a: b", "\ttab", " x ", "1") for _ in range(self.random.randrange(1, 4))]
        return self.pick("|", ">", "|-", ">-", "|+", ">+", "|2", "|1-") + "\n" + "\n".join(indent + "  " + line if line else "" for line in lines)

    def block(self, depth, indent=""):
        """Lines behind a key or a dash, from the line break on."""
        if depth == 0 or self.chance(0.35):
            return " " + self.pick(self.scalar, self.scalar, self.scalar, lambda: self.flow(1), lambda: self.block_text(indent), "", lambda: self.scalar() + "\n" + indent + "   " + self.pick(*SCALARS))
        head = self.pick("", "", "", " # comment")
        if self.chance(0.07):
            name = self.pick("m", "n")
            self.anchors.append(name)
            head = f" &{name}"
        if self.chance(0.3):
            return head + "".join(f"\n{indent}-{self.block(depth - 1, indent + '  ')}" for _ in range(self.random.randrange(1, 4)))
        return head + "\n" + self.mapping(depth, indent + "  ")

    def mapping(self, depth, indent=""):
        lines, used = [], set()
        for _ in range(self.random.randrange(1, 5)):
            if self.chance(0.08):
                lines.append(indent + self.merge())
                continue
            key = self.pick(*KEYS[:8], *KEYS[:8], *KEYS)
            if key in used and self.chance(0.9):
                continue
            used.add(key)
            lines.append(f"{indent}{key}{self.pick(':', ':', ':', ':', ' :')}{self.block(depth - 1, indent)}")
        return "\n".join(lines)

    def document(self):
        made = self.pick(lambda: self.mapping(3), lambda: self.mapping(3), lambda: self.mapping(2), lambda: self.flow(3), lambda: "a: " + self.scalar())
        return self.pick("", "", "", "---\n", "%YAML 1.1\n---\n", "# comment\n", "\n", "--- ") + made

    def broken(self, text):
        at = self.random.randrange(len(text) + 1)
        return text[:at] + self.pick("", "", ":", "-", " ", "\n", "\t", "#", "{", "]", '"', "&", "*", "!", "|", ",", "\u0000", "\u00a0", "\ufeff") + text[at + self.random.randrange(2):]

    def question(self):
        text = self.pick(lambda: self.json_object(3), self.document, self.document, self.document)
        if self.chance(0.08):
            text += "\n" + self.pick("---\n", "...\n", "---\n[", "... \n---\n") + self.document()
        text += self.pick("", "\n", "\n", "\n\n", " \n", "\r\n")
        if self.chance(0.1):
            text = self.broken(text)
        if self.chance(0.02):
            text = text.replace("\n", "\r\n")
        return {"text": text}


def same(ours, theirs):
    if "value" in ours or "value" in theirs:
        return "value" in ours and "value" in theirs and repr(sorted_deep(ours["value"])) == repr(sorted_deep(theirs["value"]))
    return True


def same_but(keys, ours, theirs):
    return repr(sorted_deep(ours["value"], keys)) == repr(sorted_deep(theirs["value"], keys))


def sorted_deep(value, without=()):
    if isinstance(value, dict):
        return {key: sorted_deep(value[key], without) for key in sorted(value) if key not in without}
    return [sorted_deep(item, without) for item in value] if isinstance(value, list) else value


def questions(seed, count):
    return [Texts(seed * 1_000_003 + number).question() for number in range(count)]


def reason_of(text, ours, theirs):
    return next((reason for reason, holds in ACCEPTED if holds(text, ours, theirs)), None)


def record(path, count, seed, arguments_main):
    """Writes what the peer gives, for tests that have none; without what is known to differ."""
    asked = questions(seed, count)
    with open(path, "w") as file:
        for question, ours, right in zip(asked, answers([arguments_main], asked), answers([peers.built(), "arguments"], asked)):
            if same(ours, right) or not reason_of(question["text"], ours, right):
                file.write(json.dumps({**question, **({"value": right["value"]} if "value" in right else {"error": True})}) + "\n")


def compare(arguments_main, count, seed):
    """Prints what differs without a reason; true when nothing does."""
    asked = questions(seed, count)
    ours, theirs = answers([arguments_main], asked), answers([peers.built(), "arguments"], asked)
    return peers.report("arguments", seed, [(question["text"], mine, right) for question, mine, right in zip(asked, ours, theirs)], same, reason_of)
