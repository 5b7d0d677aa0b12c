// NumPy's .npy and .npz files, in and out.
//
// Little-endian arrays of plain numbers, versions 1 to 3 of the format. What the format has no name
// for is kept as bits: f8 as u8, bf16 as u16 (or, on reading, f32 values), i4 as i8. Fortran order
// is turned into row-major on reading. An .npz is a zip archive: read when its members are stored
// or deflated, written stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scalar/array.h"

namespace tang {

// An array as a file has it, in row-major order.
struct NpyArray {
  // "f4", "u2", "b1": kind and bytes of an element. Files that know more formats than NumPy also
  // give "bf16", "f8e4m3", "f8e5m2".
  std::string dtype;
  std::vector<int64_t> shape;
  std::string data;
};

struct NamedArray {
  std::string name;
  NpyArray array;
};

// Nothing when the bytes are no such file; `error` then says what is wrong, without the file's
// name.
std::optional<NpyArray> read_npy(std::string_view bytes, std::string& error);
std::optional<std::vector<NamedArray>> read_npz(std::string_view bytes, std::string& error);

// The array in a storage type. Integers are converted when every value fits; reals only when
// nothing is lost by their format.
std::optional<Array> from_npy(const NpyArray& array, Type type, std::string& error);
// "f32", or numpy's own name where no storage type is meant: for messages.
std::string describe_dtype(const std::string& dtype);

std::string write_npy(const Array& array);
// The elements as files hold them: as they are, i4 as a byte each.
std::string element_bytes(const Array& array);
struct NamedOutput {
  std::string name;
  const Array* array;
};
// Nothing when they do not fit the format: 4 GiB in all.
std::optional<std::string> write_npz(const std::vector<NamedOutput>& arrays);

}  // namespace tang
