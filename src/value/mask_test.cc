#include "value/mask.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

Value json(std::string_view text) { return *read_json(text); }
std::string shown(const Value& value) { return write_json(value); }

TEST(Mask, NamesThatSaySo) {
  for (const char* name :
       {"password", "PASSWORD", "Password", "dbPassword", "db_password", "API_TOKEN", "ssh-key",
        "ssh.key", "APIToken", "apiKey", "keyFile", "secrets", "s3key", "my secret",
        "a.b.credential", "token1", "KEY_2", "passwordHash"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const char* name : {"monkey", "keyboard", "tokenizer", "secretary", "passwords2x_", "", "k",
                           "keycloak", "PASSWORDLESS", "hotkeys1a", "user", "credentialed"})
    EXPECT_EQ(is_secret_name(name), std::string_view(name).starts_with("passwords2")) << name;
}

TEST(Mask, ValuesAtTheirNamesAreHidden) {
  EXPECT_EQ(shown(mask_named(
                json(R"({"user":"bob","password":"x","db":{"apiToken":[1,2],"port":1},"keys":null,)"
                     R"("list":[{"secret":{"a":"b"}}],"use_token":true})"))),
            R"({"db":{"apiToken":"********","port":1},"keys":null,"list":[{"secret":"********"}],)"
            R"("password":"********","use_token":true,"user":"bob"})");
}

TEST(Mask, TextsAtTheirNamesAreHidden) {
  for (const auto& [text, hidden] : std::vector<std::pair<std::string, std::string>>{
           {R"(add_service(env_vars={"DB_PASSWORD": "a\"b", "USER": "u"}))",
            R"(add_service(env_vars={"DB_PASSWORD": "********", "USER": "u"}))"},
           {R"({"token":"x","a":{"key" : "y"}})",
            R"({"token":"********","a":{"key" : "********"}})"},
           {"user: u\n  - api_key: 'x y'\n\"password\" : z\n",
            "user: u\n  - api_key: ********\n\"password\" : ********\n"},
           {"a: \"monkey\": \"x\"", "a: \"monkey\": \"x\""},
           {"no pairs \"here\"", "no pairs \"here\""},
           {"password:", "password:"},
           {"\"token\": \"open", "\"token\": ********"},
           {"", ""}}) {
    EXPECT_EQ(mask_named_text(text), hidden);
  }
}

