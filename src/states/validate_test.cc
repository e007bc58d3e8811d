#include "states/validate.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle::states {
namespace {

Validation validated(const std::string& text) {
  const auto files = files_of({{"main.sls", text}});
  const std::vector<std::string> words{"main.sls"};
  return validate(words, *files, {});
}

std::string part(const Validation& validation, std::string_view name) {
  std::string errors;
  for (const Error& error : validation.errors)
    errors += cat(to_string(error), "\n");
  return errors + write_json(validation.document.at(name));
}

TEST(Validate, WhatIsSensitiveIsHidden) {
  const Validation made = validated(R"(
a:
  test.present:
    - new_state: {password: hunter2, user: me}
    - sensitive: [password]
b:
  http.query:
    - url: http://127.0.0.1/hunter2
    - sensitive: [url]
)");
  const std::string text = part(made, "high") + part(made, "low");
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("user":"me")"), std::string::npos) << text;
}

TEST(Validate, HighAndLowDataAreAsInIdem) {
  const Validation made = validated(R"(
extend:
  y:
    test.nop: [{k: 2}]
x: test.nop
x2:
  META: {q: r}
  test.nop:
    - name: foo
    - require_in: [{test: x3}]
  time:
    - sleep
    - duration: 5
x3:
  test.nop: [{order: last}]
y:
  test.nop: [{k: 1}]
META: {a: b}
)");
  EXPECT_EQ(
      part(made, "high"),
      R"({"x":{"__sls__":"main.sls","test":["nop"]},)"
      R"("x2":{"__sls__":"main.sls","test":[{"name":"foo"},{"require_in":[{"test":"x3"}]},)"
      R"({"order":100000},"nop"],"time":["sleep",{"duration":5},{"order":100001}]},)"
      R"("x3":{"__sls__":"main.sls","test":[{"order":"last"},"nop",{"require":[{"test":"x2"}]}]},)"
      R"("y":{"__sls__":"main.sls","test":[{"k":2},{"order":100002},"nop"]}})");
  EXPECT_EQ(
      part(made, "low"),
      R"([{"__id__":"x2","__sls__":"main.sls","fun":"nop","name":"foo","order":100000,)"
      R"("require_in":[{"test":"x3"}],"state":"test"},)"
      R"({"__id__":"x2","__sls__":"main.sls","duration":5,"fun":"sleep","name":"x2","order":100001,)"
      R"("state":"time"},)"
      R"({"__id__":"y","__sls__":"main.sls","fun":"nop","k":2,"name":"y","order":100002,"state":"test"},)"
      R"({"__id__":"x","__sls__":"main.sls","fun":"nop","name":"x","order":100101,"state":"test"},)"
      R"({"__id__":"x3","__sls__":"main.sls","fun":"nop","name":"x3","order":1100102,)"
      R"("require":[{"test":"x2"}],"state":"test"}])");
  EXPECT_EQ(part(made, "meta"),
            R"({"ID_DECS":{"main.sls.x2":{"q":"r"}},"SLS":{"main.sls":{"a":"b"}}})");
  EXPECT_EQ(
      part(made, "parameters"),
      R"({"GLOBAL":"","ID_DECS":{"main.sls.x":{},"main.sls.x2":{},"main.sls.x3":{},"main.sls.y":{}}})");
}

TEST(Validate, ReferencesAreBindings) {
  const Validation made = validated(R"(
x:
  test.nop:
    - v: {w: ["${test:c:l[0]}", {q: "pre ${test:c:x} ${test:d:y:z}"}]}
    - k: "${test:c[c]:l[0]:k}"
    - arg_bind: [{test: [{c: [{x: hand}]}]}]
    - s: ["${test:c:x}${test:c:x}"]
c: test.nop
d: test.nop
)");
  EXPECT_EQ(write_json(made.document.at("low").items()[0].at("arg_bind")),
            R"([{"test":[{"c":[{"x":"hand"},{"l[0]":"v:w[0]"},{"x":"v:w[1]:q"},{"x":"s[0]"}]},)"
            R"({"d":[{"y:z":"v:w[1]:q"}]},{"c[c]":[{"l[0]:k":"k"}]}]}])");
}

TEST(Validate, ParametersPrintAsTheWordsThatAskForThem) {
  const Validation made = validated(R"(
a:
  META:
    params: {d: described, n4: {x: y}}
  test.nop:
    - x: {{ params.get('d') }}
    - y: {{ params.get('q', 'dflt') }}
    - z: {{ params['i']['j'] }}
    - l: {{ params.get('list', [1, 2]) }}
    - n: {{ params.get('n4').get('x') }}
    - t: "{{ params.a1 }}-{{ params.a2.split(',') | length }}"
{% for i in params.get('many') %}
b{{ i }}: test.nop
{% endfor %}
{% if params.get('cond') %}
c: test.nop
{% endif %}
{% for k, v in params.get('map', {}).items() %}
d{{ k }}:
  test.nop: [{require: [{test: "{{ params.get('target') }}"}]}]
{% endfor %}
)");
  EXPECT_EQ(
      part(made, "parameters"),
      R"({"GLOBAL":{"a1":"","a2":"","cond":"","d":"","i":{"j":""},"list":[1,2],"many":"",)"
      R"("map":{},"n4":{"x":""},"q":"dflt","target":""},)"
      R"("ID_DECS":{"main.sls.a":{"a1":"","d":"","i":{"j":""},"list":"","n4":{"x":""},"q":""},)"
      R"("main.sls.b{{ params.get('many') }}":{"many":""},)"
      R"("main.sls.d{{ params.get('map', '{}') }}":{"map":"","target":""}}})");
  EXPECT_EQ(write_json(made.document.at("warnings").at("ID_DECS").at("main.sls.a")),
            R"({"params_meta_missing":["q","i","i.j","list","a1"]})");
  const Value& low = made.document.at("low").items()[0];
  EXPECT_EQ(low.text_at("x"), "{{ params.get('d') }}");
  EXPECT_EQ(low.text_at("y"), "{{ params.get('q', 'dflt') }}");
  EXPECT_EQ(low.text_at("z"), "{{ params['i']['j'] }}");
  EXPECT_EQ(low.text_at("l"), "{{ params.get('list', '[1, 2]') }}");
  EXPECT_EQ(low.text_at("n"), "{{ params.get('n4').get('x') }}");
}

TEST(Validate, WhatIsWrongIsTold) {
  const Validation made = validated("a:\n  tset.nop: []\nb: [5]\n");
  ASSERT_EQ(made.errors.size(), 2u);
  EXPECT_EQ(made.errors[0].where.line, 3);
  EXPECT_EQ(made.errors[1].where.line, 2);
  EXPECT_FALSE(made.errors[1].excerpt.empty());
}

TEST(Validate, FilesOfParametersMustBeGood) {
  const auto files = files_of({{"main.sls", "a:\n  test.nop: [{x: \"{{ params['k'] }}\"}]\n"},
                               {"good.sls", "k: 1\n"},
                               {"broken.sls", "k: 1\n  l: 2\n"}});
  const std::vector<std::string> words{"main.sls"};
  const auto errors = [&](const std::string& params) {
    CompileOptions options;
    options.params = {params};
    std::string text;
    for (const Error& error : validate(words, *files, std::move(options)).errors)
      text += to_string(error);
    return text;
  };
  EXPECT_EQ(errors("good.sls"), "");
  EXPECT_EQ(errors("missing"), "Could not find SLS ref 'missing' in sources");
  EXPECT_NE(errors("broken.sls").find("broken.sls:2:"), std::string::npos);
}

TEST(Validate, EndlessParametersEnd) {
  const Validation deep = validated(
      "{% set n = namespace(p=params) %}{% for i in range(5000) %}{% set n.p = n.p['x'] %}"
      "{% endfor %}a:\n  test.nop: [{x: \"{{ n.p }}\"}]\n");
  EXPECT_TRUE(deep.errors.empty());
  const Validation wide =
      validated("{% for i in range(20000) %}{% do params.get('p' ~ i) %}{% endfor %}a: test.nop\n");
  ASSERT_EQ(wide.errors.size(), 1u);
  EXPECT_NE(wide.errors[0].message.find("more than 10000 parameters"), std::string::npos);
}

}  // namespace
}  // namespace fettle::states
