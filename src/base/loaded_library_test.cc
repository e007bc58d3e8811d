#include "base/loaded_library.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(LoadedLibrary, SaysWhatIsMissing) {
  const auto none = LoadedLibrary::load("libnowhere.so.1", "libnowhere", "libnowhere1");
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().message.starts_with(
      "libnowhere is missing (`apt-get install libnowhere1`): libnowhere.so.1: "))
      << none.error().message;
  LoadedLibrary library = *LoadedLibrary::load("libc.so.6", "libc", "libc6");
  int (*absolute)(int) = nullptr;
  library.find("abs", absolute);
  ASSERT_TRUE(library.check_all_found());
  EXPECT_EQ(absolute(-3), 3);
  void (*later)() = nullptr, (*latest)() = nullptr;
  library.find("of_a_later_version", later);
  library.find("of_the_latest_version", latest);
  EXPECT_EQ(library.check_all_found().error().message,
            "libc is too old: it has no `of_a_later_version`");
}

}  // namespace
}  // namespace fettle
