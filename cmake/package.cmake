# What `cpack` makes of the installed files: a Debian package and an archive that runs wherever it is unpacked.
if(TARGET saltus)
  set(manual ${PROJECT_BINARY_DIR}/saltus.1)
  add_custom_command(OUTPUT ${manual}
                     COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:saltus> -DVERSION=${PROJECT_VERSION}
                             -DOUT=${manual} -P ${PROJECT_SOURCE_DIR}/cmake/man.cmake
                     DEPENDS saltus ${PROJECT_SOURCE_DIR}/cmake/man.cmake VERBATIM)
  add_custom_target(manual ALL DEPENDS ${manual})
  install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/saltus.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME saltus)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/saltus RENAME copyright)
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME saltus)
set(CPACK_PACKAGE_VENDOR "The Saltus authors")
set(CPACK_PACKAGE_CONTACT "The Saltus authors <saltus@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator for hybrid systems of differential-algebraic equations")
set(CPACK_PACKAGE_DESCRIPTION
    "Reads Modelica models whose equations, index and number of unknowns may change at\n events, analyses every mode, and integrates with error control or in real time.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libeigen3-dev, libsuitesparse-dev, libsundials-dev, libfmt-dev, libmatio-dev, nlohmann-json3-dev")
include(CPack)
