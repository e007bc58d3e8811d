#include "server/plan_acts.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/process.h"
#include "base/text.h"
#include "server/plan_answers.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_acts = 8, most_of_output = 200'000;
/// By then, what was begun has read its plan.
constexpr auto longest_beginning = std::chrono::hours(1);

/// The end of what it has printed. Null: it cannot be read.
Value printed_in(const Path& path) {
  const Result<Descriptor> file = open_to_read(path);
  if (!file)
    return {};
  const off_t size = std::max<off_t>(lseek(file->get(), 0, SEEK_END), 0);
  std::string text(std::min(static_cast<size_t>(size), most_of_output), '\0');
  const bool is_cut = text.size() < static_cast<size_t>(size);
  const ssize_t count =
      pread(file->get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  if (count < 0)
    return {};
  text.resize(static_cast<size_t>(count));
  return is_cut ? cat("…", std::string_view(text).substr(std::min(text.find('\n'), text.size())))
                : text;
}

/// Takes away what pages that were killed have left.
void remove_remains(const Path& folder) {
  std::error_code ignored;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const pid_t page = std::atoi(entry.path().filename().c_str());
    if (kill(page, 0) != 0 && errno == ESRCH &&
        now - entry.last_write_time(ignored) > longest_beginning)
      std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

struct PlanActs::Act {
  std::string environment;
  pid_t process = 0;
  Path folder;
  std::shared_ptr<WebPeer> peer;
};

PlanActs::PlanActs(std::string program, const Path& home)
    : program_(std::move(program)), home_(home), folder_(home / "page-acts") {}

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
  const Value& plan = asked.at("plan");
  if (!plan.is_dict() && !plan.is_null())
    return user_error("`plan` must be an object or null");
  const PlanCommand wanted = TRY(command_that_carries_out(
      call.place, environment.name, asked.at("source").text().view(), plan.is_dict()));
  Act act{name, 0, folder_ / cat(getpid(), "-", ++count_), peer};
  std::error_code ignored;
  std::filesystem::remove_all(act.folder, ignored);
  remove_remains(folder_);
  TRY(make_directories(act.folder));
  if (chmod(folder_.c_str(), 0700) != 0)
    return file_error("cannot make private", folder_);
  Invocation command;
  command.arguments = {program_};
  command.arguments.insert(command.arguments.end(), wanted.words.begin(), wanted.words.end());
  if (plan.is_dict()) {
    const Path file = act.folder / "plan";
    TRY(write_file(file, write_json(plan), 0600));
    command.arguments.insert(command.arguments.end(), {"--plan", file.string()});
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
    const pid_t ended = waitpid(act.process, &status, WNOHANG);
    if (ended == 0)
      return false;
    Value code;  // nobody knows
    if (ended > 0)
      code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const Value told = Value::dict({{"code", code}, {"output", printed_in(act.folder / "output")}});
    std::error_code ignored;
    std::filesystem::remove_all(act.folder, ignored);
    act.peer->reply(document_reply(told));
    return true;
  });
}

}  // namespace fettle
