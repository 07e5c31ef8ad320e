# oneDNN, found by its header and its library, as DNNL::dnnl. The package's own CMake file on Debian 12 also demands the
# OpenCL headers, which the CPU engine does not use and which come only as a recommendation.
find_path(dnnl_INCLUDE_DIR dnnl.hpp)
find_library(dnnl_LIBRARY dnnl)
mark_as_advanced(dnnl_INCLUDE_DIR dnnl_LIBRARY)

set(dnnl_VERSION "")
foreach(part MAJOR MINOR PATCH)
  if(EXISTS "${dnnl_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h")
    file(STRINGS "${dnnl_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" line REGEX "define DNNL_VERSION_${part} ")
    string(REGEX REPLACE ".* ([0-9]+)$" "\\1" number "${line}")
    list(APPEND dnnl_VERSION ${number})
  endif()
endforeach()
list(JOIN dnnl_VERSION "." dnnl_VERSION)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(dnnl REQUIRED_VARS dnnl_LIBRARY dnnl_INCLUDE_DIR VERSION_VAR dnnl_VERSION
                                  HANDLE_VERSION_RANGE
                                  REASON_FAILURE_MESSAGE "on Debian and Ubuntu: apt-get install libdnnl-dev")
if(dnnl_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${dnnl_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${dnnl_INCLUDE_DIR}")
endif()
