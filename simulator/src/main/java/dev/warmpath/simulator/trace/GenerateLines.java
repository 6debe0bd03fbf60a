package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Chats made by chance, a batch a line: {@code {"seed", "seconds", "sessions", "tenants", "zipf",
 * "system", "turns", "in", "out", "think", "burst", "inSpread", "outSpread"}}, all optional. Equal
 * lines make equal chats.
 *
 * <p>Sessions begin at random times within {@code seconds}, {@code burst} of one tenant at each.
 * Tenant k has a share of them in proportion to k^−zipf and a system prompt of its own. A session
 * has {@code turns} turns on the average (geometric), its users think {@code think} seconds on the
 * average (exponential). The lengths of system prompts, questions and answers are log-normal around
 * their medians {@code system}, {@code in} and {@code out}: one in a hundred questions is ten times
 * as long.
 */
final class GenerateLines implements TraceFormat.Lines {

  private static final double SYSTEM_SPREAD = 0.7;
  private static final double LENGTH_SPREAD = 1;
  private static final int LONGEST = 100_000;
  private static final int MOST = 1_000_000;

  private final GrowingSessions sessions = new GrowingSessions();
  private int batches;

  @Override
  public void line(String text, TraceBuilder trace) {
    JsonNode line = LineFields.object(text);
    Draws draws = new Draws(new SplittableRandom(LineFields.whole(line, "seed", 0, MOST, 1)));
    int count = LineFields.whole(line, "sessions", 1, MOST, 500);
    int burst = LineFields.whole(line, "burst", 1, MOST, 1);
    double gap = LineFields.seconds(line, "seconds", 600) * burst / count;
    double[] shares =
        shares(LineFields.whole(line, "tenants", 1, MOST, 20), LineFields.seconds(line, "zipf", 1));
    int[] systems = new int[shares.length];
    int system = LineFields.whole(line, "system", 0, LONGEST, 1500);
    Arrays.setAll(systems, tenant -> draws.length(system, SYSTEM_SPREAD));
    double turns = LineFields.whole(line, "turns", 1, MOST, 4);
    int in = LineFields.whole(line, "in", 1, LONGEST, 300);
    int out = LineFields.whole(line, "out", 1, LONGEST, 200);
    double inSpread = LineFields.seconds(line, "inSpread", LENGTH_SPREAD);
    double outSpread = LineFields.seconds(line, "outSpread", LENGTH_SPREAD);
    double think = LineFields.seconds(line, "think", 20);
    String batch = batches++ + "/";
    double start = 0;
    int tenant = 0;
    for (int i = 0; i < count; i++) {
      if (i % burst == 0) {
        start += draws.exponential(gap);
        tenant = draws.among(shares);
      }
      sessions.begin(batch + tenant, systems[tenant]);
      double seconds = start;
      do {
        sessions.turn(trace, seconds, draws.length(in, inSpread), draws.length(out, outSpread));
        seconds = draws.exponential(think);
      } while (!draws.isTrue(1 / turns));
    }
  }

  /** The shares of tenants added up, the last is 1. */
  private static double[] shares(int tenants, double zipf) {
    double[] sums = new double[tenants];
    double sum = 0;
    for (int i = 0; i < tenants; i++) {
      sum += StrictMath.pow(i + 1.0, -zipf);
      sums[i] = sum;
    }
    double all = sum;
    Arrays.setAll(sums, i -> sums[i] / all);
    return sums;
  }

  /** Random numbers that are the same on every machine. */
  private record Draws(SplittableRandom random) {

    boolean isTrue(double chance) {
      return random.nextDouble() < chance;
    }

    double exponential(double mean) {
      return -mean * StrictMath.log(1 - random.nextDouble());
    }

    /** Log-normal, 0 for a median of 0 and else at least 1. */
    int length(int median, double spread) {
      double radius = StrictMath.sqrt(2 * exponential(1));
      double normal = radius * StrictMath.cos(2 * Math.PI * random.nextDouble());
      long length = Math.round(median * StrictMath.exp(spread * normal));
      return (int) Math.min(LONGEST, Math.max(Math.min(1, median), length));
    }

    int among(double[] sums) {
      int found = Arrays.binarySearch(sums, random.nextDouble());
      return Math.min(sums.length - 1, found < 0 ? -found - 1 : found + 1);
    }
  }
}
