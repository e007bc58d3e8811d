#pragma once
/// Declares the functions of `table.cc`, by the file that has them.

#include "states/modules/module.h"
#include "states/shape.h"
#include "value/with.h"

namespace fettle::states {

/// The result: true, false, or none if nobody knows.
using Verdict = std::optional<bool>;

/// An answer without states and changes.
Value ret_of(Verdict result, std::string comment);
/// An answer with both states; its changes are those between them.
Value ret_of(Verdict result, Value comment, Value before, Value after);
/// Checks the shape of an argument. Error: it has another one.
Status check_shape(Shape shape, const ModuleCall& call, std::string_view parameter);
/// Error: it is no number of seconds.
Result<double> seconds_argument(const ModuleCall& call, std::string_view parameter);
/// The text of an argument. Error: it is no text, or empty.
Result<std::string> text_argument(const ModuleCall& call, std::string_view parameter);
/// The dict of an argument; null counts as an empty one. Error: it is something else.
Result<Value> dict_argument(const ModuleCall& call, std::string_view parameter);
/// The items of a list; null counts as an empty one. Error: it is something else.
Result<std::vector<Value>> list_argument(const ModuleCall& call, std::string_view parameter);

using Answer = Result<ModuleAnswer>;

// test.cc
Answer test_nop(const ModuleCall& call);
Answer test_succeed(const ModuleCall& call);
Answer test_succeed_with_comment(const ModuleCall& call);
Answer test_succeed_with_changes(const ModuleCall& call);
Answer test_succeed_with_arg_bind(const ModuleCall& call);
Answer test_none(const ModuleCall& call);
Answer test_fail(const ModuleCall& call);
Answer test_fail_with_changes(const ModuleCall& call);
Answer test_configurable(const ModuleCall& call);
Answer test_present(const ModuleCall& call);
Answer test_absent(const ModuleCall& call);
Answer test_update(const ModuleCall& call);
Answer test_present_resource(const ModuleCall& call);
Answer test_unique_op(const ModuleCall& call);
Answer test_parallel_state(const ModuleCall& call);
Answer test_update_low(const ModuleCall& call);
Answer test_mod_watch(const ModuleCall& call);
Answer test_acct(const ModuleCall& call);

// write.cc: what values and templates come to
Answer data_write(const ModuleCall& call);
Answer template_render(const ModuleCall& call);
Answer trigger_build(const ModuleCall& call);

// call.cc
Answer exec_run(const ModuleCall& call);
Answer exec_stateful(const ModuleCall& call);

// http.cc
Answer http_query(const ModuleCall& call);
Answer http_wait(const ModuleCall& call);

// run.cc: what concerns the rest of the run
Answer time_sleep(const ModuleCall& call);
Answer render_block(const ModuleCall& call);
Answer sls_run(const ModuleCall& call);
Answer acct_profile(const ModuleCall& call);

}  // namespace fettle::states
