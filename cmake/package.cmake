# cpack -G DEB: penstock (the program) and penstock-dev (libraries and headers). cpack -G TGZ: both in one archive each.
set(CPACK_PACKAGE_NAME penstock)
set(CPACK_PACKAGE_VENDOR "The Penstock authors")
set(CPACK_PACKAGE_CONTACT "The Penstock authors <penstock@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plan, predict, run and explain pipeline-parallel training")
set(CPACK_PACKAGE_DESCRIPTION
    "Penstock cuts a model over the devices of a cluster, proves and simulates the\nresulting program, runs that same program for real, and compares the two.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME penstock)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME penstock-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
list(JOIN development_packages ", " development_packages)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "penstock (= ${PROJECT_VERSION}-1), ${development_packages}")
foreach(component PROGRAM DEVELOPMENT)
  set(CPACK_COMPONENT_${component}_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")  # below the summary, which is the same for both
endforeach()
string(APPEND CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "\nThis package has the libraries and headers.")
include(CPack)
