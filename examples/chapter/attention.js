// The chapter's attention in JavaScript: softmax(Q K^T / sqrt(d_k)) V for three tokens.
const tokens = ["the", "cat", "sat"];
const Q = [[1, 0], [0, 1], [1, 1]];
const K = [[1, 0], [0, 1], [1, 1]];
const V = [[2, 0], [0, 3], [1, 1]];

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

function softmax(scores) {
  const largest = Math.max(...scores);  // of the scaled scores: no exp overflows
  const exps = scores.map((score) => Math.exp(score - largest));
  const sum = exps.reduce((a, b) => a + b, 0);
  return exps.map((e) => e / sum);
}

function attention(Q, K, V) {
  const weights = Q.map((q) => softmax(K.map((k) => dot(q, k) / Math.sqrt(q.length))));
  const out = weights.map((row) => V[0].map((_, d) => dot(row, V.map((v) => v[d]))));
  return { weights, out };
}

const { weights, out } = attention(Q, K, V);
const text = (row) => row.map((x) => x.toFixed(3)).join(" ");
tokens.forEach((token, i) => console.log(`${token}  weights ${text(weights[i])}  y ${text(out[i])}`));
