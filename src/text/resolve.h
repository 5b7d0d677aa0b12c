// From syntax to graph: what every name means, the range of every index, the kind of every
// expression; one comprehension for each definition and for each reduction that stands inside one.
//
// A definition is read once, front to back (resolve_*.cpp). Reads give votes for the ranges of
// indices; when all are in, finish.cpp fixes the ranges, decides which reads need a guard because
// only a condition keeps them in range, and makes comprehensions, innermost first.
#pragma once

#include <bitset>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/ast.h"
#include "text/build.h"
#include "text/names.h"
#include "text/parse.h"

namespace tang {

// What is known of a tensor beside its type and shape.
struct TensorInfo {
  Range range;           // of its values, when integers
  bool has_f64 = false;  // depends on an f64 input
  std::string name;
  Span span;  // where it is declared
};

// The monoid and component whose identity `x?[...]` gives; `name` empty: there is none.
struct IdentityPlace {
  std::string name;
  size_t component = 0, n_components = 1;
};

// Where an expression stands: it decides which names it may use and what `x?[...]` gives.
enum class Place : uint8_t { value, condition, coordinate, constant, range, assumption };

// The kind that both convert to: bool, i32, i64, real.
Type wider_kind(Type a, Type b);
// "a real", "an i32", "an i64" or "a bool".
std::string_view kind_text(Type kind);
// 0, 0.0 or false.
ExprId zero_of(Exprs& exprs, Type kind);
// f is a multiple of m, in lowest terms: coefficients in [0, m), no common factor with m.
Constraint multiple_of(Forms& forms, FormId f, int64_t m);
// What the declaration of an integer scalar says of its value: its type's bounds and its range.
Facts scalar_facts(Forms& forms, const Scalar& scalar, uint32_t number);

struct FunctionInfo {
  size_t file = 0;  // number of the library that it stands in
  const syntax::Function* function = nullptr;
};

// A monoid of the program's own. Its Monoid is made when it is declared.
struct MonoidInfo {
  MonoidId monoid;  // invalid: its declaration failed
  std::vector<std::string> components;
  Span span;
  // With components that are tensors it is made where it is used, for each shape of its state.
  const syntax::Monoid* item = nullptr;
  size_t file = 0;          // number of the library that it stands in
  std::vector<Type> types;  // kinds of the components
};

struct StatePart;
class Unroller;

// A file: the program's own is number 0.
struct Library {
  bool built_in = false;               // of the library, and so are its imports
  std::string folder = {};             // "layers/": from the program's to where its imports stand
  syntax::File own;                    // of an imported one
  const syntax::File* file = nullptr;  // invalid while it cannot be read
  std::map<std::string, FunctionInfo> functions;
  std::map<std::string, MonoidInfo> monoids;
  std::vector<size_t> imports;
  bool complete = false;
};

struct ActiveCall {
  const syntax::Function* function = nullptr;
  Span span;
};

struct Resolver {
  Resolver(Sources& sources_in, const ParseOptions& options_in, Diagnostics& diagnostics_in);

  // ---- items (resolve_items.cpp) ----
  bool run(const syntax::File& top);
  void resolve_item(syntax::ItemId id);
  void declare_dims(const syntax::Dims& item);
  void declare_dim(const syntax::DimDecl& decl);
  void add_modulus(const syntax::DimDecl& decl, FormId dim);
  void bind_dim(const syntax::DimDecl& decl, int64_t value, const Range& range);
  void add_assumption(syntax::ExprNodeId condition);
  void add_fact(Constraint fact);
  void note_equalities(const Facts& facts);
  void declare_tensor(const syntax::Name& name, const syntax::Tensors& item, Type type,
                      const std::vector<FormId>& shape, const Range& range);
  void declare_scalar(const syntax::Name& name, Type type, const Range& range);
  std::optional<Type> resolve_type(const syntax::Name& name);
  std::optional<FormId> resolve_size(syntax::ExprNodeId id);
  void not_available(Span span, const std::string& what);
  TensorId scheduled_tensor(const std::string& name, Span span);
  void add_schedule(const syntax::Schedule& item);
  void declare_consts(const syntax::Consts& item);
  void declare_consts_here(const syntax::Consts& item);
  void declare_tensors(const syntax::Tensors& item);
  void declare_scalars(const syntax::Scalars& item);
  std::optional<Range> resolve_range(const syntax::Range& range);
  std::optional<FormId> resolve_extent(syntax::ExprNodeId id);
  bool check_new_name(const syntax::Name& name);
  bool is_input(const std::string& name, TensorId tensor) const;
  void finish_outputs();
  void add_output(const syntax::Name& name, const syntax::Name& type);
  TensorId materialize(const std::string& name, TensorId tensor, const std::vector<FormId>& leading,
                       Span span);
  void name_outputs();
  void finish_obligations();

