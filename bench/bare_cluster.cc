/// bare_cluster KUBECONFIG list
/// bare_cluster KUBECONFIG order THREADS IMAGE...
/// bare_cluster KUBECONFIG daemons
///
/// What a cluster costs a client that decides nothing. `list` reads all objects that a controller
/// follows, type by type at once, and prints how long that took. `order` tells all nodes that have a
/// NodeImage to pull images, by the patches that a controller writes, and prints how long that took.
/// `daemons` plays the daemons of all nodes until its input ends: what they are told to pull is there
/// at once.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>

#include "base/at_once.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/node_images.h"
#include "cluster/types.h"
#include "kubernetes/config.h"
#include "kubernetes/reflector.h"
#include "value/json.h"

namespace fettle {
namespace {

using kubernetes::Client;
using kubernetes::ObjectName;
namespace types = cluster::types;

constexpr int page = 500;
constexpr int answering_threads = 8;

double seconds_since(Instant began) {
  return std::chrono::duration<double>(instant_from_clock() - began).count();
}

Result<std::vector<Value>> list_all(Client& client, const kubernetes::ResourceType& type,
                                    const std::stop_token& stop) {
  std::vector<Value> objects;
  kubernetes::ListOptions options{.limit = page};
  do {
    auto found = client.list(type, {}, options, stop);
    if (!found)
      return static_cast<const Error&>(found.error());
    options.rest = found->rest;
    std::ranges::move(found->items, std::back_inserter(objects));
  } while (!options.rest.empty());
  return objects;
}

Status list(Client& client) {
  std::vector<kubernetes::ResourceType> followed = types::workloads;
  for (const auto& type : {types::node_images, types::nodes, types::spaces, types::revisions,
                           types::claims, types::pods})
    followed.push_back(type);
  std::atomic<size_t> count = 0;
  std::vector<Task> tasks;
  for (const kubernetes::ResourceType& type : followed)
    tasks.emplace_back([&client, &count, type](const std::stop_token& stop) -> Status {
      count += TRY(list_all(client, type, stop)).size();
      return {};
    });
  const Instant began = instant_from_clock();
  TRY(do_at_once(tasks, tasks.size(), {}));
  std::printf("%.3f s, %zu objects\n", seconds_since(began), count.load());
  return {};
}

Status order(Client& client, size_t threads, const std::vector<std::string>& images) {
  const std::vector<Value> nodes = TRY(list_all(client, types::node_images, {}));
  std::vector<cluster::WantedOrder> wanted;
  for (const std::string& reference : images) {
    cluster::WantedOrder& one = wanted.emplace_back();
    const std::string name = cat("bare-", wanted.size());
    one.image.reference = reference;
    one.image.attempts = 4;
    one.image.timeout = 600;
    one.image.job = cat("default/", name);
    one.job = Value::dict(
        {{"metadata",
          Value::dict({{"namespace", "default"}, {"name", name}, {"uid", cat("uid-of-", name)}})},
         {"spec",
          Value::dict({{"image", reference},
                       {"completionPolicy",
                        Value::dict({{"type", "Always"}, {"activeDeadlineSeconds", 1'200}})}})}});
  }
  std::vector<Task> tasks;
  for (const Value& node : nodes)
    tasks.emplace_back([&](const std::stop_token& stop) -> Status {
      const auto answer =
          client.patch(types::node_images, {{}, std::string(node.at("metadata").text_at("name"))},
                       kubernetes::PatchType::merge,
                       cluster::orders_change(node, wanted, now_from_clock()), {}, stop);
      return answer ? Status() : Status(static_cast<const Error&>(answer.error()));
    });
  const Instant began = instant_from_clock();
  TRY(do_at_once(tasks, threads, {}));
  std::printf("%.3f s, %zu writes\n", seconds_since(began), tasks.size());
  return {};
}

/// The daemons of all nodes: each NodeImage that has an order without an answer gets one.
class Daemons : public kubernetes::ObjectListener {
 public:
  explicit Daemons(Client& client) : client_(client) {
    for (int i = 0; i < answering_threads; ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }

  void put(const ObjectName&, const Value& object) override {
    if (const Value answer = answer_to(object); !answer.is_null()) {
      const std::lock_guard lock(mutex_);
      waiting_.emplace_back(std::string(object.at("metadata").text_at("name")), answer);
      come_.notify_one();
    }
  }
  void gone(const ObjectName&, const std::string&) override {}
  void synced() override {}
  int answers() const { return answers_; }

 private:
  /// Null: nothing is open.
  static Value answer_to(const Value& object) {
    std::vector<Entry> statuses;
    bool is_any = false;
    const Value& images = object.at("spec").at("images");
    if (!images.is_dict())
      return {};
    for (const Entry& image : images.entries()) {
      std::vector<Value> rows;
      for (const Value& order : items_of(image.value.at("tags"))) {
        const Value& told = object.at("status").at("imageStatuses").at(image.key).at("tags");
        const bool is_answered = std::ranges::any_of(items_of(told), [&](const Value& row) {
          return row.at("tag") == order.at("tag") && row.at("version") == order.at("version");
        });
        is_any |= !is_answered;
        rows.push_back(Value::dict({{"tag", order.at("tag")},
                                    {"version", order.at("version")},
                                    {"phase", "Succeeded"},
                                    {"completionTime", write_moment(now_from_clock())}}));
      }
      statuses.push_back({image.key, Value::dict({{"tags", Value::list(std::move(rows))}})});
    }
    if (!is_any)
      return {};
    return Value::dict(
        {{"metadata",
          Value::dict({{"resourceVersion", object.at("metadata").at("resourceVersion")}})},
         {"status", Value::dict({{"imageStatuses", Value::dict(std::move(statuses))}})}});
  }

  /// What has changed meanwhile is told of again.
  void work(const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      if (!come_.wait(lock, stop, [&] { return !waiting_.empty(); }))
        return;
      const auto [node, answer] = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (client_.patch(types::node_images, {{}, node}, kubernetes::PatchType::merge, answer,
                        {.subresource = "status"}, stop))
        ++answers_;
    }
  }

  Client& client_;
  std::atomic<int> answers_ = 0;
  std::mutex mutex_;
  std::condition_variable_any come_;
  std::deque<std::pair<std::string, Value>> waiting_;
  std::vector<std::jthread> threads_;  ///< end before the other members go
};

Status play_daemons(Client& client) {
  Daemons daemons(client);
  kubernetes::Reflector reflector({.type = types::node_images}, daemons, 1);
  const std::jthread follower(
      [&](const std::stop_token& stop) { kubernetes::follow(client, reflector, stop); });
  for (std::string line; std::getline(std::cin, line);) {
  }
  std::printf("%d answers\n", daemons.answers());
  return {};
}

Status run(const std::vector<std::string>& words) {
  if (words.size() < 2)
    return user_error("usage: bare_cluster KUBECONFIG list | order THREADS IMAGE... | daemons");
  const kubernetes::Config config = TRY(kubernetes::read_kubeconfig({words[0]}, ""));
  Client client(std::make_unique<kubernetes::HttpTransport>(config),
                {.qps = 0, .user_agent = "bare"});
  if (words[1] == "list")
    return list(client);
  if (words[1] == "daemons")
    return play_daemons(client);
  if (words[1] != "order" || words.size() < 4 || std::atoi(words[2].c_str()) < 1)
    return user_error(cat("what is `", words[1], "`?"));
  return order(client, static_cast<size_t>(std::atoi(words[2].c_str())),
               {words.begin() + 3, words.end()});
}

}  // namespace
}  // namespace fettle

int main(int count, char** values) {
  const fettle::Status done = fettle::run(std::vector<std::string>(values + 1, values + count));
  if (!done)
    std::fprintf(stderr, "bare_cluster: %s\n", fettle::to_string(done.error()).c_str());
  return done ? 0 : 1;
}
