/// Random graphs of states with requisites, waits, failures, drift and kills, on a clock of their
/// own, beside what their requisites say.

#include <filesystem>

#include "base/prng.h"
#include "tests/fixtures/sanitized.h"
#include "tests/fixtures/states_fixture.h"

namespace fettle {
namespace {

/// A sanitizer finds as much in a few graphs as in many.
constexpr uint64_t seeds = is_sanitized ? 35 : 100;

/// A thing that is there or not, and may take several calls until it is.
constexpr std::string_view module = R"(
def present(ctx, name, ready = 1, fails = False, quiet = False):
    there = files.read("@/" + name + ".there")
    if ctx.test:
        return {"result": True, "comment": "", "changes": {} if there or quiet else {"new": {"a": 1}}}
    calls = int(files.read("@/" + name + ".calls") or "0") + 1
    files.write("@/" + name + ".calls", str(calls))
    files.write("@/order", (files.read("@/order") or "") + name + "\n")
    if there:
        return {"result": True, "comment": "there", "changes": {}}
    if fails or calls < ready:
        return {"result": False, "comment": "not yet", "changes": {}}
    files.write("@/" + name + ".there", "yes")
    return {"result": True, "comment": "", "changes": {} if quiet else {"new": {"a": 1}}}
)";

struct Requisite {
  std::string name;  ///< `require`, `onchanges_any`
  std::vector<size_t> targets;
};

struct Thing {
  int ready = 1;  ///< the call in which it is made
  bool fails = false, quiet = false, is_slow = false;
  std::vector<Requisite> requisites;
};

/// What becomes of a thing.
enum class End { good, failed, blocked, unmet };

class RandomStates : public StatesTest {
 protected:
  void SetUp() override {
    StatesTest::SetUp();
    const std::string text = replace_all(module, "@", folder_->path().string());
    put("states/quick.star", text);
    put("states/slow.star",
        cat("__reconcile_wait__ = {\"static\": {\"wait_in_seconds\": 2}}\n", text));
  }

  static std::string name_of(size_t i) { return cat("s", i); }
  static std::string id_of(size_t i, const Thing& thing) {
    return cat(thing.is_slow ? "slow" : "quick", ": ", name_of(i));
  }

  static std::vector<Thing> draw(Prng& prng) {
    std::vector<Thing> things(2 + prng.below(9));
    for (size_t i = 0; i < things.size(); ++i) {
      Thing& thing = things[i];
      thing.ready = prng.chance(30) ? 1 + static_cast<int>(prng.below(3)) : 1;
      thing.fails = prng.chance(15);
      thing.quiet = prng.chance(30);
      thing.is_slow = prng.chance(20);
      constexpr std::array<const char*, 6> names{"require",   "require", "require_any",
                                                 "onchanges", "onfail",  "onchanges_any"};
      for (uint64_t n = i == 0 ? 0 : prng.below(3); n > 0; --n) {
        Requisite requisite{names[prng.below(names.size())], {}};
        for (uint64_t t = 1 + prng.below(2); t > 0; --t)
          requisite.targets.push_back(prng.below(i));
        if (std::ranges::find(thing.requisites, requisite.name, &Requisite::name) ==
            thing.requisites.end())
          thing.requisites.push_back(std::move(requisite));
      }
    }
    return things;
  }

  static std::string text_of(const std::vector<Thing>& things) {
    std::string text;
    for (size_t i = 0; i < things.size(); ++i) {
      const Thing& thing = things[i];
      text += cat(name_of(i), ":\n  ", thing.is_slow ? "slow" : "quick",
                  ".present:\n    - ready: ", thing.ready,
                  "\n    - fails: ", thing.fails ? "true" : "false",
                  "\n    - quiet: ", thing.quiet ? "true" : "false", "\n");
      for (const Requisite& requisite : thing.requisites) {
        text += cat("    - ", requisite.name, ":\n");
        for (const size_t target : requisite.targets)
          text += cat("      - ", id_of(target, things[target]), "\n");
      }
    }
    return text;
  }

  struct Expectation {
    std::vector<End> ends;
    std::vector<bool> owes;  ///< an answer to a change that came when it failed or was held back
  };

  /// What the requisites say, for things of which some are there, and some owe an answer to a
  /// change. What requires only what was not needed is not needed, either.
  static Expectation expected(const std::vector<Thing>& things, const std::vector<bool>& there,
                              const std::vector<bool>& owes) {
    std::vector<End> ends;
    std::vector<bool> changed, owes_now;
    for (size_t i = 0; i < things.size(); ++i) {
      bool is_blocked = false, is_unmet = false, awaits = false, is_called_for = true;
      for (const Requisite& requisite : things[i].requisites) {
        const bool is_any = requisite.name.ends_with("_any");
        const auto holds = [&](const auto& is_so) {
          return is_any ? std::ranges::any_of(requisite.targets, is_so)
                        : std::ranges::all_of(requisite.targets, is_so);
        };
        const auto is_good = [&](size_t target) { return ends[target] == End::good; };
        const auto has_changed = [&](size_t target) { return changed[target]; };
        const auto has_failed = [&](size_t target) {
          return ends[target] == End::failed || ends[target] == End::blocked;
        };
        if (requisite.name.starts_with("require")) {
          is_blocked |= !holds(is_good) && std::ranges::any_of(requisite.targets, has_failed);
          is_unmet |= !holds(is_good);
        } else if (requisite.name.starts_with("onchanges")) {
          awaits = true;
          is_called_for &= holds(has_changed);
          is_unmet |= !holds(
              [&](size_t target) { return is_good(target) && (changed[target] || owes[i]); });
        } else {
          is_called_for &= holds(has_failed);
          is_unmet |= !holds(has_failed);
        }
      }
      const End end = is_blocked                     ? End::blocked
                      : is_unmet                     ? End::unmet
                      : things[i].fails && !there[i] ? End::failed
                                                     : End::good;
      ends.push_back(end);
      changed.push_back(end == End::good && !there[i] && !things[i].quiet);
      owes_now.push_back(end == End::failed || (end == End::blocked && awaits && is_called_for) ||
                         (end != End::good && owes[i]));
    }
    return {ends, owes_now};
  }

