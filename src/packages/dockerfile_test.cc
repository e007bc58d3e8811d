#include "packages/dockerfile.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

/// `3 busybox:1, 5 redis`, or the error with its place.
std::string bases(std::string_view text, std::string_view target = {},
                  const std::map<std::string, std::string>& arguments = {}) {
  const Result<Dockerfile> read =
      read_dockerfile(text, "Dockerfile", {.target = std::string(target), .arguments = arguments});
  if (!read)
    return cat(to_string(read.error().where), ": ", read.error().message);
  std::vector<std::string> found;
  for (const BaseImage& base : read->bases)
    found.push_back(cat(base.line, " ", base.reference));
  return join(found, ", ");
}

TEST(Dockerfile, IsMadeFromWhatItsStagesName) {
  EXPECT_EQ(bases("FROM busybox:1\nRUN true\n"), "1 busybox:1");
  EXPECT_EQ(bases("# comment\n\nfrom --platform=linux/amd64 a AS b\nFROM b\nFROM scratch\n"
                  "COPY --from=b /x /x\nCOPY --from=1 /y /y\nCOPY --chmod=1 --from=c/d:2 / /\n"),
            "3 a, 8 c/d:2");
  EXPECT_EQ(bases("FROM a\nRUN --mount=type=bind,from=tools,target=/t --mount=type=cache,target=/c "
                  "x\n"),
            "1 a, 2 tools");
  EXPECT_EQ(bases("FROM a AS Mixed\nFROM mixed\n"), "1 a");
  // Flags stand in front.
  EXPECT_EQ(bases("FROM a\nRUN echo --mount=type=bind,from=b\nCOPY x --from=c /\n"), "1 a");
  // A stage with the name of an image is itself made from that image.
  EXPECT_EQ(bases("FROM redis AS redis\nFROM redis\n"), "1 redis");
}

TEST(Dockerfile, NeedsOnlyWhatTheWantedStageNeeds) {
  constexpr std::string_view text = "FROM a AS one\nFROM b AS two\nCOPY --from=one / /\nFROM c\n";
  EXPECT_EQ(bases(text), "4 c");
  EXPECT_EQ(bases(text, "one"), "1 a");
  EXPECT_EQ(bases(text, "TWO"), "1 a, 2 b");
  EXPECT_EQ(bases(text, "0"), "1 a");
  EXPECT_EQ(bases(text, "tow"), "Dockerfile: there is no stage `tow`, did you mean `two`?");
}

TEST(Dockerfile, FillsArgumentsBeforeTheFirstFrom) {
  constexpr std::string_view text =
      "ARG TAG=1 NAME=\"b o\"\nARG BASE=x/${NAME:+y}:$TAG\nFROM ${BASE}\n";
  EXPECT_EQ(bases(text), "3 x/y:1");
  EXPECT_EQ(bases(text, {}, {{"TAG", "2"}}), "3 x/y:2");
  EXPECT_EQ(bases(text, {}, {{"BASE", "other"}}), "3 other");
  EXPECT_EQ(bases("FROM ${NONE:-a${NO:-b}}\n"), "1 ab");
  EXPECT_EQ(bases("ARG A\nFROM $A\n"),
            "Dockerfile:2:1: `$A` names no image: give its argument in `build_args`, or a default "
            "in an ARG before the first FROM");
  EXPECT_EQ(bases("ARG A\nFROM $A\n", {}, {{"A", "b"}}), "2 b");
  // An argument that nothing declares fills nothing.
  EXPECT_EQ(bases("FROM a$B\n", {}, {{"B", "b"}}), "1 a");
}

TEST(Dockerfile, TakesLinesTogether) {
  EXPECT_EQ(bases("FROM \\\n# between\n\n  a \\\n  AS b\nFROM b\n"), "1 a");
  EXPECT_EQ(bases("# escape=`\nFROM `\n a\nRUN dir C:\\\nCOPY --from=x / /\n"), "2 a, 5 x");
  EXPECT_EQ(bases("\xef\xbb\xbf"
                  "FROM a\r\nRUN x \\\r\n  y\r\nCOPY --from=b / /\r\n"),
            "1 a, 4 b");
}

