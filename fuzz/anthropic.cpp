#include "fuzz/decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace tug::fuzz;
  static const Asked kAsked = asked(tug::Api::anthropic);
  check(tug::anthropic_dialect(), kAsked, view(data, size));
  return 0;
}
