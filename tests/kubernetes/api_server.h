#pragma once
/// An API server in the test process: it keeps objects, versions and watches as the real one does,
/// and breaks when a test wants it to.
///
/// The obvious fake answers what a test expects, and then the test and the fake share their error.
/// So this one is held to the same list as a real server (`conformance_test.cc`), and what it does
/// beyond that list is nothing on which code may rely.
///
/// Pure: a request and a time go in, an answer comes out; a watch gathers lines that are taken. So
/// it runs behind HTTP (`api_server_face.h`) and under a clock that is played.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "tests/kubernetes/api_types.h"
#include "tests/kubernetes/field_owners.h"

namespace fettle::kubernetes {

struct ApiRequest {
  std::string method = "GET";
  std::string target{};  ///< the path with its query
  std::string content_type{}, accept{}, token{}, user_agent{};
  std::string body{};
};

struct ApiAnswer {
  int status = 200;
  Value body{};  ///< a secret is written as it is
  std::vector<std::pair<std::string, std::string>> headers{};
  std::optional<uint64_t> watch{};  ///< the answer has no end: `take_lines`
};

class ApiServer {
 public:
  ApiServer();

  ApiAnswer handle(const ApiRequest& request, Time now);
  /// The lines of a watch since the last call. False: it has ended, and is forgotten.
  bool take_lines(uint64_t watch, std::string& lines, Time now);
  void leave(uint64_t watch) { watches_.erase(watch); }

  /// Who may ask: a token, and whether it may do anything. Without any, everybody may.
  void know_token(std::string token, bool has_rights) { tokens_[std::move(token)] = has_rights; }
  void forget_tokens() { tokens_.clear(); }
  /// What a review of one's own rights denies: `create pods`.
  void deny(std::string verb_and_plural) { denied_.insert(std::move(verb_and_plural)); }
  /// A kind is not served, as by an older server.
  void forget(std::string_view kind) {
    std::erase_if(types_, [&](const TypeRules& each) { return each.type.kind == kind; });
  }
  void know_rule(std::string text, std::function<bool(const Value&)> holds) {
    rules_[std::move(text)] = std::move(holds);
  }

  /// What a webhook makes of an object of a kind when it is written; `before` is null when it is
  /// made. It works while a MutatingWebhookConfiguration of this name has webhooks.
  using Mutate = std::function<Value(const Value& before, const Value& after)>;
  void know_webhook(std::string configuration, std::string kind, Mutate mutate) {
    webhooks_.push_back({std::move(configuration), std::move(kind), std::move(mutate)});
  }

  // What can go wrong.
  /// The next requests for which `applies` get this answer.
  void fail(int times, std::function<bool(const ApiRequest&)> applies, ApiAnswer answer);
  void stop_failing() { faults_.clear(); }
  /// Old versions are forgotten: what asks for one gets 410.
  void compact();
  /// Watches end; `in_line`: in the middle of a line.
  void cut_watches(bool in_line);
  /// Reads that do not ask for the newest get what was there so many changes ago.
  void lag(size_t changes) { lag_ = changes; }
  bool has_watch_lists = true;  ///< as etcd 3.4 has not
  bool has_aggregated_discovery = true;
  Duration bookmark_interval = 1min;

  size_t requests() const { return requests_; }

 private:
  struct Key {
    std::string group, plural, space, name;
    auto operator<=>(const Key&) const = default;
  };
  struct Stored {
    Value object;
    int64_t version = 0;
    FieldOwners owners;
  };
  struct LogRow {
    int64_t version = 0;
    Key key;
    Value before, after;  ///< null: there was or is none
  };
  struct Watch {
    TypeRules rules;
    std::string space, labels, fields;
    int64_t version = 0;  ///< what it has told
    std::string lines;
    Time bookmark_at, ends_at;
    bool is_over = false;
  };
  struct Fault {
    int times;
    std::function<bool(const ApiRequest&)> applies;
    ApiAnswer answer;
  };
  struct Webhook {
    std::string configuration, kind;
    Mutate mutate;
  };
  /// What a request means.
  struct Call {
    const ApiRequest* request = nullptr;
    Time now;
    std::map<std::string, std::string> query;
    TypeRules rules{};
    Key key{};
    std::string subresource{};
    Value body{};
  };

  std::optional<ApiAnswer> refuse(const ApiRequest& request);
  ApiAnswer route(const ApiRequest& request, Time now);
  ApiAnswer discover(const std::vector<std::string>& steps, bool is_aggregated) const;
  ApiAnswer dispatch(Call& call);
  ApiAnswer read_list(const Call& call);
  ApiAnswer begin_watch(const Call& call);
  ApiAnswer create(Call& call);
  ApiAnswer create_under(Call& call);
  ApiAnswer review_rights(const Call& call) const;
  ApiAnswer write(Call& call);
  ApiAnswer write_scale(Call& call, const Stored& stored);
  ApiAnswer remove(Call& call);
  tl::expected<Value, ApiAnswer> changed(const Call& call, const Value& live);
  ApiAnswer apply(Call& call);
  /// Checks and stores what an update by this call makes of an object.
  ApiAnswer settle(const Call& call, Value object, const FieldOwners* applied);
  ApiAnswer store_new(const Call& call, Value object, const FieldOwners* applied);
  Value mutated(const Call& call, const Value& before, Value object) const;
  ApiAnswer answer_of(const Call& call, int status, Value object) const;
  void put(const Key& key, Stored stored, Value object);
  void erase(const Key& key);
  void log(const Key& key, Value before, Value after);
  void define(const Value& definition, bool is_gone);
  std::map<Key, Value> objects_at(int64_t version) const;
  int64_t read_version(const std::string& wanted) const;
  void tell(Watch& watch, const LogRow& row) const;
  void catch_up(Watch& watch, Time now);
  bool is_of(const Watch& watch, const Value& object) const;
  Value list_metadata() const;

  std::vector<TypeRules> types_ = built_in_types();
  std::map<Key, Stored> objects_;
  std::deque<LogRow> log_;
  std::map<uint64_t, Watch> watches_;
  std::vector<Fault> faults_;
  std::map<std::string, bool> tokens_;
  std::set<std::string> denied_;
  std::vector<Webhook> webhooks_;
  KnownRules rules_;
  int64_t version_ = 100, oldest_ = 100;
  uint64_t last_watch_ = 0, last_name_ = 0;
  size_t lag_ = 0, requests_ = 0;
};

/// A `Status`.
ApiAnswer refusal(int code, std::string_view reason, std::string_view message,
                  Value details = Value::dict(std::vector<Entry>()));

}  // namespace fettle::kubernetes
