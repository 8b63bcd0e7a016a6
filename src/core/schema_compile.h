// From a schema document to its compiled form: one walk over the keywords that hold schemas, then
// the references, which may bring in more documents and more places.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/schema_node.h"
#include "tug/core/error.h"

namespace tug::detail {

class SchemaCompiler {
 public:
  static Result<std::shared_ptr<const SchemaProgram>> compile(const Json& schema,
                                                              SchemaOptions options);

 private:
  explicit SchemaCompiler(SchemaProgram& program) : program_(program) {}

  // --- schema_compile.cpp: the walk
  Result<SchemaNode*> add_document(Json document, std::string_view uri);
  Result<SchemaNode*> add_node(const Json& schema, const SchemaNode* parent, std::string path,
                               std::uint32_t resource);
  // A subschema below `parent`; `path` starts with the keyword.
  Result<const SchemaNode*> child(SchemaNode& parent, std::string_view path, const Json& schema);
  Result<void> identify(SchemaNode& node, const Json& schema);
  Result<void> check_dialect(const SchemaNode& node, const Json& schema);
  Result<void> read_id(SchemaNode& node, const Json& schema, const Json& id);
  Result<void> add_anchor(SchemaNode& node, std::string_view keyword, const Json& name);

  // --- schema_keywords.cpp: what each keyword means
  using Reader = Result<void> (SchemaCompiler::*)(SchemaNode&, std::string_view key, const Json&);
  struct Keyword {
    std::string_view name;
    Reader read;
  };
  static const Keyword kKeywords[];
  Result<void> read_keyword(SchemaNode& node, std::string_view key, const Json& value);

  Result<void> read_string(SchemaNode&, std::string_view, const Json&);
  Result<void> read_boolean(SchemaNode&, std::string_view, const Json&);
  Result<void> read_list(SchemaNode&, std::string_view, const Json&);
  Result<void> read_vocabulary(SchemaNode&, std::string_view, const Json&);
  Result<void> read_subschema(SchemaNode&, std::string_view, const Json&);
  Result<void> read_subschema_list(SchemaNode&, std::string_view, const Json&);
  Result<void> read_definitions(SchemaNode&, std::string_view, const Json&);
  Result<void> read_ref(SchemaNode&, std::string_view, const Json&);
  Result<void> read_type(SchemaNode&, std::string_view, const Json&);
  Result<void> read_enum(SchemaNode&, std::string_view, const Json&);
  Result<void> read_const(SchemaNode&, std::string_view, const Json&);
  Result<void> read_bound(SchemaNode&, std::string_view, const Json&);
  Result<void> read_multiple_of(SchemaNode&, std::string_view, const Json&);
  Result<void> read_count(SchemaNode&, std::string_view, const Json&);
  Result<void> read_unique(SchemaNode&, std::string_view, const Json&);
  Result<void> read_pattern(SchemaNode&, std::string_view, const Json&);
  Result<void> read_format(SchemaNode&, std::string_view, const Json&);
  Result<void> read_properties(SchemaNode&, std::string_view, const Json&);
  Result<void> read_pattern_properties(SchemaNode&, std::string_view, const Json&);
  Result<void> read_required(SchemaNode&, std::string_view, const Json&);
  Result<void> read_dependent_required(SchemaNode&, std::string_view, const Json&);
  Result<void> read_dependent_schemas(SchemaNode&, std::string_view, const Json&);
  Result<void> read_dependencies(SchemaNode&, std::string_view, const Json&);
  Result<Pattern> make_pattern(const SchemaNode& node, std::string_view key, std::string_view text);

  // --- schema_link.cpp: where references lead
  struct PendingRef {
    SchemaNode* from = nullptr;
    std::string keyword;
    std::string text;    // as written
    std::string target;  // resolved
  };
  Result<void> link();
  Result<void> link_one(const PendingRef& ref);
  Result<std::uint32_t> find_resource(const PendingRef& ref, std::string_view uri);
  Result<SchemaNode*> find_pointer_target(const PendingRef& ref, std::uint32_t resource,
                                          std::string_view pointer);
  Result<void> refuse_circles() const;

  SchemaNode* known(const Json* place, std::uint32_t resource) const;

  SchemaProgram& program_;
  std::size_t depth_ = 0;
  std::uint64_t pattern_work_ = 0;
  std::map<std::pair<const Json*, std::uint32_t>, SchemaNode*> known_;
  std::unordered_map<std::string, std::uint32_t> by_uri_;
  std::unordered_map<std::string, std::uint32_t> anchor_numbers_;
  std::vector<PendingRef> pending_;
};

// `schema at PLACE: "KEY" must be WHAT, got VALUE`.
Failure malformed(const SchemaNode& node, std::string_view key, std::string_view what,
                  const Json& got);
// The start of a value's text, for messages.
inline constexpr std::size_t kPreviewBytes = 80;
std::string shown_value(const Json& value);
// "(root)" for the empty location.
std::string shown_location(const SchemaNode& node);

}  // namespace tug::detail
