# Makes a source of the shapes that a page of the manual has: `-DPAGE=docs/json.md -DOUTPUT=….cc`. Only those of paths are kept.
file(READ ${PAGE} text)
string(FIND "${text}" "\n## /api" at)
string(FIND "${text}" "\n## fettle" behind)
if(at EQUAL -1 OR behind LESS at)
  message(FATAL_ERROR "${PAGE} has no shapes of paths before those of commands")
endif()
math(EXPR length "${behind} - ${at}")
string(SUBSTRING "${text}" ${at} ${length} shapes)
file(WRITE ${OUTPUT} "#include \"server/shapes.h\"\n
namespace fettle {\n
std::string_view page_of_shapes() {\n  using namespace std::string_view_literals;\n  return R\"shapes(${shapes})shapes\"sv;\n}\n
}  // namespace fettle\n")
