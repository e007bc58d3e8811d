#include "tests/oracle/oracle.h"

#include <map>

#include "base/prng.h"
#include "base/text.h"
#include "store/sqlite_store.h"
#include "value/json.h"
#include "verbs/models/export_model.h"

namespace fettle::oracle {
namespace {

/// The common part of all models of this oracle. `Service` is the entity that owns a set.
constexpr std::string_view definitions = R"(
import std::testing
entity Service:
    int id
    int count
    string main
    string colour
    string pool
    string second
    string code
    int level
    bool special
    bool joins
    bool leads
    bool needs_shared
    bool shared_needs
    bool is_vague
end
index Service(id)
entity Node:
    string name
    string code
    int level
end
entity SpecialNode extends Node:
end
index Node(name)
index Node(code)
Node.members [0:2] -- Service
Node.leader [0:1] -- Service
implementation below for Node:
    std::testing::NullResource(agentname="a", name="node-{{ self.name }}", int_value=self.level)
end
implement Node using below
implement SpecialNode using parents
implementation refine for Service:
    set = std::ResourceSet(name="s-{{ self.id }}")
    tint = self.is_vague ? std::get_env("FETTLE_ORACLE_SETS_NO_SUCH_VARIABLE") : self.colour
    shared = std::testing::NullResource(agentname="a", name="sh-{{ self.pool }}", value=tint)
    other = std::testing::NullResource(agentname="a", name="sh-{{ self.second }}", value=self.colour)
    if self.count > 0:
        main = std::testing::NullResource(agentname="a", name=self.main, value=tint)
        set.resources += main
        if self.needs_shared:
            main.requires += shared
        end
        if self.shared_needs:
            other.requires += main
        end
        for j in std::sequence(self.count - 1):
            more = std::testing::NullResource(agentname="a", name="o-{{ self.id }}-{{ j }}")
            more.requires += main
            set.resources += more
        end
    end
    if self.special:
        SpecialNode(name=self.pool, code=self.code, level=self.level)
    else:
        Node(name=self.pool, code=self.code, level=self.level)
    end
    node = Node[name=self.pool]
    if self.joins:
        node.members += self
    end
    if self.leads:
        node.leader = self
    end
end
implement Service using refine
std::testing::NullResource(agentname="a", name="rest", value="r")
)";

struct Service {
  int count = 1, pool = 0, second = 0, level = 0;
  std::string main, colour = "red", code;
  bool special = false, joins = false, leads = false, needs_shared = false, shared_needs = false;
  bool is_vague = false;  ///< its colour is unknown
};
using Services = std::map<int, Service>;

std::string text_of(const Services& services) {
  std::string text(definitions);
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  for (const auto& [id, one] : services)
    text += cat(
        "Service(id=", id, ", count=", one.count, ", main=\"", one.main, "\", colour=\"",
        one.colour, "\", pool=\"", one.pool, "\", second=\"", one.second, "\", code=\"", one.code,
        "\", level=", one.level, ", special=", flag(one.special), ", joins=", flag(one.joins),
        ", leads=", flag(one.leads), ", needs_shared=", flag(one.needs_shared),
        ", shared_needs=", flag(one.shared_needs), ", is_vague=", flag(one.is_vague), ")\n");
  return text;
}

/// How often services disagree in a history: in some never, in some often.
struct Swarm {
  unsigned odd;
  int pools;
  unsigned flags;
  unsigned vague = 0;  ///< services in a hundred that do not know their colour
  unsigned moves = 0;  ///< services with a resource of a few names, so that it moves between sets
};

class History {
 public:
  explicit History(uint64_t seed) : prng_(seed), more_(~seed) {
    swarm_ = {static_cast<unsigned>(prng_.below(3) * 6), static_cast<int>(2 + prng_.below(4)),
              static_cast<unsigned>(10 + prng_.below(40))};
    if (seed % 3 == 0)
      swarm_.vague = 5 + static_cast<unsigned>(more_.below(40));
    if (seed % 3 == 2)
      swarm_.moves = 30 + static_cast<unsigned>(more_.below(60));
    Result<std::unique_ptr<Store>> store = open_sqlite_store(":memory:");
    store_ = std::move(*store);
    place_.store = store_.get();
    place_.clock = [] { return Time(); };
    place_.random = [this] { return ++drawn_; };
  }

  Report run() {
    begin();
    const uint64_t edits = 3 + prng_.below(6);
    for (uint64_t i = 0; i < edits && report_.good; ++i)
      edit();
    return std::move(report_);
  }

