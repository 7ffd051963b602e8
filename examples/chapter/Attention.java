// The chapter's attention in Java: softmax(Q K^T / sqrt(d_k)) V for three tokens.
import java.util.Locale;

public class Attention {
    static double[] softmax(double[] scores) {
        double largest = Double.NEGATIVE_INFINITY;  // of the scaled scores: no exp overflows
        for (double score : scores) largest = Math.max(largest, score);
        double[] weights = new double[scores.length];
        double sum = 0;
        for (int j = 0; j < scores.length; j++) sum += weights[j] = Math.exp(scores[j] - largest);
        for (int j = 0; j < scores.length; j++) weights[j] /= sum;
        return weights;
    }

    static double[] weightsOf(double[] q, double[][] K) {
        double[] scores = new double[K.length];
        for (int j = 0; j < K.length; j++) {
            for (int d = 0; d < q.length; d++) scores[j] += q[d] * K[j][d];
            scores[j] /= Math.sqrt(q.length);
        }
        return softmax(scores);
    }

    static double[] weightedSum(double[] weights, double[][] V) {
        double[] y = new double[V[0].length];
        for (int j = 0; j < V.length; j++)
            for (int d = 0; d < y.length; d++) y[d] += weights[j] * V[j][d];
        return y;
    }

    static String text(double[] row) {
        StringBuilder line = new StringBuilder();
        for (double x : row) line.append(String.format(Locale.ROOT, " %.3f", x));
        return line.toString();
    }

    public static void main(String[] arguments) {
        String[] tokens = {"the", "cat", "sat"};
        double[][] Q = {{1, 0}, {0, 1}, {1, 1}};
        double[][] K = {{1, 0}, {0, 1}, {1, 1}};
        double[][] V = {{2, 0}, {0, 3}, {1, 1}};
        for (int i = 0; i < Q.length; i++) {
            double[] weights = weightsOf(Q[i], K);
            System.out.println(tokens[i] + "  weights" + text(weights) + "  y" + text(weightedSum(weights, V)));
        }
    }
}
