# Writes a source that holds files as strings: cmake -DOUT=x.cc -DHEADER=x.h "-DFILES=name=path;..." -P embed.cmake
# Each file becomes `const char* const name`; with -DTABLE=Page, all of them become one `std::span<const Page> TABLE_FUNCTION()`
# whose elements are {name, text}. Bytes, because a literal must not exceed 64 KB in standard C++.
set(text "#include \"${HEADER}\"\n\nnamespace saltus {\n\n")
set(rows "")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^([A-Za-z0-9_]+)=(.*)$" ignored "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const unsigned char ${name}Bytes[] = {${bytes}0};\n")
  set(start "reinterpret_cast<const char*>(${name}Bytes)")
  if(TABLE)
    string(APPEND rows "    {\"${name}\", {${start}, sizeof(${name}Bytes) - 1}},\n")
  else()
    string(APPEND text "const char* const ${name} = ${start};\n\n")
  endif()
endforeach()
if(TABLE)
  string(APPEND text "\nstd::span<const ${TABLE}> ${TABLE_FUNCTION}() {\n"
         "  static const ${TABLE} pages[] = {\n${rows}  };\n  return pages;\n}\n\n")
endif()
string(APPEND text "}  // namespace saltus\n")
file(WRITE "${OUT}" "${text}")
