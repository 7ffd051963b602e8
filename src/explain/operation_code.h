// One operation in seven languages, in the order of operation_languages(). A is a matrix of rows, n its rows.
#pragma once

#include <array>

namespace qkv::explain_detail {

using SevenCodes = std::array<const char*, 7>;

inline constexpr SevenCodes kProductCode = {
    R"(for i in rows(A), j in columns(B):
    C[i][j] = sum over l of A[i][l] * B[l][j])",
    "C = A @ B",
    R"(const matMul = (A, B) => A.map(row =>
  B[0].map((_, j) => row.reduce((sum, a, l) => sum + a * B[l][j], 0)));)",
    R"(for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
        C[i][j] = 0;
        for (int l = 0; l < d; l++) C[i][j] += A[i][l] * B[l][j];
    })",
    R"(Mat matMul(const Mat& A, const Mat& B) {
    Mat C(A.size(), vector<double>(B[0].size(), 0));
    for (size_t i = 0; i < A.size(); i++)
        for (size_t l = 0; l < B.size(); l++)
            for (size_t j = 0; j < B[0].size(); j++)
                C[i][j] += A[i][l] * B[l][j];
    return C;
})",
    R"(static double[][] matMul(double[][] A, double[][] B) {
    double[][] C = new double[A.length][B[0].length];
    for (int i = 0; i < A.length; i++)
        for (int l = 0; l < B.length; l++)
            for (int j = 0; j < B[0].length; j++)
                C[i][j] += A[i][l] * B[l][j];
    return C;
})",
    R"(func matMul(A, B [][]float64) [][]float64 {
    C := make([][]float64, len(A))
    for i := range A {
        C[i] = make([]float64, len(B[0]))
        for l := range B {
            for j := range B[l] {
                C[i][j] += A[i][l] * B[l][j]
            }
        }
    }
    return C
})"};

inline constexpr SevenCodes kSplitCode = {"for h in 0..H-1:\n    heads[h] = X[:, h * d : (h + 1) * d]",
                                          "heads = X.reshape(T, H, d).transpose(1, 0, 2)",
                                          R"(const heads = Array.from({length: H}, (_, h) =>
  X.map(row => row.slice(h * d, (h + 1) * d)));)",
                                          R"(for (int h = 0; h < H; h++)
    for (int t = 0; t < T; t++)
        for (int c = 0; c < d; c++) heads[h][t][c] = X[t][h * d + c];)",
                                          R"(for (int h = 0; h < H; h++)
    for (const auto& row : X)
        heads[h].emplace_back(row.begin() + h * d, row.begin() + (h + 1) * d);)",
                                          R"(for (int h = 0; h < H; h++)
    for (int t = 0; t < X.length; t++)
        heads[h][t] = Arrays.copyOfRange(X[t], h * d, (h + 1) * d);)",
                                          R"(for h := 0; h < H; h++ {
    for _, row := range X {
        heads[h] = append(heads[h], row[h*d:(h+1)*d])
    }
})"};

inline constexpr SevenCodes kDotsCode = {"scores = Q * K^T    # [n, n]",
                                         "scores = Q @ K.T",
                                         R"(const scores = Q.map(q =>
  K.map(k => q.reduce((sum, x, c) => sum + x * k[c], 0)));)",
                                         R"(for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int c = 0; c < dk; c++) sum += Q[i][c] * K[j][c];
        scores[i][j] = sum;
    })",
                                         R"(for (size_t i = 0; i < Q.size(); i++)
    for (size_t j = 0; j < K.size(); j++)
        scores[i][j] = inner_product(Q[i].begin(), Q[i].end(), K[j].begin(), 0.0);)",
                                         R"(for (int i = 0; i < Q.length; i++)
    for (int j = 0; j < K.length; j++)
        for (int c = 0; c < dk; c++) scores[i][j] += Q[i][c] * K[j][c];)",
                                         R"(for i, q := range Q {
    for j, k := range K {
        for c := range q {
            scores[i][j] += q[c] * k[c]
        }
    }
})"};

inline constexpr SevenCodes kScaleCode = {"scores = scores / sqrt(d_k)",
                                          "scores = scores / np.sqrt(d_k)",
                                          "const scaled = scores.map(row => row.map(s => s / Math.sqrt(dK)));",
                                          R"(for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) scores[i][j] /= sqrt((double)dk);)",
                                          R"(for (auto& row : scores)
    for (double& s : row) s /= sqrt(double(dk));)",
                                          R"(for (double[] row : scores)
    for (int j = 0; j < row.length; j++) row[j] /= Math.sqrt(dk);)",
                                          R"(for _, row := range scores {
    for j := range row {
        row[j] /= math.Sqrt(float64(dk))
    }
})"};

inline constexpr SevenCodes kMaskCode = {"for i, j where j > i:\n    scores[i][j] = -infinity",
                                         "scores = np.where(np.tril(np.ones((n, n), dtype=bool)), scores, -np.inf)",
                                         R"(for (let i = 0; i < n; i++)
  for (let j = i + 1; j < n; j++) scores[i][j] = -Infinity;)",
                                         R"(for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) scores[i][j] = -INFINITY;)",
                                         R"(for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
        scores[i][j] = -numeric_limits<double>::infinity();)",
                                         R"(for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) scores[i][j] = Double.NEGATIVE_INFINITY;)",
                                         R"(for i := range scores {
    for j := i + 1; j < n; j++ {
        scores[i][j] = math.Inf(-1)
    }
})"};

