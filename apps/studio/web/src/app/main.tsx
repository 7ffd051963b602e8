import { render } from "preact";
import { Engine, type Transport } from "../engine/engine";
import { Frozen, frozenReplies } from "../engine/frozen";
import { baseOf, OverHttp } from "../engine/over_http";
import { address, followAddress, type Address } from "./address";
import "./colours.css";
import "./frame.css";
import { Frame } from "./frame";
import { listenForKeys } from "./keys";
import { opening } from "./opening";
import { pages } from "./pages";
import { applyTheme } from "./theme";

function transport(): Transport {
  const frozen = document.getElementById("frozen");
  return frozen ? new Frozen(frozenReplies(frozen.textContent ?? "{}")) : new OverHttp(baseOf(location.href));
}

async function start(): Promise<void> {
  const root = document.getElementById("studio");
  const [first] = pages;
  if (!root || !first) throw new Error("the page has no element #studio");
  applyTheme();
  listenForKeys();
  const engine = new Engine(transport());
  await followAddress(first.name);
  const isAsked = location.hash.length > 1;
  if (!isAsked) address.value = await opened(engine);
  else if (!pages.some((page) => page.name === address.value.page.split("/")[0])) {
    address.value = { page: first.name, fields: {} };
  }
  render(<Frame engine={engine} />, root);
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
