# Shows that check_layers.cmake accepts a clean tree and finds each kind of violation.
#   cmake -DSCRATCH=<folder to write to> -P check_layers_test.cmake
cmake_minimum_required(VERSION 3.25)

# Rooms `upper`, `modelica`, `lower`, `cli` in that order; `file` holds `line`.
function(check file line expected)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/CMakeLists.txt "set(SALTUS_ROOMS\n  upper\n  modelica\n  lower\n  cli\n)\n")
  file(WRITE ${SCRATCH}/modelica/m.h "#include <vector>\n")
  file(WRITE ${SCRATCH}/upper/a.h "#include <vector>\nstruct Twice {\n")
  file(WRITE ${SCRATCH}/lower/b.cc "#include \"upper/a.h\"\n")
  file(WRITE ${SCRATCH}/${file} "#pragma once\n${line}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${SCRATCH}
                          -P ${CMAKE_CURRENT_LIST_DIR}/check_layers.cmake
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(expected STREQUAL "clean")
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "`${line}` in ${file} is allowed, but:\n${output}")
    endif()
  elseif(result EQUAL 0 OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR "`${line}` in ${file} should give `${expected}`:\n${output}")
  endif()
endfunction()

check(upper/c.h "#include \"upper/a.h\"" clean)
check(lower/c.h "#include <upper.h>" clean)
check(upper/c.h "#include \"lower/b.h\"" "upper/c.h includes \"lower/b.h\"")
check(upper/c_test.cc "#  include <lower/b.h>" "upper/c_test.cc includes \"lower/b.h\"")
check(lower/c.h "#include \"b.h\"" "names no room")
check(lower/c.h "#include \"../upper/a.h\"" "names no room")
check(modelica/c.h "#include \"upper/a.h\"" clean)
check(cli/c.h "#include \"modelica/m.h\"" clean)
check(lower/c.h "#include \"modelica/m.h\"" "only c_api and cli read Modelica text")
check(lower/c.h "struct Once {" clean)
check(lower/c.h "struct Twice\;" clean)
check(lower/c.h "class Twice {" "lower/c.h and upper/a.h both define Twice")
check(attic/c.h "" "attic/ is not in SALTUS_ROOMS")
file(REMOVE_RECURSE ${SCRATCH})
