#include "server/plan_acts.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/process.h"
#include "base/text.h"
#include "server/plan_answers.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_acts = 8, most_of_output = 200'000;
/// What a page that was killed has left is taken away after it.
constexpr auto longest_act = std::chrono::hours(24);

/// The end of what it has printed.
std::string printed_in(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text)
    return {};
  if (text->size() <= most_of_output)
    return *text;
  const size_t line = text->find('\n', text->size() - most_of_output);
  return cat("…", std::string_view(*text).substr(std::min(line, text->size())));
}

}  // namespace

struct PlanActs::Act {
  std::string environment;
  pid_t process = 0;
  Path folder;
  std::shared_ptr<WebPeer> peer;
};

PlanActs::PlanActs(std::string program, const Path& home)
    : program_(std::move(program)), home_(home), folder_(home / "page-acts") {
  std::error_code ignored;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored))
    if (now - entry.last_write_time(ignored) > longest_act)
      std::filesystem::remove_all(entry.path(), ignored);
}

PlanActs::~PlanActs() = default;

Status PlanActs::begin(const RouteCall& call, const std::string& body,
                       const std::shared_ptr<WebPeer>& peer) {
  const Environment environment = TRY(call.environment());
  const std::string name = environment.name.str();
  if (std::ranges::find(acts_, name, &Act::environment) != acts_.end())
    return user_error(cat("this page carries a plan of `", name, "` out already"));
  if (acts_.size() >= most_acts)
    return user_error(cat("this page carries ", most_acts, " plans out already"));
  const Value asked = TRY(read_json(body, "body"));
  if (!asked.is_dict() || !asked.at("source").is_text())
    return user_error("expected a JSON object with `source` and `plan`");
  const PlanCommand wanted = TRY(command_that_carries_out(
      call.place, environment.name, asked.at("source").text().view(), asked.at("plan").is_dict()));
  Act act{name, 0, folder_ / cat(getpid(), "-", ++count_), peer};
  std::error_code ignored;
  std::filesystem::remove_all(act.folder, ignored);
  TRY(make_directories(act.folder));
  Invocation command;
  command.arguments = {program_};
  command.arguments.insert(command.arguments.end(), wanted.words.begin(), wanted.words.end());
  if (asked.at("plan").is_dict()) {
    const Path plan = act.folder / "plan";
    TRY(write_file(plan, write_json(asked.at("plan")), 0600));
    command.arguments.insert(command.arguments.end(), {"--plan", plan.string()});
  }
  command.arguments.insert(command.arguments.end(), {"--server", "local"});
  command.environment = {{"FETTLE_HOME", home_.string()}};
  command.directory = wanted.folder.empty() ? home_ : Path(wanted.folder);
  act.process = TRY(start_detached(command, act.folder / "output"));
  acts_.push_back(std::move(act));
  return {};
}

Status PlanActs::cancel(const RouteCall& call) {
  const auto act = std::ranges::find(acts_, call.part("environment"), &Act::environment);
  if (act == acts_.end())
    return user_error(
        cat("this page carries no plan of `", printable(call.part("environment")), "` out"));
  kill(act->process, SIGINT);
  return {};
}

void PlanActs::sweep() {
  std::erase_if(acts_, [](const Act& act) {
    int status = 0;
    if (waitpid(act.process, &status, WNOHANG) == 0)
      return false;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const Value told = Value::dict({{"code", code}, {"output", printed_in(act.folder / "output")}});
    std::error_code ignored;
    std::filesystem::remove_all(act.folder, ignored);
    act.peer->reply(document_reply(told));
    return true;
  });
}

}  // namespace fettle
