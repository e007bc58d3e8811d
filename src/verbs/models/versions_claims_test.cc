/// What models add to pushes, over a real store: resources that sets share, and claims.

#include <map>
#include <set>

#include "tests/fixtures/versions_fixture.h"

namespace fettle {
namespace {

/// What models add: who shares what, and claims.
class ClaimsTest : public VersionsTest {
 protected:
  struct Model {
    bool is_partial = false;
    std::string text;
    std::vector<Share> shares;
    std::vector<SetClaim> claims;
    std::vector<Name> removed;
  };
  std::string send_model(const Model& model) {
    Push push = *read_push(document(model.text, {{"partial", model.is_partial}}, 0));
    push.removed = model.removed;
    return send(push, {model.shares, model.claims});
  }
  static Share share(const char* set, const char* name, std::vector<const char*> needs = {}) {
    Share made{Name(id_of(name)), set, {}};
    for (const char* need : needs)
      made.needs.emplace_back(id_of(need));
    return made;
  }
  std::set<std::string> known_;  ///< environments that have their first version
  static SetClaim claim(const char* set, const char* key, const char* value, uint64_t limit = 0) {
    return {set,
            {key, Name(value).digest(), value, "main.cf:1:1",
             limit == 0 ? Claim::Rule::same : Claim::Rule::bounded, limit}};
  }
};

TEST_F(ClaimsTest, TheSoleContributorMayChangeAndTheLastOneGoneRemoves) {
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1 -:s=1", {share("a", "s"), share("b", "s")}, {}, {}}),
            "v1");
  expect_in(send_model({true, "a:r1=1 -:s=2", {share("a", "s")}, {}, {}}),
            "without a resource set cannot be updated via a partial compile; set `b` shares it; "
            "`value` is \"1\" there and \"2\" here");
  EXPECT_EQ(send_model({true, "", {}, {}, {"b"}}), "v2");
  EXPECT_EQ(state(), "-:s=1 a:r1=1");
  EXPECT_EQ(send_model({true, "a:r1=1 -:s=2", {share("a", "s")}, {}, {}}), "v3");
  EXPECT_EQ(state(), "-:s=2 a:r1=1");
  EXPECT_EQ(send_model({true, "a:r1=1", {}, {}, {}}), "v4");
  EXPECT_EQ(state(), "a:r1=1");
  EXPECT_EQ(diff(3, 4), "-s");
  EXPECT_EQ(diff(1, 4), "-s -r2");
}

TEST_F(ClaimsTest, AllContributorsTogetherMayChange) {
  const std::vector<Share> both{share("a", "s"), share("b", "s")};
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1 c:r3=1 -:s=1", both, {}, {}}), "v1");
  EXPECT_EQ(send_model({true, "a:r1=1 b:r2=1 -:s=2", both, {}, {}}), "v2");
  EXPECT_EQ(state(), "-:s=2 a:r1=1 b:r2=1 c:r3=1");
}

TEST_F(ClaimsTest, EdgesAreOfThoseWhoSayThem) {
  EXPECT_EQ(send_model({false,
                        "a:r1=1 b:r2=1 -:s=1>r1,r2",
                        {share("a", "s", {"r1"}), share("b", "s", {"r2"})},
                        {},
                        {}}),
            "v1");
  EXPECT_EQ(send_model({true, "b:r2=1 -:s=1", {share("b", "s")}, {}, {}}), "v2");
  EXPECT_EQ(state(), "-:s=1>r1 a:r1=1 b:r2=1");
  EXPECT_EQ(send_model({true, "", {}, {}, {"a"}}), "v3");
  EXPECT_EQ(state(), "-:s=1 b:r2=1");
}

TEST_F(ClaimsTest, ContradictionsNameBothSetsAndPlaces) {
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1", {}, {claim("a", "Host(id=1)", "x")}, {}}), "v1");
  EXPECT_EQ(
      send_model({true, "b:r2=1", {}, {claim("b", "Host(id=1)", "y")}, {}}),
      "Could not combine set `b` with set `a`: Host(id=1) has y in set `b` (main.cf:1:1) and x "
      "in set `a` (main.cf:1:1)");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "Host(id=1)", "x")}, {}}), "v2");
  EXPECT_EQ(send_model({true, "a:r1=1", {}, {claim("a", "Host(id=2)", "x")}, {}}), "v3");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "Host(id=1)", "y")}, {}}), "v4");
}

