// The chapter's attention in Go: softmax(Q K^T / sqrt(d_k)) V for three tokens.
package main

import (
	"fmt"
	"math"
)

func softmax(scores []float64) []float64 {
	largest := math.Inf(-1) // of the scaled scores: no exp overflows
	for _, score := range scores {
		largest = math.Max(largest, score)
	}
	weights := make([]float64, len(scores))
	sum := 0.0
	for j, score := range scores {
		weights[j] = math.Exp(score - largest)
		sum += weights[j]
	}
	for j := range weights {
		weights[j] /= sum
	}
	return weights
}

func weightsOf(q []float64, K [][]float64) []float64 {
	scores := make([]float64, len(K))
	for j, k := range K {
		for d := range q {
			scores[j] += q[d] * k[d]
		}
		scores[j] /= math.Sqrt(float64(len(q)))
	}
	return softmax(scores)
}

func weightedSum(weights []float64, V [][]float64) []float64 {
	y := make([]float64, len(V[0]))
	for j, v := range V {
		for d := range y {
			y[d] += weights[j] * v[d]
		}
	}
	return y
}

func main() {
	tokens := []string{"the", "cat", "sat"}
	Q := [][]float64{{1, 0}, {0, 1}, {1, 1}}
	K := [][]float64{{1, 0}, {0, 1}, {1, 1}}
	V := [][]float64{{2, 0}, {0, 3}, {1, 1}}
	for i, q := range Q {
		w := weightsOf(q, K)
		y := weightedSum(w, V)
		fmt.Printf("%s  weights %.3f %.3f %.3f  y %.3f %.3f\n", tokens[i], w[0], w[1], w[2], y[0], y[1])
	}
}
