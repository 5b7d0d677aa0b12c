// The examples again, in C++ and f64, written from the mathematics and sharing nothing with the
// compiler: what the tests compare every device with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tang::examples {

using Sizes = std::map<std::string, int64_t>;

// A row-major array of reals; integers are whole numbers.
struct Values {
  std::vector<int64_t> shape;
  std::vector<double> data;

  explicit Values(std::vector<int64_t> s = {});
  template <class... Index>
  double& operator()(Index... index) {
    return data[at({static_cast<int64_t>(index)...})];
  }
  template <class... Index>
  double operator()(Index... index) const {
    return data[at({static_cast<int64_t>(index)...})];
  }

 private:
  size_t at(std::initializer_list<int64_t> index) const;
};
using Arrays = std::map<std::string, Values>;

struct Declared {
  std::string name;
  std::vector<int64_t> shape;
  int64_t below = 0;       // an i32 array of values in 0..below; 0: reals in [-2, 2)
  bool is_scalar = false;  // a run-time scalar
};

struct Example {
  std::string name;
  std::vector<Sizes> sizes;  // one, odd and prime sizes among them
  std::vector<Declared> (*inputs)(const Sizes&);
  Arrays (*outputs)(const Sizes&, const Arrays& inputs);
  std::vector<std::string> integers;  // outputs that are i32 and must be equal
  double tolerance = 1e-6;            // of f32 kernels: |difference| / max |reference|
};

const std::vector<Example>& examples();

}  // namespace tang::examples
