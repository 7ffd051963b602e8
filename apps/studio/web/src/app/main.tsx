import { render } from "preact";
import { Engine, type Transport } from "../engine/engine";
import { Frozen, frozenReplies } from "../engine/frozen";
import { baseOf, OverHttp } from "../engine/over_http";
import { address, followAddress } from "./address";
import "./colours.css";
import "./frame.css";
import { Frame } from "./frame";
import { listenForKeys } from "./keys";
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
  await followAddress(first.name);
  if (!pages.some((page) => page.name === address.value.page.split("/")[0])) {
    address.value = { page: first.name, fields: {} };
  }
  render(<Frame engine={new Engine(transport())} />, root);
}

// A script that is written into the page runs before there is a body.
if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => void start());
else void start();
