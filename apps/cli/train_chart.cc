#include "train_chart.h"

#include <vector>

#include "qkv/api/train.h"
#include "qkv/files.h"

namespace qkv::cli {

void draw_losses(const TrainSettings& settings, const TrainPlace& place) {
  const std::vector<LoggedStep> log = read_log(place);
  if (log.empty()) return;
  const Chart chart = loss_chart(log, settings.task + ", " + settings.model);
  write_file(place.directory + "/loss.svg", to_svg(chart));
  write_file(place.directory + "/loss.png", to_png(chart));
}

}  // namespace qkv::cli
