#pragma once
/// Answers `GET /api/…` of programs that speak HTTP and JSON.
///
/// The obvious way makes documents here, beside the commands that make them. Then there are two
/// places that decide what somebody may see, and two processes that read the store. So a request is
/// a command, `fettle api PATH`, with the rights, the limits and the process of any other one, and
/// what it prints is what is sent.

#include <string>

#include "remote/session.h"
#include "remote/upgrade.h"
#include "remote/visit.h"

namespace fettle {

bool is_api_request(const UpgradeRequest& request);

/// The whole reply to a request of somebody who has been let in. Takes as long as the command does,
/// a minute at most. No thread may run.
std::string api_reply(const UpgradeRequest& request, const ServeSettings& settings,
                      const CommandHost& host, Visit& visit);

}  // namespace fettle
