/// A handler in Starlark: a file with the functions `read`, `create`, `update`, `delete` and, if it
/// wants to hear of events, `reload`.

#include "base/file.h"
#include "base/tail.h"
#include "base/text.h"
#include "drivers/handler/handler.h"
#include "drivers/handler/lent.h"

namespace fettle {
namespace {

constexpr uint64_t most_memory = 256 << 20;
constexpr size_t longest_source = 16 << 20;

class StarlarkHandler : public Handler {
 public:
  explicit StarlarkHandler(const HandlerSite& site)
      : site_(site),
        session_(starlark::Dialect::of(starlark::Profile::go),
                 {.memory = most_memory, .wall_time = site.deadline}),
        thread_(session_),
        on_stop_(site.stop, [this] { session_.cancelled = true; }) {
    loan_.http = &site.http;
    loan_.stop = site.stop;
    lend(session_, loan_);
    session_.print = [this](starlark::Thread&, std::string_view line) {
      said_.add(cat(line, "\n"));
      site_.tell(line);
    };
  }

  Status open(const std::string& text) {
    begin_call();
    Result<starlark::ModulePtr> module = session_.run(cat(site_.name, ".star"), text);
    if (!module)
      return explained(std::move(module).error(), "");
    module_ = std::move(*module);
    for (const char* function : {"read", "create", "update", "delete"})
      if (!module_->get(function))
        return world_error(cat("it has no function `", function, "`"));
    const starlark::Value fields = TRY(thread_.heap().value(site_.wanted.fields.value()));
    resource_.emplace(thread_, fields);
    return {};
  }

  Result<HandlerAnswer> read() override {
    const starlark::Value found = TRY(call("read", {resource_->get()}));
    HandlerAnswer reading;
    reading.reloads = module_->get("reload").has_value();
    if (starlark::type_of(found) == starlark::Type::none)
      return reading;
    if (starlark::type_of(found) != starlark::Type::dict)
      return world_error(
          cat("`read` returned ", starlark::type_name(found), ", wanted a dict or None"));
    reading.there = true;
    reading.current =
        TRY(starlark::to_value(thread_, found).context(cat("what `", "read", "` returned")));
    return reading;
  }
  Status create() override { return call_for_effect("create", {resource_->get()}); }
  Status update(const Value& changes) override {
    const starlark::Value given = TRY(thread_.heap().value(changes));
    return call_for_effect("update", {resource_->get(), given});
  }
  Status remove() override { return call_for_effect("delete", {resource_->get()}); }
  Status reload() override { return call_for_effect("reload", {resource_->get()}); }
  std::string skipped() const override { return loan_.skipped; }

 private:
  void begin_call() { loan_.ends = std::chrono::steady_clock::now() + site_.deadline; }

  Result<starlark::Value> call(const std::string& function,
                               std::initializer_list<starlark::Value> arguments) {
    begin_call();
    Result<starlark::Value> result = thread_.call(*module_->get(function), arguments);
    if (!result)
      return explained(std::move(result).error(), function);
    return result;
  }

  Status call_for_effect(const std::string& function,
                         std::initializer_list<starlark::Value> arguments) {
    TRY(call(function, arguments));
    return {};
  }

  /// An error as people read it: its place, and what was printed last.
  Error explained(Error error, const std::string& function) const {
    if (site_.stop.stop_requested())
      return cancelled_error();
    std::string message;
    if (!function.empty())
      message.append("`").append(function).append("`: ");
    if (!error.where.file.empty())
      message.append(to_string(error.where)).append(": ");
    message.append(error.message);
    if (const std::string lines = said_.lines(); !lines.empty())
      message.append("; its last lines:\n").append(lines);
    return world_error(std::move(message));
  }

  HandlerSite site_;
  Loan loan_;
  Tail said_;
  starlark::Session session_;
  starlark::ModulePtr module_;
  starlark::Thread thread_;
  std::optional<starlark::Handle> resource_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace

Result<std::unique_ptr<Handler>> make_starlark_handler(const HandlerSite& site) {
  const std::string text = TRY(read_blob(site.blobs, site.code.code.view(), longest_source));
  auto handler = std::make_unique<StarlarkHandler>(site);
  TRY(handler->open(text));
  return std::unique_ptr<Handler>(std::move(handler));
}

}  // namespace fettle
