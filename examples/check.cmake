# Runs PROGRAM; it must end with 0 and print what EXPECTED holds.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE code TIMEOUT 50)
file(READ ${EXPECTED} expected)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${code} and printed:\n${printed}")
endif()
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed:\n${printed}\ninstead of ${EXPECTED}:\n${expected}")
endif()
