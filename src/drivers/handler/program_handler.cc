/// A handler that is a program: started once a call, with one line of JSON on its standard input;
/// it answers with lines of JSON, the last of which is the answer.

#include "base/process.h"
#include "base/text.h"
#include "drivers/handler/handler.h"
#include "drivers/host/tail.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_answer = 16 << 20;

class ProgramHandler : public Handler {
 public:
  explicit ProgramHandler(const HandlerSite& site) : site_(site) {}

  Result<Reading> read() override {
    const Value answer = TRY(ask("read", {}));
    Reading reading;
    reading.reloads = answer.bool_at("reloads");
    if (answer.bool_at("absent"))
      return reading;
    reading.there = true;
    reading.current = answer.at("current");
    if (!reading.current.is_dict())
      return nonsense("read", "neither has `current`, a dict, nor says `absent`",
                      write_json(answer));
    return reading;
  }
  Status create() override { return ask_for_effect("create", {}); }
  Status update(const Value& changes) override { return ask_for_effect("update", changes); }
  Status remove() override { return ask_for_effect("delete", {}); }
  Status reload() override { return ask_for_effect("reload", {}); }
  std::string skipped() const override { return skipped_; }

 private:
  Status ask_for_effect(std::string_view call, const Value& changes) {
    TRY(ask(call, changes));
    return {};
  }

  Result<Value> ask(std::string_view call, const Value& changes) {
    std::vector<Entry> request{{"call", call}, {"resource", site_.act.attributes.at("fields")}};
    if (!changes.is_null())
      request.push_back({"changes", changes});
    std::string answered;
    Tail lines;
    Invocation invocation;
    invocation.arguments = {std::string(site_.act.attributes.at("handler").text_at("program"))};
    invocation.input = write_json(Value::dict(std::move(request))) + "\n";
    invocation.time_limit = site_.deadline;
    invocation.on_output = [&](std::string_view bytes) -> Status {
      lines.add(bytes);
      if (answered.size() + bytes.size() > most_answer)
        return world_error("it answers without end");
      answered += bytes;
      return {};
    };
    invocation.on_errors = lines.sink();
    Result<Finished> finished = run_process(invocation, site_.stop);
    if (!finished && is_cancelled(finished.error()))
      return std::move(finished).error();
    if (!finished)
      return failed(call, to_string(finished.error()), lines.lines());
    if (finished->code != 0)
      return failed(call,
                    finished->signal != 0 ? cat("it was ended by signal ", finished->signal)
                                          : cat("it ended with code ", finished->code),
                    lines.lines());
    return answer_in(call, answered, lines.lines());
  }

  Result<Value> answer_in(std::string_view call, std::string_view answered,
                          const std::string& lines) {
    std::optional<Value> answer;
    for (const std::string_view line : split(answered, '\n')) {
      if (trim(line).empty())
        continue;
      const Result<Value> value = read_json(line);
      if (!value || !value->is_dict())
        return nonsense(call, "is no line of JSON with an object", lines);
      if (value->at("log").is_text())
        site_.progress({.text = value->at("log").text().str()});
      else if (answer)
        return nonsense(call, "is more than one answer", lines);
      else
        answer = *value;
    }
    if (!answer)
      return nonsense(call, "is no answer", lines);
    if (answer->at("skip").is_text()) {
      skipped_ = answer->text_at("skip");
      if (skipped_.empty())
        skipped_ = "the handler skips it";
      return world_error(skipped_);
    }
    if (answer->find("error") != nullptr)
      return failed(call, to_text(answer->at("error")), "");
    return *answer;
  }

  static Error failed(std::string_view call, std::string what, const std::string& lines) {
    return world_error(
        cat("`", call, "`: ", what, lines.empty() ? "" : cat("; its last lines:\n", lines)));
  }
  static Error nonsense(std::string_view call, std::string_view what, const std::string& lines) {
    return failed(call, cat("what it said ", what), lines);
  }

  HandlerSite site_;
  std::string skipped_;
};

}  // namespace

std::unique_ptr<Handler> make_program_handler(const HandlerSite& site) {
  return std::make_unique<ProgramHandler>(site);
}

}  // namespace fettle
