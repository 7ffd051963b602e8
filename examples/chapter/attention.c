/* The chapter's attention in C: softmax(Q K^T / sqrt(d_k)) V for three tokens. */
#include <math.h>
#include <stdio.h>

enum { T = 3, D = 2 };

static void softmax(double row[T]) {
  double largest = row[0]; /* of the scaled scores: no exp overflows */
  for (int j = 1; j < T; ++j) largest = fmax(largest, row[j]);
  double sum = 0;
  for (int j = 0; j < T; ++j) sum += row[j] = exp(row[j] - largest);
  for (int j = 0; j < T; ++j) row[j] /= sum;
}

static void attention(double Q[T][D], double K[T][D], double V[T][D], double weights[T][T], double out[T][D]) {
  for (int i = 0; i < T; ++i) {
    for (int j = 0; j < T; ++j) {
      double score = 0;
      for (int d = 0; d < D; ++d) score += Q[i][d] * K[j][d];
      weights[i][j] = score / sqrt(D);
    }
    softmax(weights[i]);
    for (int d = 0; d < D; ++d) {
      out[i][d] = 0;
      for (int j = 0; j < T; ++j) out[i][d] += weights[i][j] * V[j][d];
    }
  }
}

int main(void) {
  const char* tokens[T] = {"the", "cat", "sat"};
  double Q[T][D] = {{1, 0}, {0, 1}, {1, 1}};
  double K[T][D] = {{1, 0}, {0, 1}, {1, 1}};
  double V[T][D] = {{2, 0}, {0, 3}, {1, 1}};
  double w[T][T];
  double y[T][D];
  attention(Q, K, V, w, y);
  for (int i = 0; i < T; ++i) {
    printf("%s  weights %.3f %.3f %.3f  y %.3f %.3f\n", tokens[i], w[i][0], w[i][1], w[i][2], y[i][0], y[i][1]);
  }
  return 0;
}
