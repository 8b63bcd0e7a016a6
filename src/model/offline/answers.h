// What the planner does about one wish.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/offline/errands.h"
#include "model/offline/wish.h"

namespace tug {

// "count the lines of README.md": what is being done, for the turn that does it.
std::string doing(const Wish& wish);

// What is said in the end; nothing while it waits for calls.
using Answer = std::optional<std::string>;

// `attached` is text that came with the request; a wish about a text that names none is about this
// one.
Answer answer(const Wish& wish, Errands& errands, std::string_view attached);

// By kind: about the text of files, and about what a folder holds.
Answer answer_read(const Wish& wish, Errands& errands, std::string_view attached);
Answer answer_count(const Wish& wish, Errands& errands, std::string_view attached);
Answer answer_headings(Wish wish, Errands& errands, std::string_view attached);
Answer answer_list(const Wish& wish, Errands& errands);
Answer answer_entries(const Wish& wish, Errands& errands);
Answer answer_search(const Wish& wish, Errands& errands);

// What can be asked for, with examples.
std::string abilities();

}  // namespace tug
