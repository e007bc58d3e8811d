/// How long functions may be, and how many members a class with private state may have.
///
/// The reader of a function keeps all of it in mind, and the reader of a class all of its members;
/// anything too long for that is cut where a part makes sense by itself. A compiler would know
/// exactly where a function starts; its text, without comments, literals and directives, is good
/// enough and needs no build:
///
/// * A *function* is a brace outside any function whose head (the text since the last statement)
///   has parameters and no `=`. It has the lines from the first of its head to its
///   closing brace, both included: comments, blank lines and the lambdas inside it count. A lambda
///   in a table outside functions belongs to the table.
/// * A *data member* is a declarator of a class that is neither static nor a function: `int a, b;`
///   are two. Those of base classes and of nested classes do not count. A class has *private state*
///   when one of them is private or protected.
///
/// Tests are not measured.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/text.h"

namespace fettle {
namespace {

struct FunctionShape {
  std::string name;
  size_t line = 0;  ///< the line of its head, from 1
  size_t lines = 0;
};

struct ClassShape {
  std::string name;
  size_t line = 0;
  size_t members = 0;
  bool has_private_state = false;
};

struct Shapes {
  std::vector<FunctionShape> functions;
  std::vector<ClassShape> classes;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text with spaces in place of comments, literals and directives; lines keep their numbers.
class StrippedText {
 public:
  explicit StrippedText(std::string text) : text_(std::move(text)) {
    while (at_ < text_.size())
      step();
  }
  const std::string& text() const { return text_; }

 private:
  void blank_to(size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_)
      if (text_[at_] != '\n')
        text_[at_] = ' ';
  }
  /// The position just after the next `what`.
  size_t behind(std::string_view what, size_t from) const {
    const size_t found = text_.find(what, from);
    return found == text_.npos ? text_.size() : found + what.size();
  }
  size_t end_of_line() const {
    size_t end = text_.find('\n', at_);
    while (end != text_.npos && text_[end - 1] == '\\')
      end = text_.find('\n', end + 1);
    return end;
  }
  size_t end_of_literal() const {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != text_[at_])
      end += text_[end] == '\\' ? 2 : 1;
    return end + 1;
  }
  bool begins_line() const {
    const size_t before = at_ == 0 ? text_.npos : text_.find_last_not_of(" \t", at_ - 1);
    return before == text_.npos || text_[before] == '\n';
  }
  void step() {
    const std::string_view rest = std::string_view(text_).substr(at_);
    const char before = at_ == 0 ? ' ' : text_[at_ - 1];
    if (rest.starts_with("//") || (rest[0] == '#' && begins_line()))
      blank_to(end_of_line());
    else if (rest.starts_with("/*"))
      blank_to(behind("*/", at_ + 2));
    else if (rest.starts_with("R\"") && !is_word(before))
      blank_to(behind(")" + std::string(rest.substr(2, rest.find('(') - 2)) + "\"", at_));
    else if (rest[0] == '"' || (rest[0] == '\'' && !is_word(before)))  // not of `1'000`
      blank_to(end_of_literal());
    else
      ++at_;
  }

  std::string text_;
  size_t at_ = 0;
};

/// Reads the text outside functions, brace by brace.
class Measure {
 public:
  explicit Measure(const std::string& text) : stripped_(text), text_(stripped_.text()) {
    scope("", nullptr);
  }
  Shapes found;

 private:
  size_t line_of(size_t at) {
    for (; counted_ < at; ++counted_)
      line_ += text_[counted_] == '\n' ? 1 : 0;
    for (; counted_ > at; --counted_)
      line_ -= text_[counted_ - 1] == '\n' ? 1 : 0;
    return line_;
  }
  /// The position just after the bracket that closes the one here.
  size_t closed(size_t open) const {
    int depth = 0;
    for (size_t at = open; at < text_.size(); ++at) {
      depth += (text_[at] == '{' || text_[at] == '(') - (text_[at] == '}' || text_[at] == ')');
      if (depth == 0)
        return at + 1;
    }
    return text_.size();
  }

