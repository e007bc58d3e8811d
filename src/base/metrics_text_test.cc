#include "base/metrics_text.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(MetricsText, HasHelpTypeAndNumbers) {
  MetricsText text;
  text.begin("pods", MetricsText::Type::gauge, "Pods by state.");
  text.add({{"name", "web"}, {"state", "ready"}}, 3);
  text.add({{"name", "web"}, {"state", "unready"}}, 0);
  text.begin("writes_total", MetricsText::Type::counter, "Writes.");
  text.add({}, 1.5);
  EXPECT_EQ(text.text(), R"(# HELP pods Pods by state.
# TYPE pods gauge
pods{name="web",state="ready"} 3
pods{name="web",state="unready"} 0
# HELP writes_total Writes.
# TYPE writes_total counter
writes_total 1.5
)");
}

TEST(MetricsText, ALabelCannotEndItself) {
  MetricsText text;
  text.begin("a", MetricsText::Type::gauge, "A.");
  text.add({{"b", "x\"} 1\n\\"}}, 2);
  EXPECT_TRUE(text.text().ends_with("a{b=\"x\\\"} 1\\n\\\\\"} 2\n")) << text.text();
}

TEST(MetricsText, LargeNumbersKeepTheirDigits) {
  MetricsText text;
  text.begin("bytes", MetricsText::Type::gauge, "Bytes.");
  text.add({}, 123'456'789'012);
  EXPECT_TRUE(text.text().ends_with("bytes 123456789012\n")) << text.text();
}

}  // namespace
}  // namespace fettle
