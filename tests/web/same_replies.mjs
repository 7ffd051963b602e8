// same_replies.mjs QKV ENGINE WORKER MODELS: each example of each question, asked of `qkv view` and of the Worker. What is
// computed in f64 has to be the same bytes, what a model computes in f32 the same but for rounding. Ends with 77 where
// something is not there.
import { execFileSync } from "node:child_process";
import { requireFile, requireFresh } from "./built.mjs";
import { differ } from "./compare.mjs";
import { framesOf } from "./frames.mjs";
import { openServer } from "./server.mjs";
import { openWorker } from "./worker.mjs";

const [qkv, engine, script, models] = process.argv.slice(2);
requireFresh(engine, "qkv_web");
requireFile(script, "npm");

// What the engine says of itself and of its machine.
const ofTheMachine = new Set(["processor", "target", "threads", "version", "models"]);
const inF64 = new Set([
  "number", "mask", "positions", "cost", "far_find", "learn", "operations", "tokens", "task",
]);
const ofF64 = ["bench", "explain"];
const isExact = (name, request) => inF64.has(name) || (ofF64.includes(name) && request.model === undefined);
// What was measured, and how much a run of its own learned: rounding moves it.
const measured = new Set(["seconds", "runs", "bytes", "loss", "accuracy"]);

// What a page has not, and the words in which it says so: each is met below, and nothing else may be refused so.
const writes = /: the engine in a page writes no files; `qkv [a-z ]+` does"/;
const in16Bits = /"message":"expected f32: the engine in a page has no loops over 16 bits; /;
const notInAPage = [
  ["generate", in16Bits],
  ["embed", in16Bits],
  ["check", /"cannot read a\.npy: the engine in a page has no files; /],
  ["match", /"cannot read a\.png: the engine in a page has no files; /],
  ...["train", "bench_bottleneck", "convert", "fetch", "view"].map((name) => [name, writes]),
];
const met = new Set();

function compared(name, request, ours, theirs) {
  const said = theirs[0].payload.toString();
  if (said.includes("the engine in a page")) {
    const known = notInAPage.find(([question, words]) => question === name && words.test(said));
    if (!known) return `is refused in a page alone: ${said}`;
    met.add(known);
    return JSON.parse(said).field || known[1] === writes ? null : `names no field: ${said}`;
  }
  if (ours.length !== theirs.length || ours.some((frame, n) => frame.kind !== theirs[n].kind)) {
    return `other frames; ${theirs[0].payload}`;
  }
  if (ours.every((frame, n) => frame.payload.equals(theirs[n].payload))) return null;
  if (isExact(name, request)) return "other bytes";
  if (ours.length < 2) return `${ours[0].payload} here, ${theirs[0].payload} there`;
  const parsed = (frames) => {
    const json = JSON.parse(frames[0].payload.toString());
    if (["about", "probe"].includes(name)) for (const member of ofTheMachine) delete json[member];
    if (name === "info") return Object.keys(json);
    for (const one of name.startsWith("bench_") ? (json.results ?? []) : []) for (const member of measured) delete one[member];
    return json;
  };
  return differ(parsed(ours), parsed(theirs), [ours[1].payload, theirs[1].payload]);
}

// A tokenizer of pieces, with letters beyond ASCII and runs of blanks.
const gpt = { model: "gpt", text: "The queen's  naïve crown, 1234 Ça – 😀 gone\n" };
const inPieces = [
  ["heads", gpt],
  ["head", { ...gpt, layer: 1, head: 3 }],
  ["bench", { ...gpt, layer: 1, head: 3, query: 2 }],
  ["change", { ...gpt, changes: ["remove 1.0"] }],
];

// A block, an image and a longer tokenizer beside the examples of the question.
const explained = [
  ["explain", { text: "The cat sat down", block: "pre-norm", positions: "rotary" }],
  ["explain", { model: "shapes", example: 0, numbers: false }],
  ["explain", { model: "shapes", example: 0 }],
  ["explain", { model: "induction", text: "abcxyzab" }],
  ["explain", { ...gpt, why: ["all"], numbers: false }],
];

// Refused in the same words, with the same field and column.
const refused = [
  ["bench", { q: "1,0;x" }],
  ["mask", { mask: "windw(3)" }],
  ["heads", { model: "induction", text: "" }],
  ["nothing", {}],
];

// Numbers of 16 bits, asked of a page.
const ofBits = [
  ["generate", { ...gpt, tokens: 2, dtype: "bf16" }],
  ["embed", { model: "english", text: "the cats are small", dtype: "bf16" }],
];

// What the commands that read and write files are, asked of a page.
const run = { task: "previous", steps: 1, batch: 1, layers: 1, d_model: 8, heads: 1, d_ff: 8, warm_up: 0, examples: 1 };
const ofFiles = [
  ["check", { a: "induction", b: "induction" }],
  ["check", { a: "a.npy", b: "b.npy" }],
  ["match", { images: ["a.png"], captions: ["a green circle"] }],
  ["train", run],
  ["bench_bottleneck", {}],
  ["convert", { model: "gpt", out: "gpt.gguf" }],
  ["fetch", { name: "owner/small", out: "small" }],
  ["view", {}],
];

const server = await openServer(qkv, { QKV_THREADS: "1" });
const worker = openWorker({ script, engine, models });
const { questions } = JSON.parse(execFileSync(qkv, ["view", "--describe"], { maxBuffer: 1 << 26 }).toString());
const asked = questions.flatMap(({ name, examples }) => examples.map((request) => [name, request]));
let failures = 0;
// Every field with a value out of its bounds, or of another type; neither answers what writes.
const wrong = (field) => (field.words || field.type === "true or false" ? "x7" : field.least !== undefined ? field.least - 1 : undefined);
const outOfBounds = questions.filter(({ name, refusal }) => name !== "train" && !refusal).flatMap(({ name, fields, examples }) =>
  fields.filter((field) => wrong(field) !== undefined).map((field) => [name, { ...examples[0], [field.name]: wrong(field) }]),
);
const all = [...asked, ...inPieces, ...explained, ...refused, ...ofBits, ...ofFiles, ...outOfBounds];
for (const [name, request] of all) {
  const body = JSON.stringify(request);
  const fault = compared(name, request, framesOf(await server.ask(name, body)), framesOf(await worker.ask(name, body)));
  if (fault) console.log(`${name} ${body}: ${fault}`);
  if (fault) failures++;
}
server.close();
for (const [name, words] of notInAPage.filter((one) => !met.has(one))) {
  console.log(`${name}: nothing was refused with ${words}`);
  failures++;
}
console.log(`${all.length} questions, ${failures} answered otherwise in WebAssembly`);
process.exit(failures === 0 ? 0 : 1);
