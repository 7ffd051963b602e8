# The chapter's attention in plain Python: softmax(Q K^T / sqrt(d_k)) V for three tokens.
from math import exp, sqrt

TOKENS = ["the", "cat", "sat"]
Q = [[1, 0], [0, 1], [1, 1]]
K = [[1, 0], [0, 1], [1, 1]]
V = [[2, 0], [0, 3], [1, 1]]


def softmax(scores):
    largest = max(scores)  # of the scaled scores: no exp overflows
    exps = [exp(score - largest) for score in scores]
    return [e / sum(exps) for e in exps]


def attention(Q, K, V):
    weights = [softmax([sum(a * b for a, b in zip(q, k)) / sqrt(len(q)) for k in K]) for q in Q]
    out = [[sum(w * v[d] for w, v in zip(row, V)) for d in range(len(V[0]))] for row in weights]
    return weights, out


weights, out = attention(Q, K, V)
for token, w, y in zip(TOKENS, weights, out):
    print(token, " weights", *(f"{x:.3f}" for x in w), " y", *(f"{x:.3f}" for x in y))
