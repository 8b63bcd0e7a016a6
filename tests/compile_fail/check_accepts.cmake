# Builds SOURCE with COMPILER, links it with LIBRARY unless that is empty, and runs it.
file(MAKE_DIRECTORY ${WORK})
set(flags -std=c++23 -Wall -Wextra -Werror -O2 -I${INCLUDE})
execute_process(COMMAND ${COMPILER} ${flags} -c ${SOURCE} -o ${WORK}/accepts.o
  COMMAND_ERROR_IS_FATAL ANY)
if(LIBRARY)
  execute_process(COMMAND ${COMPILER} ${WORK}/accepts.o ${LIBRARY} -lpthread -o ${WORK}/accepts
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${WORK}/accepts COMMAND_ERROR_IS_FATAL ANY)
endif()
