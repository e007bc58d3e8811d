#pragma once
/// A scenario is a text file that reads like a shell session: files that somebody writes, and
/// commands with their output.
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
/// `--- FILE` writes a file in the scenario's own folder. `--- $ COMMAND` runs a command in bash
/// there; `$N` expects exit code N, and `$` expects 0. Its output on both streams follows: a line
/// `...` stands for any lines, `<any>` for any text within a line. `$E` is the scenario's own
/// environment, `$IMAGES` the folder of images, `$TYPED` a terminal to type at; the scenario's own
/// engine lives in `own`.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace fettle {

struct ScenarioStep {
  int line = 0;      ///< its line in the file
  std::string file;  ///< the file to write; empty for a command
  std::string command;
  int code = 0;      ///< of the command
  std::string text;  ///< the file's content, or the expected output
};

/// Errors: text outside a section, an exit code that is not a number.
Result<std::vector<ScenarioStep>> parse_scenario(const std::string& text);

/// Whether `output` matches `expected`.
bool fits(const std::string& expected, const std::string& output);

}  // namespace fettle
