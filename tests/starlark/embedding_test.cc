/// The work of a host: its own functions and types, calls both ways, values both ways.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "starlark/starlark.h"
#include "value/json.h"
#include "value/value.h"

namespace fettle::starlark {
namespace {

/// The lines that `starlark.h` shows, from the session to the result.
Result<std::string> run_example(std::string_view text, Value plan, Value x) {
  const auto find_module = [](std::string_view name) -> Result<ModulePtr> {
    return user_error(cat("no module ", name));
  };
  // clang-format off
  // example begins
  Session session(Dialect::of(Profile::kurtosis), {.steps = 100'000'000, .memory = 512 << 20});
  static const Signature signature("greet", {{"name", Want::text}, {"times?", Want::integer}});
  session.predeclare("greet", session.native("greet", [](Call& call) -> Result<Value> {
    const std::vector<Value> given = TRY(signature.bind(call));
    const int64_t times = given[1].is_unset() ? 1 : integer_of(given[1]).value_or(0);
    return call.heap().text(cat("hello ", text_of(given[0]), " ", times));
  }));
  session.load = [&](Thread&, std::string_view name) { return find_module(name); };
  const ModulePtr module = TRY(session.run("main.star", text));
  Thread thread(session);
  const Value result = TRY(thread.call(module->get("run").value(), {plan}, {{"x", x}}));
  // example ends
  // clang-format on
  return str_of(thread, result);
}

std::vector<std::string> lines_of(std::string_view file) {
  const std::string text = read_file(Path(FETTLE_SOURCE_DIR) / file).value();
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    lines.emplace_back(line);
  return lines;
}

TEST(Embedding, ExampleOfTheHeader) {
  constexpr std::string_view program =
      "def run(plan, x):\n  return [plan, greet('bob'), greet('amy', times = x)]\n";
  const Result<std::string> result = run_example(program, Value::small(7), Value::small(2));
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(*result, R"([7, "hello bob 1", "hello amy 2"])");
}

TEST(Embedding, TheHeaderShowsWhatIsCompiled) {
  std::vector<std::string> shown, compiled;
  constexpr std::string_view margin = "///   ";
  for (const std::string& line : lines_of("src/starlark/starlark.h"))
    if (line.starts_with(margin))
      shown.push_back("  " + line.substr(margin.size()));
  const std::vector<std::string> all = lines_of("tests/starlark/embedding_test.cc");
  const auto begin = std::ranges::find(all, "  // example begins");
  const auto end = std::ranges::find(all, "  // example ends");
  ASSERT_LT(begin, end);
  compiled.assign(begin + 1, end);
  EXPECT_EQ(shown, compiled);
}

TEST(Embedding, CallsAFunctionWithNames) {
  Session session;
  const ModulePtr module =
      session.run("m.star", "def run(plan, x = 2, *, y):\n  '''doc'''\n  return [plan, x, y]\n")
          .value();
  const Value run = module->get("run").value();
  const std::vector<ParameterInfo> parameters = parameters_of(run);
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].name, "plan");
  EXPECT_FALSE(parameters[0].has_default);
  EXPECT_TRUE(parameters[1].has_default);
  EXPECT_EQ(integer_of(parameters[1].otherwise.value()), 2);
  EXPECT_FALSE(parameters[2].otherwise.has_value());
  EXPECT_TRUE(parameters[2].keyword_only);
  EXPECT_EQ(docstring_of(run), "doc");
  Thread thread(session);
  const Result<Value> result = thread.call(run, {Value::small(1)}, {{"y", Value::small(3)}});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(repr_of(thread, *result).value(), "[1, 2, 3]");
  const Result<Value> wrong = thread.call(run, {});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "function run missing 2 arguments (plan, y)");
  // The thread continues to work after an error.
  EXPECT_TRUE(thread.call(run, {Value::none()}, {{"y", Value::none()}}).has_value());
}

TEST(Embedding, BindsArgumentsOfNativeFunctions) {
  static const Signature signature("greet", {{"name", Want::text}, {"times?", Want::integer}});
  Session session;
  session.predeclare("greet", session.native("greet", [](Call& call) -> Result<Value> {
    const std::vector<Value> given = TRY(signature.bind(call));
    const int64_t times = given[1].is_unset() ? 1 : given[1].small();
    return call.heap().text(cat("hello ", text_of(given[0]), " ", times));
  }));
  const auto message = [&](std::string_view text) {
    const Result<ModulePtr> result = session.run("m.star", text);
    return result ? std::string("no error") : result.error().message;
  };
  EXPECT_EQ(session.run("m.star", "x = greet('bob', times = 2)\n").value()->get("x").has_value(),
            true);
  EXPECT_EQ(text_of(session.run("m.star", "x = greet('bob')\n").value()->get("x").value()),
            "hello bob 1");
  EXPECT_EQ(message("greet()"), "greet: missing argument for name");
  EXPECT_EQ(message("greet(1)"), "greet: for parameter name: got int, want string");
  EXPECT_EQ(message("greet('a', tims = 1)"),
            "greet: unexpected keyword argument \"tims\" (did you mean times?)");
  EXPECT_EQ(message("greet('a', 1, 2)"), "greet: got 3 arguments, want at most 2");
  EXPECT_EQ(message("greet('a', name = 'b')"),
            "greet: got multiple values for keyword argument \"name\"");
}

