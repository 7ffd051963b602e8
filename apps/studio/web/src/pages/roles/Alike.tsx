// How far the heads of one layer are apart: 0 where two read the same keys, 1 where they share none.

import type { RolesReply } from "../../engine/messages";
import type { Tensor } from "../../engine/tensor";
import { parsedName } from "../../parts/links";
import { NamedHeatmap } from "../../parts/NamedHeatmap";
import type { Desk } from "./desk";

const room = 280; // pixels

export function Alike({ desk, reply }: { desk: Desk; reply: RolesReply }) {
  const chosen = desk.chosen.value;
  const site = reply.sites.find((one) => one.site === chosen?.site);
  const distances = chosen ? (site?.distances[chosen.layer] as Tensor | undefined) : undefined;
  if (!chosen || !site || !distances || site.heads < 2) return null;
  const names = Array.from({ length: site.heads }, (_, head) => `${chosen.layer}.${head}`);
  return (
    <details class="roles-alike">
      <summary>How alike are the heads of layer {chosen.layer}?</summary>
      <NamedHeatmap
        name="distance"
        title="Distance"
        says="0: two heads read alike"
        meaning="how far two heads are apart"
        rows={names}
        columns={names}
        columnLabels
        values={distances}
        decimals={2}
        scale={{ map: "sequential", least: 0, most: 1 }}
        room={room}
        onPin={(name) => desk.choose({ ...chosen, head: parsedName(name)?.row ?? chosen.head })}
      />
    </details>
  );
}