  // ---- blocks (resolve_blocks.cpp) ----
  void resolve_loop(const syntax::Loop& loop, Span span);
  bool choose_entry(const syntax::File& top, const syntax::Entry*& chosen);
  void add_file(const syntax::File& top, size_t number);
  void load_import(const syntax::Import& item, size_t into);
  std::vector<size_t> visible_files() const;
  void resolve_library(size_t number);

  // ---- functions (resolve_functions.cpp) ----
  // What a call saves of its caller.
  struct CallState {
    const syntax::File* file;
    Sight sight;
    uint32_t loop_depth;
    size_t mark;
    std::map<std::string, std::vector<FormId>> packs;
    std::string prefix;
  };
  const FunctionInfo* find_function(const std::string& name) const;
  bool is_scalar_function(const FunctionInfo& info) const;
  std::optional<std::vector<syntax::ExprNodeId>> match_arguments(const syntax::Call& call,
                                                                 const syntax::Function& f,
                                                                 Span span);
  bool may_enter(const FunctionInfo& info, Span span);
  CallState enter(const FunctionInfo& info, Span span);
  void leave(CallState outer);
  Meaning inline_call(const syntax::Call& call, const FunctionInfo& info, Span span);
  void no_return(const syntax::Function& f);
  std::optional<Symbol> resolve_whole(syntax::ExprNodeId id, const std::string& name);
  std::vector<FormId> shape_of(const Symbol& symbol) const;
  std::optional<std::vector<Symbol>> call_function(const syntax::Call& call,
                                                   const FunctionInfo& info, Span span);
  bool fits_parameter(const syntax::Param& param, const Symbol& arg, Span span);
  bool match_shapes(const syntax::Function& f, const std::vector<Symbol>& args, Span span,
                    std::vector<std::pair<syntax::ExprNodeId, FormId>>& computed);
  bool match_computed(const std::vector<std::pair<syntax::ExprNodeId, FormId>>& computed,
                      Span span);
  bool match_shape(const syntax::Param& param, const std::vector<FormId>& shape, Span span,
                   std::vector<std::pair<syntax::ExprNodeId, FormId>>& computed);
  bool match_pack(const syntax::Name& name, const std::vector<FormId>& extents, Span span);
  bool mismatch(const std::string& what, FormId a, FormId b, Span span);
  void resolve_return(const syntax::Return& item, Span span);
  bool define_call(const syntax::Definition& definition);
  Symbol define_scalar(const syntax::Name& name, const Meaning& m);
  std::optional<size_t> pack_size(const syntax::Name& name);
  std::optional<std::vector<syntax::Binder>> expand_packs(
      const std::vector<syntax::Binder>& binders);

  // ---- monoids (resolve_monoids.cpp) ----
  void declare_monoid(const syntax::Monoid& item);
  const MonoidInfo* find_monoid(const std::string& name) const;
  std::optional<size_t> state_component(const syntax::Name& base, const syntax::Name& member);
  std::optional<std::vector<ExprId>> resolve_part(const syntax::MonoidPart& part,
                                                  const std::vector<Type>& types,
                                                  const std::string& what);
  MonoidId make_monoid(const syntax::Monoid& item, const MonoidInfo& info,
                       const std::vector<Type>& types);
  Meaning resolve_member(const syntax::Name& base, const syntax::Name& member, Span span);

  // ---- definitions (resolve_definition.cpp) ----
  void define(const syntax::Definition& definition, Span span);
  bool define_whole(const syntax::Definition& definition);
  // The leading slice that a read is, if it is one; `good` is false after an error.
  std::optional<Symbol> resolve_slice(const syntax::Read& read, Span span, bool& good);
  std::optional<DefId> make_definition(const syntax::Definition& definition, Span span);
  void bind(const syntax::Name& name, Symbol symbol);
  bool declare_points(const syntax::Definition& definition);
  std::optional<uint32_t> declare_index(const syntax::Binder& binder,
                                        const std::vector<uint32_t>& siblings);
  void mark_faulty(const syntax::Definition& definition);
  void begin_definition(const std::string& name);

  // ---- updates (resolve_updates.cpp) ----
  void update(const syntax::Update& item, Span span);
  bool declare_places(const syntax::Update& item);
  std::optional<DefId> make_update(const syntax::Update& item, const Symbol& symbol, Span span);
  uint32_t inout_number(TensorId tensor) const;
  void ask_injective(DefId def, size_t target, Span span);
  void ask_apart(DefId def, Span span);
  void check_overwritten();

