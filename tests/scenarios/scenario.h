#pragma once
/// A scenario is a text file that reads like a session in a shell: files that somebody writes and
/// commands that they give, each with what it prints.
///
///   # A comment, before the first section.
///   --- main.star
///   def run(plan):
///       plan.print("hello")
///   --- $ fettle run main.star -e $E
///   hello
///   ...
///   --- $1 fettle run missing.star
///   error: <any>
///
/// `--- FILE` writes a file in the scenario's own folder. `--- $ COMMAND` runs a command by bash
/// there; `$N` expects exit code N, and `$` 0. What follows is what it prints on both streams: a
/// line
/// `...` stands for any lines, `<any>` for any text within a line. `$E` is an environment of the
/// scenario's own, `$IMAGES` the folder of images, `$TYPED` a terminal to type at; an engine of its
/// own lives in `own`.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace fettle {

struct ScenarioStep {
  int line = 0;      ///< where it stands in the file
  std::string file;  ///< what is written; empty for a command
  std::string command;
  int code = 0;      ///< of the command
  std::string text;  ///< the file's content, or the expected output
};

/// Errors: text that belongs to no section, an exit code that is no number.
Result<std::vector<ScenarioStep>> parse_scenario(const std::string& text);

/// Whether `output` is what `expected` describes.
bool fits(const std::string& expected, const std::string& output);

}  // namespace fettle
