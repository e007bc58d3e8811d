/// Each built-in function, with test mode and changes.

#include <gtest/gtest.h>

#include "base/text.h"
#include "states/catalogue.h"
#include "states/modules/module.h"
#include "states/types.h"
#include "value/json.h"

namespace fettle::states {
namespace {

class Modules : public testing::Test {
 protected:
  Modules() {
    world_.read = [this](const std::string& path) -> Result<std::optional<std::string>> {
      const auto found = files_.find(path);
      return found == files_.end() ? std::nullopt : std::optional(found->second);
    };
    world_.write = [this](const std::string& path, std::string_view text) -> Status {
      files_[path] = text;
      return {};
    };
    world_.exec = [this](const ExecCall& call) -> Result<Value> {
      calls_ +=
          cat(call.path, " ", write_json(Value::list(call.positional)),
              write_json(call.named, {.show_secrets = true}), call.only_known ? "?" : "", "\n");
      if (call.path == "thing.get")
        return answer(true, thing_, "");
      if (call.path == "thing.set") {
        thing_ = call.named;
        return answer(true, Value(), "set");
      }
      if (call.path == "thing.fail")
        return answer(false, Value(), "no thing");
      if (call.path == "thing.odd")
        return Value(5);
      return user_error(cat("there is no function `", call.path, "`"));
    };
    world_.draw = [this] { return drawn_++; };
  }
  static Value answer(bool result, const Value& ret, const char* comment) {
    return Value::dict({{"result", result}, {"ret", ret}, {"comment", comment}});
  }

  /// `result "comment" changes [new=…]`, or the error.
  std::string run(const std::string& path, std::string_view arguments = "{}") {
    const size_t dot = path.rfind('.');
    ModuleCall call{.name = "n", .arguments = read_json(arguments).value()};
    call.is_test = is_test_;
    call.old_state = memory_;
    call.world = &world_;
    Result<ModuleAnswer> made = run_module(path.substr(0, dot), path.substr(dot + 1), call);
    if (made && made->again) {
      again_ = fettle::to_string(*made->again);
      call.so_far = made->so_far;
      made = run_module(path.substr(0, dot), path.substr(dot + 1), call);
    }
    if (!made)
      return to_string(made.error());
    answer_ = *made;
    std::string text =
        cat(write_json(made->ret.at("result")), " ", write_json(made->ret.at("comment")), " ",
            write_json(made->ret.at("changes")));
    if (!made->ret.at("new_state").is_null())
      text += cat(" new=", write_json(made->ret.at("new_state")));
    return text;
  }
  std::string tested(const std::string& path, std::string_view arguments = "{}") {
    is_test_ = true;
    std::string made = run(path, arguments);
    is_test_ = false;
    return made;
  }

