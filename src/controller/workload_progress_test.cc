/// What is told of pods that are not as they are wanted, by what was seen of them last.

#include "controller/workload_progress.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"
#include "workloads/decide/want.h"

namespace fettle {
namespace {

class Progress : public testing::Test {
 protected:
  /// One pod of this image is wanted, and an act has just made it so.
  void bring(std::string_view image) {
    workloads::Object object;
    object.kind = "CloneSet";
    object.space = "default";
    object.name = "web";
    object.document = *read_json(
        cat(R"({"metadata":{},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},)",
            R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[)",
            R"({"name":"main","image":")", image,
            R"("}]}},"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly"}}}})"));
    view_.fleet.put(std::move(object));
    for (int round = 0; round < 3; ++round) {
      workloads::Wanted wanted = workloads::want(view_.fleet, owner_, now_);
      view_.fleet.accept(wanted);
      for (const Box<Resource>& resource : wanted.resources) {
        auto record = std::make_shared<Record>();
        record->applied = resource;
        view_.fleet.know(resource->key, record);
        if (resource->key.kind == "pod")
          pod_ = resource->key;
      }
    }
  }
  void see(std::optional<std::string_view> state) {
    Observation seen;
    if (state)
      seen.state = *read_json(*state);
    view_.fleet.see(pod_, seen.state);
    view_.seen.insert_or_assign(pod_, std::move(seen));
  }
  /// An act has changed it since, and nobody has looked.
  void forget() { view_.seen.erase(pod_); }
  std::string told() {
    const FleetProgress progress = progress_of(view_, now_);
    if (progress.unsettled.empty())
      return {};
    const std::string& line = progress.unsettled[0];
    return line.substr(line.rfind(": ") + 2);
  }

  static constexpr std::string_view ready =
      R"({"phase":"Running","conditions":[{"type":"Ready","status":"True",)"
      R"("lastTransitionTime":"2026-01-01T00:00:01Z"}],"containerStatuses":[{"name":"main",)"
      R"("image":"web:1","imageID":"sha256:1","containerID":"1","ready":true}]})";

  const Name owner_ = "CloneSet/default/web";
  Time now_{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
  FleetView view_{"fleet"};
  Key pod_;
};

TEST_F(Progress, APodThatNobodyHasLookedAtIsNotSaidToBeGone) {
  bring("web:1");
  EXPECT_EQ(told(), "it has not been observed since the last change");
  see(ready);
  EXPECT_EQ(told(), "");
  see(std::nullopt);
  EXPECT_EQ(told(), "it does not exist");
}

TEST_F(Progress, APodDuringAnUpdateInPlaceIsSaidToBeUpdated) {
  bring("web:1");
  see(ready);
  bring("web:2");
  forget();
  ASSERT_TRUE(view_.fleet.owned(owner_).pods[0]->is_updating);
  EXPECT_EQ(told(), "its update is not complete");
  // As it was before, which its containers show.
  see(ready);
  EXPECT_EQ(told(), "its update is not complete");
}

}  // namespace
}  // namespace fettle
