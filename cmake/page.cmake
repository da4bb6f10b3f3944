# The files of the report page as a source, made at build time: our own, and dygraphs from the system.
find_path(SALTUS_DYGRAPHS dygraph.min.js PATHS /usr/share/javascript/dygraphs /usr/share/nodejs/dygraphs/dist
          DOC "Folder of dygraph.min.js and dygraph.min.css (Debian: libjs-dygraphs)" REQUIRED)
set(SALTUS_PAGE_SOURCE ${PROJECT_BINARY_DIR}/page_files.cc)
set(page ${PROJECT_SOURCE_DIR}/src/output/page)
set(files kReportStyle=${page}/report.css kReportScript=${page}/report.js
    kChartStyle=${SALTUS_DYGRAPHS}/dygraph.min.css kChartScript=${SALTUS_DYGRAPHS}/dygraph.min.js)
add_custom_command(
  OUTPUT ${SALTUS_PAGE_SOURCE}
  COMMAND ${CMAKE_COMMAND} -DOUT=${SALTUS_PAGE_SOURCE} -DHEADER=output/page_files.h "-DFILES=${files}"
          -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${page}/report.css ${page}/report.js ${SALTUS_DYGRAPHS}/dygraph.min.css
          ${SALTUS_DYGRAPHS}/dygraph.min.js ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
