import { effect } from "@preact/signals";
import { render } from "preact";
import { Engine } from "../engine/engine";
import { goInside, InHost } from "../engine/in_host";
import { transportOf } from "../engine/of_page";
import { address, followAddress, plainFragment, type Address } from "./address";
import "./colours.css";
import "./frame.css";
import "./print.css";
import { Frame } from "./frame";
import { listenForKeys } from "./keys";
import { rememberPages } from "./left";
import { opening } from "./opening";
import { pages } from "./pages";
import { firstStart } from "./starts";
import { applyTheme } from "./theme";

async function start(): Promise<void> {
  const root = document.getElementById("studio");
  const [first] = pages;
  if (!root || !first) throw new Error("the page has no element #studio");
  applyTheme();
  if (location.protocol === "blob:") followLinks();
  listenForKeys();
  const transport = await transportOf(document, location.href);
  const engine = new Engine(transport);
  if (firstStart !== null && location.hash === "") history.replaceState(null, "", firstStart);
  await followAddress(first.name);
  const isAsked = location.hash.length > 1;
  if (!isAsked) {
    address.value = await opened(engine);
    history.replaceState(null, "", `#${plainFragment(address.value)}`); // where Back leads to
  } else if (!pages.some((page) => page.name === address.value.page.split("/")[0])) {
    address.value = { page: first.name, fields: {} };
  }
  rememberPages();
  if (transport instanceof InHost) effect(() => transport.tell(plainFragment(address.value)));
  render(<Frame engine={engine} />, root);
}

/** Links of a page that may not go to its own address: in a cell of a notebook. */
function followLinks(): void {
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goInside(link.getAttribute("href")!.slice(1));
  });
}

/** The page itself says what is wrong with the engine. */
async function opened(engine: Engine): Promise<Address> {
  const names = pages.map((page) => page.name);
  return engine.ask("about", {}).then(
    (about) => opening(about, names),
    () => ({ page: names[0] ?? "", fields: {} }),
  );
}

// A script that is written into the page runs before there is a body.
if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => void start());
else void start();
