// quantised.mjs MODULE: products with quantised weights by the target of the web build, beside the loops for any machine.
import { requireFresh } from "./built.mjs";
import { openReactor, textAt } from "./reactor.mjs";

const [module] = process.argv.slice(2);
requireFresh(module, "qkv_web_quantised");
const engine = await openReactor(module);
const faults = [];
if (!engine.has_own()) faults.push("the target has no loops of its own for many rows");
let products = 0;
for (let type = 0; type < engine.types(); ++type) {
  const name = textAt(engine, engine.name(type));
  for (const K of engine.numbers_of_block(type) === 256 ? [256, 768] : [32, 96, 256, 544]) {
    for (const N of [1, 8, 35, 70]) {
      for (const M of [1, 3, 7, 8, 9, 19]) {
        const apart = engine.difference(type, M, N, K);
        products += 1;
        if (!(apart <= 1)) faults.push(`${name}, [${M}, ${K}] by [${N}, ${K}]: ${apart} times what rounding allows`);
      }
    }
  }
}
console.log(faults.length ? faults.join("\n") : `${products} products as by the loops for any machine`);
process.exit(faults.length ? 1 : 0);