  // ---- expressions (resolve_expressions.cpp, resolve_operators.cpp) ----
  Meaning resolve(syntax::ExprNodeId id);
  Meaning resolve_in(Place where, syntax::ExprNodeId id);
  Meaning resolve_node(const syntax::ExprNode& node);
  Meaning resolve_chain(syntax::ExprNodeId id);
  Meaning resolve_logic(syntax::ExprNodeId id);
  Meaning resolve_name(const syntax::Name& name);
  bool is_known(const Meaning& m) const;
  Meaning resolve_unary(const syntax::Unary& unary, Span span);
  Meaning resolve_choice(syntax::ExprNodeId condition, syntax::ExprNodeId yes,
                         syntax::ExprNodeId no, Span span);
  Meaning resolve_call(const syntax::Call& call, Span span);
  Meaning resolve_cast(Type type, const Meaning& value, Span span);
  Meaning apply(syntax::BinaryOp op, const Meaning& a, const Meaning& b, Span span);
  Meaning arithmetic(syntax::BinaryOp op, const Meaning& a, const Meaning& b, Span span);
  Meaning divide(syntax::BinaryOp op, const Meaning& a, const Meaning& b, Span span);
  Meaning bitwise(syntax::BinaryOp op, const Meaning& a, const Meaning& b, Span span);
  Meaning compare(syntax::BinaryOp op, const Meaning& a, const Meaning& b, Span span);
  Meaning join_truths(bool all, std::vector<Meaning> parts, Span span);
  Meaning negate_truth(const Meaning& m, Span span);
  Meaning apply_function(Op op, std::vector<Meaning> args, Span span);
  Truth truth_of(const Meaning& condition, bool holds);
  Meaning of_form(FormId form, Type type, Span span);
  Meaning of_data(ExprId expr, Span span);
  // The value as data of a kind. A form used as i32 leaves an obligation that it fits.
  ExprId as_data(const Meaning& m, Type kind);
  ExprId form_as_data(FormId form, Type kind);
  bool is_condition(const Meaning& m, const char* what);

  // ---- reads and reductions (resolve_reads.cpp, resolve_reductions.cpp) ----
  Meaning resolve_read(const syntax::Read& read, Span span);
  Meaning read_symbol(const std::string& name, Symbol symbol, const syntax::Read* read, Span span);
  std::optional<Slot> read_slot(const std::string& name, const Symbol& symbol,
                                const syntax::Read* read, Span span);
  bool resolve_coord(const syntax::Coord& coord, Slot& slot);
  bool resolve_pack_coord(const syntax::Coord& coord, Slot& slot);
  bool add_coord(const Meaning& m, Span span, Slot& slot);
  bool resolve_exact(const syntax::Coord& coord, Slot& slot);
  ExprId resolve_otherwise(const syntax::Read& read, Type kind);
  ExprId identity_in(Type kind);
  void cast_votes(const Slot& slot, const Symbol& symbol);
  Meaning add_slot(Slot slot, Type kind, Span span);
  void push_known(Truth truth);
  Meaning resolve_reduction(const syntax::Reduction& reduction, Span span);
  bool reduce_into(const syntax::Reduction& reduction, const std::function<bool()>& read_values);
  bool resolve_domain(syntax::ExprNodeId condition);
  void vote_by_prefix(syntax::ExprNodeId id);
  bool resolve_values(const syntax::Reduction& reduction);
  std::optional<Type> builtin_kind(const std::string& name, size_t component, const Meaning& value);
  bool fits_component(const std::string& name, Type kind, const Meaning& value);
  std::string monoid_suggestion(const std::string& name) const;
  bool check_monoid(const syntax::Reduction& reduction, Span span);
  bool check_monoid_argument(const syntax::Reduction& reduction, size_t monoid);
  std::optional<size_t> index_of_places(const std::vector<syntax::Left>& lefts, int64_t k);
  bool declare_places(const syntax::Definition& definition, const syntax::Reduction& reduction);
  ExprId import_expr(size_t from, ExprId expr);

  // ---- states of tensors (resolve_states.cpp) ----
  bool define_states(const syntax::Definition& definition, Span span);
  std::optional<StatePart> state_value(const std::string& component, syntax::ExprNodeId id);
  std::optional<std::vector<StatePart>> match_states(const syntax::Reduction& reduction,
                                                     const MonoidInfo& own, size_t n_lefts,
                                                     Span span);
  bool bind_state_sizes(const MonoidInfo& own, const std::vector<StatePart>& parts);
  MonoidId state_monoid(const MonoidInfo& own, const std::vector<StatePart>& parts);
  MonoidId make_states(const MonoidInfo& own, const std::vector<StatePart>& parts,
                       const std::string& name);
  std::optional<std::vector<ExprId>> state_cells(const MonoidInfo& own,
                                                 const syntax::MonoidPart& part,
                                                 const std::string& what,
                                                 const std::vector<StatePart>& parts,
                                                 Unroller& cells);
  std::optional<std::vector<ExprId>> cells_of_results(const MonoidInfo& own,
                                                      const syntax::MonoidPart& part,
                                                      const std::string& what,
                                                      const std::vector<StatePart>& parts,
                                                      Unroller& cells);
  bool reduce_states(const syntax::Definition& written, const syntax::Reduction& reduction,
                     const MonoidInfo& own, const std::vector<StatePart>& parts, MonoidId monoid,
                     Span span);
  bool state_values(const syntax::Reduction& reduction, const MonoidInfo& own,
                    const std::vector<StatePart>& parts);
  TensorId gather_cells(const syntax::Left& left, ComprehensionId cells, const StatePart& part);

