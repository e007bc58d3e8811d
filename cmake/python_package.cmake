# Makes a source of the Python package: `-DROOT=…/python -DOUTPUT=….cc`.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.py)
list(SORT files)
set(rows "")
foreach(file ${files})
  file(READ ${ROOT}/${file} text)
  string(APPEND rows "    {\"${file}\", R\"fettle_py(${text})fettle_py\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"programs/python_package.h\"\n
namespace fettle {\nnamespace {\n
constexpr PackageFile files[] = {\n${rows}};\n
}  // namespace\n
std::span<const PackageFile> python_package() { return files; }\n
}  // namespace fettle\n")
