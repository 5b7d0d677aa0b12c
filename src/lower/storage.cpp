// The module's tensors: inputs and outputs as the program declares them, then the workspace. A
// workspace slot is reused once its last reader has run, when the new tensor is proved no larger.
#include "lower/storage.h"

#include <algorithm>
#include <unordered_set>

#include "lower/import.h"
#include "support/panic.h"

namespace tang {

namespace {

constexpr int64_t kSlotAlignment = 64;  // bytes: a cache line, and the widest vector

FormId carry(const Program& program, kernel::Module& module, FormId form) {
  if (!form.valid()) return form;
  return import_form(program.arena->forms, form, module.forms, [](Var) { return FormId(); });
}

uint32_t add_tensor(const Program& program, kernel::Module& module, std::string name, Type type,
                    kernel::TensorRole role, const std::vector<FormId>& shape) {
  kernel::ModuleTensor t{.name = std::move(name),
                         .type = type,
                         .role = role,
                         .shape = {},
                         .elements = module.forms.constant(1),
                         .workspace_offset = {},
                         .range_lo = {},
                         .range_hi = {}};
  for (const FormId extent : shape) {
    t.shape.push_back(carry(program, module, extent));
    t.elements = module.forms.mul(t.elements, t.shape.back());
  }
  module.tensors.push_back(std::move(t));
  return static_cast<uint32_t>(module.tensors.size() - 1);
}

FormId bytes_of_tensor(kernel::Module& module, const kernel::ModuleTensor& t) {
  return module.forms.ceil_quotient(module.forms.scale(t.elements, type_bits(t.type)), 8);
}

std::string name_for(const Program& program, TensorId tensor) {
  const std::string name = program.name_of(tensor);
  return name.empty() ? "unnamed" : name;
}

}  // namespace

tile::Storage lay_out(const Program& program, const Schedule& schedule, kernel::Module& module) {
  tile::Storage storage{.index = DefIndex(program), .read = {}, .write = {}};
  Arena& arena = *program.arena;
  for (const Input& input : program.inputs) {
    const Tensor& t = arena.tensors[input.tensor];
    const uint32_t place = add_tensor(
        program, module, input.name, t.type,
        input.role == Role::inout ? kernel::TensorRole::inout : kernel::TensorRole::input, t.shape);
    kernel::ModuleTensor& to = module.tensors[place];
    to.range_lo = carry(program, module, input.range.lo);
    to.range_hi = carry(program, module, input.range.hi);
    to.sorted = input.sorted;
    to.distinct = input.distinct;
    storage.read.emplace(input.tensor, place);
  }
  for (const Def& def : program.defs)  // an update writes where its old version is
    if (arena.comprehensions[def.id].is_update()) {
      const TensorId version = arena.component(def.id, 0);
      const uint32_t place = storage.read.at(arena.base_of(version));
      storage.read.emplace(version, place);
      storage.write[version].push_back(place);
    }
  for (const Output& output : program.outputs)
    if (!storage.read.contains(output.tensor))
      storage.write[output.tensor].push_back(add_tensor(program, module, output.name, output.type,
                                                        kernel::TensorRole::output,
                                                        arena.tensors[output.tensor].shape));
  // What roots compute and others read: from an output of the same format, else the workspace.
  std::unordered_set<TensorId> read;
  const std::vector<bool> live = live_defs(program, storage.index);
  for (size_t d = 0; d < program.defs.size(); ++d)
    if (live[d])
      for (const Read& r : arena.comprehensions[program.defs[d].id].reads) read.insert(r.tensor);
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const Comprehension& c = arena.comprehensions[program.defs[d].id];
    if (schedule.places[d].at != At::root || c.is_update()) continue;
    for (uint32_t k = 0; k < c.components.size(); ++k) {
      const TensorId tensor = arena.component(program.defs[d].id, k);
      if (!read.contains(tensor)) continue;
      const Type kind = arena.tensors[tensor].type;
      const Type type = kind == Type::f64 ? schedule.formats[d].store : kind;
      const std::vector<uint32_t> outputs = storage.write[tensor];
      const auto same = std::find_if(outputs.begin(), outputs.end(), [&](uint32_t place) {
        return module.tensors[place].type == type;
      });
      const uint32_t place =
          same != outputs.end()
              ? *same
              : add_tensor(program, module, name_for(program, tensor), type,
                           kernel::TensorRole::workspace, arena.tensors[tensor].shape);
      if (same == outputs.end()) storage.write[tensor].push_back(place);
      storage.read.emplace(tensor, place);
    }
  }
  return storage;
}

void assign_workspace(kernel::Module& module) {
  struct Slot {
    FormId bytes, offset;
    size_t free_from = 0;  // first launch that may write it
  };
  const Facts facts = [&] {
    Facts out;
    for (const kernel::Check& check : module.checks)
      out.push_back({.form = check.form, .modulus = check.modulus});
    for (uint32_t d = 0; d < module.dims.size(); ++d)
      out.push_back({.form = module.forms.var({VarKind::dim, d})});
    return out;
  }();
  std::vector<size_t> last_use(module.tensors.size(), 0);
  std::vector<size_t> first_use(module.tensors.size(), SIZE_MAX);
  for (size_t l = 0; l < module.launches.size(); ++l)
    for (const uint32_t tensor : module.launches[l].args) {
      last_use[tensor] = l;
      first_use[tensor] = std::min(first_use[tensor], l);
    }
  std::vector<Slot> slots;
  module.workspace_bytes = module.forms.constant(0);
  for (size_t l = 0; l < module.launches.size(); ++l)
    for (const uint32_t number : module.launches[l].args) {
      kernel::ModuleTensor& t = module.tensors[number];
      if (t.role != kernel::TensorRole::workspace || first_use[number] != l ||
          t.workspace_offset.valid())
        continue;
      const FormId bytes = bytes_of_tensor(module, t);
      auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& s) {
        return s.free_from <= l &&
               proves(module.forms, facts, {.form = module.forms.sub(s.bytes, bytes)});
      });
      if (slot == slots.end()) {
        const FormId padded =
            module.forms.scale(module.forms.ceil_quotient(bytes, kSlotAlignment), kSlotAlignment);
        slots.push_back({.bytes = padded, .offset = module.workspace_bytes, .free_from = 0});
        slot = slots.end() - 1;
        module.workspace_bytes = module.forms.add(module.workspace_bytes, padded);
      }
      t.workspace_offset = slot->offset;
      slot->free_from = last_use[number] + 1;
    }
}

}  // namespace tang
