#include "states/block.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::states {
namespace {

/// `line pipe <awaited> text` of each block.
std::string blocks_shown(std::string text) {
  const std::vector<Stage> pipe = *parse_pipe("jinja|yaml|replacements");
  const Result<std::vector<Block>> blocks =
      blocks_of(std::make_shared<const std::string>(std::move(text)), pipe);
  if (!blocks)
    return to_string(blocks.error());
  std::string made;
  for (const Block& block : *blocks) {
    made += cat(block.line, " ");
    for (const Stage stage : block.pipe)
      made += to_string(stage).substr(0, 1);
    for (const Block::AwaitedState& awaited : block.awaited)
      made += cat(" <", awaited.id, " ", awaited.line, ">");
    made += cat(" ", replace_all(*block.text, "\n", "/"), "\n");
  }
  return made;
}

TEST(Block, AFileIsOneBlock) {
  EXPECT_EQ(blocks_shown("a\n  #!require:x\n"), "1 jyr a/  #!require:x/\n");
  EXPECT_EQ(blocks_shown(""), "");
  EXPECT_EQ(blocks_shown(" \n\n"), "");
}

TEST(Block, TheFirstLineMayNameThePipe) {
  EXPECT_EQ(blocks_shown("#!yaml\na\n"), "1 y /a/\n");
  EXPECT_EQ(blocks_shown("#! jinja | json \n{}\n"), "1 jj /{}/\n");
  EXPECT_EQ(blocks_shown("# text\n#!yaml\na\n"), "1 jyr # text/\n3 y a/\n");
  EXPECT_EQ(blocks_shown("#!/usr/bin/env -S fettle state\na\n"),
            "1 jyr #!/usr/bin/env -S fettle state/a/\n");
}

TEST(Block, BlocksWait) {
  EXPECT_EQ(blocks_shown("a\n#!require:x\nb\nc\n#!END\nd\n#!require:y\n#!require: z\n#!yaml\ne"),
            "1 jyr a/////d/\n3 jyr <x 2> b/c/\n10 y <y 7> <z 8> e\n");
  EXPECT_EQ(blocks_shown("#!require:x\nb\n#!require:y\nc\n"), "2 jyr <x 1> b/\n4 jyr <y 3> c/\n");
  EXPECT_EQ(blocks_shown("a\n#!require:x\n#!END\n"), "1 jyr a/\n");
}

TEST(Block, WhatIsNoStageIsAnError) {
  EXPECT_EQ(blocks_shown("a\n#!ymal\nb\n"),
            "line 2:1: 'rend' has no attribute 'ymal', did you mean `yaml`?");
  EXPECT_EQ(blocks_shown("#!\n"), "line 1:1: 'rend' has no attribute ''");
  EXPECT_EQ(blocks_shown("a\n#!END\n"), "line 2:1: Unexpected End of file line 2");
  EXPECT_EQ(parse_pipe("yaml|jinja").error().message,
            "the stage `jinja` of the pipe `yaml|jinja` needs text, but gets data");
  EXPECT_EQ(parse_pipe("replacements|yaml").error().message,
            "the stage `replacements` of the pipe `replacements|yaml` needs data, but gets text");
  EXPECT_EQ(parse_pipe("jinja").error().message,
            "the pipe `jinja` ends with text: add the stage `yaml` or `json`");
}

}  // namespace
}  // namespace fettle::states
