#include "plan/overlap.h"

#include <gtest/gtest.h>

#include "packages/instructions/instruction.h"

// Each sentence of the seeds about the resolver is a test here; the names say which.

namespace fettle {
namespace {

using List = std::vector<ListedInstruction>;

ListedInstruction print(const std::string& text) {
  return {"print", "print(msg=\"" + text + "\")", {}, {}, {}};
}
ListedInstruction add(const std::string& service, const std::string& image = "a",
                      std::vector<std::string> mounts = {}) {
  return {"add_service",
          "add_service(name=\"" + service + "\", image=\"" + image + "\")",
          {service},
          std::move(mounts),
          {}};
}
ListedInstruction on(const std::string& type, const std::string& service,
                     const std::string& what = "x") {
  return {type, type + "(" + service + ", " + what + ")", {service}, {}, {}};
}
ListedInstruction upload(const std::string& name, const std::string& digest = "1") {
  return {"upload_files", "upload_files(name=\"" + name + "\")", {}, {}, {{name, digest}}};
}
ListedInstruction render(const std::string& name, const std::string& text) {
  return {"render_templates",
          "render_templates(name=\"" + name + "\", \"" + text + "\")",
          {},
          {},
          {{name, ""}}};
}
ListedInstruction store(const std::string& name, const std::string& service,
                        const std::string& path = "/p") {
  return {"store_service_files",
          "store_service_files(" + service + ", " + path + ", " + name + ")",
          {service},
          {},
          {{name, ""}}};
}

/// `3: =u+` : start, then a letter a decision.
std::string resolved(const List& executed, const List& submitted) {
  const Resolution resolution = resolve_overlap(executed, submitted, overlap_rule);
  std::string text = std::to_string(resolution.start) + ": ";
  for (const Overlap decision : resolution.decisions)
    text += decision == Overlap::equal ? '=' : decision == Overlap::update ? 'u' : '+';
  return text;
}

TEST(Overlap, TheSamePackageTwiceInARowIsSkippedWhole) {
  const List plan{upload("f"), add("s", "a", {"f"}), on("exec", "s"), print("x")};
  EXPECT_EQ(resolved(plan, plan), "0: ====");
}

TEST(Overlap, ExampleOfADisjointPlanIsExecutedAndAppended) {
  EXPECT_EQ(resolved({add("a"), add("b")}, {add("c"), add("d")}), "2: ++");
}

TEST(Overlap, ExampleOfAPartialOverlapRunsOnlyTheEnd) {
  EXPECT_EQ(resolved({upload("f"), add("service_1"), add("service_2")},
                     {add("service_1"), add("service_2"), on("exec", "service_1"),
                      store("files", "service_2")}),
            "1: ==++");
}

TEST(Overlap, ExampleOfAPartialOverlapWithUpdatesRunsWhatDependsOnThem) {
  const List before{upload("f"), add("service_1"), add("service_2"), on("exec", "service_1"),
                    store("files", "service_2")};
  const List after{upload("f"), add("service_1", "b"), add("service_2"), on("exec", "service_1"),
                   store("files", "service_2")};
  EXPECT_EQ(resolved(before, after), "0: =u=u=");
}

TEST(Overlap, EqualIsTheSameTypeWithIdenticalArguments) {
  EXPECT_EQ(resolved({on("exec", "s", "a")}, {on("exec", "s", "a")}), "0: =");
  EXPECT_EQ(resolved({on("exec", "s", "a")}, {on("exec", "s", "b")}), "1: +");
  EXPECT_EQ(resolved({on("exec", "s", "a")}, {on("wait", "s", "a")}), "1: +");
}

TEST(Overlap, AServiceOfTheSameNameWithAnotherConfigIsAnUpdate) {
  EXPECT_EQ(resolved({add("s", "a")}, {add("s", "b")}), "0: u");
  EXPECT_EQ(resolved({add("s", "a")}, {add("t", "a")}), "1: +");
}

TEST(Overlap, UploadedFilesOfTheSameNameWithOtherContentsAreAnUpdate) {
  EXPECT_EQ(resolved({upload("f", "1")}, {upload("f", "2")}), "0: u");
  EXPECT_EQ(resolved({upload("f", "1")}, {upload("g", "1")}), "1: +");
}

TEST(Overlap, ARenderedTemplateOfTheSameNameWithOtherContentIsAnUpdate) {
  EXPECT_EQ(resolved({render("t", "a")}, {render("t", "b")}), "0: u");
}

TEST(Overlap, StoredFilesOfTheSameNameFromAnotherPathOrServiceAreAnUpdate) {
  EXPECT_EQ(resolved({store("f", "s", "/a")}, {store("f", "s", "/b")}), "0: u");
  EXPECT_EQ(resolved({store("f", "s")}, {store("f", "t")}), "0: u");
}

TEST(Overlap, RemovingStartingAndStoppingAServiceCannotBeResolved) {
  for (const char* type : {"remove_service", "start_service", "stop_service"}) {
    const List plan{add("s"), on(type, "s")};
    EXPECT_EQ(resolved(plan, plan), "2: ++") << type;
  }
}

TEST(Overlap, AServiceDependsOnTheArtifactsThatItMounts) {
  const List before{upload("f", "1"), add("s", "a", {"f"}), add("t")};
  EXPECT_EQ(resolved(before, {upload("f", "2"), add("s", "a", {"f"}), add("t")}), "0: uu=");
}

TEST(Overlap, ExecRequestWaitAndStoredFilesDependOnTheirService) {
  const List before{add("s", "a"),   add("t"),        on("exec", "s"), on("request", "s"),
                    on("wait", "s"), store("f", "s"), on("exec", "t")};
  List after = before;
  after[0] = add("s", "b");
  EXPECT_EQ(resolved(before, after), "0: u=uuuu=");
}

TEST(Overlap, DependenciesFollowEachOther) {
  const List before{add("s", "a"), store("f", "s"), add("t", "a", {"f"}), on("exec", "t")};
  List after = before;
  after[0] = add("s", "b");
  EXPECT_EQ(resolved(before, after), "0: uuuu");
}

TEST(Overlap, OnlyTheTailEndOfTheEnclavePlanCounts) {
  EXPECT_EQ(resolved({print("a"), print("b"), print("c")}, {print("b"), print("c"), print("d")}),
            "1: ==+");
  EXPECT_EQ(resolved({print("a"), print("b"), print("c")}, {print("a"), print("b")}), "3: ++");
}

TEST(Overlap, ItIsMaximised) {
  EXPECT_EQ(resolved({print("a"), print("a"), print("a")}, {print("a"), print("a"), print("a")}),
            "0: ===");
  EXPECT_EQ(resolved({print("x"), print("a"), print("a")}, {print("a"), print("a"), print("b")}),
            "1: ==+");
  // The first place that fits the first instruction does not fit the second.
  EXPECT_EQ(resolved({print("a"), print("x"), print("a"), print("b")},
                     {print("a"), print("b"), print("c"), print("d")}),
            "2: ==++");
}

// What upstream tests or leaves untested (research, 1.9).

TEST(Overlap, AMiddleInstructionThatChangedRunsEverything) {
  EXPECT_EQ(resolved({print("1"), print("2"), print("3")}, {print("1"), print("x"), print("3")}),
            "3: +++");
}

TEST(Overlap, AnInstructionInsertedBeforeTheFirstRunsEverything) {
  EXPECT_EQ(resolved({add("a"), add("b")}, {print("x"), add("a"), add("b")}), "2: +++");
}

TEST(Overlap, DeletionAndReorderingRunEverything) {
  EXPECT_EQ(resolved({add("a"), add("b"), add("c")}, {add("a"), add("c")}), "3: ++");
  EXPECT_EQ(resolved({add("a"), add("b")}, {add("b"), add("a")}), "1: =+");
}

TEST(Overlap, TheOrderOfADictOfServicesSaysNothing) {
  const ListedInstruction one{"add_services", "add_services(a, b)", {"a", "b"}, {}, {}},
      other{"add_services", "add_services(a, b)", {"b", "a"}, {}, {}};
  const Resolution found = resolve_overlap({one, print("x")}, {other, print("x")}, overlap_rule);
  EXPECT_EQ(found.decisions, (std::vector<Overlap>{Overlap::equal, Overlap::equal}));
}

TEST(Overlap, ASupersetOfServicesIsAnUpdate) {
  const ListedInstruction two{"add_services", "add_services(a, b)", {"a", "b"}, {}, {}},
      three{"add_services", "add_services(a, b, c)", {"a", "b", "c"}, {}, {}};
  EXPECT_EQ(resolved({two}, {three}), "0: u");
  EXPECT_EQ(resolved({three}, {two}), "1: +");
}

TEST(Overlap, SeveralServicesAtOnceSeeAnUpdatedArtifact) {
  const ListedInstruction both{"add_services", "add_services(a, b)", {"a", "b"}, {"f"}, {}};
  EXPECT_EQ(resolved({upload("f", "1"), both}, {upload("f", "2"), both}), "0: uu");
}

TEST(Overlap, ForcedUpdatesAlwaysRun) {
  ListedInstruction forced = add("s");
  forced.force = true;
  EXPECT_EQ(resolved({add("s")}, {forced}), "0: u");
}

TEST(Overlap, ASetServiceThatIsNewRunsItsAddService) {
  const ListedInstruction set{"set_service", "set_service(s, b)", {"s"}, {}, {}},
      other{"set_service", "set_service(s, c)", {"s"}, {}, {}};
  EXPECT_EQ(resolved({add("s")}, {add("s"), set}), "0: u+");
  EXPECT_EQ(resolved({add("s")}, {add("s"), set, other}), "0: u++");
  EXPECT_EQ(resolved({add("s"), add("t"), set}, {add("s"), add("t"), other}), "0: u=u");
  EXPECT_EQ(resolved({add("s"), add("t"), set}, {add("s"), add("t"), set}), "0: ===");
}

TEST(Overlap, AKeptPrefixIsUsedAgainByALaterRun) {
  const List first{add("a"), add("b")};
  const List second{add("c")};
  List both = first;
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(resolved(both, {add("a"), add("b"), add("c"), print("x")}), "0: ===+");
}

TEST(Overlap, TheListIsStoredAndReadBack) {
  const List list{upload("f", "2"), add("s", "a", {"f"}), on("exec", "s")};
  EXPECT_EQ(listed_instructions(to_value(list)), list);
  EXPECT_TRUE(listed_instructions(Value("nonsense")).empty());
}

}  // namespace
}  // namespace fettle
