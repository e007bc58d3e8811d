/// States of packages that pip has installed: they are loaded when files, or what is remembered,
/// want them; and an example with plugins.

#include <cstdlib>

#include "tests/fixtures/states_fixture.h"

namespace fettle {
namespace {

/// A package in a folder of the search path. It leaves a mark when one of its files is read.
class StatesPackagesTest : public StatesTest {
 protected:
  void SetUp() override {
    StatesTest::SetUp();
    const char* const path = std::getenv("PYTHONPATH");
    former_ = path == nullptr ? "" : path;
    setenv("PYTHONPATH", at("site").c_str(), 1);
    put("site/shop_plugins/conf.py",
        "DYNE = {'states': ['states'], 'exec': ['exec'], 'acct': ['acct']}\n");
    put("site/shop_plugins/states/shop/item.py", cat("open('", at("read"), R"(', 'w').close()

def present(hub, ctx, name, id_: (str, "alias=id") = "none"):
    return {"result": True, "comment": ctx.acct.get("token", "no token"), "new_state": {"id_": id_}, "changes": {"id": id_}}

def absent(hub, ctx, name):
    return {"result": True, "comment": "taken away", "changes": {}}
)"));
    put("site/shop_plugins/states/shop/broken.py", "import no_such_module\n");
    put("site/shop_plugins/exec/shop.py",
        "def get(hub, ctx):\n    return {'result': True, 'ret': 'got'}\n");
  }
  void TearDown() override {
    if (former_.empty())
      unsetenv("PYTHONPATH");
    else
      setenv("PYTHONPATH", former_.c_str(), 1);
  }
  /// Whether the package has been read since the last time.
  bool was_read() const { return std::filesystem::remove(at("read")); }

 private:
  std::string former_;
};

TEST_F(StatesPackagesTest, AreReadWhenAFileWantsThem) {
  EXPECT_TRUE(apply("a: test.nop\n").errors.empty());
  EXPECT_FALSE(was_read());
  executor_.restart();
  StatesReport report = apply("a: {shop.item.present: [{id: i-1}]}\n");
  EXPECT_EQ(comment(report, "a"), R"("no token")");
  EXPECT_EQ(changes(report, "a"), R"({"id":"i-1"})");
  EXPECT_TRUE(was_read());
  executor_.restart();
  report = apply("a: {exec.run: [{path: shop.get}]}\n");
  EXPECT_EQ(write_json(entry(report, "a").at("new_state")), "\"got\"");
  EXPECT_TRUE(was_read());
}

TEST_F(StatesPackagesTest, WhatIsPrunedMayBeOfOneThatNoFileMentions) {
  static_cast<void>(apply("a: {shop.item.present: []}\nz: test.nop\n"));
  executor_.restart();
  request_.prune = true;
  EXPECT_EQ(comment(apply("z: test.nop\n"), "a"), R"("taken away")");
}

TEST_F(StatesPackagesTest, AFileThatCannotBeLoadedIsToldToWhoWantsIt) {
  StatesReport report = apply("a: {shop.item.present: []}\n");
  EXPECT_TRUE(report.warnings.empty());
  report = apply("a: {shop.broken.present: []}\n");
  ASSERT_FALSE(report.errors.empty());
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].message, "ModuleNotFoundError: No module named 'no_such_module'");
}

TEST_F(StatesPackagesTest, TheirPluginsMakeProfilesOfTheFileOfCredentials) {
  put("site/shop_plugins/acct/shop/login.py",
      "async def gather(hub, profiles):\n"
      "    return {name: {'token': 'made-of-' + one['key']} for name, one in "
      "profiles.get('shop', {}).items()}\n");
  request_.functions.credentials =
      *states::Credentials::read("shop: {default: {key: k3y-of-shop}}\n", "acct.yml", {});
  EXPECT_EQ(comment(apply("a: {shop.item.present: []}\n"), "a"), R"("********")");
  executor_.restart();
  const StatesReport report = apply("a: {shop.item.present: [{acct_profile: nobody}]}\n");
  EXPECT_NE(comment(report, "a").find("there is no profile `nobody`, only default"),
            std::string::npos)
      << comment(report, "a");
}

TEST_F(StatesPackagesTest, AnArgumentHasOneValueWhateverItsNames) {
  const StatesReport report = apply("a:\n  shop.item.present:\n  - id: i-1\n  - id_: i-2\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_EQ(report.errors[0].message,
            "`id` and `id_` are the same argument of shop.item.present: leave one of them out");
  EXPECT_EQ(report.errors[0].where.line, 4);
}

constexpr const char* disk = R"py(
__contracts__ = ["auto_state"]

def get(hub, ctx, name, resource_id=None):
    found = {"name": name, "resource_id": resource_id, "size": 5} if resource_id else None
    return {"result": True, "ret": found, "comment": []}

def list_(hub, ctx):
    return {"result": True, "ret": [], "comment": []}

def create(hub, ctx, name, size, resource_id=None):
    return {"result": True, "ret": {"resource_id": "d-" + name}, "comment": []}

def update(hub, ctx, name, resource_id, **kwargs):
    return {"result": True, "ret": None, "comment": [f"changed {sorted(kwargs)}"]}

def delete(hub, ctx, name, resource_id):
    return {"result": True, "ret": None, "comment": []}

__func_alias__ = {"list_": "list"}
)py";