  /// Heads are kept without the text between brackets: `f()`, `Name<>`, `a_{}`.
  static std::string without_angles(const std::string& head) {
    std::string kept;
    int depth = 0;
    for (size_t at = 0; at < head.size(); ++at) {
      const bool is_operator = kept.ends_with("operator") || kept.ends_with("operator<") ||
                               kept.ends_with("operator>") || kept.ends_with('-');
      if (!is_operator && head[at] == '<')
        depth += 1;
      else if (!is_operator && head[at] == '>')
        depth -= depth > 0 ? 1 : 0;
      else if (depth == 0)
        kept += head[at];
    }
    return kept;
  }

  void scope(const std::string& name, ClassShape* of);
  void opened(const std::string& name);
  void declared(ClassShape& of) const;

  const StrippedText stripped_;
  const std::string& text_;
  size_t at_ = 0;
  std::string head_;  ///< the text since the last statement
  size_t head_begins_ = 0;
  bool is_private_ = false;
  size_t line_ = 1;  ///< of the position up to which lines are counted
  size_t counted_ = 0;
};

/// The last word before the parameters.
std::string function_name(const std::string& head) {
  static const std::regex name(
      R"re(((?:[\w:]*::)?(?:~?\w+|operator\s*[^\s\w(]+|operator \w+))\s*\()re");
  std::smatch found;
  return std::regex_search(head, found, name) ? found[1].str() : std::string(trim(head));
}

/// At a `{`: of a namespace, a class, a function, or of a value.
void Measure::opened(const std::string& name) {
  static const std::regex is_namespace(R"(^(inline )?(namespace|extern)\b)");
  static const std::regex is_class(
      R"(^(?:typedef )?(class|struct|union)\b(?: alignas\(\))? ?([\w:]*))");
  static const std::regex is_enum(R"(^enum\b)"),
      is_template(R"(^(template ?|requires [^;{]*?\) ?)+)");
  static const std::regex initializes(R"(\)[^:]*[^:]:[^:].*[\w>] ?$)");
  const size_t begins = head_begins_;
  const std::string head =
      std::regex_replace(std::string(trim(without_angles(head_))), is_template, "");
  std::smatch what;
  if (std::regex_search(head, is_namespace)) {
    ++at_;
    return scope(name, nullptr);
  }
  if (std::regex_search(head, what, is_class) && head.find('(') == head.npos) {
    const size_t index = found.classes.size();
    found.classes.push_back({name + what[2].str(), line_of(begins)});
    ClassShape shape = found.classes.back();
    const bool was_private = is_private_;
    is_private_ = what[1] == "class";
    ++at_;
    scope(shape.name + "::", &shape);
    is_private_ = was_private;
    found.classes[index] = shape;
    head_ = "class{}";  // `struct {…} name;` is a member
    head_begins_ = begins;
    return;
  }
  const bool is_function = head.find('(') != head.npos && !std::regex_search(head, is_enum) &&
                           (head.find('=') == head.npos || head.find("operator") != head.npos);
  const size_t end = closed(at_);
  if (!is_function || std::regex_search(head, initializes)) {
    head_ += "{}";
    at_ = end;
    return;
  }
  found.functions.push_back(
      {name + function_name(head), line_of(begins), line_of(end - 1) - line_of(begins) + 1});
  at_ = end;
  head_.clear();
}

/// At the `;` of a declaration in a class.
void Measure::declared(ClassShape& of) const {
  static const std::regex other(
      R"(^(using|friend|static|typedef|template|enum|class|struct|union)\b)");
  std::string head(trim(without_angles(head_)));
  const bool is_unnamed = head.starts_with("class{}");
  if (is_unnamed)
    head = "class{} " + std::string(trim(head.substr(7)));
  if (head.empty() || (is_unnamed && head == "class{} ") ||
      (!is_unnamed && std::regex_search(head, other)))
    return;
  const std::string declarator = head.substr(0, head.find('='));
  const bool is_function = declarator.find("operator") != head.npos ||
                           (declarator.find('(') != head.npos && head.find("(*") == head.npos);
  if (is_function)
    return;
  of.members += 1 + static_cast<size_t>(std::ranges::count(head, ','));
  of.has_private_state |= is_private_;
}

/// Up to the brace that closes this namespace or class.
void Measure::scope(const std::string& name, ClassShape* of) {
  head_.clear();
  for (; at_ < text_.size() && text_[at_] != '}';) {
    const char c = text_[at_];
    if (c == '{') {
      opened(name);
      continue;
    }
    if (c == '(') {
      head_ += text_.compare(at_, 2, "(*") == 0 ? "(*)" : "()";
      at_ = closed(at_);
      continue;
    }
    ++at_;
    if (c == ';') {
      if (of != nullptr)
        declared(*of);
      head_.clear();
    } else if (c == ':' && (trim(head_) == "public" || trim(head_) == "private" ||
                            trim(head_) == "protected")) {
      is_private_ = trim(head_) != "public";
      head_.clear();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      if (head_.empty())
        head_begins_ = at_ - 1;
      head_ += c;
    } else if (!head_.empty() && head_.back() != ' ') {
      head_ += ' ';
    }
  }
  ++at_;
  head_.clear();
}

Shapes shapes_of(const std::string& text) { return Measure(text).found; }

/// `f:3`: the names of functions and their lines.
std::string told(const std::vector<FunctionShape>& functions) {
  std::string all;
  for (const FunctionShape& one : functions)
    all += cat(all.empty() ? "" : " ", one.name, ":", one.lines);
  return all;
}

/// `A:2+`: the names of classes and their members; `+` is private state.
std::string told(const std::vector<ClassShape>& classes) {
  std::string all;
  for (const ClassShape& one : classes)
    all +=
        cat(all.empty() ? "" : " ", one.name, ":", one.members, one.has_private_state ? "+" : "");
  return all;
}

std::string function_of(size_t lines) {
  std::string text = "int f() {\n";
  for (size_t i = 2; i < lines; ++i)
    text += "  g();\n";
  return text + "}\n";
}

constexpr size_t most_lines = 70;
constexpr size_t most_lines_ever = 100;
constexpr size_t most_members = 20;

TEST(Shapes, AFunctionHasTheLinesFromItsHeadToItsBrace) {
  EXPECT_EQ(told(shapes_of(function_of(most_lines)).functions), "f:70");
  EXPECT_EQ(told(shapes_of(function_of(most_lines + 1)).functions), "f:71");
  EXPECT_EQ(told(shapes_of("// of f\nvoid f(int a,\n       int b)\n{\n\n}\n").functions), "f:5");
  EXPECT_EQ(told(shapes_of("int f() { return 1; } int g() { return 2; }").functions), "f:1 g:1");
}

TEST(Shapes, WhatIsInAFunctionBelongsToIt) {
  EXPECT_EQ(told(shapes_of("int f() {\n  const auto g = [](int x) {\n    return x;\n  };\n"
                           "  struct Local { int a; void h() {} };\n  return g(1);\n}\n")
                     .functions),
            "f:7");
}

TEST(Shapes, TablesAndTypesAreNoFunctions) {
  EXPECT_EQ(told(shapes_of("const auto rows = make({\n  {1, [](int a) { return a; }},\n});\n"
                           "enum class E { a, b };\nint x{1};\nextern \"C\" { void f() {} }\n"
                           "namespace a::b { struct S { int g() const { return 1; } }; }")
                     .functions),
            "f:1 S::g:1");
}

TEST(Shapes, ConstructorsAndOperatorsAreFunctions) {
  EXPECT_EQ(told(shapes_of("A::A(int a) : a_{a}, b_(a) {\n}\nA::~A() {}\n"
                           "template <class T>\nbool operator==(const A& a, const A& b) {\n}\n"
                           "auto g() -> std::map<int, int> {\n}\n")
                     .functions),
            "A::A:2 A::~A:1 operator==:3 g:2");
}

TEST(Shapes, BracesInTextsAndCommentsDoNotCount) {
  EXPECT_EQ(
      told(shapes_of("int f() {\n  // }\n  /* }\n  */ g(\"}\\\"}\", '}', R\"x(}\")x\", 1'000);\n"
                     "#define M }\\\n}\n}\nint g() {}\n")
               .functions),
      "f:7 g:1");
}

TEST(Shapes, MembersAreWhatAClassHolds) {
  EXPECT_EQ(
      told(shapes_of("class A {\n public:\n  A() : a_(1) {}\n  int f(int b) const;\n"
                     "  static int c;\n  using D = int;\n  friend class E;\n  int g;\n"
                     " private:\n  struct In { int a, b; };\n  enum class K { x, y };\n"
                     "  std::map<int, std::function<void(int, int)>> a_;\n"
                     "  int b_ = h({1, 2}), c_{3};\n  bool operator<(const A&) const = default;\n"
                     "  struct { int x; } both_;\n};\nstruct P { int a[3] = {1, 2}; };\n")
               .classes),
      "A:5+ A::In:2 A:::1 P:1");
}

/// The sources below `src`, except tests, by their path below the root.
const std::map<std::string, Shapes>& sources_measured() {
  static const auto measured = [] {
    const std::filesystem::path folder = FETTLE_SOURCE_DIR;
    std::map<std::string, Shapes> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "src")) {
      const std::string name = std::filesystem::relative(entry.path(), folder).string();
      if ((!name.ends_with(".cc") && !name.ends_with(".h")) || name.ends_with("_test.cc"))
        continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      found.emplace(name, shapes_of(text.str()));
    }
    return found;
  }();
  return measured;
}

