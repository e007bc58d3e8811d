/// Every operator with every pair of operands, as `operators.table` says; its head explains it.

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>

#include "base/text.h"
#include "starlark/starlark.h"

namespace fettle::starlark {
namespace {

constexpr std::array profiles = {std::pair{"go", Profile::go}, std::pair{"spec", Profile::spec},
                                 std::pair{"kurtosis", Profile::kurtosis}};

struct Operator {
  std::string sign;
  std::string otherwise;  ///< the result of pairs without a row
  /// By left operand, right operand and profile.
  std::map<std::array<std::string, 3>, std::string> rows;
};

struct Table {
  std::vector<std::string> operands;
  std::vector<Operator> operators;
};

std::vector<std::string> columns_of(std::string_view line) {
  constexpr std::string_view separator = " | ";
  std::vector<std::string> columns;
  for (size_t end = line.find(separator); end != line.npos; end = line.find(separator)) {
    columns.emplace_back(line.substr(0, end));
    line.remove_prefix(end + separator.size());
  }
  columns.emplace_back(line);
  return columns;
}

void add_row(Operator& of, const std::vector<std::string>& columns) {
  const std::string names = columns.size() > 3 ? columns[3] : "go spec kurtosis";
  for (const std::string_view profile : split(names, ' '))
    of.rows[{columns[0], columns[1], std::string(profile)}] = columns[2];
}

Table read_table() {
  std::ifstream file(FETTLE_SOURCE_DIR "/tests/starlark/operators.table");
  Table table;
  for (std::string line; std::getline(file, line);) {
    const auto behind = [&](std::string_view word) { return line.substr(word.size()); };
    if (line.empty() || line.starts_with("# "))
      continue;
    if (line.starts_with("operands "))
      table.operands = columns_of(behind("operands "));
    else if (line.starts_with("operator "))
      table.operators.push_back({behind("operator "), {}, {}});
    else if (line.starts_with("else "))
      table.operators.back().otherwise = behind("else ");
    else
      add_row(table.operators.back(), columns_of(line));
  }
  return table;
}

/// `= REPR` or `! ERROR`.
std::string outcome_of(Thread& thread, const std::string& expression) {
  const Result<Value> value = thread.evaluate("pair.star", expression, {});
  return value ? cat("= ", repr_of(thread, *value).value()) : cat("! ", value.error().message);
}

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  if (const size_t at = text.find(mark); at != text.npos)
    text.replace(at, mark.size(), by);
  return text;
}

TEST(StarlarkOperators, GiveWhatTheTableSays) {
  const Table table = read_table();
  ASSERT_EQ(table.operators.size(), 19u);
  ASSERT_EQ(table.operands.size(), 19u);
  for (const auto& [name, profile] : profiles) {
    Dialect dialect = Dialect::of(profile);
    dialect.set = true;
    Session session(dialect);
    Thread thread(session);
    std::map<std::string, std::string> types;
    for (const std::string& operand : table.operands)
      types[operand] =
          text_of(thread.evaluate("type.star", cat("type(", operand, ")"), {}).value());
    for (const Operator& each : table.operators) {
      for (const std::string& left : table.operands) {
        for (const std::string& right : table.operands) {
          const auto row = each.rows.find({left, right, name});
          const std::string wanted = row != each.rows.end()
                                         ? row->second
                                         : replaced(replaced(each.otherwise, "{left}", types[left]),
                                                    "{right}", types[right]);
          const std::string expression = cat(left, " ", each.sign, " ", right);
          EXPECT_EQ(outcome_of(thread, expression), wanted) << expression << " in " << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fettle::starlark
