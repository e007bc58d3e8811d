#include "drivers/engine/pause.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view here =
#if defined(__aarch64__)
    "arm64";
#else
    "amd64";
#endif

/// Runs a line of shell in which `$1` is the program and `ready` waits until the process `$p` runs
/// it and sleeps, which it does in one place only; the answer is what it prints.
std::string shell(const std::string& line) {
  const auto folder = TemporaryDirectory::make();
  const auto program = pause_program(here);
  const std::string path = (folder->path() / "pause").string();
  EXPECT_TRUE(program && write_file(path, *program));
  const std::string script =
      cat("f=$1; ready() { until [ \"$(readlink /proc/$p/exe)\" = $f ] && "
          "grep -q '^State:.S' /proc/$p/status; do :; done; }; chmod 755 $1; ",
          line);
  const auto run =
      run_process({.arguments = {"sh", "-c", script, "sh", path}, .time_limit = 20s}, {});
  EXPECT_TRUE(run) << to_string(run.error());
  return run ? run->output + run->errors : std::string();
}

TEST(Pause, EndsWhenItIsToldTo) {
  EXPECT_EQ(shell("$1 & p=$!; ready; kill -TERM $p; wait $p; echo $?"), "0\n");
  EXPECT_EQ(shell("$1 & p=$!; ready; kill -INT $p; wait $p; echo $?"), "0\n");
}

TEST(Pause, BuriesTheChildrenThatItIsLeftWith) {
  // The shell becomes the program, so that what it has started is the program's child.
  EXPECT_EQ(shell("sh -c 'sleep 1000 & echo $! > \"$0.child\"; exec \"$0\"' $1 & p=$!; ready; "
                  "c=$(cat $1.child); kill -KILL $c; while [ -d /proc/$c ]; do :; done; "
                  "kill -0 $p && kill -TERM $p; wait $p; echo $?"),
            "0\n");
}

TEST(Pause, IsSmallAndKnowsTwoProcessors) {
  for (const char* architecture : {"amd64", "arm64"}) {
    const auto program = pause_program(architecture);
    ASSERT_TRUE(program) << to_string(program.error());
    EXPECT_LT(program->size(), 1'024u);
    EXPECT_TRUE(
        program->starts_with("\x7f"
                             "ELF"));
  }
  const auto other = pause_program("s390x");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "pods run on engines for amd64 and arm64, not for `s390x`");
}

}  // namespace
}  // namespace fettle
