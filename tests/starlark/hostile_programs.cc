#include "hostile_programs.h"

#include <fstream>
#include <set>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace fettle::starlark {
namespace {

std::string times(size_t n, std::string_view text) {
  std::string all;
  all.reserve(n * text.size());
  for (size_t i = 0; i < n; ++i)
    all += text;
  return all;
}

}  // namespace

std::vector<Hostile> hostile_programs() {
  const size_t deep = 100'000;
  const std::string doubling = "def f():\n  x = START\n  for _ in range(60):\n    x = STEP\nf()\n";
  const auto grow = [&](std::string start, std::string step) {
    std::string program = doubling;
    program.replace(program.find("START"), 5, start);
    program.replace(program.find("STEP"), 4, step);
    return program;
  };
  const auto nest = [](std::string wrap, std::string use) {
    return "def f():\n  x = None\n  for _ in range(300000):\n    x = " + wrap +
           "\n  return x\nx = f()\n" + use + "\n";
  };
  const std::string dag =
      "def f():\n  x = [1]\n  for _ in range(60):\n    x = [x, x]\n  return x\nx = f()\ny = f()\n";
  const std::string shared =
      "def f():\n  x = (1,)\n  for _ in range(60):\n    x = (x, x)\n  return x\nx = f()\n";
  std::vector<Hostile> all = {
      // Nesting of the source.
      {"brackets", "x = " + times(deep, "[") + times(deep, "]")},
      {"parentheses", "x = " + times(deep, "(") + "1" + times(deep, ")")},
      {"braces", "x = " + times(deep, "{1:") + "1" + times(deep, "}")},
      {"minuses", "x = " + times(deep, "-") + "1"},
      {"tildes", "x = " + times(deep, "~") + "1"},
      {"nots", "x = " + times(deep, "not ") + "1"},
      {"lambdas", "x = " + times(deep, "lambda: ") + "1"},
      {"conditionals", "x = " + times(deep, "1 if 1 else ") + "1"},
      {"calls", "x = " + times(deep, "f(") + times(deep, ")")},
      {"indices", "x = " + times(deep, "a[") + "1" + times(deep, "]")},
      {"ifs", "def f():\n" +
                  [] {
                    std::string text;
                    for (size_t i = 1; i < 3'000; ++i)
                      text += std::string(i, ' ') + "if 1:\n";
                    return text + std::string(3'000, ' ') + "pass\n";
                  }()},
      {"defs",
       [] {
         std::string text;
         for (size_t i = 0; i < 3'000; ++i)
           text += std::string(i, ' ') + "def f():\n";
         return text + std::string(3'000, ' ') + "pass\n";
       }()},
      {"comprehensions", "x = " + times(deep, "[a for a in ") + "[]" + times(deep, "]")},
      {"open brackets", "x = " + times(deep, "[")},
      {"plus chain", "x = 1" + times(200'000, " + 1"), true},
      {"text chain", "x = 'a'" + times(20'000, " + 'a'"), true},
      {"and chain", "x = 1" + times(200'000, " and 1"), true},
      {"or chain", "x = 0" + times(200'000, " or 0"), true},
      {"method chain", "x = 'a'" + times(100'000, ".strip()"), true},
      {"index chain", "x = 'a'" + times(100'000, "[0]"), true},
      {"call chain", "f = lambda: f\nx = f" + times(100'000, "()"), true},
      {"elif chain", "def f(x):\n  if x: pass\n" + times(50'000, "  elif x: pass\n") + "f(0)\n",
       true},
      {"long list", "x = [" + times(300'000, "1,") + "]", true},
      {"long tuple", "x = (" + times(300'000, "1,") + ")", true},
      {"long dict",
       [] {
         std::string text = "x = {";
         for (size_t i = 0; i < 100'000; ++i)
           text += std::to_string(i) + ":1,";
         return text + "}";
       }(),
       true},
      {"many arguments", "f(" + times(100'000, "1,") + ")"},
      {"many names", "f(" +
                         [] {
                           std::string text;
                           for (size_t i = 0; i < 20'000; ++i)
                             text += "a" + std::to_string(i) + "=1,";
                           return text;
                         }() +
                         ")"},
      {"many undefined names", times(50'000, "q\n")},
      {"many globals",
       [] {
         std::string text;
         for (size_t i = 0; i < 100'000; ++i)
           text += "a" + std::to_string(i) + "=1\n";
         return text;
       }(),
       true},
      {"many locals",
       [] {
         std::string text = "def f():\n";
         for (size_t i = 0; i < 100'000; ++i)
           text += " a" + std::to_string(i) + "=1\n";
         return text + "f()\n";
       }()},
      {"long line", "x = '" + times(1'000'000, "a") + "'", true},
      {"large integer literal", "x = " + times(1'000'000, "9"), true},
      {"large hex literal", "x = 0x" + times(2'000'000, "f"), true},
      {"nul bytes", std::string("x = 1\0y", 7), true},
      {"broken utf-8", "x = \xff\xfe"},
      {"only a backslash", "\\"},
      {"unclosed text", "x = '''" + times(1'000'000, "a")},
      // Nesting of values.
      {"str of lists", nest("[x]", "str(x)"), true},
      {"repr of tuples", nest("(x,)", "repr(x)"), true},
      {"str of dicts", nest("{1: x}", "str(x)"), true},
      {"str of structs", nest("struct(a = x)", "str(x)"), true},
      {"equality of lists", nest("[x]", "y = f()\nx == y"), true},
      {"equality of dicts", nest("{1: x}", "y = f()\nx == y"), true},
      {"order of lists", nest("[x]", "y = f()\nx < y"), true},
      {"order of tuples", nest("(x,)", "y = f()\nx < y"), true},
      {"hash of tuples", nest("(x,)", "{x: 1}"), true},
      {"hash of structs", nest("struct(a = x)", "{x: 1}"), true},
      {"json of lists", nest("[x]", "json.encode(x)"), true},
      {"json of dicts", nest("{'a': x}", "json.encode(x)"), true},
      {"json brackets", "json.decode('[' * 10000000)"},
      {"json objects", "json.decode('{\"a\":' * 1000000)"},
      {"json indent", "json.indent('[' * 100000 + '1' + ']' * 100000)"},
      {"percent of lists", nest("[x]", "'%s' % [x]"), true},
      {"cyclic equality", "x = []\nx.append(x)\ny = []\ny.append(y)\nx == y"},
      {"cyclic order", "x = []\nx.append(x)\ny = []\ny.append(y)\nx < y"},
      {"cyclic json", "x = []\nx.append(x)\njson.encode(x)"},
      {"shared str", dag + "str(x)"},
      {"shared equality", dag + "x == y"},
      {"shared order", dag + "x < y"},
      {"shared json", dag + "json.encode(x)"},
      {"shared tuples hash",
       "def f():\n  x = (1,)\n  for _ in range(60):\n    x = (x, x)\n  return x\n{f(): 1}"},
      // Memory.
      {"doubling text", grow("'ab'", "x + x")},
      {"doubling bytes", grow("b'ab'", "x + x")},
      {"doubling list", grow("[1, 2]", "x + x")},
      {"doubling tuple", grow("(1, 2)", "x + x")},
      {"doubling by replace", grow("'ab'", "x.replace('a', 'aa').replace('b', 'bb')")},
      {"doubling by join", grow("'ab'", "x.join(['a', 'b', 'c'])")},
      {"doubling by format", grow("'ab'", "'{0}{0}'.format(x)")},
      {"doubling by percent", grow("'ab'", "'%s%s' % (x, x)")},
      {"doubling by +=", "def f():\n  x = [1]\n  for _ in range(60):\n    x += x\nf()"},
      {"doubling by extend", "def f():\n  x = [1]\n  for _ in range(60):\n    x.extend(x)\nf()"},
      {"repeat of text", "x = 'abcdef' * 1000000000"},
      {"repeat of list", "x = [0] * (1 << 28)"},
      {"repeat of list twice", "x = [0] * (1 << 25)\ny = x * 8"},
      {"repeat without end", "x = 'a' * (1 << 40)"},
      {"repeat far beyond", "x = [1] * (1 << 100)"},
      {"list of range", "x = list(range(1 << 34))"},
      {"tuple of range", "x = tuple(range(1 << 34))"},
      {"set of range", "x = dict([(i, i) for i in range(1 << 34)])"},
      {"sorted range", "x = sorted(range(1 << 34))"},
      {"reversed range", "x = reversed(range(1 << 34))"},
      {"enumerated range", "x = enumerate(range(1 << 34))"},
      {"zipped ranges", "x = zip(range(1 << 34), range(1 << 34))"},
      {"unpacked range", "f = lambda *a: 1\nf(*range(1 << 34))"},
      {"assigned range", "a, b = range(1 << 34)"},
      {"bytes of range", "x = bytes([1]) * (1 << 31)"},
      {"range in str", "x = str(list(range(1 << 24)))", true},
      {"empty replace", "x = ('a' * 1000000).replace('', 'b' * 1000000)"},
      {"growing list", "def f():\n  x = []\n  for i in range(1 << 40):\n    x.append(i)\nf()"},
      {"growing dict", "def f():\n  x = {}\n  for i in range(1 << 40):\n    x[i] = i\nf()"},
      {"growing text list",
       "def f():\n  x = []\n  for i in range(1 << 40):\n    x.append('item %d of many' % i)\nf()"},
      {"growing comprehension", "x = [[i, i] for i in range(1 << 40)]"},
      {"growing text",
       "def f():\n  x = ''\n  for i in range(1 << 40):\n    x += 'abcdefgh' * 1000\nf()"},
      {"split to letters", "x = ('a,' * (1 << 26)).split(',')"},
      {"elements", "x = list(('a' * (1 << 28)).elems())"},
      {"closures", "def f():\n  x = []\n  for i in range(1 << 40):\n    x.append(lambda: x)\nf()"},
      {"json text", "x = json.decode('[' + '[],' * (1 << 25) + '1]')"},
      {"indent text", "x = json.indent('[[[[[[[[[[1]]]]]]]]]]', indent = ' ' * 100000000)"},
      {"print", "def f():\n  for i in range(1 << 40):\n    hash('a' * 100000)\nf()"},
      // Time.
      {"endless loop", "def f():\n  for i in range(1 << 60):\n    pass\nf()"},
      {"endless nested loops",
       "def f():\n  for i in range(1 << 20):\n    for j in range(1 << 20):\n      for k in range(1 "
       "<< 20):\n        pass\nf()"},
      {"endless comprehension", "x = [0 for i in range(1 << 60) if False]"},
      {"squaring", "def f():\n  x = 3\n  for _ in range(60):\n    x = x * x\nf()"},
      {"power tower text",
       "def f():\n  x = 7\n  for _ in range(22):\n    x = x * x\n  return str(x)\nf()", true},
      {"divisions",
       "def f():\n  x = 7\n  for _ in range(20):\n    x = x * x\n  for i in range(1, 1000000):\n   "
       " y = x // (x - i)\nf()"},
      {"integer of text", "x = int('9' * 5000000)"},
      {"text of integer",
       "def f():\n  x = 3\n  for _ in range(19):\n    x = x * x\n  for i in range(1000000):\n    "
       "str(x)\nf()"},
      {"shifts", "def f():\n  x = 1\n  for _ in range(1000000):\n    x = x << 500\nf()"},
      {"list scan",
       "x = list(range(100000))\ndef f():\n  for i in range(100000):\n    -1 in x\nf()"},
      {"list index",
       "x = list(range(100000))\ndef f():\n  for i in range(100000):\n    x.index(99999)\nf()"},
      {"list insert",
       "def f():\n  x = list(range(1000000))\n  for i in range(1000000):\n    x.insert(0, i)\nf()"},
      {"list pop",
       "def f():\n  x = list(range(3000000))\n  for i in range(3000000):\n    x.pop(0)\nf()"},
      {"list remove",
       "def f():\n  x = list(range(300000))\n  for i in range(300000):\n    x.remove(299999 - "
       "i)\nf()"},
      {"text search",
       "def f():\n  x = 'a' * 1000000 + 'b'\n  for i in range(1000000):\n    "
       "x.find('aaaaaaaab')\nf()"},
      {"text search back",
       "def f():\n  x = 'b' + 'a' * 1000000\n  for i in range(1000000):\n    x.rfind('b' + 'a' * "
       "1000)\nf()"},
      {"text count",
       "def f():\n  x = 'a' * 1000000\n  for i in range(1000000):\n    x.count('aa')\nf()"},
      {"text comparison",
       "def f():\n  x = 'a' * 10000000\n  y = 'a' * 9999999 + 'b'\n  for i in range(1000000):\n    "
       "x == y\nf()"},
      {"text slices", "def f():\n  x = 'a' * 10000000\n  for i in range(1000000):\n    x[1:]\nf()"},
      {"list slices", "def f():\n  x = [0] * 1000000\n  for i in range(1000000):\n    x[1:]\nf()"},
      {"upper", "def f():\n  x = 'a' * 10000000\n  for i in range(1000000):\n    x.upper()\nf()"},
      {"sort",
       "def f():\n  for i in range(1000):\n    sorted(range(1000000), reverse = True)\nf()"},
      {"sort with key",
       "def f():\n  for i in range(1000):\n    sorted(range(1000000), key = lambda x: -x)\nf()"},
      {"dict copies",
       "def f():\n  x = {i: i for i in range(100000)}\n  for i in range(1000000):\n    "
       "dict(x)\nf()"},
      {"dict items",
       "def f():\n  x = {i: i for i in range(100000)}\n  for i in range(1000000):\n    "
       "x.items()\nf()"},
      {"dict of shifted keys",
       "def f():\n  x = {}\n  for i in range(400000):\n    x[i << 32] = i\n  return len(x)\nf()",
       true},
      {"dict of float keys",
       "def f():\n  x = {}\n  for i in range(400000):\n    x[i * 4294967296.0] = i\nf()", true},
      {"dict deletions",
       "def f():\n  x = {i: i for i in range(400000)}\n  for i in range(400000):\n    "
       "x.pop(i)\nf()",
       true},
      {"dict popitem",
       "def f():\n  x = {i: i for i in range(400000)}\n  for i in range(400000):\n    "
       "x.popitem()\nf()",
       true},
      {"recursion", "def f(n):\n  return f(n + 1)\nf(0)"},
      {"mutual recursion", "def f(n):\n  return g(n)\ndef g(n):\n  return f(n)\nf(0)"},
      {"recursion by sorted", "def f(n):\n  return sorted([n, n], key = f)\nf(0)"},
      {"recursion by max", "def f(n):\n  return max([n, n], key = f)\nf(0)"},
      {"many frames",
       [] {
         std::string text = "def f0(): return 1\n";
         for (size_t i = 1; i < 5'000; ++i)
           text += "def f" + std::to_string(i) + "(): return f" + std::to_string(i - 1) + "()\n";
         return text + "f4999()\n";
       }(),
       true},
      {"regex", "x = re.search('(a*)*b', 'a' * 1000000)", true},
      {"large regex", "x = re.compile('(((a{100}){100}){100}){100}')"},
      {"percent digits", "x = '%d' % (1 << 511)\ny = x * 100000000"},
      {"long body", "def f():\n  for i in range(1 << 40):\n    x = 1\n" +
                        times(100'000, "    x = i\n") + "f()\n"},
      {"long expression",
       "def f(x):\n  for i in range(1 << 40):\n    y = x" + times(100'000, " + x") + "\nf(1)\n"},
      {"long function", "def g(x):\n" + times(100'000, "  x = 1\n") +
                            "def f():\n  for i in range(1 << 40):\n    g(i)\nf()\n"},
      {"while with recursion and a long body",
       "def f():\n  while True:\n" + times(100'000, "    x = 1\n") + "f()\n"},
      {"deep stack with calls",
       [] {
         std::string text =
             "def f0():\n  for i in range(1 << 40):\n    len_of([])\n"
             "def len_of(x): return 0\n";
         for (size_t i = 1; i < 5'000; ++i)
           text += "def f" + std::to_string(i) + "(): return f" + std::to_string(i - 1) + "()\n";
         return text + "f4999()\n";
       }()},
      {"a key that comes and goes",
       "def f():\n  x = {i: i for i in range(100000)}\n  for i in range(1 << 40):\n    x.pop(5)\n"
       "    x[5] = i\nf()"},
      {"a key that comes and goes in a large dict",
       "def f():\n  x = {i: i for i in range(1000000)}\n  for i in range(999990):\n    x.pop(i)\n"
       "  for i in range(1 << 40):\n    x.pop(999995)\n    x[999995] = i\nf()"},
      {"a queue in a dict",
       "def f():\n  x = {i: i for i in range(100000)}\n  for i in range(1 << 40):\n"
       "    x.popitem()\n    x[-i] = i\nf()"},
      {"time far away", "x = time.time(year = 1 << 60)"},
      {"duration overflow", "x = time.hour * (1 << 60)", true},
      // A part that is shared again and again is endless for code that walks over it.
      {"shared tuple in dict", shared + "y = x in {}"},
      {"shared tuple as key", shared + "y = {x: 1}"},
      {"shared tuple in set", shared + "y = set([x])"},
      {"shared tuples compared", shared + "z = f()\ny = x == z"},
      {"shared tuples ordered", shared + "z = f()\ny = x < z"},
      {"shared tuple sorted", shared + "z = f()\ny = sorted([x, z])"},
      {"shared tuple shown", shared + "y = repr(x)"},
      {"shared tuple formatted", shared + "y = '%s' % [x]"},
      {"shared tuple printed", shared + "print(x)"},
      {"shared tuple failed with", shared + "fail(x)"},
      {"shared tuple encoded", shared + "y = json.encode(x)"},
      {"shared tuple got", shared + "y = {}.get(x)"},
      {"shared tuple popped", shared + "y = {1: 2}.pop(x, None)"},
      {"shared tuple as default", shared + "y = {1: 2}.setdefault(x, None)"},
      {"shared tuple found", shared + "y = [1, x].index(f())"},
      {"shared tuple in list", shared + "z = f()\ny = z in [x]"},
      {"shared structure as key",
       replace_all(shared, "(x, x)", "struct(a = x, b = x)") + "y = {x: 1}"},
      {"shared structures compared",
       replace_all(shared, "(x, x)", "struct(a = x, b = x)") + "z = f()\ny = x == z"},
      {"shared dicts compared",
       replace_all(shared, "(x, x)", "{'a': x, 'b': x}") + "z = f()\ny = x == z"},
      {"shared dict encoded",
       replace_all(shared, "(x, x)", "{'a': x, 'b': x}") + "y = json.encode(x)"},
      {"shared list as constructor", shared + "y = struct(a = x)\nz = {y: 1}"},
      // Many values that used to have one hash, or a place in one list.
      {"closures as keys",
       "def g(i): return lambda: i\nd = {}\ndef f():\n  for i in range(10000000): d[g(i)] = "
       "i\nf()"},
      {"methods as keys", "d = {}\ndef f():\n  for i in range(10000000): d[[i].append] = i\nf()"},
      {"words of a long text", "x = ('a ' * 50000000).split()"},
      {"words of a long text from the right", "x = ('a ' * 50000000).rsplit()"},
      {"words of a long text, but one", "x = ('a ' * 50000000).rsplit(None, 1)", true},
      {"parts of a long text from the right", "x = ('a ' * 50000000).rsplit(' ')"},
  };
  const std::set<std::string_view> large{"repeat of list twice",
                                         "range in str",
                                         "split to letters",
                                         "elements",
                                         "json text",
                                         "squaring",
                                         "power tower text"};
  for (Hostile& hostile : all)
    hostile.needs_all = large.contains(hostile.name);
  for (size_t i = 0, size = all.size(); i < size; ++i) {
    if (all[i].name.find("recursion") == std::string::npos)
      continue;
    all.push_back(all[i]);
    all.back().name += ", allowed";
    all.back().recursion = true;
  }
  return all;
}

std::vector<Hostile> hostile_loops() {
  std::vector<Hostile> all;
  std::ifstream file(FETTLE_SOURCE_DIR "/tests/starlark/hostile/loops.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#'))
      continue;
    const size_t bar = line.find(" | ");
    std::string program = "def f():\n";
    for (const std::string_view statement : split(std::string_view(line).substr(0, bar), ';'))
      program += cat("  ", trim(statement), "\n");
    all.push_back(
        {line, cat(program, "  for i in range(1 << 40):\n    ", line.substr(bar + 3), "\nf()\n")});
  }
  return all;
}

namespace {

/// Repeats a part of a line `count` times.
void repeat_part(std::string& program, const std::string& part, size_t count, size_t all) {
  const bool is_glued = part.starts_with('&');
  const std::string pattern = replace_all(part.substr(is_glued ? 1 : 0), "#", std::to_string(all));
  const bool is_numbered = pattern.find('@') != pattern.npos;
  for (size_t i = 0; i < count; ++i) {
    if (!is_glued && !program.empty() && !program.ends_with('\n') && !pattern.starts_with('\n'))
      program += ' ';
    program += is_numbered ? replace_all(pattern, "@", std::to_string(i)) : pattern;
  }
}

}  // namespace

std::vector<Hostile> hostile_repeats(size_t count) {
  std::vector<Hostile> all;
  std::ifstream file(FETTLE_SOURCE_DIR "/tests/starlark/hostile/repeats.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#'))
      continue;
    std::vector<std::string> parts;
    for (size_t at = 0; at <= line.size();) {
      const size_t bar = std::min(line.find(" | ", at), line.size());
      parts.push_back(replace_all(line.substr(at, bar - at), "\\n", "\n"));
      at = bar + 3;
    }
    parts.resize(5);
    std::string program;
    for (size_t i = 0; i < parts.size(); ++i)
      if (!parts[i].empty())
        repeat_part(program, parts[i], i % 2 == 1 ? count : 1, count);
    all.push_back({cat(count, " times ", line), program + "\n", true});
  }
  return all;
}

std::vector<Hostile> hostile_values() {
  std::vector<Hostile> all;
  const std::string text =
      read_file(FETTLE_SOURCE_DIR "/tests/starlark/hostile/values.txt").value();
  constexpr std::string_view line = "\n---\n";
  for (size_t at = text.find(line), end; at != text.npos; at = end) {
    end = text.find(line, at += line.size());
    const std::string_view program = std::string_view(text).substr(at, end - at);
    const std::string name(split(program, '\n')[0].substr(2));
    const bool spec = program.find("\n# profile: spec\n") != program.npos;
    all.push_back({name, cat(program, "\n"), name.ends_with("may pass"), false,
                   spec ? Profile::spec : Profile::go});
  }
  return all;
}

namespace {

constexpr std::string_view frozen_module = R"(
values = [1, [2], {"a": [3]}]
table = {"a": 1}
group = set([1])
record = struct(list = [1])
def append(x): values.append(x)
def collect(x, into = []): into.append(x)
def make():
  counted = [0]
  def count(): counted[0] += 1
  return count
count = make()
)";

}  // namespace

HostileEnd run(const Hostile& hostile, const HostileLimits& allowed) {
  Dialect dialect = Dialect::of(hostile.profile);
  dialect.recursion = hostile.recursion;
  dialect.set = true;
  Limits limits;
  limits.memory = allowed.memory;
  limits.steps = allowed.steps;
  Session session(dialect, limits);
  session.print = [](Thread&, std::string_view) {};
  session.load = [&](Thread& thread, std::string_view name) {
    return session.run(thread, std::string(name),
                       name == "frozen.star" ? frozen_module : hostile.program);
  };
  const Result<ModulePtr> result = session.run("hostile.star", hostile.program);
  return {!result, result ? "" : result.error().message, session.memory()};
}

}  // namespace fettle::starlark
