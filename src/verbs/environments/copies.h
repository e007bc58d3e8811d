#pragma once
/// Copies files and folders into and out of services.

#include "verbs/environments/inside.h"

namespace fettle {

/// Copies a file or folder of this machine to a path of a service. If the path ends with `/`, or is
/// a folder there, it goes into that folder under its own name. Errors (`Blame::user`): it is not
/// there.
Status copy_into(const Workplace& place, const ServiceView& service, const std::string& source,
                 const std::string& target, std::stop_token stop);
/// Unpacks a tar archive in a folder of a service. Errors (`Blame::user`): there is no such folder.
Status unpack_inside(const Workplace& place, const ServiceView& service, ByteSource tar,
                     const std::string& folder, std::stop_token stop);
/// Copies the other way. Links are copied as they are. If the target is a folder, it goes into that
/// folder under its own name.
Status copy_out_of(const Workplace& place, const ServiceView& service, const std::string& source,
                   const std::string& target, std::stop_token stop);
/// Copies from one service into another one, or into the same, as out of the one and into the
/// other.
Status copy_between(const Workplace& place, const ServiceView& from, const std::string& source,
                    const ServiceView& to, const std::string& target, std::stop_token stop);
/// The file or folder at a path of a service, as a tar archive. Errors (`Blame::user`): there is
/// none.
Status archive_of(const Workplace& place, const ServiceView& service, const std::string& source,
                  const ByteSink& write, std::stop_token stop);

}  // namespace fettle
