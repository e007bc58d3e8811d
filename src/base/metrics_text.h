#pragma once
/// Writes numbers in the text format of Prometheus.
///
///   MetricsText text;
///   text.begin("fettle_leader", MetricsText::Type::gauge, "Whether this one may write.");
///   text.add({}, 1);
///
/// A name and its help are said once, so all numbers of a metric follow its `begin`.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fettle {

class MetricsText {
 public:
  enum class Type { counter, gauge };
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  /// `help` is a sentence on one line.
  void begin(std::string_view name, Type type, std::string_view help);
  /// A number of the metric that was begun last.
  void add(const Labels& labels, double number);

  const std::string& text() const { return text_; }
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  std::string name_;
  std::string text_;
};

}  // namespace fettle