TEST(Dockerfile, SeesHereDocuments) {
  const auto read = read_dockerfile(
      "FROM a\nRUN <<EOF\nFROM inside\nEOF\nCOPY <<-\"END\" <<TWO /x\n\tCOPY --from=no / /\n\tEND\n"
      "TWO\nCOPY --from=b / /\n",
      "Dockerfile", {});
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->heredoc_line, 2);
  ASSERT_EQ(read->bases.size(), 2u);
  EXPECT_EQ(read->bases[1].line, 9);
  EXPECT_EQ(bases("FROM a\nRUN cat <<EOF\nFROM b\n"),
            "Dockerfile:2:1: the here-document `EOF` has no end");
  const auto none =
      read_dockerfile("FROM a\nRUN echo $((1 << 2)) \"<<A\" <<< x\nENV A=<<B\n", "Dockerfile", {});
  ASSERT_TRUE(none) << to_string(none.error());
  EXPECT_EQ(none->heredoc_line, 0);
}

TEST(Dockerfile, IsSentWithoutHereDocumentsThatNobodyNeeds) {
  constexpr std::string_view text =
      "FROM a AS one\nRUN x\nFROM one as Dev\nRUN <<EOF\nFROM inside\nEOF\nCOPY --from=b / /\n"
      "FROM c\nCOPY --from=one / /\n";
  const auto wanted = read_dockerfile(text, "Dockerfile", {});
  ASSERT_TRUE(wanted) << to_string(wanted.error());
  EXPECT_EQ(wanted->heredoc_line, 0);
  EXPECT_EQ(wanted->sent,
            "FROM a AS one\nRUN x\nFROM scratch AS Dev\n\n\n\n\nFROM c\nCOPY --from=one / /\n");
  EXPECT_EQ(wanted->bases.size(), 2u);
  const auto needed = read_dockerfile(text, "Dockerfile", {.target = "dev"});
  ASSERT_TRUE(needed) << to_string(needed.error());
  EXPECT_EQ(needed->heredoc_line, 4);
  EXPECT_EQ(needed->sent, text);
  // The last stage ends with the file; one without a name keeps its number.
  const auto last =
      read_dockerfile("FROM a AS one\nFROM b\nRUN <<E\nE\n", "Dockerfile", {.target = "one"});
  ASSERT_TRUE(last) << to_string(last.error());
  EXPECT_EQ(last->sent, "FROM a AS one\nFROM scratch\n\n\n");
}

TEST(Dockerfile, GetsNoKeysOfSsh) {
  const std::string text = "FROM a AS one\nFROM b\nRUN --mount=id=key,type=ssh x\n";
  EXPECT_TRUE(bases(text).starts_with("Dockerfile:3:1: a build is given no keys of ssh"));
  EXPECT_EQ(bases(text, "one"), "1 a");
}

TEST(Dockerfile, NamesTheSecretsOfStagesThatAreNeeded) {
  const std::string text =
      "FROM a AS one\nRUN --mount=type=secret,id=first --mount=id=must,type=secret,required x\n"
      "FROM one\nRUN --mount=type=secret,target=/run/third,required=false \\\n"
      "  --mount=type=secret,id=first,required=true x\n"
      "FROM b AS other\nRUN --mount=type=secret,id=nobody x\n";
  const auto told = [&](const std::string& target) {
    const auto read = read_dockerfile(text, "Dockerfile", {.target = target});
    std::vector<std::string> found;
    for (const SecretMount& secret : read ? read->secrets : std::vector<SecretMount>())
      found.push_back(cat(secret.line, " ", secret.id, secret.is_required ? "!" : ""));
    return read ? join(found, ", ") : to_string(read.error());
  };
  EXPECT_EQ(told("one"), "2 first, 2 must!");
  EXPECT_EQ(told("1"), "2 first!, 2 must!, 4 third");
  EXPECT_EQ(told(""), "7 nobody");
}

