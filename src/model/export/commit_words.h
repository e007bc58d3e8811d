#pragma once
/// The refusals of exports, in the sentences that Inmanta's users and their scripts know.

#include "versions/words.h"

namespace fettle::model {

const CommitWords& export_words();

}  // namespace fettle::model