TEST_F(StatesPackagesTest, AutoStateMayNameItsExecModuleInTheFile) {
  StatesReport report = apply("a: {auto_state.present: [{exec_mod_ref: shop.disk}, {size: 5}]}\n");
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_NE(report.errors[0].message.find("Could not find function to enforce auto_state"),
            std::string::npos);
  put("site/shop_plugins/exec/shop/disk.py", disk);
  const char* const made = "a: {auto_state.present: [{exec_mod_ref: shop.disk}, {size: 5}]}\n";
  EXPECT_NE(comment(apply(made), "a").find("Created 'shop.disk:a'"), std::string::npos);
  executor_.restart();
  EXPECT_EQ(comment(apply(made), "a"), R"(["'shop.disk:a' already exists"])");
  executor_.restart();
  EXPECT_EQ(comment(apply("a: {auto_state.absent: [{exec_mod_ref: shop.disk}]}\n"), "a"),
            R"(["Deleted 'shop.disk:a'"])");
  executor_.restart();
  EXPECT_NE(comment(apply("b: {auto_state.present: [{exec_mod_ref: shop.item}]}\n"), "b")
                .find("`exec_mod_ref` must name an exec module with `auto_state`, not 'shop.item'"),
            std::string::npos);
}

TEST_F(StatesPackagesTest, WhatExistsNeedsNothingThatIsRequiredToMakeIt) {
  put("site/shop_plugins/exec/shop/disk.py", disk);
  StatesReport report = apply("a: {shop.disk.present: []}\n");
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.errors[0].message,
            "states.shop.disk.present is missing required argument(s): size");
  EXPECT_EQ(comment(apply("a: {shop.disk.present: [{resource_id: d-1}]}\n"), "a"),
            R"(["'shop.disk:a' already exists"])");
  const StatesReport made = apply("b: {shop.disk.present: [{size: 5}]}\n");
  EXPECT_NE(comment(made, "b").find("Created 'shop.disk:b'"), std::string::npos);
  executor_.restart();
  EXPECT_EQ(comment(apply("b: {shop.disk.present: []}\n"), "b"),
            R"(["'shop.disk:b' already exists"])");
  report = apply("a: {shop.disk.present: [{resource_id: null}]}\n");
  EXPECT_EQ(report.errors.size(), 1u);
}

TEST_F(StatesPackagesTest, PluginsAreToldOfTheProfileOfTheRun) {
  put("site/shop_plugins/exec/shop/told.py",
      "def get(hub, ctx):\n"
      "    return {'result': True, 'ret': hub.OPT.idem.acct_profile, 'comment': []}\n");
  const auto told = [this] {
    executor_.restart();
    return write_json(
        entry(apply("a: {exec.run: [{path: shop.told.get}]}\n"), "a").at("new_state"));
  };
  EXPECT_EQ(told(), R"("default")");
  request_.functions.acct_profile = "other";
  EXPECT_EQ(told(), R"("other")");
}

TEST_F(StatesPackagesTest, APreviewHasWhatFunctionsRead) {
  put("site/shop_plugins/exec/shop/told.py",
      "def get(hub, ctx):\n    return {'result': True, 'ret': {'id': 'i-7'}, 'comment': []}\n");
  request_.is_test = true;
  const StatesReport report = apply(
      "found: {exec.run: [{path: shop.told.get}]}\n"
      "a: {shop.item.present: [{id: '${exec:found:id}'}]}\n");
  EXPECT_EQ(changes(report, "a"), R"({"id":"i-7"})");
}

TEST_F(StatesTest, WhatIsRememberedUnderAnotherNameIsTheSameArgument) {
  put("states/again.py", R"(
def present(hub, ctx, name, id_: (str, "alias=id")):
    return {"result": True, "comment": id_, "new_state": {"id": id_}, "changes": {}}
)");
  EXPECT_EQ(comment(apply("a: {again.present: [{id: i-1}]}\n"), "a"), R"("i-1")");
  executor_.restart();
  EXPECT_EQ(comment(apply("a: {again.present: [{id: i-2}]}\n"), "a"), R"("i-2")");
  executor_.restart();
  EXPECT_EQ(comment(apply("a: {again.present: []}\n"), "a"), R"("i-2")");
}

/// The example of the manual.
TEST_F(StatesTest, AnExampleMakesMembersOfAClub) {
  const Path example = cat(FETTLE_SOURCE_DIR, "/examples/members");
  for (const char* part : {"exec", "acct", "tool"})
    std::filesystem::copy(example / part, at(part), std::filesystem::copy_options::recursive);
  const std::string file = at("members.json");
  request_.functions.credentials = *states::Credentials::read(
      cat("club: {default: {place: '", file, "', word: open sesame}}\n"), "acct.yml", {});
  const std::string site = *read_file(example / "site.sls");
  const auto emails = [&] {
    std::string found;
    const Value members = *read_json(*read_file(file));
    for (const Entry& member : members.entries())
      found += cat(member.key, " ", member.value.text_at("email"), " ",
                   member.value.text_at("level"), "\n");
    return found;
  };
  StatesReport report = apply(site);
  EXPECT_EQ(report.exit_code(), 0);
  EXPECT_EQ(emails(), "m-1 ada@example.org silver\nm-2 grace@example.org gold\n");
  executor_.restart();
  report = apply(replace_all(site, "ada@example.org", "ada@example.com"));
  EXPECT_EQ(report.exit_code(), 0);
  EXPECT_EQ(changes(report, "ada"),
            R"({"new":{"email":"ada@example.com"},"old":{"email":"ada@example.org"}})");
  EXPECT_EQ(changes(report, "grace"), "{}");
  executor_.restart();
  report = apply("eve: {club.member.present: [{email: nobody}]}\n");
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_NE(comment(report, "eve").find("is refused by a contract: `nobody` is no address"),
            std::string::npos)
      << comment(report, "eve");
}

}  // namespace
}  // namespace fettle
