#include "template/go/template.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle::go_template {
namespace {

std::string render(std::string_view text, std::string_view data = "{}", const Limits& limits = {}) {
  const Result<Template> made = Template::parse("t", text);
  if (!made)
    return made.error().message;
  const Result<std::string> rendered = made->render(*read_json(data), limits);
  return rendered ? *rendered : rendered.error().message;
}

struct Case {
  const char *text, *data, *want;
};

void expect_rendered(std::initializer_list<Case> cases) {
  for (const Case& c : cases)
    EXPECT_EQ(render(c.text, c.data), c.want) << c.text;
}

TEST(GoTemplate, FieldsAndLiterals) {
  expect_rendered({{"a {{.x}} b", R"({"x":"y"})", "a y b"},
                   {"{{.a.b.c}}", R"({"a":{"b":{"c":3}}})", "3"},
                   {"{{.}}", R"({"b":[1,2.5,null],"a":"x"})", "map[a:x b:[1 2.5 <nil>]]"},
                   {"{{.missing}}", "{}", "<no value>"},
                   {R"({{"q\n"}}{{`raw\n`}}{{'a'}}{{1.50}}{{0x10}}{{-3}}{{true}})", "{}",
                    "q\nraw\\n971.516-3true"},
                   {"{{/* nothing */}}x{{- /* trimmed */ -}} y", "{}", "xy"},
                   {"{{(index .m \"k\").n}}", R"({"m":{"k":{"n":7}}})", "7"}});
}

TEST(GoTemplate, ConditionsAndLoops) {
  expect_rendered(
      {{"{{if .x}}yes{{else}}no{{end}}", R"({"x":0})", "no"},
       {"{{if eq .x 1}}a{{else if eq .x 2}}b{{else}}c{{end}}", R"({"x":2})", "b"},
       {"{{range .l}}<{{.}}>{{else}}none{{end}}", R"({"l":[1,2]})", "<1><2>"},
       {"{{range .l}}<{{.}}>{{else}}none{{end}}", R"({"l":[]})", "none"},
       {"{{range $i, $x := .l}}{{$i}}={{$x}},{{end}}", R"({"l":["a","b"]})", "0=a,1=b,"},
       {"{{range $k, $v := .m}}{{$k}}:{{$v}} {{end}}", R"({"m":{"b":2,"a":1}})", "a:1 b:2 "},
       {"{{range .l}}{{if eq . 2}}{{continue}}{{end}}{{if eq . 4}}{{break}}{{end}}{{.}}{{end}}",
        R"({"l":[1,2,3,4,5]})", "13"},
       {"{{with .a}}{{.b}}{{else}}none{{end}}", R"({"a":{"b":1}})", "1"},
       {"{{range 3}}{{.}}{{end}}", "{}", "012"},
       {"{{$x := 1}}{{range .l}}{{$x = .}}{{end}}{{$x}}{{$.y}}", R"({"l":[1,2],"y":9})", "29"}});
}

TEST(GoTemplate, ANumberComparesWithATextByWhatItLooksLike) {
  expect_rendered(
      {{R"({{if eq .fork "12"}}a{{end}}{{if ne .fork "9"}}b{{end}})", R"({"fork":12})", "ab"},
       {R"({{eq "1.5" .x}} {{eq .x "1.50"}} {{lt .x "2"}})", R"({"x":1.5})", "true false true"},
       {R"({{eq .x "12345678901234567890"}})", R"({"x":12345678901234567890})", "true"}});
  EXPECT_NE(render(R"({{eq .x "true"}})", R"({"x":true})").find("incompatible types"),
            std::string::npos);
}

TEST(GoTemplate, WhiteSpaceIsTrimmedOnlyWhereAsked) {
  expect_rendered({{"a \n {{- 1 -}} \n b", "{}", "a1b"},
                   {"a {{1 -}} b", "{}", "a 1b"},
                   {"{{3 - }}", "{}", "template: t:1: unexpected \"-\" in command"}});
}

TEST(GoTemplate, TemplatesAreDefinedAndCalled) {
  expect_rendered({{R"({{define "x"}}[{{.}}]{{end}}{{template "x" .a}}{{template "x"}})",
                    R"({"a":5})", "[5][<no value>]"},
                   {R"({{block "b" .a}}<{{.}}>{{end}})", R"({"a":5})", "<5>"}});
  EXPECT_NE(render(R"({{define "x"}}{{template "x"}}{{end}}{{template "x"}})")
                .find("maximum template depth"),
            std::string::npos);
  EXPECT_NE(render(R"({{template "nowhere"}})").find("not defined"), std::string::npos);
}

TEST(GoTemplate, Functions) {
  expect_rendered(
      {{"{{len .l}} {{index .l 1}} {{slice .s 1 3}}", R"({"l":[4,5],"s":"abcd"})", "2 5 bc"},
       {"{{and 1 0}} {{or 0 \"x\"}} {{not 0}} {{or 1 (index .l 9)}}", R"({"l":[]})", "0 x true 1"},
       {"{{eq 1 2 1}} {{ne 1 2}} {{lt 1 2}} {{ge \"b\" \"a\"}} {{eq 1 1.0}}", "{}",
        "true true true true true"},
       {R"({{print 1 2 "x" 3}}|{{println "a" 1}}|{{"<a&'b'>" | html}}|{{urlquery "a b/ü"}}|{{js "'</"}})",
        "{}", "1 2x3|a 1\n|&lt;a&amp;&#39;b&#39;&gt;|a+b%2F%C3%BC|\\'\\u003C/"},
       {R"({{.x | printf "%05d|%-4s|%q" 42 "ab"}})", R"({"x":"y"})", "00042|ab  |\"y\""}});
}

TEST(GoTemplate, PrintfVerbs) {
  expect_rendered(
      {{R"({{printf "%d %+d %x %X %#x %o %b %c %U" 10 10 255 255 255 8 5 65 955}})", "{}",
        "10 +10 ff FF 0xff 10 101 A U+03BB"},
       {R"({{printf "%f %.2f %e %g %8.3f|%v" 1.5 1.005 12345.678 0.000001 3.14159 1e21}})", "{}",
        "1.500000 1.00 1.234568e+04 1e-06    3.142|1e+21"},
       {R"({{printf "%s %v %t %% %5s|%-5s|%.2s" "a" .l true "r" "l" "cut"}})", R"({"l":[1,"x"]})",
        "a [1 x] true %     r|l    |cu"},
       {R"({{printf "%d" "x"}} {{printf "%d"}} {{printf "x" 1}} {{printf "%T %T" 1 "a"}})", "{}",
        "%!d(string=x) %!d(MISSING) x%!(EXTRA int=1) int string"}});
}

/// `tests/template/go.jsonl`: the first line is the data, each other one a template with what it
/// renders or its error, which are Go's. Where we differ, `go` is what Go says.
TEST(GoTemplate, RendersWhatGoRenders) {
  const Result<std::string> file = read_file(FETTLE_SOURCE_DIR "/tests/template/go.jsonl");
  ASSERT_TRUE(file);
  std::string data;
  int count = 0;
  for (const std::string_view line : split(trim(*file), '\n')) {
    const Value row = read_json(line).value();
    if (data.empty()) {
      data = write_json(row.at("data"));
      continue;
    }
    const bool fails = row.find("error") != nullptr;
    EXPECT_EQ(render(row.text_at("template"), data), row.text_at(fails ? "error" : "output"))
        << row.text_at("template");
    ++count;
  }
  EXPECT_GT(count, 400);
}

TEST(GoTemplate, ErrorsHaveTheirPlaceAndExcerpt) {
  const Result<Template> made = Template::parse("t", "a\n{{.x");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().where.line, 2);
  EXPECT_EQ(made.error().excerpt, "  {{.x\n  ^");
  const Result<std::string> rendered =
      Template::parse("t", "a\n  {{ index .l 5 }}\n")->render(*read_json(R"({"l": []})"));
  ASSERT_FALSE(rendered);
  EXPECT_EQ(rendered.error().where, (Where{"t", 2, 6}));
  EXPECT_EQ(rendered.error().excerpt, "    {{ index .l 5 }}\n       ^");
}

