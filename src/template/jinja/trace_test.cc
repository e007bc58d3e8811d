#include <gtest/gtest.h>

#include "base/text.h"
#include "template/jinja/jinja.h"
#include "value/json.h"

namespace fettle::jinja {
namespace {

Engine engine_with(std::map<std::string, std::string> templates) {
  Environment environment;
  environment.syntax.has_loop_controls = true;
  environment.load =
      [kept = std::move(templates)](const std::string& name) -> Result<std::optional<std::string>> {
    const auto found = kept.find(name);
    return found == kept.end() ? std::optional<std::string>() : std::optional(found->second);
  };
  return Engine(std::move(environment));
}

/// Every piece of the output with its place; `~` before what a tag computed.
std::string pieces_of(std::string_view source, std::map<std::string, std::string> templates = {}) {
  const auto traced = engine_with(std::move(templates))
                          .trace_text("main", source, names_of(Value::of(*read_json("{}"))));
  if (!traced)
    return to_string(traced.error());
  std::string text;
  for (size_t i = 0; i < traced->origins.size(); ++i) {
    const Origin& origin = traced->origins[i];
    const size_t end =
        i + 1 < traced->origins.size() ? traced->origins[i + 1].offset : traced->text.size();
    text +=
        cat(traced->files[origin.file], ":", origin.line, ":", origin.column, " ",
            origin.is_literal ? "" : "~",
            replace_all(traced->text.substr(origin.offset, end - origin.offset), "\n", "/"), "\n");
  }
  return text;
}

TEST(Trace, EachPieceHasItsPlace) {
  EXPECT_EQ(pieces_of("a: {{ 1 }}\n{% if true %}ä: {{ 'x' }}-{% endif %}\nend\n"),
            "main:1:1 a: \nmain:1:4 ~1\nmain:1:11 /\nmain:2:14 ä: \nmain:2:17 ~x\n"
            "main:2:26 -\nmain:2:38 /end\n");
  EXPECT_EQ(pieces_of("{%- for i in [1, 2] %}\n  k{{ i }}:\n{%- endfor %}"),
            "main:1:23 /  k\nmain:2:4 ~1\nmain:2:11 :\n"
            "main:1:23 /  k\nmain:2:4 ~2\nmain:2:11 :\n");
}

TEST(Trace, IncludesAreTracedAndMacrosAreWhereTheyAreCalled) {
  EXPECT_EQ(pieces_of("{% include 'part' %}{% from 'part' import m %}\n{{ m(1) }}b",
                      {{"part", "x\ny{% macro m(i) %}m{{ i }}{% endmacro %}"}}),
            "part:1:1 x/y\nmain:1:47 /\nmain:2:1 ~m1\nmain:2:11 b\n");
  EXPECT_EQ(pieces_of("{% filter upper %}a{{ 1 }}{% endfilter %}"), "main:1:4 ~A1\n");
  EXPECT_EQ(pieces_of("{% extends 'base' %}ignored{% block b %}new{% endblock %}",
                      {{"base", "<{% block b %}old{% endblock %}>"}}),
            "base:1:1 <\nmain:1:41 new\nbase:1:32 >\n");
}

TEST(Trace, ErrorsHaveColumns) {
  EXPECT_EQ(pieces_of("a\n  {{ nothing }}"),
            "main:2:3: jinja2.exceptions.UndefinedError: 'nothing' is undefined");
  EXPECT_EQ(pieces_of("{% include 'part' %}", {{"part", "\n {% do nothing.x %}"}}),
            "part:2:5: jinja2.exceptions.UndefinedError: 'nothing' is undefined");
}

TEST(Draw, ChanceIsAParameter) {
  Environment environment;
  environment.draw = [] { return uint64_t{7}; };
  Engine engine(std::move(environment));
  const Lookup nothing = names_of(Value());
  EXPECT_EQ(*engine.render_text("t", "{{ [1, 2, 3] | random }}{{ 'abc' | random }}", nothing),
            "2b");
  EXPECT_FALSE(engine.render_text("t", "{{ [] | random }}", nothing));
}

}  // namespace
}  // namespace fettle::jinja
