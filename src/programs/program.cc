#include "programs/program.h"

#include "base/http.h"
#include "base/tail.h"
#include "base/text.h"
#include "programs/kept_child.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t longest_answer = size_t{64} << 20;

Error failure(std::string_view what, const Tail& said) {
  const std::string lines = said.lines();
  return world_error(cat(what, lines.empty() ? "" : cat("; its last lines:\n", lines)));
}

Error nonsense(std::string_view what, const Tail& said) {
  return failure(cat("its output ", what), said);
}

/// The one answer in what a program wrote.
Result<Value> answer_in(std::string_view written, const ProgramCall& call, const Tail& said) {
  std::optional<Value> answer;
  for (const std::string_view line : split(written, '\n')) {
    if (trim(line).empty())
      continue;
    const Result<Value> value = read_json(line);
    if (!value || !value->is_dict())
      return nonsense("is not a line with a JSON object", said);
    if (value->find("ask") != nullptr)
      return nonsense("is a question, which only a program that keeps running may ask", said);
    if (const Value* text = value->find("log")) {
      if (call.on_log)
        call.on_log(to_text(*text));
    } else if (answer) {
      return nonsense("has more than one answer", said);
    } else {
      answer = *value;
    }
  }
  if (!answer)
    return nonsense("has no answer", said);
  return *answer;
}

ServeMode serving_of(const Value& answer) {
  const std::string_view told = answer.text_at("serves");
  return told == "many"       ? ServeMode::many
         : told == "together" ? ServeMode::together
                              : ServeMode::once;
}

}  // namespace

Program::Program(Invocation how, ServeMode serving) : how_(std::move(how)), serving_(serving) {}
Program::~Program() = default;

Result<Value> Program::call(const ProgramCall& call, std::stop_token stop) {
  ServeMode serving;
  {
    const std::lock_guard lock(mutex_);
    serving = serving_;
  }
  const Value answer =
      TRY(serving == ServeMode::once ? call_once(call, stop)
                                     : call_kept(call, stop, serving == ServeMode::together));
  if (serving == ServeMode::once && serving_of(answer) != ServeMode::once) {
    const std::lock_guard lock(mutex_);
    serving_ = serving_of(answer);
  }
  return answer;
}

Result<Value> Program::call_once(const ProgramCall& call, const std::stop_token& stop) const {
  std::string written;
  Tail said;
  Invocation invocation = how_;
  invocation.input = write_json(call.request, {.show_secrets = true}) + "\n";
  invocation.time_limit = call.time_limit;
  invocation.on_output = [&](std::string_view bytes) -> Status {
    said.add(bytes);
    if (written.size() + bytes.size() > longest_answer)
      return world_error("its answer does not end");
    written += bytes;
    return {};
  };
  invocation.on_errors = said.sink();
  const Result<ProcessResult> finished = run_process(invocation, stop);
  if (!finished && is_cancelled(finished.error()))
    return finished.error();
  if (!finished)
    return failure(to_string(finished.error()), said);
  if (finished->signal != 0)
    return failure(cat("it was killed by signal ", finished->signal), said);
  if (finished->code != 0)
    return failure(cat("it exited with code ", finished->code), said);
  return answer_in(written, call, said);
}

Result<std::shared_ptr<KeptChild>> Program::take_child(bool is_shared, bool wants_new) {
  const std::lock_guard lock(mutex_);
  if (is_shared) {
    if (shared_ == nullptr || shared_->has_ended())
      shared_ = TRY(KeptChild::start(how_));
    return shared_;
  }
  while (!wants_new && !idle_.empty()) {
    std::shared_ptr<KeptChild> child = std::move(idle_.back());
    idle_.pop_back();
    if (!child->has_ended())
      return child;
  }
  return std::shared_ptr<KeptChild>(TRY(KeptChild::start(how_)));
}

void Program::give_back(std::shared_ptr<KeptChild> child, bool is_shared) {
  const std::lock_guard lock(mutex_);
  if (!is_shared && !child->has_ended())
    idle_.push_back(std::move(child));
}

Result<Value> Program::call_alone(const ProgramCall& call, const std::stop_token& stop) const {
  const std::unique_ptr<KeptChild> child = TRY(KeptChild::start(how_));
  return TRY(child->call(call, true, stop)).answer;
}

Result<Value> Program::call_kept(const ProgramCall& call, const std::stop_token& stop,
                                 bool is_shared) {
  // A child may have left after its last answer: then a new one is asked.
  for (bool wants_new = false;; wants_new = true) {
    std::shared_ptr<KeptChild> child = TRY(take_child(is_shared, wants_new));
    Result<KeptChild::Reply> reply = child->call(call, is_shared, stop);
    if (reply && reply->is_suspect)
      return call_alone(call, stop);
    const bool left = reply && reply->left;
    if (!left && reply)
      give_back(std::move(child), is_shared);
    if (!left)
      return reply ? Result<Value>(std::move(reply->answer)) : std::move(reply).error();
  }
}

Result<Value> good_answer(Result<Value> answer) {
  const Value* told = answer ? answer->find("error") : nullptr;
  if (told == nullptr)
    return answer;
  Error error = world_error(to_text(*told));
  error.excerpt = answer->text_at("trace");
  return error;
}

Program& Programs::at(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Program>& known = known_[path];
  if (known == nullptr)
    known = std::make_unique<Program>(Invocation{.arguments = {path}});
  return *known;
}

}  // namespace fettle
