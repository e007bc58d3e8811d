#pragma once
/// Settings of an environment, in the original's words.

#include "workplace/edit.h"

namespace fettle {

struct Setting {
  std::string name, value, otherwise, help;
};
Result<std::vector<Setting>> settings(const Workplace& place, const Name& environment);
Result<std::string> setting(const Workplace& place, const Name& environment,
                            const std::string& name);
/// Errors (`Blame::user`): there is no such setting, or it cannot have this value.
Status set_setting(const Workplace& place, const Name& environment, const std::string& name,
                   const std::string& value);

// The same within a wish.
Result<std::string> setting_in(Wish& wish, const std::string& name);
Status put_setting(Wish& wish, const std::string& name, const std::string& value);

/// Whether the setting `auto_full_compile` asks for a full export now, because one of its times has
/// passed since the last one.
Result<bool> full_export_is_due(const Workplace& place, const Name& environment);

}  // namespace fettle
