# Makes a source of what is installed in a cluster: `-DROOT=…/packaging/kubernetes -DOUTPUT=….cc`.
# Compilers need not take a text of more than 65,536 characters, so a file is cut at ends of lines.
file(GLOB files RELATIVE ${ROOT} ${ROOT}/crds/*.yaml ${ROOT}/install.yaml
  ${ROOT}/pull_secrets.yaml ${ROOT}/copied_secrets.yaml ${ROOT}/secret_copies.yaml)
list(SORT files)
set(rows "")
foreach(file ${files})
  file(READ ${ROOT}/${file} rest)
  while(NOT rest STREQUAL "")
    string(SUBSTRING "${rest}" 0 16000 piece)
    string(LENGTH "${rest}" length)
    if(length GREATER 16000)
      string(FIND "${piece}" "\n" end REVERSE)
      math(EXPR end "${end} + 1")
    else()
      set(end ${length})
    endif()
    string(SUBSTRING "${rest}" 0 ${end} piece)
    string(SUBSTRING "${rest}" ${end} -1 rest)
    string(APPEND rows "    {\"${file}\", R\"fettle(${piece})fettle\"},\n")
  endwhile()
endforeach()
file(WRITE ${OUTPUT} "#include \"verbs/cluster/installation.h\"\n
namespace fettle {\nnamespace {\n
constexpr InstallationPiece pieces_of_installation[] = {\n${rows}};\n
}  // namespace\n
std::span<const InstallationPiece> installation_pieces() { return pieces_of_installation; }\n
}  // namespace fettle\n")