  bool exists(size_t i, std::string_view what) const {
    return file_exists(at(cat(name_of(i), ".", what)));
  }

  std::vector<bool> there(const std::vector<Thing>& things) const {
    std::vector<bool> found;
    for (size_t i = 0; i < things.size(); ++i)
      found.push_back(exists(i, "there"));
    return found;
  }

  void forget_calls(const std::vector<Thing>& things) {
    for (size_t i = 0; i < things.size(); ++i)
      std::filesystem::remove(at(cat(name_of(i), ".calls")));
    std::filesystem::remove(at("order"));
  }

  /// Whether each was called as it should, and none before what it requires was made.
  void check(const std::vector<Thing>& things, const std::vector<End>& ends,
             const StatesReport& report) {
    const std::vector<std::string> order = lines_of(read_file(at("order")).value_or(""));
    const auto last_call = [&](size_t i) {
      return std::ranges::find(order.rbegin(), order.rend(), name_of(i)) - order.rbegin();
    };
    for (size_t i = 0; i < things.size(); ++i) {
      const bool is_called = ends[i] == End::good || ends[i] == End::failed;
      EXPECT_EQ(exists(i, "calls"), is_called) << name_of(i);
      EXPECT_EQ(word(report, name_of(i)), ends[i] == End::good ? "True" : "False")
          << name_of(i) << ": " << comment(report, name_of(i));
      for (const Requisite& requisite : things[i].requisites)
        if (requisite.name == "require" && is_called) {
          for (const size_t target : requisite.targets)
            EXPECT_GT(last_call(target), last_call(i)) << name_of(target) << " " << name_of(i);
        }
    }
  }

  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (const std::string_view line : split(text, '\n'))
      if (!line.empty())
        lines.emplace_back(line);
    return lines;
  }

  /// A state that is not ready is asked again after its wait, not before.
  void check_pauses() {
    std::map<std::string, Instant> asked;
    for (size_t i = 0; i < executor_.log.size(); ++i) {
      const std::string& line = executor_.log[i];
      const auto before = asked.find(line);
      const Duration pause = line.find("slow_|-") != line.npos ? Duration(2s) : Duration(100ms);
      if (before != asked.end()) {
        EXPECT_GE(executor_.began[i] - before->second, pause) << line;
      }
      asked[line] = executor_.began[i];
    }
  }

  /// When nobody interferes, two more runs change nothing but what had been taken away, and the
  /// second one nothing at all.
  void check_settled(const std::string& text, size_t count) {
    static_cast<void>(carry(text));
    const StatesReport first = carry(text);
    const StatesReport second = carry(text);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(changes(second, name_of(i)), "{}") << name_of(i);
      EXPECT_EQ(word(second, name_of(i)), word(first, name_of(i))) << name_of(i);
    }
  }

  std::string history_;  ///< the acts of all runs of a graph

  StatesReport carry(const std::string& text) {
    executor_.restart();
    executor_.log.clear();
    executor_.began.clear();
    StatesReport report = apply(text);
    check_pauses();
    return report;
  }
};

TEST_F(RandomStates, ComeToWhatTheirRequisitesSayWhateverHappens) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Prng prng(seed);
    std::vector<Thing> things = draw(prng);
    // What was under way when a run was killed counts as changed, for it may have been.
    const bool is_killed = prng.chance(50);
    for (Thing& thing : things)
      thing.quiet &= !is_killed;
    const std::string text = text_of(things);
    SCOPED_TRACE(cat("seed ", seed, "\n", text));
    environment_ = cat("e", seed);
    history_.clear();
    forget_calls(things);
    for (size_t i = 0; i < 11; ++i)
      std::filesystem::remove(at(cat(name_of(i), ".there")));
    std::vector<bool> owes(things.size());
    for (int run = 0; run < 3 && !HasFailure(); ++run) {
      const Expectation now = expected(things, there(things), owes);
      const std::vector<End>& ends = now.ends;
      owes = now.owes;
      StatesReport report;
      int kills = is_killed && run == 0 ? 1 + static_cast<int>(prng.below(3)) : 0;
      do {
        executor_.leave_after = kills-- > 0 ? static_cast<int>(prng.below(8)) : -1;
        report = carry(text);
        history_ += cat(report.is_stopped ? "; killed after " : "; ", join(executor_.log, ", "));
      } while (report.is_stopped);
      SCOPED_TRACE(cat("run ", run, history_));
      check(things, ends, report);
      EXPECT_LE(took_, 30s * things.size());
      // Somebody takes some of it away.
      for (size_t i = 0; i < things.size(); ++i)
        if (prng.chance(25))
          std::filesystem::remove(at(cat(name_of(i), ".there")));
      forget_calls(things);
    }
    check_settled(text, things.size());
    if (HasFailure())
      return;
  }
}

}  // namespace
}  // namespace fettle
