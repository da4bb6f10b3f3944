# The HTTP server of `saltus studio` (Debian: libcpp-httplib-dev). Defines Httplib::Httplib. The header must see what
# the library was built with, which pkg-config knows.
find_package(PkgConfig REQUIRED)
pkg_check_modules(Httplib_PC QUIET IMPORTED_TARGET cpp-httplib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httplib DEFAULT_MSG Httplib_PC_FOUND)
if(Httplib_FOUND AND NOT TARGET Httplib::Httplib)
  find_package(Threads REQUIRED)
  add_library(Httplib::Httplib INTERFACE IMPORTED)
  set_target_properties(Httplib::Httplib PROPERTIES INTERFACE_LINK_LIBRARIES "PkgConfig::Httplib_PC;Threads::Threads")
endif()
