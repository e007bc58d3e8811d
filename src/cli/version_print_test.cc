/// How differences between versions look.

#include "cli/commands/version_print.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(VersionPrint, NullIsAValueAndNotAnAbsentOne) {
  ItemDifference one;
  one.type = ItemDifference::Type::changed;
  one.id = "net::Host[lab,name=a]";
  one.before = Value::dict({{"mode", Value()}, {"gone", Value()}, {"owner", "root"}});
  one.after = Value::dict({{"mode", "0644"}, {"new", Value()}, {"owner", Value()}});
  one.fields = {"gone", "mode", "new", "owner"};
  EXPECT_EQ(differences_text({one}, false),
            "~ net::Host[lab,name=a] (shared)\n"
            "    gone: null -> not set\n"
            "    mode: null -> \"0644\"\n"
            "    new: not set -> null\n"
            "    owner: \"root\" -> null");
}

}  // namespace
}  // namespace fettle
