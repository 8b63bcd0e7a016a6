#include "io/thread_name.h"

#include <pthread.h>

namespace tug {

void name_this_thread(const char* name) noexcept { pthread_setname_np(pthread_self(), name); }

}  // namespace tug
