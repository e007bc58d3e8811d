// A whole run, and nothing that is told of it holds a quoted_secret.

#include "verbs/packages/secrets.h"

#include "tests/fixtures/package_fixture.h"
#include "verbs/environments/explain.h"
#include "verbs/environments/images.h"

namespace fettle {
namespace {

constexpr std::string_view quoted_secret = "hunter2-\"quoted\"";

/// Writes down everything that it is told.
class Listener : public PackageAudience {
 public:
  void began(const Statement& statement, size_t, size_t) override {
    said += cat(statement.text, "\n", to_text(statement.detail), "\n");
  }
  void ended(const StatementReport& report) override {
    said += cat(report.result, "\n", report.why, "\n");
  }
  void progress(const Key&, const Progress& progress) override { said += progress.text + "\n"; }
  void event(const Event& event) override {
    said += cat(event.text, "\n", to_text(event.detail), "\n");
  }
  std::string said;
};

class SecretsTest : public RunPackageTest {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    request_.arguments = write_json(Value::dict(
        {{"db", Value::dict({{"dbPassword", quoted_secret}, {"user", "bob"}})}, {"image", "a"}}));
    place_.command = cat("fettle ", mask_command({"run", "x", request_.arguments}));
  }

  void write_script(const std::string& body) {
    write("script.star", cat("def run(plan, args):\n  password = args[\"db\"][\"dbPassword\"]\n"
                             "  image = args[\"image\"]\n",
                             body));
    request_.package = folder_ + "/script.star";
  }
  /// Everything that a run tells, reports and stores as an event.
  std::string told(const std::string& body) {
    write_script(body);
    place_.mask = std::make_shared<Mask>();
    Listener listener;
    const auto report = run_package(place_, request_, listener);
    std::string text = listener.said;
    if (!report)
      return text + everything_of(report.error());
    for (const StatementReport& statement : report->statements)
      text += cat(statement.statement->text, "\n", to_text(statement.statement->detail), "\n",
                  statement.result, "\n", statement.why, "\n");
    for (const Failure& failure : report->summary.failures)
      text += everything_of(failure.error);
    for (const std::string& warning : report->warnings)
      text += warning + "\n";
    return text + stored();
  }
  static std::string everything_of(const Error& error) {
    return cat(to_string(error), "\n", error.excerpt, "\n", join(error.trace, "\n"), "\n");
  }
  /// What `events`, `why` and `show` read in a later process.
  std::string stored() {
    std::string text;
    const std::vector<Event> events = *home_.store().events("e", 0, 10'000);
    for (const Event& event : events)
      text += cat(event.text, "\n", to_text(event.detail), "\n");
    const Known known = *home_.store().known("e");
    for (const auto& [key, record] : known) {
      const std::vector<Cause> causes = *why(place_, "e", key);
      for (const Cause& cause : causes)
        text += cat(to_string(cause), "\n", outcome_text(cause), "\n");
      if (record->attempt)
        text += record->attempt->error + "\n";
    }
    return text;
  }
  static void expect_hidden(const std::string& text) {
    EXPECT_EQ(text.find("hunter2"), text.npos) << text;
    EXPECT_NE(text.find(masked), text.npos) << "something is hidden:\n" << text;
  }
};

const std::string using_it =
    "  plan.add_service(\"db\", ServiceConfig(image = image, ports = {\"http\": PortSpec(80)}, "
    "env_vars = {\"PASSWORD\": password}, "
    "cmd = [\"--password=\" + password]))\n"
    "  result = plan.exec(\"db\", ExecRecipe(command = [\"login\", \"bob:\" + password]))\n"
    "  plan.verify(result[\"output\"], \"==\", \"bob:\" + password)\n"
    "  plan.run_sh(\"echo \" + password)\n"
    "  plan.render_templates({\"f\": struct(template = \"{{.P}}\", data = {\"P\": password})})\n"
    "  plan.request(\"db\", GetHttpRequestRecipe(port_id = \"http\", endpoint = \"/?p=\" + "
    "password))\n";

TEST_F(SecretsTest, AWholeRunHoldsNone) {
  expect_hidden(told(using_it));
  // It was used all the same.
  EXPECT_EQ(engine_.containers.at("db").commands.at(0), cat("bob:", quoted_secret));
  expect_hidden(told(replace_all(using_it, "login", "log in")));
}

TEST_F(SecretsTest, ImagesArePulledWithTheLoginsOfThePackage) {
  write_script(
      "  plan.add_service(\"s\", ServiceConfig(image = ImageSpec(image = \"r.test/a:1\", "
      "username = \"me\", password = password)))\n");
  const auto report = dry_run_package(place_, request_);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto pulled = pull_images(place_, *report->intent);
  ASSERT_TRUE(pulled) << to_string(pulled.error());
  EXPECT_TRUE(pulled->good());
  const Known known = *home_.store().known(Name());
  const auto found = known.find(Key{Name(), "image", "r.test/a:1"});
  ASSERT_NE(found, known.end());
  EXPECT_EQ(write_json(dict_of(found->second->applied->attributes).at("credentials"),
                       {.show_secrets = true}),
            write_json(Value::list({Value::dict(
                {{"r.test", Value::dict({{"username", "me"}, {"password", quoted_secret}})}})})));
}

TEST_F(SecretsTest, APlanHoldsNone) {
  ASSERT_NE(told(using_it), "");
  request_.arguments = replace_all(request_.arguments, "hunter2", "hunter2-changed");
  const auto preview = preview_package(place_, request_);
  ASSERT_TRUE(preview) << to_string(preview.error());
  std::string text;
  for (const Step& step : preview->plan.steps)
    text += cat(to_string(step.key), step.why, join(step.fields, " "), "\n");
  EXPECT_EQ(text.find("hunter2"), text.npos) << text;
  EXPECT_NE(text.find("service/db"), text.npos);
}

TEST_F(SecretsTest, ErrorsHoldNone) {
  for (const std::string& body :
       {std::string("  fail(\"bad \" + password)\n"),
        std::string("  plan.add_service(password, ServiceConfig(image = image))\n"),
        std::string("  plan.add_service(\"s\", ServiceConfig(image = password))\n"),
        std::string("  read_file(\"./\" + password)\n"),
        std::string("  plan.verify(\"x\", \"==\", password)\n"),
        std::string("  plan.upload_files(\"./\" + password)\n"), std::string("  {}[password]\n")})
    expect_hidden(told(body));
}

TEST_F(SecretsTest, ArgumentsThatCannotBeReadAreShownWithoutThem) {
  request_.arguments = "db:\n  dbPassword: hunter2: x\n";
  write_script("  pass\n");
  Listener listener;
  const auto report = run_package(place_, request_, listener);
  ASSERT_FALSE(report);
  EXPECT_EQ(everything_of(report.error()).find("hunter2"), std::string::npos)
      << everything_of(report.error());
}

TEST_F(SecretsTest, WhatAPackagePrintsAndReturnsIsShown) {
  write_script("  plan.print(\"the password is \" + password)\n  return struct(p = password)\n");
  ASSERT_EQ(run(), "R");
  EXPECT_EQ(results_[0], cat("the password is ", quoted_secret));
  EXPECT_EQ(output_, write_json(Value::dict({{"p", quoted_secret}})));
}

TEST_F(SecretsTest, ALaterProcessHidesThemToo) {
  ASSERT_NE(told("  plan.print(\"x\")\n"), "");
  open();
  place_.mask = std::make_shared<Mask>();
  ASSERT_TRUE(recall_secrets(place_, "e"));
  EXPECT_EQ(place_.mask->text(cat("it was ", quoted_secret)), cat("it was ", masked));
  ASSERT_TRUE(recall_secrets(place_, "other"));
}

TEST_F(SecretsTest, TheyAreShownWhenThatIsAskedFor) {
  write_script("  plan.verify(password, \"==\", password)\n");
  place_.shows_secrets = true;
  ASSERT_EQ(run(), "R");
  EXPECT_NE(results_[0].find("hunter2"), std::string::npos);
}

TEST_F(SecretsTest, ShortOnesAndOtherNamesChangeNoText) {
  request_.arguments = R"({"db":{"dbPassword":"a"},"image":"a","monkey":"banana"})";
  write_script("  plan.verify(\"a banana\", \"==\", \"a banana\")\n");
  ASSERT_EQ(run(), "R");
  EXPECT_EQ(results_[0], "Verification succeeded. Value is 'a banana'.");
}

}  // namespace
}  // namespace fettle
