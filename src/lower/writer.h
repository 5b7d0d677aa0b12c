// From a tile tree to kernel IR: what values.cpp (expressions) and pieces.cpp (statements) share.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "lower/tile.h"

namespace tang::tile {

// The current unit of an axis.
struct Position {
  FormId at;             // first cell of the unit
  FormId end;            // cells from here on are outside of the axis
  bool clipped = false;  // the unit may reach past `end`
};

// A comprehension as evaluated at one place: its axes are forms of the kernel.
struct Frame {
  DefId node;
  std::vector<FormId> axes;
  Type compute = Type::f32;  // of real arithmetic
  ExprId path;               // evaluated only where this holds; invalid: always
  // Where nodes are evaluated, beside `path`: where all graph conditions of one of these sets hold;
  // absent: always. Of the first root that was asked for, and all that it needs.
  std::unordered_map<ExprId, std::vector<std::set<ExprId>>> conditions;
  std::set<ExprId> asked;  // reads whose place is being found
  bool analysed = false;
  Exprs::Memo memo;
  std::map<uint32_t, ExprId> reads;
};

class Writer {
 public:
  Writer(const Program& program, const Schedule& schedule, const Tree& tree, const Storage& storage,
         kernel::Module& module);
  Written write();

 private:
  // values.cpp
  Frame frame(DefId node, std::vector<FormId> axes, ExprId path) const;
  ExprId translate(Frame& f, ExprId root, const std::function<ExprId(const Expr&)>& state);
  ExprId value(Frame& f, ExprId root);
  void find_conditions(Frame& f, ExprId root) const;
  bool needs(const Comprehension& c, ExprId root, ExprId read) const;
  ExprId path_of(Frame& f, ExprId read);
  ExprId node_value(Frame& f, const Expr& e, const std::array<ExprId, 3>& args);
  ExprId read_value(Frame& f, ExprId leaf);
  ExprId guard_of(Frame& f, const Read& read, const std::vector<FormId>& coords);
  ExprId constraint(const Constraint& c, const Frame& f);
  ExprId load(TensorId tensor, const std::vector<FormId>& coords, ExprId path);
  FormId coordinate(Frame& f, const Coord& coord, ExprId path, const std::string& hint);
  FormId import(const Frame& f, FormId form);
  ExprId compare(Op op, FormId a, FormId b);
  Type retag(Type graph_type, Type compute) const {
    return graph_type == Type::f64 ? compute : graph_type;
  }

  // nested_fold.cpp
  void over_domain(Frame& f, uint32_t axis, std::vector<Constraint> open,
                   const std::function<void()>& body);
  ExprId nested_fold(DefId node, uint32_t component, const std::vector<FormId>& coords,
                     ExprId path);

  // pieces.cpp
  struct Own {  // an own axis being iterated: index into the state, coordinate of the axis
    OwnAxis axis;
    FormId index;
  };
  void items(const std::vector<Item>& list);
  void item(const Init& init);
  void item(const Fold& fold);
  void item(const Join& join);
  void item(const Write& write);
  void item(const Loop& loop);
  void store_update(const Comprehension& c, const std::vector<FormId>& axes);
  void store(uint32_t place, const std::vector<FormId>& coords, ExprId result);
  void over(const std::vector<OwnAxis>& axes, bool clip, const std::function<void()>& body);
  void nested(kernel::Block& block, const std::function<void()>& body);
  void in_loop(const std::string& name, FormId lo, FormId hi, int64_t step, kernel::Run run,
               const std::function<void(FormId)>& body);
  void when(ExprId condition, const std::function<void()>& body);
  FormId let_form(const std::string& name, Op op, const std::vector<FormId>& forms);
  kernel::VarId variable(const std::string& name, Type type);
  void let(kernel::VarId var, ExprId value);
  ExprId read_state(uint32_t state);
  FormId state_address(uint32_t state);
  void write_state(uint32_t state, ExprId value);
  void update(const Reduction& r, const std::function<ExprId(uint32_t)>& left,
              const std::function<ExprId(uint32_t)>& right);
  void insert(const Reduction& r, const std::function<ExprId(uint32_t)>& value);
  FormId first_place(const OwnAxis& places, const std::function<ExprId()>& goes_before);
  std::vector<OwnAxis> shared_own(const Reduction& r) const;
  std::vector<OwnAxis> further_own(uint32_t state) const;
  void bind_shared(const Reduction& r, Frame& f, const std::function<ExprId(const Expr&)>& state);
  ExprId bind(const std::string& name, ExprId value);
  std::vector<FormId> axes_of(const Reduction& r) const;

  void declare_parameters();
  void collect_reads(DefId node, std::set<uint32_t>& tensors) const;
  void declare_states();
  std::string unique(const std::string& name);

  const Program& program_;
  const Schedule& schedule_;
  const Tree& tree_;
  const Storage& storage_;
  kernel::Module& module_;
  const DefIndex& index_;
  kernel::Kernel kernel_;
  std::map<uint32_t, kernel::BufferId> parameters_;  // by module tensor
  std::vector<uint32_t> args_;                       // module tensors, by parameter
  std::vector<kernel::VarId> scalars_;               // by state without own axes
  std::vector<kernel::BufferId> arrays_;             // by state with own axes
  std::vector<Position> positions_;                  // by kernel axis
  std::map<uint32_t, FormId> own_index_;             // by kernel axis: index into states
  std::set<std::string> names_;
  kernel::Block* block_ = nullptr;
};

}  // namespace tang::tile
