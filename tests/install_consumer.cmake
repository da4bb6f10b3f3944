# Installs Saltus into a fresh folder, then configures, builds and runs the consumer against it.
#   cmake -DBUILD_DIR=... -DCONSUMER=... -DSCRATCH=... -DCXX=... -P install_consumer.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${SCRATCH})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${SCRATCH}/prefix
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${CONSUMER} -B ${SCRATCH}/build
                        -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_CXX_COMPILER=${CXX}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SCRATCH}/build/consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SCRATCH}/build/c_consumer ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)

# What a program cannot reach: the headers of the rooms by their own names, and those that no public header needs.
foreach(header model/system.h saltus/model/system.h saltus/internal/simulate/run.h)
  if(EXISTS ${SCRATCH}/prefix/include/${header})
    message(FATAL_ERROR "${header} is installed, and is private")
  endif()
endforeach()
