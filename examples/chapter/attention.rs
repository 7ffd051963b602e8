// The chapter's attention in Rust: softmax(Q K^T / sqrt(d_k)) V for three tokens.
const TOKENS: [&str; 3] = ["the", "cat", "sat"];
const Q: [[f64; 2]; 3] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
const K: [[f64; 2]; 3] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
const V: [[f64; 2]; 3] = [[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]];

fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().cloned().fold(f64::NEG_INFINITY, f64::max); // of the scaled scores: no exp overflows
    let exps: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|e| e / sum).collect()
}

fn weights_of(q: &[f64]) -> Vec<f64> {
    let dot = |k: &[f64; 2]| q.iter().zip(k).map(|(a, b)| a * b).sum::<f64>();
    let scores: Vec<f64> = K.iter().map(|k| dot(k) / (q.len() as f64).sqrt()).collect();
    softmax(&scores)
}

fn weighted_sum(weights: &[f64]) -> Vec<f64> {
    (0..V[0].len()).map(|d| weights.iter().zip(&V).map(|(w, v)| w * v[d]).sum()).collect()
}

fn text(row: &[f64]) -> String {
    row.iter().map(|x| format!("{x:.3}")).collect::<Vec<_>>().join(" ")
}

fn main() {
    for (token, q) in TOKENS.iter().zip(&Q) {
        let weights = weights_of(q);
        println!("{token}  weights {}  y {}", text(&weights), text(&weighted_sum(&weights)));
    }
}
