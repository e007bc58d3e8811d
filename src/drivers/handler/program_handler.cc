/// A handler that is a program: each call is a line of JSON to it.

#include "base/text.h"
#include "drivers/handler/handler.h"
#include "programs/program.h"
#include "value/json.h"

namespace fettle {
namespace {

class ProgramHandler : public Handler {
 public:
  explicit ProgramHandler(const HandlerSite& site) : site_(site) {}

  Result<HandlerAnswer> read() override {
    const Value answer = TRY(ask("read", {}));
    HandlerAnswer reading;
    reading.reloads = answer.bool_at("reloads");
    if (answer.bool_at("absent"))
      return reading;
    reading.there = true;
    reading.current = answer.at("current");
    if (!reading.current.is_dict())
      return world_error(
          cat("`read`: the answer needs `current`, a dict, or `absent`; its last lines:\n",
              write_json(answer)));
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
    std::vector<Entry> request{{"call", call}, {"resource", site_.wanted.fields.value()}};
    if (!changes.is_null())
      request.push_back({"changes", changes});
    Program& program = site_.programs.at(site_.code.program.get().str());
    Result<Value> answer =
        good_answer(program.call({.request = Value::dict(std::move(request)),
                                  .time_limit = site_.deadline,
                                  .on_log = [&](std::string_view text) { site_.tell(text); },
                                  .may_repeat = call == "read"},
                                 site_.stop));
    if (!answer)
      answer.error().unknown_outcome = false;  // the next call reads first
    if (!answer && !is_cancelled(answer.error()))
      return std::move(answer).context(cat("`", call, "`"));
    if (answer && answer->at("skip").is_text()) {
      skipped_ = answer->text_at("skip");
      if (skipped_.empty())
        skipped_ = "the handler skips it";
      return world_error(skipped_);
    }
    return answer;
  }

  HandlerSite site_;
  std::string skipped_;
};

}  // namespace

std::unique_ptr<Handler> make_program_handler(const HandlerSite& site) {
  return std::make_unique<ProgramHandler>(site);
}

}  // namespace fettle
