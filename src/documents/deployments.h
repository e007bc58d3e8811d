#pragma once
/// Versions made true.

#include "verbs/models/apply_version.h"

namespace fettle {

Value resource_value(const DeployedResource& resource);
Value left_value(const LeftResource& left);
Value summary_value(const ApplyReport& report);
Value document_of(const ApplyReport& report);

}  // namespace fettle