  std::map<std::string, std::string> files_;
  World world_;
  std::string calls_, again_;
  Value thing_, memory_;
  uint64_t drawn_ = 0;
  bool is_test_ = false;
  ModuleAnswer answer_;
};

TEST_F(Modules, ABuiltInStateIsACallUnlessTheEngineHasAKind) {
  for (const std::string& ref : builtin_states().refs())
    for (const Function& function : builtin_states().find(ref)->functions) {
      const bool is_of_kind = ref == "cmd" || ref == "file" || ref == "container";
      EXPECT_EQ(find_mapped(ref, function.name) != nullptr, is_of_kind)
          << ref << "." << function.name.str();
    }
}

TEST_F(Modules, ThoseThatPretendNothing) {
  for (const char* path : {"test.nop", "test.anop", "test.succeed_without_changes", "test.treq"})
    EXPECT_EQ(run(path, R"({"x": 1})"), R"(true "Success!" {})") << path;
  for (const char* path : {"test.nop", "test.anop"})
    EXPECT_EQ(tested(path), R"(null "Success!" {})") << path;
  for (const char* path : {"test.succeed_without_changes", "test.treq"})
    EXPECT_EQ(tested(path), R"(true "Success!" {})") << path;
  EXPECT_EQ(run("test.none_without_changes"), R"(null "Success!" {})");
  EXPECT_EQ(tested("test.none_without_changes"), R"(null "Success!" {})");
  EXPECT_EQ(run("test.fail_without_changes"), R"(false "Failure!" {})");
  EXPECT_EQ(tested("test.fail_without_changes"), R"(false "Failure!" {})");
  EXPECT_EQ(run("test.succeed_with_comment", R"({"comment": ["a", 1]})"), R"(true ["a",1] {})");
  EXPECT_EQ(tested("test.succeed_with_comment", R"({"comment": "a"})"), R"(true "a" {})");
}

TEST_F(Modules, ThoseThatPretendChanges) {
  const std::string changes =
      R"({"testing":{"new":"Something pretended to change","old":"Unchanged"}})";
  const std::string more =
      R"({"testing":{"new":"Something pretended to change","old":"Unchanged"},"tests":[[{"new":"new_test"}]]})";
  EXPECT_EQ(run("test.succeed_with_changes"), cat("true \"Success!\" ", more, " new=", more));
  EXPECT_EQ(tested("test.succeed_with_changes"), cat("true \"Success!\" ", more, " new=", more));
  EXPECT_EQ(run("test.fail_with_changes"), cat("false \"Failure!\" ", changes));
  EXPECT_EQ(tested("test.fail_with_changes"), cat("false \"Failure!\" ", changes));
  EXPECT_EQ(run("test.mod_watch"), R"(true "Watch ran!" {"watch":true})");
  EXPECT_EQ(tested("test.mod_watch"), R"(true "Watch ran!" {"watch":true})");
  EXPECT_EQ(run("test.configurable_test_state"), cat("true \"\" ", changes));
  EXPECT_EQ(tested("test.configurable_test_state"), cat("null \"This is a test\" ", changes));
  EXPECT_EQ(
      run("test.configurable_test_state", R"({"changes": false, "result": false, "comment": "c"})"),
      R"(false "c" {})");
  EXPECT_EQ(tested("test.configurable_test_state", R"({"changes": false, "result": false})"),
            R"(true "This is a test" {})");
}

TEST_F(Modules, ARandomResultIsDrawn) {
  std::string seen;
  for (int i = 0; i < 4; ++i)
    seen += run("test.configurable_test_state", R"({"changes": false, "result": "Random"})")
                .substr(0, 1);
  EXPECT_EQ(seen, "ftft");
  EXPECT_EQ(run("test.configurable_test_state", R"({"result": "Rnd"})"),
            "`result` must be true, false or `Random`, not Rnd");
  world_.draw = nullptr;
  EXPECT_EQ(run("test.configurable_test_state", R"({"result": "Random"})"),
            "no random numbers are available here");
}

TEST_F(Modules, ResourcesThatArePretended) {
  const std::string made = R"(true [] {"new":{"a":1},"old":{}} new={"a":1})";
  EXPECT_EQ(run("test.present", R"({"new_state": {"a": 1}})"), made);
  EXPECT_EQ(tested("test.present", R"({"new_state": {"a": 1}})"), made);
  EXPECT_EQ(run("test.present", R"({"new_state": {"a": 1}, "changes": {"b": 2}})"),
            R"(true [] {"b":2} new={"a":1})");
  EXPECT_EQ(run("test.present", R"({"result": false, "force_save": true})"), "false [] {}");
  EXPECT_TRUE(answer_.ret.bool_at("force_save"));
  EXPECT_EQ(run("test.present", R"({"result": 5})"), "`result` must be true, false or null, not 5");
  memory_ = Value::dict({{"a", 1}});
  EXPECT_EQ(run("test.present", R"({"new_state": {"a": 1}})"), R"(true [] {} new={"a":1})");
  EXPECT_EQ(run("test.absent"), R"(true [] {"new":{},"old":{"a":1}})");
}

TEST_F(Modules, ResourcesThatArePretendedToChangeHaveNoChanges) {
  memory_ = Value::dict({{"a", 1}});
  EXPECT_EQ(run("test.update", R"({"param_1": 2, "param_2": 3})"),
            R"(true null {} new={"a":1,"param_1":2,"param_2":3})");
  EXPECT_EQ(write_json(answer_.ret.at("old_state")), R"({"a":1})");
  EXPECT_EQ(run("test.present_resource",
                R"({"remote_state": {"a": 1, "b": 1}, "enforce_state": {"b": 2, "a": null}})"),
            R"(true null {} new={"a":1,"b":2})");
}

TEST_F(Modules, WhatTakesTimeAsksToBeCalledAgain) {
  EXPECT_EQ(run("time.sleep", R"({"duration": 1.5})"),
            R"(true ["Successfully slept for 1.5 seconds."] {} new={})");
  EXPECT_EQ(again_, "1.5s");
  EXPECT_EQ(tested("time.sleep", R"({"duration": 3})"),
            R"(true ["Would sleep for 3 seconds."] {} new={})");
  Duration paused{0};
  world_.pause = [&](Duration time) -> Status {
    paused = time;
    return {};
  };
  EXPECT_EQ(run("test.unique_op"), R"(true "Success!" {})");
  EXPECT_EQ(paused, 2s);  // alone: it blocks
  EXPECT_EQ(run("test.parallel_state"), R"(true "Success!" {})");
  EXPECT_EQ(again_, "1s");
  again_ = "";
  EXPECT_EQ(tested("test.unique_op"), R"(null "Success!" {})");
  EXPECT_EQ(again_, "");
  for (const char* wrong : {"-1", "\"5\"", "null", "1e300", "true"})
    EXPECT_EQ(run("time.sleep", cat("{\"duration\": ", wrong, "}"))
                  .find("`duration` must be a number of seconds, not "),
              0u)
        << wrong;
}

TEST_F(Modules, StatesThatJoinTheRun) {
  EXPECT_EQ(run("test.update_low"), R"(true "Success!" {})");
  EXPECT_EQ(
      write_json(answer_.adds),
      R"({"chunk":{"__id__":"king_arthur","fun":"nop","name":"totally_extra_alls","state":"test"}})");
  EXPECT_EQ(tested("test.update_low"), R"(null "Success!" {})");
  EXPECT_TRUE(answer_.adds.is_null());
  EXPECT_EQ(run("render.block", R"({"block": "a: test.nop", "render": "jinja|yaml"})"),
            R"(true "Rendered" {})");
  EXPECT_EQ(write_json(answer_.adds), R"({"block":{"pipe":"jinja|yaml","text":"a: test.nop"}})");
  EXPECT_EQ(
      run("sls.run",
          R"({"sls_sources": ["web"], "params": "p", "esm_params": {"x": 1, "y": 2}, "x": 3})"),
      R"(true "Added" {})");
  EXPECT_EQ(write_json(answer_.adds),
            R"({"sls":{"params":["p"],"prefix":"n.","sources":["web"],"values":{"x":3,"y":2}}})");
  EXPECT_EQ(run("sls.run", R"({"sls_sources": []})"), "`sls_sources` must name files of states");
  EXPECT_EQ(run("sls.run", R"({"sls_sources": [5]})"),
            "`sls_sources` must be a list of refs, not [5]");
  EXPECT_EQ(run("render.block"), "`block` must be a string, not null");
}

TEST_F(Modules, Profiles) {
  EXPECT_EQ(
      run("acct.profile", R"({"provider_name": "cloud", "source_profile": "base", "key": "k"})"),
      R"(true "The profile n of cloud is there" {})");
  EXPECT_EQ(write_json(answer_.profile),
            R"({"name":"n","provider":"cloud","source":"base","values":{"key":"k"}})");
  ModuleCall call{.name = "n"};
  call.acct = Value::dict({{"key", Value::secret("k")}});
  const Value ret = run_module("test", "acct", call)->ret;
  EXPECT_EQ(write_json(ret.at("new_state")), R"({"key":"********"})");
  EXPECT_EQ(write_json(ret.at("changes")), "{}");
}

TEST_F(Modules, DataIsWrittenAsJsonOrFromATemplate) {
  EXPECT_EQ(
      tested("data.write", R"({"parameters": {"a": 1}, "file_name": "/f"})"),
      R"(null "Would write to file '/f'." {"new":{"content":"{\n    \"a\": 1\n}","file_name":"/f"},"old":{}} new={"content":"{\n    \"a\": 1\n}","file_name":"/f"})");
  EXPECT_TRUE(files_.empty());
  EXPECT_EQ(
      run("data.write", R"({"parameters": {"a": 1}, "file_name": "/f"})"),
      R"(true "Wrote to file '/f'." {"new":{"content":"{\n    \"a\": 1\n}","file_name":"/f"},"old":{}} new={"content":"{\n    \"a\": 1\n}","file_name":"/f"})");
  EXPECT_EQ(files_["/f"], "{\n    \"a\": 1\n}");
  EXPECT_EQ(
      tested("data.write", R"({"parameters": {"a": 1}, "file_name": "/f"})"),
      R"(true "/f is as described" {} new={"content":"{\n    \"a\": 1\n}","file_name":"/f"})");
  files_["t.jinja"] =
      "{% for key, value in parameters.items() %}{{ key }}={{ value }};{% endfor %}";
  run("data.write", R"({"parameters": {"b": 2, "a": 1}, "template_file_name": "t.jinja"})");
  EXPECT_EQ(files_["n"], "a=1;b=2;");
  EXPECT_EQ(run("data.write", R"({"parameters": {}, "template_file_name": "gone"})"),
            "there is no template `gone`");
  EXPECT_EQ(run("data.write", R"({"parameters": [1]})"),
            "`parameters` must be a dictionary, not [1]");
}

