// What every page has around it: the pages, the text, Take along, help, and the line that says where it is computed.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Engine } from "../engine/engine";
import { address, change, linkIsWhole, plainFragment } from "./address";
import { Help } from "./help";
import { useKeys, type Key } from "./keys";
import { leftAt } from "./left";
import type { Page, Takings, TextBar } from "./page";
import { pages } from "./pages";
import { offered, startOf } from "./starts";
import { StatusLine } from "./status";
import { TakeAlong } from "./take_along";
import { ground, projector, toggleGround } from "./theme";

function wayTo(page: Page): string {
  const left = leftAt(page.name);
  return left ? `#${plainFragment(left)}` : startOf(page);
}

function pageNow(): Page {
  return pages.find((one) => one.name === address.value.page.split("/")[0]) ?? pages[0]!;
}

export function Frame({ engine }: { engine: Engine }) {
  const takings = useSignal<Takings | null>(null);
  const help = useSignal(false);
  const menu = useSignal(false);
  const open = useMemo(() => offered(pages, engine.isLive), [engine]);
  const page = useComputed(pageNow).value;

  useLayoutEffect(() => {
    const toPages: Key[] = open.length < 2 ? [] : open.map((one, n) => ({
      keys: [String(n + 1)],
      shown: String(n + 1),
      does: `the page ${one.title}`,
      run: () => (location.hash = wayTo(one)),
    }));
    return useKeys([
      ...toPages,
      { keys: ["f"], shown: "f", does: "large, for a projector", run: () => (projector.value = !projector.value) },
      { keys: ["e"], shown: "e", does: "take along: link, command, picture, table", run: () => (menu.value = !menu.value) },
      { keys: ["?"], shown: "?", does: "these keys", run: () => (help.value = !help.value) },
    ]);
  }, []);

  useEffect(() => {
    document.title = `${page.title} · qkv studio`;
  }, [page]);

  const View = page.View;
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        To the picture
      </a>
      <header class="bar">
        <a class="brand" href={startOf(open[0] ?? page)}>
          qkv<span>studio</span>
        </a>
        {open.length > 1 && <PageLinks current={page} open={open} />}
        {page.text && <TextField key={page.name} bar={page.text} engine={engine} />}
        <div class="bar-end">
          <TakeAlong engine={engine} takings={takings} open={menu} />
          <button type="button" class="icon" onClick={toggleGround} aria-label={`${ground.value === "dark" ? "Light" : "Dark"} colours`}>
            {ground.value === "dark" ? "☀" : "☾"}
          </button>
          <button type="button" class="icon" onClick={() => (help.value = true)} aria-label="Keys and help">
            ?
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {!linkIsWhole.value && (
          <p class="problem banner" role="alert">
            The link is damaged, perhaps cut off: what could not be read of it is as it is without one.
          </p>
        )}
        <View engine={engine} takings={takings} />
      </main>
      <StatusLine engine={engine} />
      <Help open={help} />
    </>
  );
}

function toMain(event: Event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** Says on which sides there are links out of sight; the row fades there. */
function showMore(row: HTMLElement): void {
  row.classList.toggle("more-before", row.scrollLeft > 1);
  row.classList.toggle("more-after", row.scrollLeft + row.clientWidth < row.scrollWidth - 1);
}

function PageLinks({ current, open }: { current: Page; open: readonly Page[] }) {
  const links = useRef<HTMLElement>(null);
  // On a phone they are wider than the screen: the one that is open is in sight.
  useLayoutEffect(() => {
    const [row, link] = [links.current, links.current?.querySelector<HTMLElement>("[aria-current]")];
    if (row && link) row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  useLayoutEffect(() => {
    if (!links.current) return;
    const row = links.current;
    const observer = new ResizeObserver(() => showMore(row));
    observer.observe(row);
    return () => observer.disconnect();
  }, []);
  return (
    <nav class="pages" aria-label="Pages" ref={links} onScroll={(event) => showMore(event.currentTarget)}>
      {open.map((page) => (
        <a key={page.name} href={page === current ? startOf(page) : wayTo(page)} aria-current={page === current ? "page" : undefined}>
          {page.title}
        </a>
      ))}
    </nav>
  );
}

function TextField({ bar, engine }: { bar: TextBar; engine: Engine }) {
  const value = useComputed(() => bar.value(address.value.fields)).value;
  const submit = useMemo(
    () => (text: string) => {
      const { fields } = address.value;
      if (text.trim() !== bar.value(fields)) change(bar.change(fields, text.trim()));
    },
    [bar],
  );
  const isOpen = bar.isOpen?.(engine, address.value.fields) ?? true;
  if (!isOpen && value === "") return null;
  return (
    <form
      class="text-bar"
      onSubmit={(event) => {
        event.preventDefault();
        (event.currentTarget.elements.namedItem("text") as HTMLInputElement).blur();
      }}
    >
      <label>
        <span class="said">{bar.label}</span>
        <input
          name="text"
          readOnly={!isOpen}
          value={value}
          spellcheck={false}
          autocomplete="off"
          onBlur={(event) => submit(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.currentTarget.value = value;
            event.currentTarget.blur();
          }}
        />
      </label>
    </form>
  );
}
