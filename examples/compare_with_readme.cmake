# Fails unless the README quotes PROGRAM word for word: cmake -DREADME=... -DPROGRAM=... -P this
file(READ ${README} readme)
file(READ ${PROGRAM} program)
string(FIND "${readme}" "```cpp\n${program}```" place)
if(place EQUAL -1)
  message(FATAL_ERROR "The C++ program in ${README} differs from ${PROGRAM}; make them equal.")
endif()
