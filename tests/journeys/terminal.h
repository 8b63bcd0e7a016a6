// A journey at a terminal, and what stands on the screen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journey.h"

namespace tug::journey {

class TerminalJourney : public Journey {
 protected:
  Ran on_terminal(const std::vector<std::string>& words) {
    Running running(place(), words, Running::Face::terminal);
    return running.wait();
  }
  // What stands on the screen at the end: a status line that was drawn and taken away again, as
  // often as the machine was slow enough to show it, is not there.
  static std::string screen(std::string text) {
    const std::string erase = "\r\x1b[K";
    for (std::size_t at; (at = text.find(erase)) != text.npos;) {
      const std::size_t line = at == 0 ? text.npos : text.rfind('\n', at - 1);
      const std::size_t start = line == text.npos ? 0 : line + 1;
      text.erase(start, at + erase.size() - start);
    }
    for (std::size_t at; (at = text.find("\r\n")) != text.npos;) text.erase(at, 1);
    return text;
  }
  static std::string without(std::string text, std::string_view part) {
    for (std::size_t at; (at = text.find(part)) != text.npos;) text.erase(at, part.size());
    return text;
  }
  // Everything that ever was on the screen, but for the sequences the status line is made of.
  static void expect_harmless(const std::string& text) {
    std::string rest = text;
    for (const char* own : {"\r\x1b[K", "\x1b[2m", "\x1b[0m"}) rest = without(rest, own);
    for (std::size_t at; (at = rest.find("\r\n")) != rest.npos;) rest.erase(at, 1);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const auto byte = static_cast<unsigned char>(rest[i]);
      const bool fine = (byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\t';
      ASSERT_TRUE(fine) << "byte " << int(byte) << " in " << testing::PrintToString(rest);
      if (byte != 0xc2 || i + 1 == rest.size()) continue;
      ASSERT_GE(static_cast<unsigned char>(rest[i + 1]), 0xa0) << "a C1 control";
    }
    for (const char* mark : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f"})
      ASSERT_FALSE(has(rest, mark)) << "a mark that turns text";
  }
};

}  // namespace tug::journey
