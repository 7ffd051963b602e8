// CLI11's classes by name: only the files that add options parse its headers, which takes seconds.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): its own

class App;
class Option;
class Validator;

}  // namespace CLI
