// Roles: what each head of a model does, and what the model says once something inside it is changed.

import type { Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { address } from "../../app/address";
import { useKeys } from "../../app/keys";
import type { Page, PageProps, Takings } from "../../app/page";
import { ground } from "../../app/theme";
import { useTakings } from "../../app/use_takings";
import { Cautions } from "../../parts/Cautions";
import { ModelBar } from "../heads/ModelBar";
import { BeforeAfter, Glance } from "./BeforeAfter";
import { HeadCard } from "./HeadCard";
import { HeadsCard } from "./HeadsCard";
import { designation } from "./changes";
import { csvOf } from "./columns";
import { headAfter, layerAfter, openDesk, type Desk } from "./desk";
import { rolesDrawing } from "./figure";
import { commandOf } from "./state";
import "./roles.css";
import "./table.css";
import "./heads_card.css";
import "./head_card.css";
import "./says.css";

export const roles: Page = { name: "roles", title: "Roles", View: RolesPage };

function RolesPage({ engine, takings }: PageProps) {
  const desk = useMemo(() => openDesk(engine), [engine]);
  useEffect(() => desk.close, [desk]);
  useRoleKeys(desk);
  useRolesTakings(desk, takings);
  const about = desk.about.value;
  const gone = desk.changed.gone.value ?? desk.roles.gone.value;
  return (
    <div class="roles-page">
      <h1 class="said">What each head does</h1>
      {gone && <p class="problem banner">{gone.message}</p>}
      {about && <ModelBar desk={{ heads: desk.changed, apply: desk.read }} about={about} reading={desk.inputs.value} />}
      <Cautions of={[desk.roles.reply.value?.cautions, desk.changed.reply.value?.cautions]} />
      <HeadsCard desk={desk} />
      <div class="roles-desk">
        <HeadCard desk={desk} />
        <BeforeAfter desk={desk} />
      </div>
      <Glance desk={desk} />
    </div>
  );
}

function useRoleKeys(desk: Desk): void {
  useLayoutEffect(() => {
    const to = (next: typeof headAfter, by: number) => () => {
      const head = next(desk.heads.value, desk.chosen.value, by);
      if (head) desk.choose(head);
    };
    const remove = () => {
      if (desk.chosen.value) desk.toggle({ kind: "remove", head: designation(desk.chosen.value) });
    };
    return useKeys([
      { keys: ["["], shown: "[", does: "the head before, in the order of the table", run: to(headAfter, -1) },
      { keys: ["]"], shown: "]", does: "the next head", run: to(headAfter, 1) },
      { keys: ["{"], shown: "{", does: "the layer before", run: to(layerAfter, -1) },
      { keys: ["}"], shown: "}", does: "the next layer", run: to(layerAfter, 1) },
      { keys: ["r"], shown: "r", does: "remove the head, or put it back", run: remove },
      { keys: ["u"], shown: "u", does: "undo all changes", run: () => desk.apply({ changes: null }) },
    ]);
  }, [desk]);
}

function useRolesTakings(desk: Desk, takings: Signal<Takings | null>): void {
  const roles = desk.roles.reply.value;
  const head = desk.head.reply.value;
  const changed = desk.changed.reply.value;
  const { fields } = address.value;
  const made = () => {
    const taken: Takings = { name: "roles", command: commandOf(desk.inputs.value, fields) };
    if (changed) taken.drawing = () => rolesDrawing(desk, ground.value);
    if (roles) taken.table = { name: "heads", csv: () => csvOf(roles) };
    return taken;
  };
  useTakings(takings, made, [roles, head, changed, fields]);
}