TEST(Embedding, TypesOfTheHost) {
  static const RecordType port{"PortSpec", {"number", "transport_protocol", "wait"}, nullptr, true};
  Session session;
  session.predeclare("PortSpec", session.native("PortSpec", [](Call& call) -> Result<Value> {
    static const Signature signature(
        "PortSpec", {{"number", Want::integer}, {"transport_protocol?", Want::text}, {"wait?"}});
    const std::vector<Value> given = TRY(signature.bind(call));
    std::vector<NamedValue> fields;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!given[i].is_unset())
        fields.push_back({port.fields[i], given[i]});
    }
    return call.heap().record(port, fields);
  }));
  const ModulePtr module = session
                               .run("m.star",
                                    "p = PortSpec(number = 80, wait = None)\n"
                                    "q = p == PortSpec(80, wait = None)\n"
                                    "n = p.number\n"
                                    "t = type(p)\n")
                               .value();
  const Value p = module->get("p").value();
  Thread thread(session);
  EXPECT_EQ(repr_of(thread, p).value(), "PortSpec(number=80, wait=None)");
  EXPECT_EQ(record_type_of(p), &port);
  EXPECT_TRUE(truth_of(module->get("q").value()));
  EXPECT_EQ(integer_of(module->get("n").value()), 80);
  EXPECT_EQ(text_of(module->get("t").value()), "PortSpec");
  EXPECT_EQ(session.run("m.star", "PortSpec(80).numbr").error().message,
            "PortSpec has no .numbr field or method (did you mean .number?)");
  // The text parses to the same value.
  const std::string text = repr_of(thread, p).value();
  EXPECT_TRUE(equal(thread, thread.evaluate("stored", text).value(), p).value());
}

TEST(Embedding, ValuesBothWays) {
  Session session;
  Thread thread(session);
  const std::string json =
      R"({"z":1,"a":[true,null,2.5,"é",{"k":123456789012345678901234567890}]})";
  const Value ordered = thread.heap().json(json).value();
  EXPECT_EQ(repr_of(thread, ordered).value(),
            R"({"z": 1, "a": [True, None, 2.5, "é", {"k": 123456789012345678901234567890}]})");
  const fettle::Value plain = to_value(thread, ordered).value();
  EXPECT_EQ(plain, read_json(json).value());
  EXPECT_TRUE(equal(thread, thread.heap().value(plain).value(), ordered).value());
  EXPECT_EQ(to_json(thread, ordered).value(), write_json(plain));
  EXPECT_FALSE(thread.heap().json("[1,").has_value());
}

TEST(Embedding, PositionsAndStacks) {
  Session session;
  std::vector<Frame> stack;
  Where where;
  session.predeclare("mark", session.native("mark", [&](Call& call) -> Result<Value> {
    stack = call.thread.stack();
    where = call.thread.position();
    return Value::none();
  }));
  ASSERT_TRUE(session.run("m.star", "def f():\n  mark()\ndef g():\n  f()\ng()\n").has_value());
  EXPECT_EQ(where, (Where{"m.star", 2, 7}));
  ASSERT_EQ(stack.size(), 4u);
  EXPECT_EQ(stack[0].function, "<toplevel>");
  EXPECT_EQ(stack[1].function, "g");
  EXPECT_EQ(stack[2].function, "f");
  EXPECT_EQ(stack[3].function, "mark");
}

TEST(Embedding, ModulesLoadOnceAndCyclesAreErrors) {
  Session session;
  ModuleCache cache;
  int runs = 0;
  session.load = [&](Thread& thread, std::string_view name) -> Result<ModulePtr> {
    return cache.get(std::string(name), [&, name]() -> Result<ModulePtr> {
      ++runs;
      if (name == "a")
        return session.run(thread, "a", "x = [1]\ndef f():\n  return x\n");
      return session.run(thread, std::string(name), "load('cycle', 'y')\n");
    });
  };
  const ModulePtr module =
      session.run("m.star", "load('a', 'x', g = 'f')\nload('a', z = 'x')\nsame = g() == z\n")
          .value();
  EXPECT_TRUE(truth_of(module->get("same").value()));
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(module->get("x").has_value());  // loaded names are not exported
  const Result<ModulePtr> frozen = session.run("n.star", "load('a', 'x')\nx.append(1)\n");
  EXPECT_EQ(frozen.error().message, "append: cannot append to frozen list");
  const Result<ModulePtr> cycle = session.run("c.star", "load('cycle', 'y')\n");
  ASSERT_FALSE(cycle.has_value());
  EXPECT_NE(cycle.error().message.find("cycle"), std::string::npos);
}

