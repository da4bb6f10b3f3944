# Writes a source that holds files as strings: cmake -DOUT=x.cc -DHEADER=x.h "-DFILES=kName=path;..." -P embed.cmake
set(text "#include \"${HEADER}\"\n\nnamespace saltus {\n\n")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^([A-Za-z]+)=(.*)$" ignored "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const unsigned char ${name}Bytes[] = {${bytes}0};\n"
         "const char* const ${name} = reinterpret_cast<const char*>(${name}Bytes);\n\n")
endforeach()
string(APPEND text "}  // namespace saltus\n")
file(WRITE "${OUT}" "${text}")
