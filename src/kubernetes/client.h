#pragma once
/// Talks with an API server: objects are read, written and watched as JSON.
///
///   Client client(std::make_unique<HttpTransport>(config), {});
///   const Value pod = TRY(client.get(types::pods, {"default", "web-1"}, stop));
///   TRY(client.patch(types::pods, {"default", "web-1"}, PatchType::merge, change,
///                    {.urgency = Urgency::availability}, stop));
///
/// A client that sends what it likes when it likes is slowed down by the server (429), and then its
/// urgent writes are slowed down with the others. So every request but watches and those of the
/// lease waits for its turn here (`request_budget.h`), and a 429 holds all of them back.
///
/// Sent again by itself is only what surely did not happen: an answer 429 (but not of a budget of
/// pods, which refuses an eviction and is a matter of the caller), and for reads also a
/// server that says when it will be back. Whoever writes and gets an error with `unknown_outcome`
/// has to look first; a precondition (a resource version or UID in the object) makes a second try
/// harmless.
///
/// Safe from many threads at once; a call waits on its thread, a watch needs none.

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/condition.h"
#include "kubernetes/api_error.h"
#include "kubernetes/request_budget.h"
#include "kubernetes/resource_type.h"
#include "kubernetes/transport.h"
#include "kubernetes/watch_lines.h"
#include "kubernetes/write_counts.h"
#include "value/value.h"

namespace fettle::kubernetes {

struct ListOptions {
  std::string label_selector{}, field_selector{};
  int limit = 0;                   ///< of objects on a page; 0: all on one
  std::string rest{};              ///< where the next page begins (`ListPage::rest`)
  std::string resource_version{};  ///< empty: as of now; `0`: as the server happens to know
  std::string version_match{};     ///< `Exact` or `NotOlderThan`
  JsonReader read{};               ///< of the whole answer
};

struct ListPage {
  std::vector<Value> items;
  std::string resource_version;
  std::string rest;  ///< empty: there is no more
};

struct WatchOptions {
  std::string label_selector{}, field_selector{};
  std::string resource_version{};
  /// First tells of all objects as added, and ends them with a bookmark that says so.
  bool sends_initial_events = false;
  Duration limit{0};       ///< after which the server ends it; 0: the server's half hour or more
  Duration idle_limit{0};  ///< without a byte until it is given up; 0: none
  JsonReader read{};       ///< of each line
};
/// Whether a bookmark ends the initial events.
bool ends_initial_events(const WatchEvent& event);

enum class PatchType { json, merge, strategic, apply };

struct WriteOptions {
  Urgency urgency = Urgency::progress;
  std::string_view subresource{};
  std::string field_manager{};  ///< `apply` needs one
  bool is_forced = false;       ///< for `apply`: fields of other managers, too
  bool is_dry_run = false;
  Duration limit{0};  ///< 0: that of the client
};

enum class Propagation { by_default, background, foreground, orphan };

struct DeleteOptions {
  Urgency urgency = Urgency::progress;
  std::string uid{}, resource_version{};  ///< if not empty, only an object that has it
  Propagation propagation = Propagation::by_default;
  std::optional<Duration> grace{};
  bool is_dry_run = false;
};

/// A request that is none of the usual ones.
struct ApiCall {
  std::string method = "GET";
  std::string path{};   ///< with its query
  std::string doing{};  ///< for errors; empty: method and path
  std::string content_type = "application/json";
  std::string body{};
  std::string accept = "application/json";
  Urgency urgency = Urgency::progress;
  Duration limit{0};  ///< of one request; 0: that of the client
  JsonReader read{};
};

struct ClientSettings {
  double qps = 30;  ///< 0: without a limit
  int burst = 50;
  std::string user_agent = "fettle";
  Duration request_limit = 60s;  ///< of one request and its answer
  int tries = 5;                 ///< of what the server refuses for now
  /// Until when writes may be sent, asked before each; none: now not. One that waits longer than
  /// that for its token or its connection is not sent. Those of the lease itself (`Urgency::free`)
  /// always may. Null: always.
  std::function<std::optional<Instant>()> permit{};
  Duration permitted_limit = 4s;  ///< of a write that needs a permit, for the server as well
};

class Client {
 public:
  explicit Client(std::unique_ptr<Transport> transport, ClientSettings settings = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  ApiResult<Value> get(const ResourceType& type, const ObjectName& name, std::stop_token stop,
                       std::string_view subresource = {});
  ApiResult<ListPage> list(const ResourceType& type, const std::string& space,
                           const ListOptions& options, std::stop_token stop);
  ApiResult<Value> create(const ResourceType& type, const ObjectName& name, const Value& object,
                          const WriteOptions& options, std::stop_token stop);
  ApiResult<Value> replace(const ResourceType& type, const ObjectName& name, const Value& object,
                           const WriteOptions& options, std::stop_token stop);
  ApiResult<Value> patch(const ResourceType& type, const ObjectName& name, PatchType how,
                         const Value& change, const WriteOptions& options, std::stop_token stop);
  /// The object as it was, or a `Status`.
  ApiResult<Value> remove(const ResourceType& type, const ObjectName& name,
                          const DeleteOptions& options, std::stop_token stop);

  using WatchDone = std::function<void(ApiResult<void>)>;
  /// Both are called on the transport's thread and must not wait; `done` once, at the end. It is no
  /// error that the server ends a watch.
  void watch(const ResourceType& type, const std::string& space, const WatchOptions& options,
             WatchLines::Take take, std::stop_token stop, WatchDone done);

  ApiResult<Value> call(const ApiCall& call, std::stop_token stop);

  /// Waits until no write that needed a permit is on its way any more, so that somebody else may
  /// write. False: after the limit there still is one.
  bool await_writes(Duration limit);

  const ClientSettings& settings() const { return settings_; }

  /// The writes so far, each as often as it was sent.
  const WriteCounts& write_counts() const { return write_counts_; }

 private:
  class WriteUnderWay;
  ApiResult<Value> write(std::string method, const ResourceType& type, const ObjectName& name,
                         std::string content_type, const Value& body, const WriteOptions& options,
                         std::stop_token stop);
  Status await_turn(Urgency urgency, const std::stop_token& stop);
  void hold_back(Duration pause);
  void count(const ApiCall& call, const ApiResult<HttpResponse>& sent);
  ApiResult<HttpResponse> send(const ApiCall& call, const std::string& doing, std::stop_token stop);
  ApiResult<HttpResponse> send_permitted(HttpRequest request, const std::string& doing,
                                         std::stop_token stop);
  /// How long to wait before the same is sent again; none: it is not.
  std::optional<Duration> pause_after(const ApiError& error, const std::string& method) const;

  ClientSettings settings_;
  std::mutex mutex_;
  Condition turn_;
  RequestBudget budget_;
  std::set<RequestBudget::Ticket> admitted_;  ///< that have not left yet
  int under_way_ = 0;                         ///< writes that need a permit
  Condition ended_;                           ///< one of them
  WriteCounts write_counts_;
  std::unique_ptr<Transport> transport_;  ///< goes first: its threads call back
};

}  // namespace fettle::kubernetes