TEST(GoTemplate, HostileTemplatesEnd) {
  EXPECT_NE(render(R"({{range 1000000000}}{{end}})").find("takes too long"), std::string::npos);
  EXPECT_NE(
      render(R"({{range 1000}}xxxxxxxxxx{{end}})", "{}", {.output = 100}).find("output is larger"),
      std::string::npos);
  std::string deep;
  for (int i = 0; i < 5'000; ++i)
    deep += "{{if 1}}";
  EXPECT_NE(render(deep).find("nested deeper"), std::string::npos);
  EXPECT_NE(render("{{" + std::string(5'000, '(') + "1" + std::string(5'000, ')') + "}}")
                .find("nested deeper"),
            std::string::npos);
  EXPECT_LT(render(R"({{printf "%999999999d" 1}})").size(), 2'000'000u);
  // What functions give counts, too, whether it is printed or not.
  EXPECT_NE(
      render(R"({{$x := "a"}}{{range 60}}{{$x = printf "%s%s" $x $x}}{{end}})").find("rendering "),
      std::string::npos);
  EXPECT_NE(render(R"({{$x := "a"}}{{range 60}}{{$x = print $x $x}}{{end}})").find("rendering "),
            std::string::npos);
  EXPECT_NE(render(R"({{$x := "<"}}{{range 60}}{{$x = html $x $x}}{{end}})").find("rendering "),
            std::string::npos);
  EXPECT_NE(render(R"({{$x := printf "%1000000d" 1}}{{range 100000000}}{{$y := print $x}}{{end}})")
                .find("rendering "),
            std::string::npos);
  EXPECT_NE(
      render(
          R"({{$x := printf "%1000000d" 1}}{{range 100000000}}{{$y := len (slice $x 1)}}{{end}})")
          .find("rendering "),
      std::string::npos);
  std::string items;
  for (int i = 0; i < 5'000; ++i)
    items += "1,";
  EXPECT_NE(render(R"({{$x := printf "%1000000d" .l}})", cat("{\"l\": [", items, "1]}"))
                .find("rendering "),
            std::string::npos);
}

}  // namespace
}  // namespace fettle::go_template
