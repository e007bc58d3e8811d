/// Runs of packages that die at any call of their store, under both resolvers: the next run comes
/// to what its package describes, with each command done once in each container.

#include "sim/fault_sweep.h"
#include "tests/fixtures/package_fixture.h"

namespace fettle {
namespace {

using sim::Fault;
using sim::FaultyStore;

class KilledRun : public RunPackageTest,
                  public testing::WithParamInterface<PackageRequest::Resolver> {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    request_.resolver = GetParam();
  }

  /// Another version of a service in the middle, with what was done in it.
  static std::string script(const std::string& image) {
    return add("before") + add("s", image) + exec("s", "x") + exec("s", "y " + image) +
           add("after") + exec("after", "z");
  }

  void expect_world(const std::string& image, size_t at) {
    ASSERT_EQ(engine_.containers.size(), 3u) << at;
    EXPECT_EQ(engine_.containers["s"].image, image) << "died at call " << at;
    EXPECT_EQ(engine_.containers["s"].commands, (std::vector<std::string>{"x", "y " + image}))
        << "died at call " << at;
    EXPECT_EQ(engine_.containers["after"].commands, std::vector<std::string>{"z"})
        << "died at call " << at;
  }

  /// Runs with one version, with another until it dies, and with `then`.
  void die_and_run(const std::string& then) {
    size_t at = 0;
    const size_t calls = sim::fault_sweep(Fault::Moment::death, [&](Fault& fault) {
      ++at;
      request_.environment = cat("e", at);
      engine_.containers.clear();
      ASSERT_EQ(run(script("a")), "RRRRRR") << at;
      FaultyStore dying(home_.store(), fault);
      place_.store = &dying;
      run(script("b"));
      fault.heal();
      place_.store = &home_.store();
      const std::string letters = run(script(then));
      EXPECT_EQ(letters.find_first_not_of("RS"), letters.npos)
          << letters << ", died at call " << at;
      expect_world(then, at);
      EXPECT_EQ(run(script(then)), "SSSSSS") << "died at call " << at;
    });
    EXPECT_GT(calls, 10u);
  }
};
INSTANTIATE_TEST_SUITE_P(Resolver, KilledRun,
                         testing::Values(PackageRequest::Resolver::keys,
                                         PackageRequest::Resolver::overlap));

TEST_P(KilledRun, GoesOnWhereItDied) { die_and_run("b"); }

TEST_P(KilledRun, IsUndoneByAnotherRunOfTheVersionBefore) { die_and_run("a"); }

TEST_P(KilledRun, KeepsWhatWasDoneOfAListThatGrew) {
  size_t at = 0, most_skipped = 0;
  sim::fault_sweep(Fault::Moment::death, [&](Fault& fault) {
    request_.environment = cat("e", ++at);
    engine_.containers.clear();
    FaultyStore dying(home_.store(), fault);
    place_.store = &dying;
    run(script("a"));
    const bool died = fault.has_hit();
    fault.heal();
    place_.store = &home_.store();
    const std::string letters = run(script("a"));
    if (died)
      most_skipped = std::max(most_skipped, size_t(std::ranges::count(letters, 'S')));
    expect_world("a", at);
    EXPECT_EQ(run(script("a")), "SSSSSS") << "died at call " << at;
  });
  EXPECT_EQ(most_skipped, 6u) << "nothing that was recorded is done again";
}

}  // namespace
}  // namespace fettle