TEST(Embedding, ImportModuleInsideAFunction) {
  Session session(Dialect::of(Profile::kurtosis));
  session.predeclare(
      "import_module", session.native("import_module", [](Call& call) -> Result<Value> {
        const ModulePtr module =
            TRY(call.thread.session().run(call.thread, text_of(call.positional[0]),
                                          "def double(x):\n  return [x, x, 'a long text']\n"));
        call.thread.keep(module);
        std::vector<std::pair<std::string, Value>> globals = module->globals();
        std::vector<NamedValue> fields;
        for (const auto& [name, value] : globals)
          fields.push_back({name, value});
        return call.heap().module(text_of(call.positional[0]), fields);
      }));
  session.collect_always = true;
  const ModulePtr module =
      session
          .run("m.star",
               "def run(plan):\n  return import_module('./x.star').double(plan)\nx = run(4)\n")
          .value();
  Thread thread(session);
  EXPECT_EQ(repr_of(thread, module->get("x").value()).value(), "[4, 4, \"a long text\"]");
  EXPECT_EQ(session.run("n.star", "load('a', 'b')\n").error().message.substr(0, 13),
            "cannot load a");
  EXPECT_EQ(session.run("n.star", "print(1)\n").error().message,
            "print: use plan.print instead of print");
}

TEST(Embedding, HandlesKeepValues) {
  Session session;
  session.collect_always = true;
  const ModulePtr module =
      session.run("m.star", "def make(n):\n  return [str(i) + ' is a number' for i in range(n)]\n")
          .value();
  Thread thread(session);
  const Value make = module->get("make").value();
  const Handle kept(thread, thread.call(make, {Value::small(50)}).value());
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(thread.call(make, {Value::small(50)}).has_value());
  ASSERT_EQ(length_of(kept), 50u);
  EXPECT_EQ(text_of(item_of(kept, 49)), "49 is a number");
}

TEST(Embedding, StepsAndMemoryAreDeterministic) {
  const auto run = [] {
    Session session(Dialect::of(Profile::go), {.steps = 10'000'000});
    EXPECT_TRUE(
        session
            .run("m.star",
                 "def f():\n  d = {}\n  for i in range(100000):\n    d['key %d' % i] = [i]\n"
                 "  return sorted(d.keys())\nx = f()\n")
            .has_value());
    return std::pair(session.steps(), session.memory());
  };
  EXPECT_EQ(run(), run());
}

/// The way in which running functions are counted changes with the depth.
TEST(Embedding, RecursionIsFoundAtEveryDepth) {
  constexpr int functions = 400;
  std::string text = "def g0(): return 0\ndef ok(f): return 7\n";
  for (int i = 1; i <= 300; ++i)
    text += cat("def g", i, "(): return g", i - 1, "()\n");
  text += "def f0(again):\n  for i in range(3):\n    g300()\n  return again(again)\n";
  for (int i = 1; i < functions; ++i)
    text += cat("def f", i, "(again): return f", i - 1, "(again)\n");
  Session session;
  const ModulePtr module = session.run("m.star", text).value();
  Thread thread(session);
  const auto called = [&](int first, const std::string& again) {
    const Result<Value> result =
        thread.call(module->get(cat("f", first)).value(), {module->get(again).value()});
    return result ? repr_of(thread, *result).value() : result.error().message;
  };
  for (const int first : {0, 1, 126, 127, 128, 129, 130, 254, 255, 256, 257, 258, 399}) {
    EXPECT_EQ(called(first, "ok"), "7") << first;
    for (const int again : {0, 1, 127, 128, 129, 255, 256, 257, 399})
      EXPECT_EQ(called(first, cat("f", again)),
                cat("function f", std::min(first, again), " called recursively"))
          << first;
  }
}

TEST(Embedding, LocksEndWithAnError) {
  Session session;
  Thread thread(session);
  const ModulePtr module =
      session.run("m.star", "def f(x):\n  for i in x:\n    fail('stop')\n").value();
  const Handle list(thread, thread.heap().list(std::vector<Value>{Value::small(1)}));
  ASSERT_FALSE(thread.call(module->get("f").value(), {list}).has_value());
  const Result<Value> result =
      thread.evaluate("<e>", "x.append(2)", std::vector<NamedValue>{{"x", list}});
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(repr_of(thread, list).value(), "[1, 2]");
}

}  // namespace
}  // namespace fettle::starlark
