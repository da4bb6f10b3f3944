# The serial HDF5 library with its high-level part. Debian keeps it beside the parallel one, and
# CMake's own module may find that. Defines Hdf5Serial::Hdf5Serial.
find_path(Hdf5Serial_INCLUDE_DIR hdf5_hl.h PATH_SUFFIXES hdf5/serial)
find_library(Hdf5Serial_LIBRARY NAMES hdf5_serial hdf5)
find_library(Hdf5Serial_HL_LIBRARY NAMES hdf5_serial_hl hdf5_hl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hdf5Serial REQUIRED_VARS Hdf5Serial_LIBRARY
                                  Hdf5Serial_HL_LIBRARY Hdf5Serial_INCLUDE_DIR)
if(Hdf5Serial_FOUND AND NOT TARGET Hdf5Serial::Hdf5Serial)
  add_library(Hdf5Serial::Hdf5Serial INTERFACE IMPORTED)
  set_target_properties(Hdf5Serial::Hdf5Serial PROPERTIES
    INTERFACE_LINK_LIBRARIES "${Hdf5Serial_HL_LIBRARY};${Hdf5Serial_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hdf5Serial_INCLUDE_DIR}")
endif()
mark_as_advanced(Hdf5Serial_INCLUDE_DIR Hdf5Serial_LIBRARY Hdf5Serial_HL_LIBRARY)
