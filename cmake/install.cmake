# What `cmake --install` puts where, and the package that `find_package(saltus)` finds:
# target saltus::saltus, public headers under include/saltus, what they need under include/saltus/internal.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/saltus)

# All rooms in one name. The program is called saltus too, hence the other name inside the build.
add_library(saltus_all INTERFACE)
add_library(saltus::saltus ALIAS saltus_all)
target_link_libraries(saltus_all INTERFACE ${SALTUS_LIBRARIES})
set_target_properties(saltus_all PROPERTIES EXPORT_NAME saltus)

install(TARGETS saltus_all ${SALTUS_LIBRARIES} EXPORT saltus)
install(EXPORT saltus NAMESPACE saltus:: FILE saltusTargets.cmake DESTINATION ${package_dir})
include(public_headers)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/saltusConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/saltusConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/saltusConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/saltusConfig.cmake
              ${PROJECT_BINARY_DIR}/saltusConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindKLU.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindMatio.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindHdf5Serial.cmake
        DESTINATION ${package_dir})

# Saltus' own Modelica packages.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/library DESTINATION ${CMAKE_INSTALL_DATADIR}/saltus)

if(TARGET saltus)
  install(TARGETS saltus saltus-studio)
endif()