TEST(Dockerfile, ContextsTakeThePlacesOfTheirNames) {
  const std::map<std::string, std::string> contexts{
      {"tools", "ours/tools:1"}, {"alpine:3", "mine"}, {"deps", "made:2"}};
  const auto sent = [&](std::string_view text) {
    const auto read = read_dockerfile(text, "Dockerfile", {.contexts = contexts});
    if (!read)
      return to_string(read.error());
    std::string said = read->sent;
    for (const BaseImage& base : read->bases)
      said += cat("|", base.line, " ", base.reference);
    return said;
  };
  EXPECT_EQ(sent("FROM alpine:3\nCOPY --chmod=1 --from=tools /x /x\n"),
            "FROM mine\nCOPY --chmod=1 --from=ours/tools:1 /x /x\n|1 mine|2 ours/tools:1");
  EXPECT_EQ(sent("ARG V=3\nFROM --platform=$P docker.io/library/alpine:$V AS a\nFROM a\n"),
            "ARG V=3\nFROM --platform=$P mine AS a\nFROM a\n|2 mine");
  // In several lines, the last one is where a here-document begins below.
  EXPECT_EQ(
      sent("FROM b\nRUN --mount=type=bind,from=tools,target=/t \\\n # why\n <<E\nfrom=tools\nE\n"),
      "FROM b\n\n\nRUN --mount=type=bind,from=ours/tools:1,target=/t  <<E\nfrom=tools\nE\n|1 b|2 "
      "ours/tools:1");
  // A stage that is called so is replaced, also for those that call it by its number.
  EXPECT_EQ(
      sent("FROM a AS Deps\nCOPY --from=other / /\nRUN <<E\nE\nFROM b\nCOPY --from=deps / /\nCOPY "
           "--from=0 / /\n"),
      "FROM made:2 AS Deps\n\n\n\nFROM b\nCOPY --from=deps / /\nCOPY --from=0 / /\n|1 made:2|5 b");
  // A stage counts before a context, and neither nothing nor another version is one.
  EXPECT_EQ(
      sent("FROM a AS alpine\nFROM alpine\nFROM scratch\nCOPY --from=alpine / /\nCOPY "
           "--from=alpine:4 / /\n"),
      "FROM a AS alpine\nFROM alpine\nFROM scratch\nCOPY --from=alpine / /\nCOPY --from=alpine:4 / "
      "/\n|1 a|5 alpine:4");
}

TEST(Dockerfile, IsSentWithoutItsFrontEnd) {
  const auto read =
      read_dockerfile("# syntax=docker/dockerfile:1\n# escape=`\nFROM a\n", "Dockerfile", {});
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->sent, "# escape=`\n# (built in) syntax=docker/dockerfile:1\nFROM a\n");
  EXPECT_EQ(bases("#syntax=docker.io/docker/dockerfile:1.4\nFROM a\n"), "2 a");
  for (const char* front_end : {"docker/dockerfile:1-labs", "me/mine", "docker/dockerfile-x"})
    EXPECT_TRUE(bases(cat("# syntax = ", front_end, "\nFROM a\n"))
                    .starts_with(cat("Dockerfile:1:1: the front end `", front_end, "`")))
        << front_end;
  // What is no directive that we know does not end them.
  EXPECT_EQ(bases("# a=1\n# a=2\nFROM a\n"), "3 a");
  EXPECT_TRUE(bases("# a1=b\n#syntax=me/mine\nFROM a\n").starts_with("Dockerfile:2:1: the front"));
  EXPECT_TRUE(
      bases("#!/bin/x\n#syntax=me/mine\nFROM a\n").starts_with("Dockerfile:2:1: the front"));
  EXPECT_EQ(bases("# syntax=me/mine\n# syntax=docker/dockerfile:1\nFROM a\n"),
            "Dockerfile:2:1: the directive `syntax` stands there twice; keep one");
  // After the first other line, it is a comment.
  EXPECT_EQ(bases("\n# syntax=me/mine\nFROM a\n"), "3 a");
}

TEST(Dockerfile, NamesTheLineThatIsWrong) {
  EXPECT_EQ(bases(""), "Dockerfile:1:1: there is no FROM");
  EXPECT_EQ(bases("# x\nRUN true\n"),
            "Dockerfile:2:1: `RUN` stands before the first FROM; only ARG may");
  EXPECT_EQ(bases("FROM a b\n"),
            "Dockerfile:1:1: FROM needs an image, and no more than `AS NAME` after it");
}

TEST(Dockerfile, EndsWhateverItIsGiven) {
  std::string doubling = "ARG A0=aaaaaaaaaaaaaaaa\n";
  for (int i = 1; i < 200; ++i)
    doubling += cat("ARG A", i, "=$A", i - 1, "$A", i - 1, "\n");
  EXPECT_NE(bases(doubling + "FROM $A199\n").find("longer than 1 MB"), std::string::npos);
  std::string stages, copies = "FROM a\n";
  for (int i = 0; i < 100'000; ++i) {
    stages += cat("FROM a", i, " AS s\n");
    copies += cat("COPY --from=b", i, " / /\n");
  }
  EXPECT_EQ(bases(stages), "100000 a99999");
  EXPECT_TRUE(bases(copies).ends_with(", 100001 b99999"));
  std::string nested = "FROM a";
  for (int i = 0; i < 100'000; ++i)
    nested += "${A:-";
  EXPECT_EQ(bases(nested + "\n"), "1 a");
}

}  // namespace
}  // namespace fettle
