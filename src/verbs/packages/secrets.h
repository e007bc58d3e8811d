#pragma once
/// The secrets of an environment: values that its packages were given at names that say so. They
/// are kept in the store, so that later commands hide them, too, and are added to the mask of the
/// workplace.

#include "verbs/packages/run_package.h"

namespace fettle {

/// Hides the secrets in the arguments of a package, JSON or YAML. A text that cannot be read holds
/// none.
void hide_arguments(const Workplace& place, const std::string& arguments);
/// Hides the secrets that were kept.
Status recall_secrets(const Workplace& place, const Name& environment);
/// Keeps the secrets that are hidden now.
Status keep_secrets(const Workplace& place, Edit& edit);

/// Passes news on to another audience without secrets. What a package prints and returns is shown:
/// its author wants it to be read.
class MaskedAudience : public PackageAudience {
 public:
  MaskedAudience(PackageAudience& to, const Mask& mask) : to_(to), mask_(mask) {}
  void interpreted(const Package& package) override { to_.interpreted(package); }
  void began(const Statement& statement, size_t number, size_t total) override;
  void ended(const StatementReport& report) override;
  void progress(const Key& key, const Progress& progress) override { to_.progress(key, progress); }
  void event(const Event& event) override { to_.event(event); }

  /// The report without secrets; it owns its statements.
  PackageReport masked_report(PackageReport report);
  Preview masked_preview(Preview preview) const;

 private:
  const Statement& shown(const Statement& statement);
  StatementReport masked_statement(StatementReport report);

  PackageAudience& to_;
  const Mask& mask_;
  std::map<const Statement*, Statement> shown_;
};

}  // namespace fettle
