# cmake -DOUTPUT=assets.cc -DHEADER=traces/report/assets.h -DFILES=NAME=path;NAME=path -P embed.cmake
# Turns text files into string constants of namespace penstock, so that an executable carries them with it.
set(source "#include \"${HEADER}\"\n\nnamespace penstock {\n")
foreach(item IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.*)$" ignored "${item}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" text)
  string(APPEND source "const std::string_view ${name} = R\"penstock(${text})penstock\";\n")
endforeach()
string(APPEND source "}  // namespace penstock\n")
file(WRITE "${OUTPUT}" "${source}")