TEST_F(Modules, ASecretInDataIsWrittenAndNotShown) {
  ModuleCall call{
      .name = "/s",
      .arguments = Value::dict({{"parameters", Value::dict({{"k", Value::secret("s3")}})},
                                {"template", "key={{ parameters.k }}"}})};
  call.world = &world_;
  const Value ret = run_module("data", "write", call)->ret;
  EXPECT_EQ(files_["/s"], "key=s3");
  EXPECT_EQ(write_json(ret).find("s3"), std::string::npos) << write_json(ret);
  call.arguments =
      Value::dict({{"parameters", Value::dict({{"k", Value::secret("s3cret")}})},
                   {"template", "{{ parameters.k | b64decode }}{{ {}[parameters.k] }}"}});
  const std::string failed = run_module("data", "write", call).error().message;
  EXPECT_EQ(failed.find("s3cret"), std::string::npos) << failed;
}

TEST_F(Modules, TemplatesAreRendered) {
  EXPECT_EQ(
      run("template.render",
          R"({"template": "{{ a }}-{{ 'x' | b64encode }}", "variables": {"a": 1}})"),
      R"(true ["Template rendering is success"] {"rendered":"1-eA=="} new={"rendered":"1-eA=="})");
  EXPECT_EQ(tested("template.render", R"({"template": "t"})"),
            R"(true ["Template rendering is success"] {"rendered":"t"} new={"rendered":"t"})");
  files_["base"] = "[{% block b %}{% endblock %}]";
  files_["t"] = "{% extends 'base' %}{% block b %}{{ a }}{% endblock %}";
  EXPECT_EQ(run("template.render", R"({"template_file_name": "t", "variables": {"a": 5}})"),
            R"(true ["Template rendering is success"] {"rendered":"[5]"} new={"rendered":"[5]"})");
  EXPECT_EQ(run("template.render", R"({"template": "{{ b }}"})")
                .find("the template cannot be rendered: "),
            0u);
  EXPECT_EQ(run("template.render"), "`template` or `template_file_name` must be given");
}