TEST_F(ClaimsTest, BoundsCountTheMembersOfAllSets) {
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1", {}, {claim("a", "S(n=1).two", "x", 2)}, {}}), "v1");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "S(n=1).two", "y", 2)}, {}}), "v2");
  expect_in(send_model({true, "c:r3=1", {}, {claim("c", "S(n=1).two", "z", 2)}, {}}),
            "S(n=1).two takes at most 2 elements");
  EXPECT_EQ(send_model({true, "c:r3=1", {}, {claim("c", "S(n=1).two", "x", 2)}, {}}), "v3");
  EXPECT_EQ(send_model({true, "", {}, {}, {"b"}}), "v4");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "S(n=1).two", "z", 2)}, {}}), "v5");
  // `b` is pushed as it was and still counts.
  expect_in(send_model({true,
                        "b:r2=1 d:r4=1",
                        {},
                        {claim("b", "S(n=1).two", "z", 2), claim("d", "S(n=1).two", "w", 2)},
                        {}}),
            "S(n=1).two takes at most 2 elements");
}

/// Counts what a commit reads of the newest version.
class CountingSnapshot : public Snapshot {
 public:
  explicit CountingSnapshot(std::unique_ptr<Snapshot> of) : of_(std::move(of)) {}
  uint64_t number() const override { return of_->number(); }
  const Value& detail() const override { return of_->detail(); }
  Result<ContentPointer> content(const Piece& piece) const override {
    ++reads;
    return of_->content(piece);
  }
  Result<std::optional<Digest>> digest(const Piece& piece) const override {
    ++reads;
    return of_->digest(piece);
  }
  Status holders(Digest key, const std::function<Go(Digest, const Piece&)>& visit) const override {
    ++reads;
    return of_->holders(key, [&](Digest value, const Piece& piece) {
      ++reads;
      return visit(value, piece);
    });
  }
  Status holders_of(IdentityEntry holding,
                    const std::function<Go(const Piece&)>& visit) const override {
    ++reads;
    return of_->holders_of(holding, [&](const Piece& piece) {
      ++reads;
      return visit(piece);
    });
  }
  Result<std::vector<Piece>> touched_since(uint64_t number) const override {
    return of_->touched_since(number);
  }
  Result<std::vector<std::pair<Piece, Digest>>> pieces() const override { return of_->pieces(); }

  mutable int reads = 0;

 private:
  std::unique_ptr<Snapshot> of_;
};

/// However many sets there are: a shared resource needs one of each, and another one needs the
/// shared one. Sets are replaced, grow, come and go.
TEST_F(ClaimsTest, ACommitReadsNoMoreWhenASharedResourceNeedsOneOfEachSet) {
  const auto set_of = [](size_t i, bool by_rest, Model& model) {
    const std::string one = cat("r", i), other = cat("u", i);
    model.text += cat(" s", i, ":", one, "=1 s", i, ":", other, "=1>s");
    if (by_rest)
      return one;
    model.shares.push_back({Name(id_of("s")), Name(cat("s", i)), {Name(id_of(one))}});
    model.shares.push_back({Name(id_of("t")), Name(cat("s", i)), {Name(id_of(other))}});
    return one;
  };
  const auto whole = [&](std::vector<size_t> numbers, bool is_partial, bool by_rest) {
    Model model{is_partial, "", {}, {}, {}};
    std::vector<std::string> ones, others;
    for (const size_t i : numbers) {
      ones.push_back(set_of(i, by_rest, model));
      others.push_back(cat("u", i));
    }
    model.text += cat(" -:s=1>", join(ones, ","), " -:t=1>", join(others, ","));
    return model;
  };
  const auto reads = [&](size_t count, bool by_rest, const Model& model) {
    std::vector<size_t> all(count);
    for (size_t i = 0; i < count; ++i)
      all[i] = i;
    const std::string environment = cat("e", count, by_rest ? "r" : "s");
    const Model base = whole(all, false, by_rest);
    if (!known_.contains(environment)) {
      Push push = *read_push(document(base.text, {{"partial", false}}, 0));
      EXPECT_EQ(send(push, {base.shares, {}}, environment), "v1");
      known_.insert(environment);
    }
    const CountingSnapshot newest(std::move(*store_->versions().open(environment, {})));
    Push push = *read_push(document(model.text, {{"partial", true}}, 0));
    push.removed = model.removed;
    const Result<Commit> made = commit(newest, push, {model.shares, {}});
    EXPECT_TRUE(made.has_value()) << to_string(made.error());
    return newest.reads;
  };
  for (const bool by_rest : {false, true}) {
    Model grown = whole({3}, true, by_rest), gone{true, "", {}, {}, {"s4"}};
    grown.text += " s3:more=1>s";
    for (const Model& model : {whole({3}, true, by_rest), whole({9999}, true, by_rest), grown, gone,
                               whole({3, 4, 9999}, true, by_rest)})
      EXPECT_EQ(reads(300, by_rest, model), reads(30, by_rest, model)) << model.text;
  }
}

