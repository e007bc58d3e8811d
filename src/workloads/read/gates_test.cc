#include "workloads/read/gates.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::workloads {
namespace {

std::string error_of(std::string_view text) {
  const Result<GateWords> words = read_gates(text);
  return words ? "" : words.error().message;
}

TEST(Gates, PullingAheadIsOnUntilSomebodySaysOtherwise) {
  EXPECT_TRUE(gates_of({}).pre_download);
  EXPECT_TRUE(gates_of({}).pre_download_daemon_set);
  EXPECT_FALSE(gates_of(*read_gates("PreDownloadImageForInPlaceUpdate=false")).pre_download);
  EXPECT_TRUE(gates_of(*read_gates("InPlaceWorkloadVerticalScaling=True")).resize);
}

// The seed: if KruiseDaemon is closed, PreDownloadImageForInPlaceUpdate can neither be opened.
TEST(Gates, WithoutTheDaemonNothingIsPulledAhead) {
  const Gates off = gates_of(*read_gates("KruiseDaemon=false"));
  EXPECT_FALSE(off.pre_download);
  EXPECT_FALSE(off.pre_download_daemon_set);
  EXPECT_FALSE(off.daemon);
  EXPECT_TRUE(gates_of({}).daemon);
  EXPECT_TRUE(off.environment);
  const char* message =
      "gate `PreDownloadImageForInPlaceUpdate` cannot be on while `KruiseDaemon` is off";
  EXPECT_EQ(error_of("KruiseDaemon=false,PreDownloadImageForInPlaceUpdate=true"), message);
  // Off alone turns both off, whatever was said before; the other way round it is an error.
  const GateWords on = *read_gates("PreDownloadImageForInPlaceUpdate=true");
  const Result<GateWords> later = merged_gates(on, *read_gates("KruiseDaemon=false"));
  ASSERT_TRUE(later);
  EXPECT_FALSE(gates_of(*later).pre_download);
  const Result<GateWords> again = merged_gates(*later, on);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, message);
}

TEST(Gates, WhatIsWrongIsTold) {
  EXPECT_NE(error_of("PreDownloadImageForInPlaceUpdat=true")
                .find("did you mean `PreDownloadImageForInPlaceUpdate`?"),
            std::string::npos);
  EXPECT_EQ(error_of("KruiseDaemon=maybe"),
            "gate `KruiseDaemon` must be `true` or `false`, not `maybe`");
  EXPECT_EQ(error_of("KruiseDaemon"), "gate `KruiseDaemon` must be `true` or `false`, not ``");
  EXPECT_EQ(error_of(""), "");
}

TEST(Gates, WhatIsStoredComesBack) {
  const GateWords words = *read_gates("KruiseDaemon=true, CloneSetShortHash=false");
  EXPECT_EQ(gate_words_of(value_of(words)), words);
}

}  // namespace
}  // namespace fettle::workloads
