#include "remote/agents.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/node_name.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

/// More than there may be: who connects without waiting finds room.
constexpr int waiting_connections = 512;
constexpr size_t longest_engine = 200, most_acts = 16, longest_act = 40;
constexpr std::string_view note_ending = ".json", engine_ending = ".sock", acts_ending = ".acts";
/// One that has been gone for so long is forgotten when another one comes.
constexpr Duration forgotten_after = 30 * 24h;

Path agents_folder(const Path& home) { return home / "serve" / "agents"; }

Path file_of(const Path& home, const std::string& name, std::string_view ending) {
  return agents_folder(home) / cat(name, ending);
}

std::optional<Time> time_of(const Path& file) {
  struct stat about{};
  if (stat(file.c_str(), &about) != 0)
    return std::nullopt;
  return Time(std::chrono::seconds(about.st_mtim.tv_sec));
}

Value list_of_acts(const std::vector<std::string>& acts) {
  return Value::list(std::vector<Value>(acts.begin(), acts.end()));
}

/// As an agent, or the note about it, says.
std::vector<std::string> acts_in(const Value& said) {
  std::vector<std::string> acts;
  const Value& list = said.at("acts");
  if (list.is_list())
    for (const Value& act : list.items())
      if (act.is_text() && acts.size() < most_acts)
        acts.push_back(printable(clipped(act.text().view(), longest_act)));
  return acts;
}

AgentView view_of(const Path& home, const std::string& name) {
  AgentView view;
  view.who.name = name;
  const Path file = file_of(home, name, note_ending);
  const Result<std::string> text = read_file(file);
  const Result<Value> note = read_json(text.value_or(""));
  if (note) {
    view.who.engine = note->text_at("engine");
    view.who.acts = acts_in(*note);
    view.who.from = note->text_at("from");
    view.who.token = note->text_at("token");
    view.since = note->text_at("since");
    view.gone = note->text_at("gone");
    view.why = note->text_at("why");
  }
  // Who has the lock writes the note last.
  view.is_connected =
      note && view.gone.empty() && LockFile::is_taken(file_of(home, name, ".lock")).value_or(false);
  if (!view.is_connected && view.gone.empty())
    if (const std::optional<Time> last = time_of(file))
      view.gone = write_moment(*last);
  return view;
}

/// "`a`, `b` and `c`"
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += cat(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", "`", names[i], "`");
  return text;
}

}  // namespace

std::string shown_of_agent(std::string_view name) { return cat("fettle agent --name ", name); }

Result<AgentIdentity> agent_identity_of(std::string_view json) {
  const Result<Value> said = read_json(json);
  if (!said || !said->is_dict())
    return user_error("an agent begins with its name");
  AgentIdentity who;
  who.name = said->text_at("name");
  who.engine = printable(clipped(said->text_at("engine"), longest_engine));
  who.acts = acts_in(*said);
  TRY(check_node_name(who.name, "an agent"));
  return who;
}

std::string json_of(const AgentIdentity& who) {
  return write_json(
      Value::dict({{"name", who.name}, {"engine", who.engine}, {"acts", list_of_acts(who.acts)}}));
}

std::vector<AgentView> agents_of(const Path& home) {
  std::vector<AgentView> all;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(agents_folder(home), failure)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(note_ending))
      continue;
    const std::string name = file.substr(0, file.size() - note_ending.size());
    if (check_node_name(name, "an agent"))
      all.push_back(view_of(home, name));
  }
  std::ranges::sort(all, {}, [](const AgentView& view) { return view.who.name; });
  return all;
}

Result<std::string> socket_of_agent(const Path& home, const std::string& name, StreamGoal goal) {
  // Of many agents, most commands want to know about one.
  if (check_node_name(name, "an agent") && view_of(home, name).is_connected)
    return file_of(home, name, goal == StreamGoal::engine ? engine_ending : acts_ending).string();
  const std::vector<AgentView> all = agents_of(home);
  const auto found =
      std::ranges::find(all, name, [](const AgentView& view) { return view.who.name; });
  if (all.empty())
    return world_error(cat("no agent has ever come to a server of `", home.string(),
                           "`: `fettle agent --server URL --name ", name,
                           "` on that machine connects ",
                           goal == StreamGoal::engine ? "its engine" : "it",
                           " to `fettle serve`, and commands at that server reach it"));
  std::vector<std::string> names;
  for (const AgentView& view : all)
    if (view.is_connected)
      names.push_back(view.who.name);
  return world_error(
      cat("the agent `", name, "` is not connected",
          found == all.end()
              ? " and never was"
              : cat(": it has been gone since ", found->gone, found->why.empty() ? "" : " (",
                    found->why, found->why.empty() ? "" : ")"),
          names.empty() ? "; no other one is"
                        : cat("; connected ", names.size() == 1 ? "is " : "are ", listed(names))));
}