/// Random pushes of what three sets contribute: refused exactly when all of it together has a
/// circle, and what is told of shared resources is what a walk over everything finds.
TEST_F(ClaimsTest, CirclesAndChangesAreThoseOfAllSetsTogether) {
  using Needs = std::map<std::string, std::set<std::string>>;
  struct DeclaredNeeds {
    Needs owned, shared;
  };
  uint64_t seed = 20;
  const auto below = [&](uint64_t end) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % end;
  };
  const auto graph_of = [](const std::map<std::string, DeclaredNeeds>& sets) {
    Needs all;
    for (const auto& [set, said] : sets)
      for (const Needs* needs : {&said.owned, &said.shared})
        for (const auto& [name, targets] : *needs)
          all[name].insert(targets.begin(), targets.end());
    return all;
  };
  const auto has_circle = [](const Needs& graph) {
    std::vector<Item> items;
    for (const auto& [name, needs] : graph)
      items.push_back({Name(name), {}, {needs.begin(), needs.end()}, {}});
    return find_cycle(items).has_value();
  };
  const auto random_set = [&](const std::string& set) {
    DeclaredNeeds said;
    for (const char* name : {"s", "t", "v"})
      if (below(3) != 0)
        said.shared[name];
    for (uint64_t i = 0; i < 1 + below(3); ++i)
      said.owned[cat(set, i)];
    std::vector<std::string> names;
    for (const Needs* of : {&said.owned, &said.shared})
      for (const auto& [name, needs] : *of)
        names.push_back(name);
    for (Needs* of : {&said.owned, &said.shared})
      for (auto& [name, needs] : *of)
        for (const std::string& other : names)
          if (other != name && below(6) == 0)
            needs.insert(other);
    return said;
  };
  std::map<std::string, DeclaredNeeds> sets;
  ASSERT_EQ(full("z:z0=1"), "v1");
  int refused = 0, told = 0;
  for (int step = 0; step < 600; ++step) {
    const std::string set(1, static_cast<char>('a' + below(4)));
    auto after = sets;
    Model model{true, "", {}, {}, {}};
    if (sets.contains(set) && below(4) == 0) {
      after.erase(set);
      model.removed.emplace_back(set);
    } else {
      const DeclaredNeeds& said = after[set] = random_set(set);
      const auto add = [&](std::string_view of, const auto& resource) {
        model.text += cat(" ", of, ":", resource.first, "=1");
        if (!resource.second.empty())
          model.text += cat(
              ">",
              join(std::vector<std::string>(resource.second.begin(), resource.second.end()), ","));
      };
      for (const auto& resource : said.owned)
        add(set, resource);
      for (const auto& resource : said.shared) {
        add("-", resource);
        Share share{Name(id_of(resource.first)), Name(set), {}};
        for (const std::string& need : resource.second)
          share.needs.emplace_back(id_of(need));
        model.shares.push_back(share);
      }
    }
    Push push = *read_push(document(model.text, {{"partial", true}}, 0));
    push.removed = model.removed;
    now_ += 1s;
    const Result<PushResult> pushed = push_version(place_, "e", push, {model.shares, {}}, false);
    const Needs before = graph_of(sets), now = graph_of(after);
    ASSERT_EQ(!pushed.has_value(), has_circle(now)) << step << model.text;
    if (!pushed) {
      expect_in(pushed.error().message, "Dependency cycle: ");
      ++refused;
      continue;
    }
    std::set<std::string> changed, expected;
    for (const SetChange& change : pushed->changes)
      if (change.set.empty())
        for (const Name& id : change.changed)
          changed.insert(short_name(id));
    for (const auto& [name, needs] : now)
      if (name.size() == 1 && before.contains(name) && before.at(name) != needs)
        expected.insert(name);
    ASSERT_EQ(changed, expected) << step << model.text;
    told += static_cast<int>(expected.size());
    sets = std::move(after);
  }
  EXPECT_GT(refused, 30);
  EXPECT_GT(told, 100);
}
}  // namespace
}  // namespace fettle
