// Who answers questions by their names, with the models and passes that the last ones needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/mask.h"
#include "qkv/probe.h"

namespace qkv {

class TextModel;
enum class ModelNumbers : std::uint8_t;
struct HeadsRequest;
struct ModelPass;
struct PageReply;
struct PageRequest;

/// Called now and then while a question is answered, with what is walked ("map", "top keys", …); `stop` ends it with
/// Cancelled.
using StudioWatch = std::function<Proceed(std::string_view what, const ProbeProgress&)>;

/// A reply: its JSON in one line, and the bytes of its tensors. A tensor stands in the JSON as {"dtype", "shape",
/// "at"}: row-major, little-endian, `at` bytes into the blocks, a multiple of 8.
struct StudioReply {
  std::string json;
  std::vector<std::byte> blocks;
};

/// One call of attention, which the page Far shows where it names no model. Of its batch the first entry is shown.
struct ShownProbe {
  std::string title;
  std::vector<std::string> queries = {}, keys = {};  // their words; numbers if there are none
  Mask mask = {};                                    // of the call
  Probe probe;
  std::shared_ptr<const void> viewed = {};  // what the probe reads, if it is to live as long
};

/// What one question may cost, and what is kept between them. Beyond that a question is refused: before the work where
/// that can be told, else when it has cost so much.
struct StudioLimits {
  double seconds = 0;                                      // that an answer may take; 0: any
  std::uint64_t pass_bytes = std::uint64_t{8} << 30U;      // that a model's pass over a text takes
  std::size_t media_bytes = std::size_t{64} << 20U;        // of the file of a picture or a sound that a reader gives …
  std::uint64_t picture_pixels = std::uint64_t{1} << 24U;  // … and of what is in it
  double sound_seconds = 600;
  std::size_t model_bytes = std::size_t{2} << 30U;  // of opened models that are kept: the newest in any case
  std::size_t run_bytes = std::size_t{1} << 30U;    // of passes that are kept, likewise
};

/// Who asks a studio: readers, for whom nothing is written but runs of built-in tasks in qkv-TASK and no network is
/// used, or its owner.
enum class Asker : std::uint8_t { reader, owner };

/// What a studio opens with.
struct StudioOptions {
  std::string model = {};  // a model of the box, a file of qkv's or a folder of others; may be empty
  std::string dtype = {};  // that models compute in of which a question says nothing else; empty: f32
  std::string text;        // what it reads first
  std::string mask = {};   // shown first on the page of masks
  std::string file = {};   // a long text, for the page Far; a path
  std::shared_ptr<const ShownProbe> probe = {};
  StudioLimits limits = {};
  std::string root = {};  // a folder: of files only those below it are read, and the box; empty: all that the user may
  Asker asker = Asker::reader;
  /// Writes a file of the studio for the question `view`; empty: its pages are not here.
  std::function<PageReply(const PageRequest&)> writes_page = {};
};

/// The model, dtype, text, file, mask and root.
[[nodiscard]] const Fields<StudioOptions>& studio_fields();

/// Opens the model, null without one, and looks whether the file can be read, the root is a folder and the mask has a
/// meaning. Throws InvalidArgument naming the field, and Error for what cannot be read.
std::shared_ptr<const TextModel> require_sound(const StudioOptions& options, ModelNumbers numbers);

/// A file with the studio in it: `qkv view --export`, whose reply is the page where no file is named.
struct PageRequest {
  StudioOptions studio;  // without file and root
  std::string file;
};

[[nodiscard]] const Fields<PageRequest>& page_fields();

struct PageReply {
  std::string page, file;  // one of the two
};

[[nodiscard]] Members<PageReply> describe(const PageReply* reply);

/// Answers questions, and keeps the models that it opened last. Several threads may ask at once; those that ask for the
/// same pass of a model share one. `watch` is asked throughout, some hundred times a second.
class Studio {
 public:
  explicit Studio(StudioOptions options = {});
  ~Studio();

  /// Keeps a model that is open already: questions that name it do not open it again.
  void keep(const std::string& name, std::shared_ptr<const TextModel> model);
  /// The model that questions call so: one that is kept, or opened now. Throws as open_model().
  [[nodiscard]] std::shared_ptr<const TextModel> model(const std::string& name);
  /// Keeps a pass of such a model over what it was shown: questions about its heads there do not run it again.
  void keep(const HeadsRequest& shown, const ModelPass& pass);

  /// Whether an answer takes so little, some hundredths of a second, that it need not wait for those that take much.
  [[nodiscard]] static bool is_light(std::string_view name, std::string_view request);

  /// Answers `request`, a JSON object of the question's fields. Throws InvalidArgument for a name that is no question
  /// and as the question does, Cancelled where `watch` said stop, and Error beyond the limits and with a question's
  /// refusal where a reader asks it.
  [[nodiscard]] StudioReply ask(std::string_view name, std::string_view request, const StudioWatch& watch = {});

  /// The same of values of the question's fields, as a reply that is yet to be written.
  [[nodiscard]] AnyReply answer(std::string_view name, const FieldValues& request, const StudioWatch& watch = {});
  [[nodiscard]] AnyReply answer(std::string_view name, const NamedValues& request, const StudioWatch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What `write` writes, as a reply.
[[nodiscard]] StudioReply studio_reply(const std::function<void(ReplyWriter&)>& write);

/// An error as JSON, {"message", "field", "fields", "column"}: the field at fault, or the first of several, is empty,
/// and the column null, where none is known; "fields" are all of them.
[[nodiscard]] std::string error_as_json(const std::exception& error);

// NOLINTNEXTLINE(performance-enum-size): as it stands on the wire
enum class StudioFrame : std::uint32_t { progress = 1, reply = 2, blocks = 3, error = 4 };

/// A frame of the wire: kind and length, u32 little-endian, the payload, and zeros up to a multiple of 8 bytes.
[[nodiscard]] std::string framed(StudioFrame kind, std::string_view payload);

}  // namespace qkv
