#pragma once
/// An allocation that fails, or a thread that cannot be started, ends the process with a message
/// and exit code 1. Nothing is half written then: what lasts is in a transaction of the store, or
/// is renamed into its place when it is whole.

#include <string_view>

namespace fettle {

/// Takes effect now, in every thread. `doing`: what people asked for, such as `fettle compile`.
/// `as_json`: standard output gets the envelope of an error, too.
void end_when_out_of_memory(std::string_view doing, bool as_json);

/// Tells it and ends the process: for allocators that answer with null.
[[noreturn]] void out_of_memory();

}  // namespace fettle
