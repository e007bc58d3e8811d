# Makes a source of the Python package: `-DROOT=…/python -DOUTPUT=….cc`.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.py)
list(SORT files)
set(rows "")
# Whose length is known (`sv`): to count the bytes of all is more than a compiler does for a constant.
foreach(file ${files})
  file(READ ${ROOT}/${file} text)
  string(APPEND rows "    {\"${file}\", R\"fettle_py(${text})fettle_py\"sv},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"programs/python_package.h\"\n
namespace fettle {\nnamespace {\n
using namespace std::string_view_literals;\n
constexpr PythonFile files[] = {\n${rows}};\n
}  // namespace\n
std::span<const PythonFile> python_package() { return files; }\n
}  // namespace fettle\n")
