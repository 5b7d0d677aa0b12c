// A syntax tree as text without its places: two files are the same program iff it is the same.
// Pools are written in order, since equal trees come out of the parser in equal order.
#pragma once

#include <fmt/format.h>

#include <string>

#include "text/syntax.h"

namespace tang::syntax {

class Dump {
 public:
  static std::string of(const File& file) {
    Dump dump;
    for (const ExprNode& node : file.exprs) {
      std::visit([&](const auto& e) { dump.write(e); }, node.data);
      dump.out_ += '\n';
    }
    for (const Item& item : file.items) {
      std::visit([&](const auto& e) { dump.write(e); }, item.data);
      dump.out_ += '\n';
    }
    dump.write(file.top);
    return dump.out_;
  }

 private:
  template <class... T>
  void put(const T&... parts) {
    ((out_ += fmt::format("{} ", parts)), ...);
  }
  void write(ExprNodeId id) { put(id.valid() ? fmt::format("#{}", id.value) : "-"); }
  void write(ItemId id) { put(fmt::format("@{}", id.value)); }
  void write(const Name& name) { put(fmt::format("'{}'", name.text)); }
  template <class T>
  void write(const std::vector<T>& list) {
    put("[");
    for (const T& element : list) write(element);
    put("]");
  }
  template <class T, class... Rest>
  void write(const char* kind, const T& first, const Rest&... rest) {
    put(kind);
    write(first);
    (write(rest), ...);
  }
  void write(bool flag) { put(flag); }
  void write(int64_t value) { put(value); }

  void write(const Integer& e) { put("integer", e.value, e.hexadecimal); }
  void write(const Real& e) { put("real", e.value); }
  void write(const Constant& e) { put("constant", static_cast<int>(e.word)); }
  void write(const NameRef& e) { write("name", e.name); }
  void write(const Member& e) { write("member", e.base, e.member); }
  void write(const Unary& e) { write(spelling(e.op), e.operand); }
  void write(const Binary& e) { write(spelling(e.op), e.left, e.right); }
  void write(const Conditional& e) { write("conditional", e.condition, e.yes, e.no); }
  void write(const Argument& e) { write("argument", e.name, e.value); }
  void write(const Call& e) { write("call", e.function, e.arguments); }
  void write(const Coord& e) { write("coord", e.value, e.rest, e.exact); }
  void write(const Read& e) {
    write("read", e.tensor, e.member, e.guarded, e.coords, e.condition, e.otherwise);
  }
  void write(const Binder& e) { write("binder", e.name, e.rest, e.range); }
  void write(const Value& e) { write("value", e.tuple, e.parts); }
  void write(const Reduction& e) {
    write("reduction", e.monoids, e.parenthesised, e.arguments, e.binders, e.condition, e.values);
  }

  void write(const Range& e) { write("range", e.low, e.high, e.closed); }
  void write(const TypeRef& e) { write("type", e.type, e.brackets, e.shape); }
  void write(const Block& e) { write("block", e.items); }
  void write(const DimDecl& e) {
    write("dim", e.name, e.range, e.has_modulus, e.modulus, e.remainder);
  }
  void write(const Dims& e) { write("dims", e.dims); }
  void write(const Assume& e) { write("assume", e.condition); }
  void write(const ConstDecl& e) { write("const", e.name, e.value); }
  void write(const Consts& e) { write("consts", e.consts); }
  void write(const Tensors& e) {
    write("tensors", e.inout, e.names, e.type, e.range, e.sorted, e.distinct);
  }
  void write(const Scalars& e) { write("scalars", e.names, e.type, e.range); }
  void write(const Outputs& e) { write("outputs", e.names, e.type); }
  void write(const Import& e) { write("import", e.file); }
  void write(const ParamDim& e) { write("extent", e.rest, e.extent); }
  void write(const Param& e) { write("param", e.name, e.brackets, e.shape, e.initial); }
  void write(const Function& e) { write("fn", e.name, e.params, e.body); }
  void write(const Return& e) { write("return", e.values); }
  void write(const Component& e) { write("component", e.name, e.brackets, e.shape, e.type); }
  void write(const MonoidPart& e) { write("part", e.span.valid(), e.is_block, e.tuple, e.block); }
  void write(const Monoid& e) {
    write("monoid", e.name, e.components, e.identity, e.combine, e.left, e.right, e.commutative);
  }
  void write(const Entry& e) { write("entry", e.name, e.body); }
  void write(const Loop& e) { write("for", e.index, e.range, e.body); }
  void write(const Grad& e) { write("grad", e.results, e.output, e.wrt, e.seed); }
  void write(const ScheduleWord& e) { write("word", e.name, e.has_value, e.value, e.number); }
  void write(const Schedule& e) { write("schedule", e.target, e.when, e.clauses); }
  void write(const Left& e) { write("left", e.name, e.brackets, e.indices); }
  void write(const Definition& e) { write("definition", e.lefts, e.value); }
  void write(const Place& e) { write("place", e.coord, e.range); }
  void write(const Update& e) {
    write("update", e.tensor, e.guarded, e.brackets, e.places, e.condition, e.value);
  }

  std::string out_;
};

}  // namespace tang::syntax