/// Functions and classes that are larger than the rule allows, and why they are not cut.
using Exceptions = std::map<std::string, std::string_view>;

void expect_all_needed(const Exceptions& exceptions, const std::set<std::string>& large) {
  for (const auto& [name, reason] : exceptions)
    EXPECT_TRUE(large.contains(name)) << name << " is not large any more: " << reason;
}

TEST(Shapes, FewFunctionsAreLong) {
  const Exceptions exceptions{
      {"src/starlark/eval/run.cc run_frames",
       "the interpreter's loop: a label an instruction, between which registers are kept"},
  };
  size_t all = 0, too_long = 0;
  std::string told;
  std::set<std::string> large;
  for (const auto& [file, shapes] : sources_measured()) {
    all += shapes.functions.size();
    for (const FunctionShape& one : shapes.functions) {
      if (one.lines <= most_lines)
        continue;
      ++too_long;
      told += cat("\n", one.lines, " ", file, ":", one.line, " ", one.name);
      const std::string name = cat(file, " ", one.name);
      if (one.lines > most_lines_ever)
        large.insert(name);
      EXPECT_TRUE(one.lines <= most_lines_ever || exceptions.contains(name))
          << file << ":" << one.line << " " << one.name << " has " << one.lines << " lines";
    }
  }
  EXPECT_GT(all, 7'000u);
  EXPECT_LE(too_long * 1'000, all * 4) << "functions over " << most_lines << " lines:" << told;
  expect_all_needed(exceptions, large);
}

TEST(Shapes, AClassWithPrivateStateHasFewMembers) {
  const Exceptions exceptions{
      {"Heap", "of each size of cell what is free, and what a collection needs meanwhile"},
      {"Lexer", "the parts of the current token, which the parser reads one by one"},
      {"Rehearsal", "a world that is played: pods, pulls and claims, each with its times"},
      {"Rollout", "what each step of the decision leaves for the next one"},
  };
  std::set<std::string> large;
  for (const auto& [file, shapes] : sources_measured())
    for (const ClassShape& one : shapes.classes) {
      if (!one.has_private_state || one.members <= most_members)
        continue;
      large.insert(one.name);
      EXPECT_TRUE(exceptions.contains(one.name))
          << file << ":" << one.line << " " << one.name << " has " << one.members
          << " members: cut it where a part has a sense of its own";
    }
  expect_all_needed(exceptions, large);
}

}  // namespace
}  // namespace fettle
