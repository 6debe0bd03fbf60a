package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.StepCost;
import java.util.Arrays;
import java.util.List;

/**
 * Finds the cost with the least sum of relative errors, none of its numbers negative.
 *
 * <p>Sums of errors, not of squares, are made small, so that a few requests with a story of their
 * own (a pause, a preemption, a slow client) do not count more than others.
 */
final class LeastErrors {

  /*
   * Iteratively reweighted least squares: a row's weight is 1 over its relative error. With four
   * unknowns, that none be negative is had by trying all sets of unknowns that may differ from 0.
   */

  private static final int ROUNDS = 40;
  private static final double LEAST_ERROR = 1e-3;

  private LeastErrors() {}

  static StepCost of(List<Equation> equations) {
    double[] weights = new double[equations.size()];
    Arrays.fill(weights, 1);
    double[] found = new double[Equation.UNKNOWNS];
    for (int round = 0; round < ROUNDS; round++) {
      found = leastSquares(equations, weights);
      for (int row = 0; row < weights.length; row++) {
        weights[row] = 1 / Math.max(LEAST_ERROR, Math.abs(error(equations.get(row), found)));
      }
    }
    return new StepCost(found[0], found[1], found[2], found[3]);
  }

  private static double error(Equation row, double[] values) {
    double millis = 0;
    for (int i = 0; i < values.length; i++) {
      millis += row.coefficient(i) * values[i];
    }
    return millis / row.millis() - 1;
  }

  private static double[] leastSquares(List<Equation> equations, double[] weights) {
    double[] best = new double[Equation.UNKNOWNS];
    double least = Double.POSITIVE_INFINITY;
    for (int set = 1; set < 1 << Equation.UNKNOWNS; set++) {
      double[] values = solved(equations, weights, set);
      double sum = 0;
      for (int row = 0; row < weights.length && sum < least; row++) {
        double error = error(equations.get(row), values);
        sum += weights[row] * error * error;
      }
      if (sum < least && Arrays.stream(values).allMatch(value -> value >= 0)) {
        least = sum;
        best = values;
      }
    }
    return best;
  }

  /** The least squares with the unknowns of a set, the others being 0. */
  private static double[] solved(List<Equation> equations, double[] weights, int set) {
    int n = Equation.UNKNOWNS;
    double[][] matrix = new double[n][n + 1];
    for (int row = 0; row < weights.length; row++) {
      Equation equation = equations.get(row);
      for (int i = 0; i < n; i++) {
        double part = weights[row] * coefficient(equation, i, set);
        for (int j = 0; j < n; j++) {
          matrix[i][j] += part * coefficient(equation, j, set);
        }
        matrix[i][n] += part;
      }
    }
    return eliminated(matrix);
  }

  /** Relative to the row's time. */
  private static double coefficient(Equation equation, int unknown, int set) {
    return (set >>> unknown & 1) == 0 ? 0 : equation.coefficient(unknown) / equation.millis();
  }

  /** Solves by elimination; an unknown that nothing depends on is 0. */
  private static double[] eliminated(double[][] matrix) {
    int n = matrix.length;
    double[] diagonal = new double[n];
    for (int i = 0; i < n; i++) {
      diagonal[i] = matrix[i][i];
    }
    for (int i = 0; i < n; i++) {
      if (matrix[i][i] <= 1e-12 * diagonal[i] || diagonal[i] == 0) {
        Arrays.fill(matrix[i], 0);
        continue;
      }
      for (int row = 0; row < n; row++) {
        double factor = row == i ? 0 : matrix[row][i] / matrix[i][i];
        for (int column = i; factor != 0 && column <= n; column++) {
          matrix[row][column] -= factor * matrix[i][column];
        }
      }
    }
    double[] values = new double[n];
    for (int i = 0; i < n; i++) {
      values[i] = matrix[i][i] == 0 ? 0 : matrix[i][n] / matrix[i][i];
    }
    return values;
  }
}
