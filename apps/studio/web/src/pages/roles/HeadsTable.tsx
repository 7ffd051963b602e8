// Every head a row: what it does, how sure that is, and what the model would be without it.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { address } from "../../app/address";
import { ground } from "../../app/theme";
import type { RolesHead, RolesReply } from "../../engine/messages";
import { designation, isRemoved } from "./changes";
import { colourOfClass } from "./classes";
import { cellText, columnsOf, orderAfter, orderOf, type Column } from "./columns";
import type { Desk } from "./desk";
import { headName } from "../heads/state";
import { isSameHead } from "./state";

interface HeadsTableProps {
  desk: Desk;
  reply: RolesReply;
}

export function HeadsTable({ desk, reply }: HeadsTableProps) {
  const all = useSignal(false);
  const body = useRef<HTMLTableSectionElement>(null);
  const order = orderOf(address.value.fields["sort"]);
  const isPending = desk.roles.isPending.value;
  const every = columnsOf(reply, isPending);
  const columns = every.filter((column) => all.value || column.room !== "more" || column.id === order.by);
  const heads = desk.heads.value.length > 0 ? desk.heads.value : reply.heads;
  const chosen = desk.chosen.value;
  const chosenKey = chosen ? headName(chosen) : "";
  const hasChosen = heads.some((head) => isSameHead(head, chosen));

  useEffect(() => {
    const row = body.current?.querySelector<HTMLElement>("tr.chosen");
    const box = row?.closest<HTMLElement>(".roles-scroll");
    if (!row || !box) return;
    const [top, end] = [row.offsetTop - row.offsetHeight - 4, row.offsetTop + row.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (end > box.scrollTop + box.clientHeight) box.scrollTop = end - box.clientHeight;
  }, [chosenKey, order.by, order.reversed]);

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      Home: -heads.length,
      End: heads.length,
    };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = heads.findIndex((head) => isSameHead(head, chosen));
    const next = heads[Math.min(Math.max(at + by, 0), heads.length - 1)];
    if (!next) return;
    desk.choose(next);
    body.current?.querySelector<HTMLElement>(`[data-head="${headName(next)}"]`)?.focus();
  };
  const sort = (id: string) => desk.apply({ sort: orderAfter(order, id) }, "quiet");
  const by = every.find((column) => column.id === order.by);

  return (
    <div class="roles-table">
      <div class="roles-scroll" tabIndex={-1}>
        <table class={all.value ? "all-columns" : ""}>
          <caption class="said">
            Heads of {reply.title}; the buttons of the first row sort, arrow keys go from head to head
          </caption>
          <thead>
            <tr>
              <Title id="head" title="head" meaning="Layer and head, from 0" order={order} onSort={sort} />
              <Title
                id="class"
                title="what it does"
                meaning="The pattern that takes half of its weight or more, if one does"
                order={order}
                onSort={sort}
              />
              {columns.map((column) => (
                <Title
                  key={column.id}
                  {...column}
                  order={order}
                  onSort={sort}
                  room={column.id === order.by ? "narrow" : column.room}
                />
              ))}
            </tr>
          </thead>
          <tbody ref={body} onKeyDown={onKeyDown} data-own-arrows>
            {heads.map((head, n) => (
              <Row
                key={headName(head)}
                desk={desk}
                head={head}
                columns={columns}
                largest={columns.map((column) => largestOf(column, heads))}
                isChosen={isSameHead(head, chosen)}
                isStop={hasChosen ? isSameHead(head, chosen) : n === 0}
                sortedBy={order.by}
              />
            ))}
          </tbody>
        </table>
      </div>
      <p class="roles-meaning">
        {by ? (
          <span>
            <b>{by.title}</b> {by.meaning}
          </span>
        ) : (
          <span>
            {reply.no_importance && !isPending
              ? `No removal: ${reply.no_importance}.`
              : "A click on a title sorts by it and says what it means."}
          </span>
        )}
        <button type="button" class="plain small" aria-pressed={all.value} onClick={() => (all.value = !all.value)}>
          {all.value ? "fewer columns" : "all columns"}
        </button>
      </p>
    </div>
  );
}

function largestOf(column: Column, heads: readonly RolesHead[]): number {
  return Math.max(...heads.map((head) => Math.abs(column.value(head) ?? 0)), 1e-12);
}

interface TitleProps {
  id: string;
  title: string;
  meaning: string;
  order: { by: string; reversed: boolean };
  onSort: (id: string) => void;
  room?: string;
}

function Title({ id, title, meaning, order, onSort, room = "narrow" }: TitleProps) {
  const isBy = order.by === id;
  const isUp = (id === "head" || id === "class") !== order.reversed;
  return (
    <th scope="col" class={`col-${id} room-${room}`} aria-sort={isBy ? (isUp ? "ascending" : "descending") : undefined}>
      <button type="button" title={meaning} onClick={() => onSort(id)}>
        {title}
        <span aria-hidden="true">{isBy ? (isUp ? " ↑" : " ↓") : ""}</span>
      </button>
    </th>
  );
}

interface RowProps {
  desk: Desk;
  head: RolesHead;
  columns: readonly Column[];
  largest: readonly number[];
  isChosen: boolean;
  isStop: boolean;
  sortedBy: string;
}

function Row({ desk, head, columns, largest, isChosen, isStop, sortedBy }: RowProps) {
  const isPending = desk.roles.isPending.value;
  const name = designation(head);
  const removed = isRemoved(desk.changes.value, name);
  return (
    <tr class={`${isChosen ? "chosen" : ""} ${removed ? "removed" : ""}`} onClick={() => desk.choose(head)}>
      <th scope="row">
        <button
          type="button"
          data-head={headName(head)}
          aria-pressed={isChosen}
          tabIndex={isStop ? 0 : -1}
          aria-label={`Head ${name}${removed ? ", removed" : ""}`}
        >
          {name.replace(":", " ")}
        </button>
      </th>
      <td class="col-class" title={head.evidence}>
        <span class="roles-class" style={{ "--class": colourOfClass(head.word, ground.value) }}>
          {head.word}
        </span>{" "}
        <small>{head.evidence}</small>
      </td>
      {columns.map((column, n) => (
        <td key={column.id} class={`col-number room-${column.id === sortedBy ? "narrow" : column.room}`}>
          {column.bar && column.value(head) !== null && (
            <Bar value={column.value(head) ?? 0} largest={largest[n] ?? 1} />
          )}
          <span>{isPending && column.value(head) === null ? "…" : cellText(column, head)}</span>
        </td>
      ))}
    </tr>
  );
}

function Bar({ value, largest }: { value: number; largest: number }) {
  return (
    <i class={`roles-bar ${value < 0 ? "negative" : ""}`} aria-hidden="true">
      <i style={{ width: `${(100 * Math.abs(value)) / largest}%` }} />
    </i>
  );
}
