#include "kinds/handled.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& HandlerCode::members() {
  static const Members all{
      required<&HandlerCode::name>("name", "for messages"),
      extra<&HandlerCode::code>("code", "digest of its code among the blobs"),
      extra<&HandlerCode::program>("program", "path of a program"),
      extra<&HandlerCode::interpreter>("interpreter", "path of the Python that runs the code"),
      extra<&HandlerCode::files>("files", "{SHA-1: digest}: contents that it may ask for"),
      given<&HandlerCode::deadline>("deadline", "duration of one call")};
  return all;
}

const Members& HandledResource::members() {
  static const Members all{
      required<&HandledResource::type>("type", "for messages"),
      required<&HandledResource::fields>("fields", "{name: value}: what the code compares"),
      required<&HandledResource::handler>(
          "handler",
          "{\"name\", \"code\": digest of a Starlark file among the blobs} or "
          "{\"name\", \"program\": path} or {\"name\", \"code\", \"interpreter\": path}, with "
          "\"deadline\": duration of one call"),
      member<&HandledResource::purged>("purged", "it should be absent"),
      member<&HandledResource::report_only>("report_only", "it is looked at and nothing is done")};
  return all;
}

const Members& HandledOutputs::members() {
  static const Members all{
      anything<&HandledOutputs::digest>("digest",
                                        "of the code, so that the blob is kept; null: none"),
      member<&HandledOutputs::is_compliant>("compliant", "it is as wanted"),
      member<&HandledOutputs::changes>("changes", "{field: {\"current\", \"desired\"}}"),
      given<&HandledOutputs::reloads>("reloads", "of a look: an event would have it act"),
      extra<&HandledOutputs::facts>("facts",
                                    "{name: {\"value\": text, \"expires\", \"at\": seconds}}: what "
                                    "the code has found out, for `std::getfact`")};
  return all;
}

const TypedKind& handled_kind() {
  static const KindOf<HandledResource, HandledOutputs> kind("handled", Sort::ensuring);
  return kind;
}

}  // namespace fettle
