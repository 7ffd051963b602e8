import { svgElements } from "../../../drawing/svg";
import type { BenchReply, SplitPicture } from "../../../engine/messages";
import { eased } from "../motion";
import { PlayerBar, usePlayer } from "../../../parts/Player";
import { splitDrawing, splitStages } from "./split";

/** The reshape into heads: nothing is computed, numbers change places. */
export function Split({ picture, reply }: { picture: SplitPicture; reply: BenchReply }) {
  const player = usePlayer(2);
  const at = player.at.value;
  const drawing = splitDrawing(picture, reply.queries, Math.floor(at) + eased(at - Math.floor(at)));
  return (
    <div class="picture-row">
      <svg
        class="picture-split"
        viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        width={drawing.width}
        height={drawing.height}
        role="img"
        aria-label={drawing.title}
      >
        {svgElements(drawing.marks)}
      </svg>
      <div class="picture-says">
        <PlayerBar player={player} label="Reshape" says={(place) => splitStages[Math.round(place)] ?? ""} />
        <p>{picture.sentence}</p>
        <p class="hint">The number in a cell is its place in memory before. After attention, the heads’ outputs join the other way round.</p>
      </div>
    </div>
  );
}