/// As Idem 25.0.1 says it, but for the verdict of a test and the id, which Idem draws.
TEST_F(Modules, ATriggerHasChangesWhenItIsAnother) {
  EXPECT_EQ(
      tested("trigger.build", R"({"triggers": {"v": 1}})"),
      R"(null ["Trigger 'n' built with changes"] {"new":{"v":1}} new={"resource_id":"n","triggers":{"v":1}})");
  run("trigger.build", R"({"triggers": {"v": 1}})");
  memory_ = answer_.ret.at("new_state");
  EXPECT_EQ(
      run("trigger.build", R"({"triggers": {"v": 1}})"),
      R"(true ["Trigger 'n' built with no changes"] {} new={"resource_id":"n","triggers":{"v":1}})");
  run("trigger.build", R"({"triggers": {"v": 2}})");
  EXPECT_EQ(write_json(answer_.ret.at("changes")), R"({"new":{"v":2},"old":{"v":1}})");
  memory_ = Value();
  run("trigger.build", R"({"triggers": [{"v": 1}, {"w": 2, "v": 3}]})");
  EXPECT_EQ(write_json(answer_.ret.at("new_state").at("triggers")), R"({"v":1,"w":2})");
  EXPECT_EQ(run("trigger.build", R"({"triggers": [5]})"),
            "`triggers` must be a dictionary, or a list of them, not [5]");
}

