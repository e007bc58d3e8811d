/// An evaluation that was cancelled, or is out of time, ends inside a long operation: each
/// operation that can take longer than a few milliseconds checks for the request while it works. No
/// clock decides here: the request is made just before the operation, and the code after it must
/// not be reached.

#include <gtest/gtest.h>

#include "base/text.h"
#include "starlark/starlark.h"
#include "value/value.h"

namespace fettle::starlark {
namespace {

struct Operation {
  const char* setup;
  const char* work;
};

const Operation operations[] = {
    {"x = [i * 7919 % 1000003 for i in range(1000000)]", "sorted(x)"},
    {"x = [i * 7919 % 1000003 for i in range(1000000)]", "sorted(x, reverse = True)"},
    {"x = [str(i) for i in range(200000)]", "sorted(x)"},
    {"x = list(range(200000))", "sorted(x, key = lambda y: -y)"},
    {"x = list(range(200000))", "max(x, key = lambda y: -y)"},
    {"x = list(range(2000000))", "max(x)"},
    {"x = range(1 << 40)", "min(x)"},
    {"x = range(5000000)", "list(x)"},
    {"x = range(1 << 40)", "[y for y in x]"},
    {"x = [True] * 2000000", "all(x)"},
    {"x = [False] * 2000000", "any(x)"},
    {"x = list(range(2000000))", "reversed(x)"},
    {"x = list(range(2000000))", "enumerate(x)"},
    {"x = list(range(2000000))", "zip(x, x)"},
    {"x = list(range(2000000))", "tuple(x)"},
    {"x = list(range(2000000))", "x + x"},
    {"x = tuple(range(2000000))", "x + x"},
    {"x = list(range(2000000))", "x * 2"},
    {"x = list(range(2000000)); y = []", "y += x"},
    {"x = list(range(2000000))", "x.index(-1)"},
    {"x = list(range(2000000))", "-1 in x"},
    {"x = list(range(2000000))", "x[::2]"},
    {"x = list(range(2000000)); y = []", "y.extend(x)"},
    {"x = [[i] for i in range(1000000)]", "x == [[i] for i in range(1000000)]"},
    {"x = [[i] for i in range(1000000)]", "repr(x)"},
    {"x = list(range(1000000))", "dict(zip(x, x))"},
    {"x = {i: i for i in range(1000000)}", "dict(x)"},
    {"x = {i: i for i in range(1000000)}", "x.items()"},
    {"x = {i: i for i in range(1000000)}", "x.keys()"},
    {"x = {i: i for i in range(1000000)}", "x | x"},
    {"x = {i: i for i in range(1000000)}; y = {}", "y.update(x)"},
    {"x = set(list(range(1000000)))", "x.union(x)"},
    {"x = set(list(range(1000000)))", "x & x"},
    {"x = 'abc'", "x * 50000000"},
    {"x = [1, 2, 3]", "x * 10000000"},
    {"x = ['abc'] * 3000000", "','.join(x)"},
    {"x = 'ab' * 10000000", "x.replace('a', 'cd')"},
    {"x = 'ab' * 10000000", "x.split('b')"},
    {"x = 'ab' * 10000000", "x.count('b')"},
    {"x = 'ab' * 10000000", "x.upper()"},
    {"x = 'ab' * 10000000", "x.find('aa' * 100)"},
    {"x = 'ab' * 10000000", "list(x.elems())"},
    {"x = 'ab' * 10000000", "list(x.codepoints())"},
    {"x = 'a ' * 10000000", "x.split()"},
    {"x = 'a\\n' * 10000000", "x.splitlines()"},
    {"x = 'ab' * 10000000", "repr(x)"},
    {"x = 'ab' * 10000000", "hash(x)"},
    {"x = 'ab' * 10000000", "'%r %r' % (x, x)"},
    {"x = 'ab' * 10000000", "'{} {}'.format(x, x)"},
    {"x = 'ab' * 10000000", "x == x[:-1] + 'b'"},
    {"x = 'ab' * 10000000", "base64.encode(x)"},
    {"x = 'ab' * 10000000", "hashes.sha256(x)"},
    {"x = 'ab' * 5000000", "re.findall('a', x)"},
    {"x = 'ab' * 5000000", "re.sub('a', 'b', x)"},
    {"x = 'ab' * 5000000", "re.split('a', x)"},
    {"x = {str(i): [i, None, 1.5] for i in range(200000)}", "json.encode(x)"},
    {"x = json.encode([[i, None, 1.5] for i in range(300000)])", "json.decode(x)"},
    {"x = json.encode([[i, None, 1.5] for i in range(300000)])", "json.indent(x)"},
    {"x = {str(i): [i, None, 1.5] for i in range(200000)}", "yaml.encode(x)"},
    {"x = '- [1, two, 3.5]\\n' * 200000", "yaml.decode(x)"},
    {"x = (1 << 4000000) - 1", "str(x)"},
    {"x = (1 << 4000000) - 1", "'%d' % x"},
    {"x = (1 << 4000000) - 1", "json.encode(x)"},
    {"x = '7' * 1000000", "int(x)"},
    {"x = '7' * 1000000", "json.decode(x)"},
    {"x = (1 << 2000000) - 1", "x * x"},
    {"x = (1 << 4000000) - 1; y = (1 << 2000000) + 1", "x // y"},
    // Endless for code that walks over it.
    {"x = (1,); for _ in range(60): x = (x, x)", "x in {}"},
    {"x = (1,); for _ in range(60): x = (x, x)", "{}.get(x)"},
    {"x = (1,); for _ in range(60): x = (x, x)", "{x: 1}"},
    {"x = (1,); y = (1,); for _ in range(60): x, y = (x, x), (y, y)", "x == y"},
    {"x = (1,); y = (1,); for _ in range(60): x, y = (x, x), (y, y)", "x < y"},
    {"x = (1,); y = (1,); for _ in range(60): x, y = (x, x), (y, y)", "y in [x]"},
    {"x = [1]; for _ in range(60): x = [x, x]", "repr(x)"},
    {"x = [1]; for _ in range(60): x = [x, x]", "str([x])"},
    {"x = [1]; for _ in range(60): x = [x, x]", "json.encode(x)"},
    {"x = [1]; for _ in range(60): x = [x, x]", "yaml.encode(x)"},
    {"x = [1]; for _ in range(60): x = [x, x]", "'%s' % [x]"},
    {"x = {'a': 1}; for _ in range(60): x = {'a': x, 'b': x}", "convert(x)"},
    {"x = [1]; for _ in range(60): x = [x, x]", "shown(x)"},
    {"x = [1]; for _ in range(60): x = [x, x]", "encoded(x)"},
};

/// The error of a program that asks to be ended just before it works; empty if it went on.
std::string end_of(const Operation& operation) {
  Session session(Dialect::of(Profile::spec));
  bool reached = false;
  session.predeclare("cancel", session.native("cancel", [&](Call&) -> Result<Value> {
    session.cancelled = true;
    return Value::none();
  }));
  session.predeclare("reached", session.native("reached", [&](Call&) -> Result<Value> {
    reached = true;
    return Value::none();
  }));
  // A host's operations on the values of a program.
  const auto declare = [&](const char* name, auto&& convert) {
    session.predeclare(name, session.native(name, [convert](Call& call) -> Result<Value> {
      TRY(convert(call.thread, call.positional[0]));
      return Value::none();
    }));
  };
  declare("convert", [](Thread& thread, Value value) { return to_value(thread, value); });
  declare("shown", [](Thread& thread, Value value) { return repr_of(thread, value); });
  declare("encoded", [](Thread& thread, Value value) { return to_json(thread, value); });
  std::string program = "def f():\n";
  for (const std::string_view statement : split(operation.setup, ';'))
    program += cat("  ", trim(statement), "\n");
  program += cat("  cancel()\n  ", operation.work, "\n  reached()\nf()\n");
  const Result<ModulePtr> result = session.run("x.star", program);
  return reached || result ? std::string() : result.error().message;
}

TEST(Cancellation, IsSeenInsideEveryLongOperation) {
  for (const Operation& operation : operations) {
    EXPECT_EQ(end_of(operation), "Starlark computation cancelled")
        << operation.setup << " | " << operation.work;
  }
}

// Expired time is checked in the same places: the deadline has passed before the work.
TEST(Cancellation, TimeIsLookedAtInTheSamePlaces) {
  Limits limits;
  limits.wall_time = 1ms;
  for (const char* work : {"sorted(range(1 << 22))", "'abc' * 100000000", "min(range(1 << 40))",
                           "json.decode('[' + '1,' * 1000000 + '1]')"}) {
    Session session(Dialect::of(Profile::spec), limits);
    const Result<ModulePtr> result =
        session.run("x.star", cat("def f():\n  for i in range(1 << 40):\n    ", work, "\nf()\n"));
    ASSERT_FALSE(result.has_value()) << work;
    EXPECT_EQ(result.error().message, "Starlark computation cancelled: out of time") << work;
  }
}

}  // namespace
}  // namespace fettle::starlark
