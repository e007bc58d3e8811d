#pragma once
/// A container runtime that is played, with a registry behind it: pulls take as long as a test
/// wants and end as it wants.

#include <map>
#include <mutex>
#include <set>

#include "drivers/cri/wire.h"
#include "tests/fixtures/grpc_server.h"

namespace fettle {

/// An image in the registry.
struct OfferedImage {
  std::string id = "sha256:1d";
  std::string login{};  ///< `user:password`; empty: anybody may have it
};

class PlayedRuntime {
 public:
  explicit PlayedRuntime(std::string name = "containerd", std::string version = "1.7.2")
      : name_(std::move(name)), version_(std::move(version)) {}

  Path socket() const { return server_.path(); }

  void offer(const std::string& image, OfferedImage offered = {}) {
    const std::lock_guard lock(mutex_);
    offered_[image] = std::move(offered);
  }
  /// It is there without having been pulled.
  void have(const std::string& image, const std::string& id = "sha256:1d") {
    const std::lock_guard lock(mutex_);
    images_[image] = id;
  }
  /// Pulls of it do not end until they are released.
  void hold(const std::string& image) {
    const std::lock_guard lock(mutex_);
    held_.insert(image);
  }
  void release(const std::string& image) {
    const std::lock_guard lock(mutex_);
    held_.erase(image);
  }
  /// The next pulls end like this.
  void fail(int times, const GrpcAnswer& answer) {
    const std::lock_guard lock(mutex_);
    failures_ = times;
    failure_ = answer;
  }

  /// What has happened so far: `pull a:1 as user:password`, `pulled a:1`, `broken off a:1`.
  std::vector<std::string> log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  size_t count(const std::string& what) const {
    const std::vector<std::string> all = log();
    return static_cast<size_t>(std::ranges::count(all, what));
  }
  /// The largest number of pulls at once.
  int most_pulls() const {
    const std::lock_guard lock(mutex_);
    return most_pulls_;
  }
  /// The request of the last pull.
  std::string last_request() const {
    const std::lock_guard lock(mutex_);
    return last_request_;
  }

  /// The text or message at a field; empty: there is none.
  static std::string field(std::string_view message, uint32_t wanted) {
    cri::MessageReader reader(message);
    while (const auto next = *reader.next())
      if (next->field == wanted)
        return std::string(next->bytes);
    return {};
  }

 private:
  static std::string texts(std::initializer_list<std::pair<uint32_t, std::string>> fields) {
    cri::MessageWriter writer;
    for (const auto& [number, text] : fields)
      writer.text(number, text);
    return writer.bytes();
  }
  static GrpcAnswer not_found(const std::string& image) {
    return {.status = "5", .error = cat("no%20image%20", image)};
  }

  GrpcAnswer answer(const GrpcCall& call) {
    if (call.method.ends_with("/Version"))
      return {.message = texts({{2, name_}, {3, version_}})};
    const std::string image = field(field(call.message, 1), 1);
    if (call.method.ends_with("/PullImage"))
      return pull(image, call);
    const std::lock_guard lock(mutex_);
    const auto found = images_.find(image);
    if (found == images_.end())
      return {};
    return {.message = texts({{1, texts({{1, found->second}, {2, image}})}})};
  }

  GrpcAnswer pull(const std::string& image, const GrpcCall& call) {
    const std::string login = field(call.message, 2);
    const std::string who = login.empty() ? "" : cat(field(login, 1), ":", field(login, 2));
    std::unique_lock lock(mutex_);
    last_request_ = call.message;
    log_.push_back(cat("pull ", image, who.empty() ? "" : " as ", who));
    most_pulls_ = std::max(most_pulls_, ++pulls_);
    while (held_.contains(image) && !call.is_over()) {
      lock.unlock();
      std::this_thread::sleep_for(1ms);
      lock.lock();
    }
    --pulls_;
    if (held_.contains(image)) {
      log_.push_back(cat("broken off ", image));
      return {.status = "1"};
    }
    if (failures_ > 0) {
      --failures_;
      return failure_;
    }
    const auto found = offered_.find(image);
    if (found == offered_.end())
      return not_found(image);
    if (!found->second.login.empty() && found->second.login != who)
      return {.status = "16", .error = "pull%20access%20denied"};
    images_[image] = found->second.id;
    log_.push_back(cat("pulled ", image));
    return {.message = texts({{1, found->second.id}})};
  }

  const std::string name_, version_;
  mutable std::mutex mutex_;
  std::map<std::string, OfferedImage> offered_;
  std::map<std::string, std::string> images_;
  std::set<std::string> held_;
  int failures_ = 0, pulls_ = 0, most_pulls_ = 0;
  GrpcAnswer failure_;
  std::vector<std::string> log_;
  std::string last_request_;
  GrpcServer server_{[this](const GrpcCall& call) { return answer(call); }};  ///< ends first
};

}  // namespace fettle