TEST_F(Modules, ExecFunctionsAreCalled) {
  thing_ = Value::dict({{"size", 1}});
  EXPECT_EQ(run("exec.run", R"({"path": "thing.get", "args": [1], "kwargs": {"a": "b"}})"),
            R"(true ["fettle exec thing.get 1 a=b"] {"new":{"size":1}} new={"size":1})");
  EXPECT_EQ(calls_, "thing.get [1]{\"a\":\"b\"}\n");
  EXPECT_EQ(run("exec.run", R"({"path": "thing.fail"})"),
            R"(false ["fettle exec thing.fail","no thing"] {})");
  EXPECT_EQ(run("exec.run"), R"(false ["fettle exec n","there is no function `n`"] {})");
  EXPECT_EQ(
      run("exec.run", R"({"path": "thing.odd"})"),
      R"(false ["fettle exec thing.odd","`thing.odd` did not return a dictionary of result, comment, ret"] {})");
  EXPECT_EQ(run("exec.run", R"({"path": 5})"), "`path` must be a string, not 5");
}

TEST_F(Modules, APreviewCallsExecFunctionsThatLook) {
  thing_ = Value::dict({{"size", 1}});
  EXPECT_EQ(tested("exec.run", R"({"path": "thing.get"})"),
            R"(true ["fettle exec thing.get"] {"new":{"size":1}} new={"size":1})");
  EXPECT_EQ(calls_, "thing.get []{}\n");
  EXPECT_EQ(tested("exec.run", R"({"path": "thing.set"})"),
            R"(null "Would call fettle exec thing.set" {})");
  EXPECT_EQ(tested("exec.run", R"({"path": "thing.get_size"})"),
            R"(null "Would call fettle exec thing.get_size" {})");
  EXPECT_EQ(calls_, "thing.get []{}\n");
}

TEST_F(Modules, ASecretIsTheFunctionsAndNotTheComments) {
  ModuleCall call{
      .name = "n",
      .arguments = Value::dict(
          {{"path", "thing.set"}, {"kwargs", Value::dict({{"key", Value::secret("s3")}})}})};
  call.world = &world_;
  const Value ret = run_module("exec", "run", call)->ret;
  EXPECT_EQ(calls_, "thing.set []{\"key\":\"s3\"}\n");
  EXPECT_EQ(write_json(ret.at("comment")), R"(["fettle exec thing.set key=\"********\"","set"])");
}

TEST_F(Modules, StatefulFunctionsAreLookedAtBeforeAndAfter) {
  thing_ = Value::dict({{"size", 1}});
  EXPECT_EQ(tested("exec.stateful", R"({"path": "thing.set", "kwargs": {"size": 2}})"),
            R"(null "Would call fettle exec thing.set size=2" {} new={"size":1})");
  EXPECT_EQ(
      run("exec.stateful", R"({"path": "thing.set", "kwargs": {"size": 2}, "resource_id": "i"})"),
      R"(true ["fettle exec thing.set size=2","set"] {"new":{"size":2},"old":{"size":1}} new={"size":2})");
  EXPECT_EQ(calls_,
            "thing.get []{\"size\":2}?\n"
            "thing.get []{\"resource_id\":\"i\",\"size\":2}?\n"
            "thing.set []{\"size\":2}\n"
            "thing.get []{\"resource_id\":\"i\",\"size\":2}?\n");
  EXPECT_EQ(
      run("exec.stateful", R"({"path": "thing.gone", "get_kwargs": {}, "esm_state_id": "a"})"),
      R"(false ["fettle exec thing.gone","there is no function `thing.gone`"] {} new={"size":2})");
  EXPECT_EQ(write_json(answer_.memory_of), R"({"id":"a","name":"a"})");
  EXPECT_EQ(run("exec.stateful", R"({"path": "thing.set", "get_path": "thing.fail"})"),
            R"(false ["fettle exec thing.fail","no thing"] {})");
}

