#include "cli/commands/state_exec.h"

#include <atomic>
#include <deque>

#include "base/text.h"
#include "base/thread.h"
#include "cli/commands/each_host.h"
#include "cli/commands/state_options.h"
#include "cli/formats.h"
#include "cli/print.h"
#include "documents/states.h"
#include "value/json.h"
#include "verbs/states/states_away.h"

namespace fettle {
namespace {

/// As many machines are called at once.
constexpr size_t most_hosts_at_once = 8;

states::ExecCall call_of_words(const CommandLine& parsed) {
  states::ExecCall call{.path = parsed.argument(0)};
  std::vector<Entry> named;
  for (size_t i = 1; i < parsed.arguments.size(); ++i) {
    const std::string& word = parsed.arguments[i];
    const size_t equals = word.find('=');
    if (equals == word.npos)
      call.positional.push_back(value_of_word(word));
    else
      named.push_back({Name(word.substr(0, equals)), value_of_word(word.substr(equals + 1))});
  }
  call.named = Value::dict(std::move(named));
  return call;
}

/// The exit code of an answer. `who`: in front of what is said of a failure.
int code_of_answer(const Face& face, const Value& answer, const std::string& who = "") {
  if (answer.at("result") == Value(true))
    return 0;
  if (const Value& comment = answer.at("comment"); !comment.is_null() && !face.quiet)
    print_error(
        cat(who, "error: ", comment.is_text() ? comment.text().str() : write_json(comment)));
  return failed_code;
}

/// Whether it failed since somebody ended the command: functions report that as they like.
bool is_ended(const Workplace& place, const Result<Value>& answer) {
  return answer ? answer->at("result") != Value(true) && place.interrupt->asked() > 0
                : is_cancelled(answer.error());
}

/// The call on one machine of many.
struct HostCall {
  std::string host, environment;
  std::unique_ptr<FunctionCalls> functions{};
  Result<Value> answer = world_error("it was not called");
};

/// Some at once; the memory of states, which is here, is read by one after another.
void call_all(std::deque<HostCall>& calls, const states::ExecCall& call) {
  const size_t width = call.path.starts_with("esm.") ? 1 : most_hosts_at_once;
  std::atomic<size_t> next = 0;
  std::deque<Thread> threads;
  for (size_t i = 0; i < std::min(width, calls.size()); ++i)
    threads.emplace_back([&] {
      for (size_t mine = next++; mine < calls.size(); mine = next++)
        if (HostCall& one = calls[mine]; one.functions != nullptr)
          one.answer = one.functions->exec(call);
    });
}

/// Each machine by the memory and the machine of an environment of its own.
Result<int> exec_on_each(Face& face, const StatesRequest& request, const states::ExecCall& call) {
  TRY(check_on_each(face, {"on"}));
  const Workplace& place = *TRY(face.workplace());
  std::deque<HostCall> calls;
  for (const std::string& host : TRY(hosts_asked(face))) {
    HostCall& one = calls.emplace_back();
    one.host = host;
    one.environment = environment_of_host(place, request.environment, host);
    FunctionOptions options = request.functions;
    options.environment = one.environment;
    Result<std::unique_ptr<FunctionCalls>> made =
        FunctionCalls::make(place, one.environment, std::move(options));
    if (made)
      one.functions = *std::move(made);
    else
      one.answer = made.error();
  }
  call_all(calls, call);
  const Format& format = format_of(face.output);
  const bool is_text = format.kind == Format::Kind::text;
  std::vector<Entry> told;
  int worst = 0;
  for (const HostCall& one : calls) {
    if (is_ended(place, one.answer))
      return cancelled_error();
    if (is_text)
      print_host(face, one.host, one.environment);
    if (!one.answer) {
      worst = worse_code(worst, tell_failed_host(face, one.host, one.answer.error()));
      continue;
    }
    if (is_text)
      format.print(one.answer->at("ret"));
    else
      told.push_back({Name(one.host), exec_document(call.path, *one.answer)});
    worst = worse_code(worst, code_of_answer(face, *one.answer, cat(one.host, ": ")));
  }
  if (!is_text)
    format.print(Value::dict(std::move(told)));
  return worst;
}

}  // namespace

Result<int> state_exec(Face& face) {
  StatesRequest request = TRY(read_states_request(face));
  const states::ExecCall call = call_of_words(face.parsed);
  if (face.parsed.has("on-each"))
    return exec_on_each(face, request, call);
  const Workplace& place = *TRY(face.workplace());
  const std::unique_ptr<FunctionCalls> functions =
      TRY(FunctionCalls::make(place, request.environment, std::move(request.functions)));
  const Value answer = TRY(functions->exec(call));
  if (is_ended(place, answer))
    return cancelled_error();
  const Format& format = format_of(face.output);
  format.print(format.kind == Format::Kind::text ? answer.at("ret")
                                                 : exec_document(call.path, answer));
  return code_of_answer(face, answer);
}

}  // namespace fettle
