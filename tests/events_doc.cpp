// Prints docs/events.md.
#include <cstdio>

#include "tug/journal/catalogue.h"

int main() { std::fputs(tug::events_markdown().c_str(), stdout); }