TEST_F(Modules, AQueryAsksOnce) {
  world_.request = [this](const HttpRequest& request) -> Result<HttpResponse> {
    calls_ += cat(request.method, " ", request.url, " ", request.body, "\n");
    for (const HttpHeader& header : request.headers)
      calls_ += cat(header.name, ": ", header.value, "\n");
    if (request.url == "http://away/")
      return world_error("connection refused");
    return HttpResponse{.status = request.url == "http://busy/" ? 503 : 200, .body = "all is well"};
  };
  EXPECT_EQ(tested("http.query", R"({"url": "http://up/"})"),
            R"(null "Would send a request to http://up/" {})");
  EXPECT_EQ(calls_, "");
  EXPECT_EQ(
      run("http.query",
          R"({"url": "http://up/", "method": "PUT", "headers": {"A": 1}, "data": {"x": 1}})"),
      R"(true "http://up/ responded as expected" {} new={"status":200,"text":"all is well"})");
  EXPECT_EQ(calls_, "PUT http://up/ {\"x\":1}\nA: 1\n");
  EXPECT_EQ(
      run("http.query", R"({"url": "http://busy/"})"),
      R"(false "http://busy/: the response has status 503" {} new={"status":503,"text":"all is well"})");
  EXPECT_EQ(run("http.query", R"({"url": "http://busy/", "status": [200, 503]})").substr(0, 4),
            "true");
  EXPECT_EQ(
      run("http.query", R"({"url": "http://up/", "match": "ill"})"),
      R"(false "http://up/: the response does not contain `ill`" {} new={"status":200,"text":"all is well"})");
  EXPECT_EQ(run("http.query", R"({"url": "http://away/"})"),
            R"(false "http://away/: connection refused" {})");
  EXPECT_EQ(run("http.query"), "the URL must begin with http:// or https://, not be `n`");
  EXPECT_EQ(run("http.query", R"({"url": "http://up/", "status": "ok"})"),
            "`status` must be a list, not \"ok\"");
  EXPECT_EQ(run("http.query", R"({"url": "http://up/", "status": 20})"),
            "`status` must be a code such as 200, not 20");
}

TEST_F(Modules, AWaitAsksUntilTheAnswerIsGoodOrTheTimeIsUp) {
  int asked = 0;
  world_.request = [&](const HttpRequest&) -> Result<HttpResponse> {
    return HttpResponse{.status = ++asked == 3 ? 200 : 503, .body = ""};
  };
  ModuleCall call{.name = "http://up/",
                  .arguments = Value::dict({{"wait_for", 5}, {"request_interval", 2}})};
  call.world = &world_;
  std::string waits;
  const auto wait = [&] {
    ModuleAnswer made = *run_module("http", "wait_for_successful_query", call);
    for (; made.again; made = *run_module("http", "wait_for_successful_query", call)) {
      waits += cat(fettle::to_string(*made.again), " ", to_text(made.ret.at("comment")), "\n");
      call.so_far = made.so_far;
    }
    return write_json(made.ret.at("result"));
  };
  EXPECT_EQ(wait(), "true");
  EXPECT_EQ(waits,
            "2s http://up/: the response has status 503\n"
            "2s http://up/: the response has status 503\n");
  call.so_far = Value();
  EXPECT_EQ(wait(), "false");
  EXPECT_EQ(asked, 6);
  EXPECT_EQ(run("http.wait_for_successful_query", R"({"url": "http://up/", "wait_for": "x"})"),
            "`wait_for` must be a number of seconds, not \"x\"");
}

TEST_F(Modules, BuiltInExecFunctions) {
  EXPECT_EQ(write_json(*run_builtin_exec("test.ping", {})),
            R"({"comment":null,"result":true,"ret":true})");
  EXPECT_EQ(write_json(*run_builtin_exec("test.fail", {})),
            R"({"comment":"Exception: Expected failure","result":false,"ret":null})");
  EXPECT_EQ(write_json(*run_builtin_exec("test.echo", std::vector<Value>{Value(5)})),
            R"({"comment":null,"result":true,"ret":5})");
  EXPECT_FALSE(run_builtin_exec("test.nothing", {}));
}

TEST_F(Modules, WhatIsNotThereIsAnError) {
  EXPECT_EQ(run("test.nothing"), "there is no built-in state `test.nothing`");
  world_ = {};
  EXPECT_EQ(run("exec.run", R"({"path": "a.b"})"),
            R"(false ["fettle exec a.b","there are no exec functions here"] {})");
  EXPECT_EQ(run("data.write", R"({"parameters": {}})"), "no files are available here");
}

}  // namespace
}  // namespace fettle::states