  // ---- ranges and finishing (resolve_ranges.cpp, finish.cpp, safety.cpp) ----
  bool fix_range(uint32_t index);
  bool same_extent(FormId a, FormId b);
  bool fix_ranges();
  bool finish_definition(const syntax::Definition& definition, Span span, DefId& out);
  // `target`: the slot whose element the value replaces.
  bool finish_update(const std::string& name, size_t target, Span span, DefId& out);
  bool finish_inner(Span span);
  bool forms_fit(Span span);
  void finish_nested(size_t which);
  bool fill_component_axes(const syntax::Definition& definition, Comprehension& c,
                           std::vector<std::bitset<256>>& needs);
  std::vector<uint8_t> own_axes(const std::bitset<256>& needed, size_t n_points, size_t places);
  DefId add_def(Def def, bool made_up);
  std::string program_name(const std::string& wanted);
  std::string numbered_name(const std::string& stem, size_t first);
  void note_results(size_t which, bool has_f64);

  // ---- reporting ----
  Meaning fail(std::string name, Span span, std::string message);
  Diagnostic& report(std::string name, Span span, std::string message);
  std::vector<Note> call_notes(Span at) const;
  Meaning undefined(const syntax::Name& name, Span span);
  bool defined_in_loop(const std::string& name) const;
  Span defined_later(const syntax::Name& name) const;
  std::string suggestion(const std::string& name) const;
  std::string source_text(Span span) const;
  std::string axis_name(Var v) const;
  std::string print_form(FormId form) const;

  Nest& nest() { return nests[now]; }
  // Nothing that is known at run time only may stand here.
  bool constants_only() const {
    return place == Place::constant || place == Place::range || place == Place::assumption;
  }
  const syntax::ExprNode& node(syntax::ExprNodeId id) const { return (*file)[id]; }

  Sources& sources;
  const ParseOptions& options;
  Diagnostics& diagnostics;
  const syntax::File* file = nullptr;

  Program program;
  Arena& arena;
  std::vector<Obligation> obligations;
  std::unordered_map<TensorId, TensorInfo> tensors;
  std::unordered_map<uint32_t, DefId> def_of_comprehension;
  std::unordered_set<uint32_t> generated;  // definitions that the user did not name
  Scope values;
  Sight sight;
  uint32_t next_frame = 1u << 20;  // of calls; smaller ones are files
  uint32_t loop_depth = 0;
  size_t n_rounds = 0;   // of all loops so far
  bool stopped = false;  // at a limit: nothing more is read
  std::deque<Library> libraries;
  std::map<std::pair<bool, std::string>, size_t> imported;  // by whether built in, and name
  std::vector<ActiveCall> calls;
  std::map<std::string, std::vector<FormId>> packs;  // of the function being read
  std::optional<std::vector<Symbol>> returned;
  std::string prefix;  // of the names of definitions: the function that they stand in
  std::map<std::string, std::pair<Op, const MonoidInfo*>> states;  // in a combine
  std::vector<Type> state_types;
  std::map<std::string, std::vector<TensorId>> state_tensors;  // of states with tensors, by name
  std::map<std::pair<const syntax::Monoid*, std::string>, MonoidId> made_monoids;  // by shapes
  std::set<std::string> redefined;                // names whose second definition is an error
  std::unordered_set<std::string> written_names;  // of the text: no made-up name takes one
  std::unordered_set<std::string> program_names;  // of inputs and definitions so far
  std::unordered_map<std::string, size_t> name_numbers;
  std::vector<std::pair<syntax::Name, syntax::Name>> wanted_outputs;
  Span first_assumption;
  std::set<std::string> bound;                  // dims that --bind made concrete
  std::unordered_map<Var, FormId> equal_sizes;  // sizes that the assumptions give by others

  // Of the definition being read.
  std::deque<Nest> nests;
  std::vector<size_t> finish_order;  // nested ones, innermost first
  size_t now = 0;
  std::vector<IndexInfo> indices;
  std::unordered_map<std::string, std::vector<uint32_t>> index_names;
  std::string definition_name;
  std::unordered_set<std::string> reported;  // undefined names
  Place place = Place::value;
  IdentityPlace identity;
  bool failed = false;
};

}  // namespace tang
