// What stands in a request before its messages: one JSON object that is begun, member by member.
//
// What the options say wins over what the dialect writes, and is written once. Pure.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/dialect.h"

namespace tug {

// The options of the provider, then those of the request, which win. Those that are `ours` alone
// (the messages, whether it streams) are left out, with a note.
Json merged_options(const WireCall& call, std::initializer_list<std::string_view> ours,
                    std::vector<std::string>& notes);

class RequestHead {
 public:
  // `body` outlives this.
  RequestHead(HttpBody& body, Json options);

  bool has_option(std::string_view name) const noexcept { return options_.contains(name); }
  const Json& option(std::string_view name) const noexcept { return options_[name]; }

  void add(std::string_view name, const Json& value);
  // An object whose members the options replace one by one; left out when it is empty.
  void add_object(std::string_view name, Json value);
  // `tools` is "[..]" and outlives the body; `mark` goes into its last item ("" for none). A list
  // of tools among the options is added to ours: those run at the provider.
  void add_tools(std::string_view tools, std::string_view mark);
  // The options that are left, then `"name":[`.
  void open_list(std::string_view name);

 private:
  void begin(std::string_view name);
  void flush();

  HttpBody& body_;
  Json options_;
  std::string text_ = "{";
};

}  // namespace tug
