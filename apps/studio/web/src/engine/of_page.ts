// What stands behind this page: who shows it, replies frozen into it, an engine in it, or a server.

import type { Transport } from "./engine";
import { FirstOf } from "./first_of";
import { FromParts } from "./from_parts";
import { Frozen, frozenReplies } from "./frozen";
import { inHost } from "./in_host";
import { inPage } from "./in_page";
import { baseOf, OverHttp } from "./over_http";

export async function transportOf(page: Document, address: string): Promise<Transport> {
  const host = inHost(page);
  if (host) return host;
  const text = page.getElementById("frozen")?.textContent;
  const frozen = text ? new FromParts(new Frozen(await frozenReplies(text))) : null;
  const own = inPage(page);
  if (frozen && own) return new FirstOf(frozen, own);
  return frozen ?? own ?? new OverHttp(baseOf(address));
}