inline constexpr SevenCodes kMaxCode = {"largest = max(scores[i])",
                                        "largest = scores.max(axis=-1, keepdims=True)",
                                        "const largest = Math.max(...row);",
                                        R"(double largest = scores[i][0];
for (int j = 1; j < n; j++) largest = fmax(largest, scores[i][j]);)",
                                        "const double largest = *max_element(row.begin(), row.end());",
                                        "double largest = Arrays.stream(row).max().getAsDouble();",
                                        "largest := slices.Max(row)"};

inline constexpr SevenCodes kExpCode = {"e = exp(scores[i] - largest)",
                                        "e = np.exp(scores - largest)",
                                        "const e = row.map(s => Math.exp(s - largest));",
                                        "for (int j = 0; j < n; j++) e[j] = exp(scores[i][j] - largest);",
                                        "for (double& s : row) s = exp(s - largest);",
                                        "for (int j = 0; j < n; j++) row[j] = Math.exp(row[j] - largest);",
                                        R"(for j := range row {
    row[j] = math.Exp(row[j] - largest)
})"};

inline constexpr SevenCodes kTotalCode = {"total = sum(e)",
                                          "total = e.sum(axis=-1, keepdims=True)",
                                          "const total = e.reduce((a, b) => a + b, 0);",
                                          "double total = 0;\nfor (int j = 0; j < n; j++) total += e[j];",
                                          "const double total = accumulate(row.begin(), row.end(), 0.0);",
                                          "double total = Arrays.stream(row).sum();",
                                          R"(total := 0.0
for _, e := range row {
    total += e
})"};

inline constexpr SevenCodes kDivideCode = {"weights[i] = e / total",
                                           "weights = e / total",
                                           "const weights = e.map(x => x / total);",
                                           "for (int j = 0; j < n; j++) weights[i][j] = e[j] / total;",
                                           "for (double& e : row) e /= total;",
                                           "for (int j = 0; j < n; j++) row[j] /= total;",
                                           R"(for j := range row {
    row[j] /= total
})"};

inline constexpr SevenCodes kSumCode = {"output = weights * V    # [n, d_v]",
                                        "output = weights @ V",
                                        R"(const output = weights.map(row => V[0].map((_, c) =>
  row.reduce((sum, w, j) => sum + w * V[j][c], 0)));)",
                                        R"(for (int i = 0; i < n; i++)
    for (int c = 0; c < dv; c++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += weights[i][j] * V[j][c];
        out[i][c] = sum;
    })",
                                        "const Mat output = matMul(weights, V);",
                                        "double[][] output = matMul(weights, V);",
                                        "output := matMul(weights, V)"};

inline constexpr SevenCodes kMergeCode = {"output = horizontal_concat(heads)    # [n, H * d]",
                                          "output = heads.transpose(1, 0, 2).reshape(T, H * d)",
                                          "const output = heads[0].map((_, t) => heads.flatMap(head => head[t]));",
                                          R"(for (int t = 0; t < T; t++)
    for (int h = 0; h < H; h++)
        for (int c = 0; c < d; c++) out[t][h * d + c] = heads[h][t][c];)",
                                          R"(for (const Mat& head : heads)
    for (size_t t = 0; t < head.size(); t++)
        output[t].insert(output[t].end(), head[t].begin(), head[t].end());)",
                                          R"(for (int t = 0; t < T; t++)
    for (int h = 0; h < H; h++)
        System.arraycopy(heads[h][t], 0, output[t], h * d, d);)",
                                          R"(for _, head := range heads {
    for t, row := range head {
        output[t] = append(output[t], row...)
    }
})"};

inline constexpr SevenCodes kBackwardCode = {
    R"(delta = rowsum(dP o P)
dS = P o (dP - delta))",
    R"(delta = (dP * P).sum(axis=-1, keepdims=True)
dS = P * (dP - delta))",
    R"(const dS = P.map((row, i) => {
  const delta = row.reduce((sum, p, j) => sum + p * dP[i][j], 0);
  return row.map((p, j) => p * (dP[i][j] - delta));
});)",
    R"(for (int i = 0; i < n; i++) {
    double delta = 0;
    for (int j = 0; j < n; j++) delta += P[i][j] * dP[i][j];
    for (int j = 0; j < n; j++) dS[i][j] = P[i][j] * (dP[i][j] - delta);
})",
    R"(for (size_t i = 0; i < P.size(); i++) {
    const double delta = inner_product(P[i].begin(), P[i].end(), dP[i].begin(), 0.0);
    for (size_t j = 0; j < P[i].size(); j++) dS[i][j] = P[i][j] * (dP[i][j] - delta);
})",
    R"(for (int i = 0; i < n; i++) {
    double delta = 0;
    for (int j = 0; j < n; j++) delta += P[i][j] * dP[i][j];
    for (int j = 0; j < n; j++) dS[i][j] = P[i][j] * (dP[i][j] - delta);
})",
    R"(for i, row := range P {
    delta := 0.0
    for j, p := range row {
        delta += p * dP[i][j]
    }
    for j, p := range row {
        dS[i][j] = p * (dP[i][j] - delta)
    }
})"};

}  // namespace qkv::explain_detail