 private:
  Service random_service(int id) {
    Service one;
    one.count = static_cast<int>(prng_.below(4));
    one.pool = static_cast<int>(prng_.below(static_cast<uint64_t>(swarm_.pools)));
    one.second = static_cast<int>(prng_.below(static_cast<uint64_t>(swarm_.pools)));
    one.main = prng_.chance(swarm_.odd) ? "same" : cat("main-", id);
    one.colour = prng_.chance(swarm_.odd) ? "blue" : "red";
    one.code = prng_.chance(swarm_.odd) ? "odd" : cat("code-", one.pool);
    one.level = prng_.chance(swarm_.odd) ? 1 : 0;
    one.special = prng_.chance(swarm_.odd);
    one.joins = prng_.chance(swarm_.flags);
    one.leads = prng_.chance(swarm_.odd * 2);
    one.needs_shared = prng_.chance(swarm_.flags);
    one.shared_needs = prng_.chance(swarm_.flags);
    one.is_vague = more_.chance(swarm_.vague);
    if (more_.chance(swarm_.moves))
      one.main = cat("roaming-", more_.below(4));
    return one;
  }

  /// A first, valid full export.
  void begin() {
    const int count = static_cast<int>(2 + prng_.below(4));
    for (int id = 0; id < count; ++id) {
      Services wanted = services_;
      wanted[id] = random_service(id);
      if (export_all(wanted).empty())
        services_ = std::move(wanted);
    }
    const std::string refused = push(services_, {}, "partial", false);
    if (!refused.empty())
      fail(cat("the first export is refused: ", refused), services_, {});
  }

  void edit() {
    Services wanted = services_, pushed;
    std::vector<std::string> removed;
    const uint64_t touched = 1 + prng_.below(3);
    for (uint64_t i = 0; i < touched; ++i) {
      const int id = static_cast<int>(prng_.below(8));
      if (pushed.contains(id))
        continue;
      if (wanted.contains(id) && prng_.chance(25)) {
        wanted.erase(id);
        removed.push_back(cat("s-", id));
      } else if (std::find(removed.begin(), removed.end(), cat("s-", id)) == removed.end()) {
        wanted[id] = pushed[id] = random_service(id);
      }
    }
    const std::string whole = export_all(wanted);
    const std::string part = push(pushed, removed, "partial", true);
    if (whole.empty() != part.empty())
      return fail(cat("one compile: ", whole.empty() ? "good" : whole,
                      "\npartial: ", part.empty() ? "good" : part),
                  wanted, pushed);
    if (!whole.empty()) {
      ++report_.refused;
      return;
    }
    ++report_.accepted;
    services_ = std::move(wanted);
    const std::string expected = state_of("full"), found = state_of("partial");
    if (expected != found)
      fail(cat("one compile:\n", expected, "partial:\n", found), services_, pushed);
  }

  std::string export_all(const Services& services) { return push(services, {}, "full", false); }

  /// Empty if it was accepted.
  std::string push(const Services& services, const std::vector<std::string>& removed,
                   const char* environment, bool is_partial) {
    const model::CompileResult compiled = model::compile("main.cf", text_of(services), {});
    if (!compiled.errors.empty())
      return compiled.errors.front().message;
    const Result<model::Declarations> types = model::declarations_of(*compiled.model, nullptr);
    if (!types)
      return types.error().message;
    ExportedModel made;
    Result<model::ExportResult> exported = model::export_model(*compiled.model, *types, true);
    if (!exported)
      return exported.error().message;
    made.exported = std::move(*exported);
    ExportRequest request;
    request.is_partial = is_partial;
    request.removed_sets = removed;
    Result<ModelPush> pushed = push_of(request, made);
    if (!pushed)
      return pushed.error().message;
    const Result<PushResult> done = push_version(place_, Name(environment), std::move(pushed->push),
                                                 std::move(pushed->claims), false);
    return done ? "" : done.error().message;
  }

  std::string state_of(const char* environment) {
    const Result<WholeVersion> whole = read_version(place_, Name(environment), std::nullopt);
    if (!whole)
      return to_string(whole.error());
    std::string text;
    for (const WholeItem& one : whole->items) {
      text += cat("  ", one.set, " ", one.item.id, " ", write_json(one.item.attributes));
      for (const Name& need : one.item.needs)
        text += cat(" ->", need);
      for (const Name& set : one.contributors)
        text += cat(" by ", set);
      text += "\n";
    }
    return text;
  }

  void fail(const std::string& problem, const Services& all, const Services& pushed) {
    report_.good = false;
    report_.problem = cat(problem, "\n--- everything\n", text_of(all).substr(definitions.size()),
                          "--- pushed\n", text_of(pushed).substr(definitions.size()));
  }

  Prng prng_;
  Prng more_;  ///< for features of only some histories
  Swarm swarm_{};
  std::unique_ptr<Store> store_;
  Workplace place_;
  uint64_t drawn_ = 0;
  Services services_;
  Report report_;
};

}  // namespace

Report check_history(uint64_t seed) { return History(seed).run(); }

}  // namespace fettle::oracle
