/// The key of secrets of a store is changed: in a file and in PostgreSQL, by a program that is
/// killed, and while others use the store.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/base64.h"
#include "base/file.h"
#include "base/process.h"
#include "core/open_payload.h"
#include "store/key_command.h"
#include "store/store_keys.h"
#include "tests/fixtures/store_fixture.h"
#include "verbs/stores/stores.h"

namespace fettle {
namespace {

class StoreKeysTest : public testing::TestWithParam<StoreKind>, protected StoreWords {
 protected:
  std::string home() const { return place_.home(); }
  const std::string& address() const { return place_.address(); }

  /// A store with secrets in everything that seals them.
  void fill() const {
    const auto mask = std::make_shared<Mask>();
    mask->add("sesame-open");
    const OpenedStore opened = place_.open_whole(mask);
    const auto acting = edit(*opened.store);
    const Value secret = Value::dict({{"password", Value::secret("sesame-open")}, {"n", 1}});
    ASSERT_TRUE(acting->put_environment({"e", "0123", Time(3s), secret}));
    Record written = record();
    written.outputs = Value::dict({{"text", "it says sesame-open"}});
    ASSERT_TRUE(acting->write(std::vector{change({"e", "service", "web"}, written)}));
    Event event;
    event.environment = "e";
    event.key = {"e", "service", "web"};
    event.detail = secret;
    ASSERT_TRUE(acting->write(std::vector{Change{Change::event, {}, nullptr, event}}));
    ASSERT_TRUE(acting->put_note("secret", Value::secret("sesame-open")));
    ASSERT_TRUE(opened.store->cache("c", secret, Time()));
    Delta delta;
    delta.number = 1;
    Content content;
    Item item;
    item.id = "T[a,name=b]";
    item.attributes = secret;
    content.items.push_back(item);
    delta.pieces.emplace_back(Piece{"set", {}}, seal(std::move(content)));
    delta.detail = secret;
    const auto turn = *opened.store->versions().begin_push("e");
    const auto staged = *turn->stage(std::move(delta));
    ASSERT_TRUE(
        opened.store->wish("e", [&](Wish& wish) { return wish.commit(*staged, Time(4s)); }));
  }

  void expect_filled() const {
    const OpenedStore opened = place_.open_whole();
    ASSERT_NE(opened.store, nullptr);
    Store& store = *opened.store;
    const Value secret = Value::dict({{"password", Value::secret("sesame-open")}, {"n", 1}});
    EXPECT_EQ((*store.environment("e"))->detail, secret);
    const auto known = store.known("e")->at({"e", "service", "web"});
    EXPECT_EQ(known->outputs, Value::dict({{"text", "it says sesame-open"}}));
    EXPECT_EQ(dict_of(known->applied->attributes).at("env"), Value::secret("pw"));
    EXPECT_EQ(store.events("e", 0, 10)->at(0).detail, secret);
    EXPECT_EQ(**store.note("e", "secret"), Value::secret("sesame-open"));
    EXPECT_EQ(**store.cached("c"), secret);
    const auto version = *store.versions().open("e", 1);
    EXPECT_EQ((*version->content({"set", {}}))->items[0].attributes, secret);
    EXPECT_EQ(store.versions().heads("e")->at(0).detail, secret);
  }

  KeyRotation rotate(const std::string& file = {}) const {
    const Result<KeyRotation> rotation = rotate_key(address(), home(), file, {});
    EXPECT_TRUE(rotation) << to_string(rotation.error());
    return rotation.value_or(KeyRotation());
  }
  std::string refusal_of_rotation(const std::string& file = {}) const {
    const auto rotation = rotate_key(address(), home(), file, {});
    return rotation ? "rotated" : to_string(rotation.error());
  }
  std::string error_of_opening(const std::string& home) const {
    const auto opened = open_store(address(), home);
    return opened ? "opened" : to_string(opened.error());
  }
  /// Whether the file of the store, or its log, has the password as this key seals it.
  bool has_sealed_by(const Seal& seal) const {
    Writer plain;
    plain.value("sesame-open");
    return place_.bytes().find(seal.close(plain.take())) != std::string::npos;
  }

