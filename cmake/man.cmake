# Writes the manual page from the program's own help: cmake -DPROGRAM=saltus -DVERSION=x -DOUT=saltus.1 -P man.cmake
function(help_of out)
  execute_process(COMMAND ${PROGRAM} ${ARGN} --help OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  # In a manual page a backslash, and a dot or quote at the start of a line, are commands.
  string(REPLACE "\\" "\\e" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE overview COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "Subcommands:\n(.*)\n\nExamples:" ignored "${overview}")
string(REGEX MATCHALL "\n  [a-z]+" commands "\n${CMAKE_MATCH_1}")
help_of(text)
set(page ".TH SALTUS 1 \"\" \"Saltus ${VERSION}\" \"User commands\"\n.SH NAME\n")
string(APPEND page "saltus \\- simulate hybrid systems of differential\\-algebraic equations\n"
       ".SH SYNOPSIS\n.B saltus\n.I COMMAND\n[options]\n.SH DESCRIPTION\n.nf\n${text}\n.fi\n")
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  help_of(text ${command})
  string(TOUPPER ${command} title)
  string(APPEND page ".SH SALTUS ${title}\n.nf\n${text}\n.fi\n")
endforeach()
file(WRITE ${OUT} "${page}")
