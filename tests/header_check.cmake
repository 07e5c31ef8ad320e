# Every header compiles on its own: header_check compiles, for each, a file that includes nothing else. The list is globbed
# on purpose, so that no header can be left out of it.
set(header_folders core models sim planner exec profiler traces cli)
list(TRANSFORM header_folders APPEND "/*.h" OUTPUT_VARIABLE patterns)
list(TRANSFORM patterns PREPEND "${PROJECT_SOURCE_DIR}/")
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${patterns})
# Plug-ins need packages that this build may lack; where they are built, their own sources include these headers.
list(FILTER headers EXCLUDE REGEX "^exec/(cuda|mpi)/")

set(header_sources "")
foreach(header IN LISTS headers)
  string(REPLACE "/" "_" name ${header})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/header_check/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n" @ONLY)
  list(APPEND header_sources ${source})
endforeach()

add_library(header_check OBJECT EXCLUDE_FROM_ALL ${header_sources})
target_link_libraries(header_check PRIVATE penstock_options fmt::fmt tl::expected Threads::Threads
                      DNNL::dnnl CLI11::CLI11)
target_compile_options(header_check PRIVATE -O0 -g0)

# Ninja goes on after the first error, so that all headers at fault are named at once.
if(CMAKE_GENERATOR STREQUAL "Ninja")
  set(go_on -- -k 0)
endif()
add_test(NAME repository.HeadersCompileOnTheirOwn
         COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target header_check ${go_on})
set_tests_properties(repository.HeadersCompileOnTheirOwn PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE)