  StorePlace place_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreKeysTest,
                         testing::Values(StoreKind::file, StoreKind::postgres), name_of_store);

TEST_P(StoreKeysTest, EverythingIsSealedAnewAndTheOldKeyOpensNothing) {
  fill();
  const Seal before = *Seal::from_file(home() + "/key");
  const bool is_file = GetParam() == StoreKind::file;
  EXPECT_EQ(has_sealed_by(before), is_file);
  const KeyRotation rotation = rotate();
  EXPECT_FALSE(has_sealed_by(before)) << "what was replaced is still in the file";
  EXPECT_EQ(has_sealed_by(*Seal::from_file(rotation.key_file)), is_file);
  EXPECT_EQ(rotation.before, before.id());
  EXPECT_NE(rotation.after, rotation.before);
  EXPECT_EQ(rotation.secrets, 9u);
  EXPECT_EQ(rotation.unreadable, 0u);
  EXPECT_EQ(rotation.key_file, cat(home(), "/keys/", rotation.after));
  struct stat about{};
  ASSERT_EQ(stat(rotation.key_file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  expect_filled();
  // The home does without the old key, and a home that has only that is refused.
  const StorePlace other(StoreKind::file);
  std::filesystem::copy_file(home() + "/key", other.home() + "/key");
  std::filesystem::remove(home() + "/key");
  expect_filled();
  EXPECT_FALSE(std::filesystem::exists(home() + "/key")) << "a key that is not needed";
  if (GetParam() == StoreKind::postgres) {
    const std::string refused = error_of_opening(other.home());
    EXPECT_NE(refused.find("are sealed with another key than `"), refused.npos) << refused;
    EXPECT_NE(refused.find(cat("or `keys/", rotation.after, "` if it has that")), refused.npos)
        << refused;
    std::filesystem::create_directories(other.home() + "/keys");
    std::filesystem::copy_file(rotation.key_file, cat(other.home(), "/keys/", rotation.after));
    EXPECT_EQ(error_of_opening(other.home()), "opened");
    // As the only key of a home it may be called `key` as well.
    const StorePlace third(StoreKind::file);
    std::filesystem::copy_file(rotation.key_file, third.home() + "/key");
    EXPECT_EQ(error_of_opening(third.home()), "opened");
  }
}

TEST_P(StoreKeysTest, AKeyMayBeGivenAndChangedAgain) {
  fill();
  const std::string file = home() + "/given";
  ASSERT_TRUE(write_file(file, std::string(64, 'k')));
  EXPECT_EQ(rotate(file).after, Seal::from_file(file)->id());
  expect_filled();
  EXPECT_NE(refusal_of_rotation(file).find("is the key that the store"), std::string::npos);
  rotate();
  expect_filled();
  ASSERT_TRUE(write_file(file, "short"));
  EXPECT_NE(refusal_of_rotation(file).find("is not a key: it has 5 bytes instead of 64"),
            std::string::npos);
  EXPECT_NE(refusal_of_rotation(home() + "/none").find("no such file"), std::string::npos);
}

/// What keeps keys elsewhere: a folder with one file for each.
class KeyCommandTest : public StoreKeysTest {
 protected:
  KeyCommandTest() {
    EXPECT_TRUE(write_file(vault("first"), base64_encode(std::string(64, 'f')) + "\n"));
    key_command() =
        cat("echo \"asked for ${FETTLE_KEY_ID:-none}\" >> '", vault("asked"), "'; cat '", home(),
            "/vault-'${FETTLE_KEY_ID:-first} 2>/dev/null || cat '", vault("first"), "'");
  }
  ~KeyCommandTest() override { key_command().clear(); }
  std::string vault(std::string_view name) const { return cat(home(), "/vault-", name); }
};

INSTANTIATE_TEST_SUITE_P(Stores, KeyCommandTest, testing::Values(StoreKind::postgres),
                         name_of_store);

TEST_P(KeyCommandTest, NoKeyIsInTheHome) {
  fill();
  expect_filled();
  EXPECT_FALSE(file_exists(home() + "/key"));
  const Seal first = *Seal::from_bytes(std::string(64, 'f'));
  EXPECT_EQ(*read_file(vault("asked")), cat("asked for none\nasked for ", first.id(), "\n"))
      << "once by a process, and for each key";
  // A file has its own key, whatever the command says.
  const StorePlace file(StoreKind::file);
  file.open();
  EXPECT_TRUE(file_exists(file.home() + "/key"));
}

TEST_P(KeyCommandTest, AnotherKeyOpensNothing) {
  fill();
  ASSERT_TRUE(write_file(vault("other"), std::string(64, 'o')));
  key_command() = cat("cat '", vault("other"), "'");
  EXPECT_NE(error_of_opening(home()).find("and the command of $FETTLE_KEY_COMMAND gives " +
                                          Seal::from_bytes(std::string(64, 'o'))->id()),
            std::string::npos)
      << error_of_opening(home());
  for (const auto& [command, said] :
       std::map<std::string, std::string>{{"echo no key", "printed 7 bytes, which are no key"},
                                          {"true", "printed 0 bytes"},
                                          {"echo locked >&2; exit 3", "ended with 3: locked"},
                                          {"/no/such/program", "ended with 127"},
                                          {"yes", "does not give it"},
                                          {"kill -9 $$", "ended with 137"}}) {
    key_command() = command;
    EXPECT_NE(error_of_opening(home()).find(said), std::string::npos)
        << command << ": " << error_of_opening(home());
  }
  EXPECT_FALSE(file_exists(home() + "/key"));
}

TEST_P(KeyCommandTest, TheCommandHasTheNewKeyFirst) {
  fill();
  EXPECT_NE(refusal_of_rotation().find("name its file with `--key-file`"), std::string::npos);
  const std::string next = home() + "/next";
  ASSERT_TRUE(write_file(next, std::string(64, 'n')));
  const std::string id = Seal::from_file(next)->id();
  EXPECT_NE(refusal_of_rotation(next).find("put it there first, for the id " + id),
            std::string::npos);
  expect_filled();
  ASSERT_TRUE(write_file(vault(id), std::string(64, 'n')));
  const KeyRotation rotation = rotate(next);
  EXPECT_EQ(rotation.after, id);
  EXPECT_EQ(rotation.key_file, "");
  EXPECT_FALSE(file_exists(home() + "/keys/" + id));
  expect_filled();
}

TEST_P(KeyCommandTest, WhatIsCopiedKeepsItsKey) {
  fill();
  ASSERT_TRUE(copy_store(address(), {}, home(), {}));
  const auto opened = open_store({}, home());
  ASSERT_TRUE(opened) << to_string(opened.error());
  EXPECT_EQ(**opened->store->note("e", "secret"), Value::secret("sesame-open"));
  // Back: the command must know the key of the file, and it does; then of another one, which it does not.
  const StorePlace third(StoreKind::postgres);
  EXPECT_TRUE(copy_store({}, third.address(), home(), {}));
  ASSERT_TRUE(rotate_key({}, home(), {}, {}));
  const StorePlace fourth(StoreKind::postgres);
  const auto refused = copy_store({}, fourth.address(), home(), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("put it there first"), std::string::npos);
}

TEST_P(StoreKeysTest, ItIsNotChangedWhileSomebodyActs) {
  fill();
  const auto store = place_.open();
  const auto acting = edit(*store);
  EXPECT_NE(refusal_of_rotation().find(
                "`e` is being changed by `a test`: change the key when that has ended"),
            std::string::npos);
}

TEST_P(StoreKeysTest, WhoStillHasTheOldKeyWritesNothingMore) {
  fill();
  const auto store = place_.open();
  rotate();
  for (const Status& refused :
       {store->wish("e", [](Wish& wish) { return wish.put_note("n", Value::secret("new")); }),
        store->cache("c", Value(1), Time())}) {
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("was changed meanwhile, and nothing more was written"),
              std::string::npos)
        << refused.error().message;
  }
  EXPECT_FALSE(store->begin_edit("e", this_process("late", Time(1s))));
  expect_filled();
}

TEST_P(StoreKeysTest, WhoHasBegunToWriteIsWaitedForOrRefused) {
  fill();
  const auto store = place_.open();
  std::optional<std::jthread> rotating;
  const Status first = store->wish("e", [&](Wish& wish) -> Status {
    TRY(wish.put_note("early", Value::secret("sesame-open")));
    TRY(wish.note("early"));  // until it is asked, nothing is sent
    rotating.emplace([&] { rotate(); });
    std::this_thread::sleep_for(300ms);
    return {};
  });
  EXPECT_TRUE(first) << to_string(first.error());
  rotating.reset();
  EXPECT_EQ(**place_.open()->note("e", "early"), Value::secret("sesame-open"));
  expect_filled();
  if (GetParam() == StoreKind::file)
    return;  // whoever has begun keeps others from writing
  const auto late = place_.open();
  const Status second = late->wish("e", [&](Wish& wish) {
    rotate();
    return wish.put_note("late", Value::secret("sesame-open"));
  });
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("was changed meanwhile"), std::string::npos)
      << second.error().message;
  EXPECT_FALSE(*place_.open()->note("e", "late"));
  expect_filled();
}

TEST_P(StoreKeysTest, WhatIsCopiedKeepsItsKey) {
  fill();
  rotate();
  const StorePlace target(GetParam() == StoreKind::file ? StoreKind::postgres : StoreKind::file);
  const std::string to = GetParam() == StoreKind::file ? target.address() : std::string();
  ASSERT_TRUE(copy_store(address(), to, home(), {}));
  const auto opened = open_store(to, home());
  ASSERT_TRUE(opened) << to_string(opened.error());
  EXPECT_EQ(**opened->store->note("e", "secret"), Value::secret("sesame-open"));
}

TEST_P(StoreKeysTest, AContentThatIsLostIsNamedAsLongAsARecordNeedsIt) {
  std::string digest;
  {
    const OpenedStore opened = place_.open_whole();
    FileBlobs blobs(*opened.disk, *opened.index, opened.blobs);
    digest = *blobs.put("a content");
    Record written = record();
    written.outputs = Value::dict({{"digest", digest}, {"uuid", "u"}, {"etag", ""}});
    ASSERT_TRUE(
        edit(*opened.store)->write(std::vector{change({"e", "artifact", "page"}, written)}));
  }
  const auto problems = [&] {
    const auto tally = check_store(address(), home(), {});
    EXPECT_TRUE(tally) << to_string(tally.error());
    return tally ? join(tally->problems, "; ") : std::string();
  };
  EXPECT_EQ(problems(), "");
  if (GetParam() == StoreKind::file) {
    ASSERT_TRUE(
        write_file(cat(home(), "/blobs/", digest.substr(0, 2), "/", digest.substr(2)), "damaged"));
  } else {
    PostgresServer::of_program().sql(
        cat("UPDATE ", place_.schema(), ".file_pieces SET bytes='damaged'"));
  }
  for (int i = 0; i < 3; ++i) {
    const std::string told = problems();
    EXPECT_NE(told.find(digest), told.npos) << i << ": " << told;
    EXPECT_NE(told.find("; needed by `artifact page` in `e`, whose next run makes it again"),
              told.npos)
        << i << ": " << told;
  }
  ASSERT_TRUE(edit(*place_.open())
                  ->write(std::vector{Change{Change::forget, {"e", "artifact", "page"}, {}, {}}}));
  EXPECT_EQ(problems(), "");
}

TEST_P(StoreKeysTest, KilledAtAnyMomentItIsWholeAndTheNextCallFinishes) {
  fill();
  const auto call = [&] {
    Invocation invocation;
    invocation.arguments = {FETTLE_BINARY_DIR "/fettle", "store", "rotate-key"};
    invocation.environment = {{"FETTLE_HOME", home()},
                              {"FETTLE_STORE", address().empty() ? "file" : address()}};
    return invocation;
  };
  size_t killed = 0;
  for (int pause_ms = 0; pause_ms < 120; pause_ms += 3) {
    const auto process = start_detached(call(), home() + "/said");
    ASSERT_TRUE(process) << to_string(process.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    kill(*process, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(*process, &status, 0), *process);
    killed += WIFSIGNALED(status) ? 1 : 0;
    expect_filled();
  }
  EXPECT_GT(killed, 0u);
  const auto whole = run_process(call(), {});
  ASSERT_TRUE(whole && whole->code == 0) << (whole ? whole->errors : to_string(whole.error()));
  EXPECT_NE(whole->output.find("sealed 9 secrets of "), std::string::npos) << whole->output;
  expect_filled();
}

}  // namespace
}  // namespace fettle
