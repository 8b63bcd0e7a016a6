// One prompt, one answer. The model offline/demo is embedded: it needs no key and no network.
#include <tug/tug.h>

#include <cstdio>

int main() {
  tug::Harness harness{"offline/demo"};
  std::puts(harness.run("what is 6 * 7?").text.c_str());
}