TEST(Mask, CommandsAreToldWithoutSecrets) {
  const auto told = [](const std::vector<std::string>& words) { return mask_command(words); };
  EXPECT_EQ(told({"run", "pkg", R"({"password": "x", "n": 1})", "-e", "shop"}),
            R"(run pkg {"n":1,"password":"********"} -e shop)");
  EXPECT_EQ(told({"run", "pkg", "password: hunter2"}), R"(run pkg {"password":"********"})");
  EXPECT_EQ(told({"run", "github.com/a/b", R"({"n": 1})"}), R"(run github.com/a/b {"n": 1})");
  EXPECT_EQ(told({"service", "add", "--env", "DB_PASSWORD=x", "--env=API_TOKEN=y", "--image=a"}),
            "service add --env DB_PASSWORD=******** --env=API_TOKEN=******** --image=a");
  EXPECT_EQ(told({"run", "a", "--store", "postgres://me:sesame@db:5432/x?schema=s&password=b",
                  "--store=postgres://me:sesame@db/x", "--server=https://me:sesame@h/a?key=b"}),
            "run a --store postgres://db:5432/x --store=postgres://db/x --server=https://h/a");
  EXPECT_EQ(told({"x", R"({"password": "broken)"}), R"(x {"password": "broken)");
  EXPECT_EQ(told({"x", R"({"password": "a", broken)"}), R"(x {"password": "********", broken)");
}

TEST(Mask, ASecretIsHiddenHoweverItIsWritten) {
  Mask mask;
  EXPECT_TRUE(mask.secrets().empty());
  mask.add_named(json(R"({"password":"pa\"ss w\\ord","user":"bob","token":123456})"));
  EXPECT_EQ(mask.text("x pa\"ss w\\ord y"), "x ******** y");
  EXPECT_EQ(mask.text(write_json(Value("a pa\"ss w\\ord"))), "\"a ********\"");
  EXPECT_EQ(mask.text("http://bob:pa%22ss%20w%5Cord@host/"), "http://bob:********@host/");
  EXPECT_EQ(mask.text("at 123456"), "at ********");
  EXPECT_EQ(mask.text("bob"), "bob");
}

TEST(Mask, LinesOfAKeyAreHiddenOneByOne) {
  Mask mask;
  mask.add("-----BEGIN KEY-----\nMIIEvQIBADANB\nshort\n-----END KEY-----\n");
  EXPECT_EQ(mask.text("12: MIIEvQIBADANB;"), "12: ********;");
  EXPECT_EQ(mask.text("short"), "short");
}

TEST(Mask, ShortSecretsAreNotLookedForInText) {
  Mask mask;
  mask.add_named(json(R"({"password":"no","key":7,"secret":" x "})"));
  EXPECT_EQ(mask.text("no x in 7 boxes"), "no x in 7 boxes");
  EXPECT_EQ(shown(mask_named(json(R"({"DB_PASSWORD":"no","word":"no","n":7,"key":7})"))),
            R"({"DB_PASSWORD":"********","key":"********","n":7,"word":"no"})");
}

TEST(Mask, VariablesAreHiddenAndOtherNamesAreNot) {
  EXPECT_EQ(
      shown(mask_variables(json(
          R"({"key":"service/web","config":{"env":{"A_KEY":"x","B":"y"},"persistent_key":"k"},)"
          R"("recipe":{"headers":{"X-Token":"z"}}})"))),
      R"({"config":{"env":{"A_KEY":"********","B":"y"},"persistent_key":"k"},)"
      R"("key":"service/web","recipe":{"headers":{"X-Token":"********"}}})");
}

TEST(Mask, VariablesInAListAreHiddenByTheirNames) {
  const Value value =
      json(R"({"env":[{"name":"PASSWORD","value":"hunter2"},{"name":"USER","value":"bob"},)"
           R"({"name":"API_KEY","valueFrom":{"secretKeyRef":{"key":"k","name":"s"}}},)"
           R"({"name":"GREET","valueFrom":{"configMapKeyRef":{"key":"k","name":"c"}}},)"
           R"({"name":"SECRET_NOTHING"},{"token":"odd"}]})");
  EXPECT_EQ(shown(mask_variables(value)),
            R"({"env":[{"name":"PASSWORD","value":"********"},{"name":"USER","value":"bob"},)"
            R"({"name":"API_KEY","valueFrom":{"secretKeyRef":{"key":"k","name":"s"}}},)"
            R"({"name":"GREET","valueFrom":{"configMapKeyRef":{"key":"k","name":"c"}}},)"
            R"({"name":"SECRET_NOTHING"},{"token":"********"}]})");
  Mask mask;
  mask.add_variables(Value::dict({{"containers", Value::list({value})}}));
  EXPECT_EQ(mask.secrets(), std::vector<std::string>{"hunter2"});
}

TEST(Mask, MarksAreFound) {
  Mask mask;
  mask.add_marked(Value::dict({{"a", Value::secret("marked")}, {"b", "plain"}}));
  const Value value = Value::dict(
      {{"text", "it is marked"},
       {"list", Value::list({"marked", "plain", 5})},
       {"holes", Value::deferred({Part(Name("marked ")), Part(Output{"exec", "e", "output"})})}});
  EXPECT_EQ(shown(mask.value(value)),
            R"({"holes":"******** {{exec/e.output}}","list":["********","plain",5],)"
            R"("text":"it is ********"})")
      << shown(value);
  EXPECT_EQ(shown(mask.value(Value::secret("anything"))), R"("********")");
  EXPECT_EQ(reveal(Value::list({Value::secret(Value::dict({{"a", Value::secret(1)}})), 2})),
            Value::list({Value::dict({{"a", 1}}), 2}));
}

TEST(Mask, ErrorsLoseTheirSecretsEverywhere) {
  Mask mask;
  mask.add("hunter2");
  Error error = user_error("bad hunter2");
  error.excerpt = "  x = hunter2";
  error.trace = {"using hunter2"};
  const Error hidden = mask.error(error);
  EXPECT_EQ(to_string(hidden), "using ********: bad ********");
  EXPECT_EQ(hidden.excerpt, "  x = ********");
}

TEST(Mask, NumbersInADocumentAreHiddenAsWholesOnly) {
  Mask mask;
  mask.add("1234");
  EXPECT_EQ(shown(mask.value(json(R"({"a":1234,"b":12345,"c":"12345","d":true})"))),
            R"({"a":"********","b":12345,"c":"********5","d":true})");
}

}  // namespace
}  // namespace fettle
