#pragma once
/// Changes of a state hold its old and its new state whole. Where a long text stands in the same
/// place of both, nobody would read it twice to find what differs: it is taken out and shown as a
/// difference.

#include <string>
#include <vector>

#include "value/value.h"

namespace fettle {

struct LongTexts {
  std::string path;  ///< `content`, `tags.about`
  Value before, after;
};

struct SplitChanges {
  Value rest;  ///< without the long texts, and without a side that held nothing else
  std::vector<LongTexts> long_texts;
};

/// `changes`: `{"old": {…}, "new": {…}}`; all else has no long texts. Secrets stay where they are.
SplitChanges split_changes(const Value& changes);

}  // namespace fettle
