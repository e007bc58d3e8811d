#include "remote/agent_hub.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>

#include "base/text.h"
#include "base/token.h"
#include "remote/agent_line.h"
#include "remote/agent_session.h"
#include "remote/agents_tls.h"
#include "remote/handover.h"
#include "remote/server_line.h"
#include "value/json.h"

namespace fettle {
namespace {

using HubClock = std::chrono::steady_clock;

/// The descriptors of one agent: its line, its lock, two sockets, the process that uses it, and one
/// more for the moment in which it begins.
constexpr size_t descriptors_of_agent = 6, descriptors_of_hub = 32;
constexpr Duration forgetting_pause = 24h, secret_limit = 15s, handing_limit = 10s;

/// What is known of an agent that is let in.
struct Arrival {
  AgentIdentity who;
  std::string token;    ///< its text
  std::string proof{};  ///< with TLS: what it says after it has shaken hands again
};

std::string words_of(const Arrival& arrival) {
  return write_json(Value::dict({{"agent", json_of(arrival.who)},
                                 {"from", arrival.who.from},
                                 {"token", arrival.who.token},
                                 {"text", arrival.token},
                                 {"proof", arrival.proof}}));
}

Result<Arrival> arrival_of(std::string_view words) {
  const Value said = TRY(read_json(words));
  Arrival arrival{TRY(agent_identity_of(said.text_at("agent"))), std::string(said.text_at("text")),
                  std::string(said.text_at("proof"))};
  arrival.who.from = said.text_at("from");
  arrival.who.token = said.text_at("token");
  return arrival;
}

/// What is sent at once or not: nothing else is under way to who is at rest. False: a part of it was
/// sent, so the line cannot go on. Who takes nothing at all hears it another time.
bool tell(const Descriptor& line, FrameType type, std::string_view payload = {}) {
  const std::string bytes = packed(type, payload);
  const ssize_t count = ::send(line.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return count == static_cast<ssize_t>(bytes.size()) ||
         (count < 0 && (errno == EAGAIN || errno == EINTR));
}

/// What a process that had the line says at its end.
std::string report_of(const std::variant<uint64_t, Error>& end) {
  if (const uint64_t* const last = std::get_if<uint64_t>(&end))
    return cat("line ", *last);
  return cat("end ", told_form(std::get<Error>(end)));
}

struct Resident {
  Resident(AgentPlace taken, Visit who, std::string noted_as, Descriptor socket)
      : place(std::move(taken)),
        visit(std::move(who)),
        noted(std::move(noted_as)),
        line(std::move(socket)) {}

  const std::string& name() const { return place.who().name; }
  bool is_at_rest() const { return !report.is_open(); }

  AgentPlace place;
  Visit visit;
  const std::string noted;  ///< its line of the audit
  Descriptor line;
  std::string unread{};  ///< the beginning of a sign of life
  uint64_t last_stream = 0;
  bool has_lived = false;  ///< since that was noted
  Descriptor report{};     ///< of the process that has the line; closed: it is here
  pid_t process = -1;
  std::string last_words{};  ///< of that process
  HubClock::time_point said = HubClock::now(), heard = said, looked = said, used = said;
};

/// One that has to say a secret.
struct Newcomer {
  Arrival arrival;
  Descriptor line;
  std::string said{};
  HubClock::time_point since = HubClock::now();
};

class AgentHub {
 public:
  AgentHub(Descriptor arrivals, const ServeSettings& settings, RenewedIdentity* identity)
      : arrivals_(std::move(arrivals)),
        settings_(settings),
        identity_(identity),
        polled_(epoll_create1(EPOLL_CLOEXEC)),
        turn_(std::clamp<Duration>(settings.agent_silence / 30, 10ms, 1s)) {
    watch(arrivals_, arrivals_key);
    watch(end_.descriptor(), end_key);
  }

  int serve() {
    forget();
    auto next = HubClock::now() + turn_;
    while (!is_ending_ || !residents_.empty()) {
      std::array<epoll_event, 64> events{};
      const auto patience = std::chrono::ceil<std::chrono::milliseconds>(
          std::max<Duration>(next - HubClock::now(), 0s));
      const int count = epoll_wait(polled_.get(), events.data(), events.size(),
                                   static_cast<int>(patience.count()));
      for (int i = 0; i < count; ++i)
        take(events[static_cast<size_t>(i)].data.u64);
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      if (HubClock::now() < next)
        continue;
      look_at_all();
      next = HubClock::now() + turn_;
    }
    return 0;
  }

 private:
  /// What an event is about, in the lowest bits; above them is the number of the agent.
  enum Source : uint64_t { line, engine, acts, report, sources };
  static constexpr uint64_t arrivals_key = 0, end_key = 1;

  void watch(int descriptor, uint64_t key) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = key;
    epoll_ctl(polled_.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
  void watch(const Descriptor& descriptor, uint64_t key) const { watch(descriptor.get(), key); }
  /// Closing would not do: a process that was forked may have it, too.
  void leave_alone(int descriptor) const {
    epoll_ctl(polled_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  }
  void watch_at_rest(uint64_t number, const Resident& agent) const {
    watch(agent.line, number * sources + Source::line);
    watch(agent.place.listener(StreamGoal::engine), number * sources + Source::engine);
    watch(agent.place.listener(StreamGoal::acts), number * sources + Source::acts);
  }
  void leave_at_rest(const Resident& agent) const {
    for (const int each : {agent.line.get(), agent.place.listener(StreamGoal::engine),
                           agent.place.listener(StreamGoal::acts)})
      leave_alone(each);
  }

  void take(uint64_t key) {
    if (key == arrivals_key)
      return receive();
    if (key == end_key)
      return hear_end();
    if (const auto found = newcomers_.find(key / sources); found != newcomers_.end())
      return hear_secret(found->first, found->second);
    const auto found = residents_.find(key / sources);
    if (found == residents_.end())
      return;
    const Source source = static_cast<Source>(key % sources);
    Resident& agent = *found->second;
    if ((source == Source::report) == agent.is_at_rest())  // it was told before that changed
      return;
    if (source == Source::report)
      hear_report(found->first, agent);
    else if (source == Source::line)
      hear(found->first, agent);
    else
      lend(found->first, agent, "");
  }

  void receive() {
    std::optional<HandedOver> handed = take_over(arrivals_.get());
    if (!handed)
      return;
    if (handed->words.empty()) {  // the server has gone, and says so by SIGTERM
      leave_alone(arrivals_.get());
      arrivals_.close();
      return;
    }
    if (!handed->socket.is_open())
      return;
    Result<Arrival> arrival = arrival_of(handed->words);
    if (!arrival)
      return;
    if (arrival->proof.empty())
      return let_in(*std::move(arrival), std::move(handed->socket));
    Result<Descriptor> line = secured_line_of(handed->socket);
    if (!line)
      return;
    watch(*line, ++last_ * sources + Source::line);
    newcomers_.emplace(last_, Newcomer{*std::move(arrival), *std::move(line)});
  }

  void let_in(Arrival arrival, Descriptor line) {
    if (const Status settled = settle(std::move(arrival), line); !settled)
      tell(line, FrameType::error, told_form(settled.error()));
  }

  /// What the process that speaks TLS with all agents hears of this client.
  Result<Descriptor> secured_line_of(const Descriptor& client) {
    if (!tls_.is_open())
      TRY(begin_tls());
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
      return world_error("there is no room for another socket");
    Descriptor ours(pair[0]);
    const Descriptor theirs(pair[1]);
    Status told = hand_over(tls_.get(), "line", theirs.get());
    if (told)
      told = hand_over(tls_.get(), "client", client.get());
    if (!told) {  // it has died, and the next one gets another
      tls_.close();
      return told.error();
    }
    return ours;
  }

  Status begin_tls() {
    if (identity_ == nullptr)
      return world_error("this server speaks no TLS");
    std::array<Descriptor, 2> ends = TRY(handover_ends());
    const pid_t process = fork();
    if (process == 0) {
      close_all_but({ends[1].get()});
      _exit(serve_tls_of_agents(std::move(ends[1]), *identity_));
    }
    if (process < 0)
      return world_error("the server cannot begin a process");
    tls_ = std::move(ends[0]);
    return {};
  }

  void hear_secret(uint64_t number, Newcomer& newcomer) {
    std::array<char, 128> buffer{};
    const size_t missing = newcomer.arrival.proof.size() - newcomer.said.size();
    const ssize_t count =
        ::recv(newcomer.line.get(), buffer.data(), std::min(buffer.size(), missing), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    newcomer.said.append(buffer.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
    const bool is_whole = newcomer.said.size() == newcomer.arrival.proof.size();
    if (count > 0 && !is_whole)
      return;
    leave_alone(newcomer.line.get());
    if (is_whole && is_same_token(newcomer.said, newcomer.arrival.proof))
      let_in(std::move(newcomer.arrival), std::move(newcomer.line));
    newcomers_.erase(number);
  }

  /// Error: why it cannot stay; its socket is still there.
  Status settle(Arrival arrival, Descriptor& socket) {
    if (is_ending_ || drains_until_)
      return world_error("the server ends");
    if (residents_.size() >= room_.count)
      return world_error(cat("the server has ", room_.count, " agents already, ", room_.reason));
    const std::string shown = shown_of_agent(arrival.who.name);
    Visit visit(settings_, std::move(arrival.token), arrival.who.from);
    const CommandNeeds needs = needs_of_agent(arrival.who.name);
    TRY(visit.allow(needs, shown));
    AgentPlace place =
        TRY(AgentPlace::take(settings_.home, std::move(arrival.who), settings_.clock()));
    Result<std::string> noted = visit.note(needs, shown, 0);
    if (!noted) {
      std::move(place).leave(settings_.clock(), noted.error().message);
      return noted.error();
    }
    const uint64_t number = ++last_;
    const auto [at, is_new] = residents_.emplace(
        number, std::make_unique<Resident>(std::move(place), std::move(visit), *std::move(noted),
                                           std::move(socket)));
    if (!tell(at->second->line, FrameType::agent)) {
      watch_at_rest(number, *at->second);
      leave(number, *at->second, world_error("the connection was lost"));
      return {};
    }
    watch_at_rest(number, *at->second);
    return {};
  }

  /// A line at rest.
  void hear(uint64_t number, Resident& agent) {
    static const std::string alive = packed(FrameType::alive);
    std::array<char, 4'096> buffer;
    const ssize_t count = ::recv(agent.line.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (count <= 0)
      return leave(number, agent, world_error("the connection was lost"));
    agent.heard = HubClock::now();
    agent.has_lived = true;
    std::string bytes = std::exchange(agent.unread, {});
    bytes.append(buffer.data(), static_cast<size_t>(count));
    size_t at = 0;
    while (std::string_view(bytes).substr(at).starts_with(alive))
      at += alive.size();
    bytes.erase(0, at);
    if (alive.starts_with(bytes))
      agent.unread = std::move(bytes);
    else
      lend(number, agent, std::move(bytes));
  }

  /// A process gets the line, and what was read of it.
  void lend(uint64_t number, Resident& agent, std::string bytes) {
    bytes.insert(0, std::exchange(agent.unread, {}));
    Result<std::array<Descriptor, 2>> ends = handover_ends();
    const pid_t hub = getpid();
    const pid_t process = ends ? fork() : -1;
    if (process == 0)
      _exit(use(agent, bytes, (*ends)[1], hub));
    if (process < 0)
      return leave(number, agent, world_error("the server cannot begin a process"));
    leave_at_rest(agent);
    agent.process = process;
    agent.report = std::move((*ends)[0]);
    watch(agent.report, number * sources + Source::report);
  }

  /// The process that has the line of an agent, for as long as somebody uses it.
  int use(Resident& agent, std::string_view bytes, const Descriptor& report, pid_t hub) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    std::vector<int> kept = agent.place.descriptors();
    kept.insert(kept.end(), {agent.line.get(), report.get()});
    close_all_but(std::move(kept));
    if (getppid() != hub)
      return 1;
    Line line(std::move(agent.line), bytes);
    const auto end = serve_streams({line, settings_, agent.visit, agent.place, agent.last_stream});
    if (const Error* const error = std::get_if<Error>(&end)) {
      if (getppid() != hub)
        part_with(agent, *error);
      line.send(FrameType::error, told_form(*error));
      line.push_all(settings_.write_limit);
    }
    static_cast<void>(hand_over(report.get(), report_of(end)));
    return 0;
  }

  void hear_report(uint64_t number, Resident& agent) {
    const std::optional<HandedOver> said = take_over(agent.report.get());
    if (!said)
      return;
    if (!said->words.empty()) {
      agent.last_words = said->words;
      return;
    }
    // It has ended.
    leave_alone(agent.report.get());
    agent.report.close();
    agent.process = -1;
    const std::string words = std::exchange(agent.last_words, {});
    const auto now = agent.used = agent.heard = HubClock::now();
    agent.said = now - settings_.agent_silence;  // nobody knows
    constexpr std::string_view line_word = "line ", end_word = "end ";
    if (words.starts_with(line_word)) {
      std::from_chars(words.data() + line_word.size(), words.data() + words.size(),
                      agent.last_stream);
      watch_at_rest(number, agent);
      if (is_ending_)
        leave(number, agent, world_error("the server ends"));
      return;
    }
    leave(number, agent,
          words.starts_with(end_word) ? error_told(words.substr(end_word.size()))
                                      : world_error("its process at the server was ended"));
  }

  void look_at_all() {
    const auto now = HubClock::now();
    for (auto each = residents_.begin(); each != residents_.end();) {
      const auto at = each++;
      if (at->second->is_at_rest())
        look_at(at->first, *at->second, now);
      else if (drains_until_ && now >= *drains_until_)
        kill(at->second->process, SIGTERM);
    }
    for (auto each = newcomers_.begin(); each != newcomers_.end();) {
      const auto at = each++;
      if (now - at->second.since < secret_limit)
        continue;
      leave_alone(at->second.line.get());
      newcomers_.erase(at);
    }
    if (drains_until_ && residents_.empty())
      is_ending_ = true;
    if (now - forgot_ >= forgetting_pause)
      forget();
  }

  void look_at(uint64_t number, Resident& agent, HubClock::time_point now) {
    if (drains_until_ && now - std::max(agent.used, *drains_until_ - agents_drain) >= agent_lingers)
      return leave(number, agent, world_error("the server was killed"));
    if (now - agent.heard >= settings_.agent_silence)
      return leave(number, agent, nothing_heard(settings_.agent_silence));
    if (now - agent.said >= settings_.agent_silence / 3) {
      agent.said = now;
      if (!tell(agent.line, FrameType::alive))
        return leave(number, agent, world_error("the connection was lost"));
    }
    if (now - agent.looked < settings_.agent_silence / 3)
      return;
    agent.looked = now;
    if (std::exchange(agent.has_lived, false))
      agent.place.note_life();
    const Result<Grant> allowed =
        agent.visit.allow(needs_of_agent(agent.name()), shown_of_agent(agent.name()));
    // Who cannot read the tokens now has not taken any away.
    if (!allowed && allowed.error().blame == Blame::user)
      leave(number, agent, allowed.error());
  }

  /// An agent whose line is here has to go, and hears why.
  void leave(uint64_t number, Resident& agent, const Error& why) {
    leave_at_rest(agent);
    // Its place first, for it may come again at once.
    part_with(agent, why);
    tell(agent.line, FrameType::error, told_form(why));
    residents_.erase(number);
  }
  void part_with(Resident& agent, const Error& why) const {
    agent.visit.note_end(agent.noted, why.blame == Blame::user ? 2 : 0);
    std::move(agent.place).leave(settings_.clock(), why.message);
  }

  /// A server that ends asks us when its commands have ended. One that was killed asked nobody, and
  /// its commands finish what they are changing.
  void hear_end() {
    if (!end_.take())
      return;
    if (getppid() != server_) {
      drains_until_ = HubClock::now() + agents_drain;
      return;
    }
    is_ending_ = true;
    for (auto each = residents_.begin(); each != residents_.end();) {
      const auto at = each++;
      if (at->second->is_at_rest())
        leave(at->first, *at->second, world_error("the server ends"));
      else
        kill(at->second->process, SIGTERM);
    }
  }

  void forget() {
    forgot_ = HubClock::now();
    forget_gone_agents(settings_.home, settings_.clock());
  }

  struct Room {
    size_t count;
    std::string reason;
  };
  /// As many as there are descriptors for.
  static Room room_for(size_t wanted) {
    rlimit open{};
    getrlimit(RLIMIT_NOFILE, &open);
    open.rlim_cur = open.rlim_max;
    setrlimit(RLIMIT_NOFILE, &open);
    const size_t possible =
        (static_cast<size_t>(open.rlim_max) - descriptors_of_hub) / descriptors_of_agent;
    if (wanted <= possible)
      return {wanted, "and takes no more"};
    return {possible, cat("as many as it has descriptors for (`ulimit -Hn`: ", open.rlim_max, ")")};
  }

  Descriptor arrivals_;
  const ServeSettings& settings_;
  RenewedIdentity* const identity_;
  const Descriptor polled_;
  const Duration turn_;
  const Room room_ = room_for(settings_.agents);
  EndSignal end_;
  const pid_t server_ = getppid();
  std::map<uint64_t, std::unique_ptr<Resident>> residents_;
  std::map<uint64_t, Newcomer> newcomers_;
  Descriptor tls_;  ///< to the process that speaks TLS; closed: there is none
  uint64_t last_ = 0;
  bool is_ending_ = false;
  std::optional<HubClock::time_point> drains_until_;
  HubClock::time_point forgot_{};
};

}  // namespace

Status let_agent_in(Line& line, const Caller& caller, Visit& visit, std::string_view json) {
  Arrival arrival{TRY(agent_identity_of(json)), visit.token()};
  if (!line.is_idle())
    return user_error("an agent says nothing until it is let in");
  const CommandNeeds needs = needs_of_agent(arrival.who.name);
  arrival.who.from = visit.from();
  arrival.who.token = TRY(visit.allow(needs, shown_of_agent(arrival.who.name))).token;
  if (caller.handing < 0) {
    const Descriptor socket = line.take_socket();
    // What speaks TLS with it goes on.
    caller.seats.move(caller.seat, Visitor::away, std::numeric_limits<size_t>::max());
    return hand_over(caller.hub, words_of(arrival), socket.get());
  }
  arrival.proof = TRY(new_token("a secret"));
  TRY(hand_over(caller.handing, "client"));
  line.send(FrameType::again, arrival.proof);
  if (!line.push_all(handing_limit) || !await_events(caller.handing, POLLIN, handing_limit))
    return world_error("the agent did not shake hands again");
  const std::optional<HandedOver> client = take_over(caller.handing);
  line.leave();
  if (!client || !client->socket.is_open())
    return world_error("the agent did not shake hands again");
  return hand_over(caller.hub, words_of(arrival), client->socket.get());
}

int serve_agents(Descriptor arrivals, const ServeSettings& settings, RenewedIdentity* identity) {
  return AgentHub(std::move(arrivals), settings, identity).serve();
}

}  // namespace fettle
