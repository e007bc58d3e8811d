#include "node/daemon.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "base/wait.h"
#include "kubernetes/reflector.h"
#include "node/notice_writer.h"
#include "node/puller.h"

namespace fettle::node {
namespace {

void tell(const DaemonSettings& settings, const std::string& text) {
  if (settings.tell)
    settings.tell(text);
}

/// What the threads of a daemon tell the one that decides.
class News {
 public:
  using Item = std::function<void(NodePulls& pulls, const Moment& now)>;

  void add(Item item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    come_.notify_all();
  }
  /// Waits for some until an instant, or without one as long as it takes; none after a stop.
  std::vector<Item> wait(std::optional<Instant> until, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto is_there = [this] { return !items_.empty(); };
    if (until)
      come_.wait_until(lock, stop, *until, is_there);
    else
      come_.wait(lock, stop, is_there);
    return std::exchange(items_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any come_;
  std::vector<Item> items_;
};

/// Passes on what a reflector tells of the one object.
class NodeImageListener : public kubernetes::ObjectListener {
 public:
  explicit NodeImageListener(News& news) : news_(news) {}
  void put(const kubernetes::ObjectName&, const Value& object) override {
    news_.add([object](NodePulls& pulls, const Moment& now) { pulls.take_object(object, now); });
  }
  void gone(const kubernetes::ObjectName&, const std::string&) override {
    news_.add([](NodePulls& pulls, const Moment&) { pulls.object_gone(); });
  }
  void synced() override {
    news_.add([](NodePulls& pulls, const Moment& now) { pulls.listed(now); });
  }

 private:
  News& news_;
};

class NodeDaemon {
 public:
  NodeDaemon(kubernetes::Client& client, const cri::Client& runtime, const DaemonSettings& settings)
      : client_(client),
        settings_(settings),
        puller_(client, runtime),
        pulls_(settings.pulls),
        listener_(news_),
        reflector_({.type = node_images, .field_selector = cat("metadata.name=", settings.node)},
                   listener_, static_cast<uint64_t>(now_from_clock().time_since_epoch().count())),
        writer_(client, settings.node) {}

  PullCounts run(const std::stop_token& stop) {
    const std::jthread following(
        [this](const std::stop_token& end) { kubernetes::follow(client_, reflector_, end); });
    std::optional<Instant> wake = instant_from_clock();
    while (!stop.stop_requested()) {
      const std::vector<News::Item> items = news_.wait(wake, stop);
      const Moment now = moment_from_clocks();
      for (const News::Item& item : items)
        item(pulls_, now);
      NodeStep step = pulls_.step(now);
      wake = step.wake;
      obey(std::move(step), now);
    }
    for (auto& [id, thread] : threads_)
      thread.request_stop();
    return {pulls_.succeeded(), pulls_.failed()};
  }

 private:
  void obey(NodeStep step, const Moment& now) {
    for (const uint64_t id : step.end)
      if (const auto thread = threads_.find(id); thread != threads_.end())
        thread->second.request_stop();
    for (PullCommand& command : step.begin)
      begin(std::move(command));
    for (const PullNotice& notice : step.notices) {
      writer_.tell(notice, now.wall);
      if (notice.about.text_at("kind") == node_images.kind)
        tell(settings_, notice.text);
    }
    if (step.status)
      write(std::move(*step.status));
  }

  void begin(PullCommand command) {
    const uint64_t id = command.id;
    threads_[id] = std::jthread([this, command = std::move(command)](const std::stop_token& stop) {
      const PullOutcome outcome = puller_.carry_out(command, stop);
      news_.add([this, id = command.id, outcome](NodePulls& pulls, const Moment& now) {
        threads_.erase(id);
        pulls.ended(id, outcome, now);
      });
    });
  }

  void write(Value change) {
    writing_ = std::jthread([this, change = std::move(change)](const std::stop_token& stop) {
      const auto answer =
          client_.patch(node_images, {"", settings_.node}, kubernetes::PatchType::merge, change,
                        {.urgency = kubernetes::Urgency::status, .subresource = "status"}, stop);
      news_.add([this, answer](NodePulls& pulls, const Moment& now) {
        note_refusal(answer);
        pulls.status_written(answer, now);
      });
    });
  }

  /// Says it once why the status cannot be written.
  void note_refusal(const kubernetes::ApiResult<Value>& answer) {
    const bool is_outrun = !answer && answer.error().reason == kubernetes::ApiReason::conflict;
    const std::string why =
        answer || is_outrun ? std::string() : printable(fettle::to_string(answer.error()));
    if (!why.empty() && why != refusal_)
      tell(settings_, cat("the status cannot be written: ", why));
    refusal_ = why;
  }

  kubernetes::Client& client_;
  const DaemonSettings& settings_;
  const Puller puller_;
  News news_;
  NodePulls pulls_;
  std::string refusal_;  ///< why the last status was not written; empty: it was
  NodeImageListener listener_;
  kubernetes::Reflector reflector_;
  NoticeWriter writer_;
  // End before the other members go.
  std::map<uint64_t, std::jthread> threads_;
  std::jthread writing_;
};

/// Waits until the runtime of the kubelet is known. None: a stop was asked for.
std::optional<Path> await_runtime(kubernetes::Client& client, HttpClient& http,
                                  const DaemonSettings& settings, const std::stop_token& stop) {
  std::string told;
  Duration pause = settings.shortest_pause;
  while (!stop.stop_requested()) {
    const Result<Path> socket = find_runtime(client, http, settings, stop);
    if (socket)
      return *socket;
    const std::string why = fettle::to_string(socket.error());
    if (why != told && !stop.stop_requested())
      tell(settings, cat("waiting for the container runtime: ", why));
    told = why;
    if (!pause_for(pause, stop))
      break;
    pause = std::min(pause * 2, settings.longest_pause);
  }
  return {};
}

/// A reflector tries again without a word, so it is said once why there may be nothing to follow.
void tell_of_refused_reads(kubernetes::Client& client, const DaemonSettings& settings,
                           const std::stop_token& stop) {
  const auto page = client.list(
      node_images, "", {.field_selector = cat("metadata.name=", settings.node), .limit = 1}, stop);
  if (!page && !stop.stop_requested())
    tell(settings, cat("NodeImages cannot be read now: ", fettle::to_string(page.error())));
}

}  // namespace

Result<Path> find_runtime(kubernetes::Client& client, HttpClient& http,
                          const DaemonSettings& settings, const std::stop_token& stop) {
  const auto node = client.get(kubernetes::types::nodes, {"", settings.node}, stop);
  const std::string told(node ? node->at("status").at("nodeInfo").text_at("containerRuntimeVersion")
                              : std::string_view());
  if (!settings.socket.empty()) {
    const auto version = cri::Client(http, settings.socket).version(stop);
    if (!version)
      return Error(version.error()).context(cat("asking `", settings.socket.string(), "`"));
    if (const std::string said = cri::runtime_as_kubelets_tell(*version);
        !told.empty() && said != told)
      tell(settings, cat("warning: the kubelet works with the runtime `", printable(told),
                         "`, and `", settings.socket.string(), "` is of `", printable(said), "`"));
    return settings.socket;
  }
  if (!node)
    return Error(node.error());
  const std::vector<Path> sockets =
      cri::existing_sockets(settings.run_folder, settings.snap_folder);
  return cri::choose_socket(cri::ask_sockets(http, sockets, stop), told);
}

PullCounts run_daemon(kubernetes::Client& client, HttpClient& http, const DaemonSettings& settings,
                      const std::stop_token& stop) {
  const std::optional<Path> socket = await_runtime(client, http, settings, stop);
  if (!socket)
    return {};
  if (settings.found)
    settings.found();
  tell(settings, cat("pulling into the runtime at `", socket->string(), "` what the NodeImage `",
                     settings.node, "` orders"));
  tell_of_refused_reads(client, settings, stop);
  const cri::Client runtime(http, *socket);
  NodeDaemon daemon(client, runtime, settings);
  return daemon.run(stop);
}

}  // namespace fettle::node