void forget_gone_agents(const Path& home, Time now) {
  for (const AgentView& view : agents_of(home)) {
    const std::optional<Time> last = time_of(file_of(home, view.who.name, note_ending));
    if (view.is_connected || !last || now - *last < forgotten_after)
      continue;
    Result<std::optional<LockFile>> lock = LockFile::take(file_of(home, view.who.name, ".lock"));
    if (!lock || !*lock)
      continue;
    for (const std::string_view ending : {engine_ending, acts_ending, note_ending})
      unlink(file_of(home, view.who.name, ending).c_str());
    (**std::move(lock)).remove();
  }
}

Result<Descriptor> connect_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return user_error(cat("the path `", path, "` is too long for a socket"));
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open() ||
      ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return world_error(cat("nobody answers at `", path, "`: ", lower_case(std::strerror(errno))));
  return socket;
}

Result<AgentPlace> AgentPlace::take(const Path& home, AgentIdentity who, Time now) {
  const Path folder = agents_folder(home);
  TRY(make_directories(folder));
  if (chmod(folder.c_str(), 0700) != 0)
    return file_error("cannot close to others", folder);
  std::optional<LockFile> lock = TRY(LockFile::take(file_of(home, who.name, ".lock")));
  if (!lock) {
    const AgentView other = view_of(home, who.name);
    return world_error(cat("another agent `", who.name, "` is connected, since ", other.since,
                           " from ", other.who.from,
                           ": one name is one machine. If that is an earlier connection of this "
                           "one, it ends when nothing has been heard of it for a while"));
  }
  const Path base = folder / who.name;
  AgentPlace place(std::move(who), base, *std::move(lock), now);
  unlink(place.file(note_ending).c_str());  // of one that was killed
  place.engine_listener_ = TRY(place.listen(engine_ending));
  place.acts_listener_ = TRY(place.listen(acts_ending));
  TRY(place.write(std::nullopt, ""));
  return place;
}

Result<Descriptor> AgentPlace::listen(std::string_view ending) const {
  const std::string path = file(ending).string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return user_error(cat("the socket of the agent at the server would be `", path, "`, which has ",
                          path.size(), " bytes, and ", sizeof address.sun_path - 1,
                          " are possible: give the agent a shorter name, or the server a home "
                          "(`$FETTLE_HOME`) with a shorter path"));
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  unlink(path.c_str());  // of one that was killed
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = umask(0177);
  const bool is_bound =
      bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  umask(before);
  if (!is_bound || ::listen(listener.get(), waiting_connections) != 0)
    return world_error(cat("cannot listen at `", path, "`: ", lower_case(std::strerror(errno))));
  return listener;
}

Status AgentPlace::write(std::optional<Time> gone, std::string_view why) const {
  return write_file(
      file(note_ending),
      cat(write_json(Value::dict({{"name", who_.name},
                                  {"engine", who_.engine},
                                  {"acts", list_of_acts(who_.acts)},
                                  {"from", who_.from},
                                  {"token", who_.token},
                                  {"since", write_moment(since_)},
                                  {"gone", gone ? write_moment(*gone) : std::string()},
                                  {"why", why}})),
          "\n"),
      0600);
}

void AgentPlace::note_life() const {
  static_cast<void>(!!utimensat(AT_FDCWD, file(note_ending).c_str(), nullptr, 0));
}

void AgentPlace::leave(Time now, std::string_view why) && {
  engine_listener_.close();
  acts_listener_.close();
  for (const std::string_view ending : {engine_ending, acts_ending})
    unlink(file(ending).c_str());
  static_cast<void>(write(now, why));
  std::move(lock_).remove();
}

}  // namespace fettle
