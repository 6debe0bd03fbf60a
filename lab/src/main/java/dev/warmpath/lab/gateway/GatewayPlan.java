package dev.warmpath.lab.gateway;

import java.util.List;

/**
 * What is measured, and for how long. Times are seconds.
 *
 * @param cells in each round, in this order
 * @param warmUp chats of 2 KiB at {@link #FULL_RATE} through each gateway before the first round
 * @param leadIn load of the cell itself before each measured part
 * @param measured length of the measured part, of each gateway in each cell and round
 * @param states seconds of load after which a new router's state is measured, rising; empty: none
 * @param cold load of a router that has just started; 0: none
 * @param idle of a router without requests; 0: none
 */
record GatewayPlan(
    List<GatewayCell> cells,
    int rounds,
    double warmUp,
    double leadIn,
    double measured,
    List<Integer> states,
    double cold,
    double idle) {

  /** Requests a second to warm up, and to a router that has just started. */
  static final int FULL_RATE = 1_000;

  private static final double LONGEST = 3_600;
  private static final int MOST_ROUNDS = 100;

  private static final int MOST_STATE_SECONDS = 10;

  /** They are made before they are sent, and stay in memory as long. */
  private static final int MOST_REQUESTS = 200_000;

  GatewayPlan {
    cells = List.copyOf(cells);
    states = List.copyOf(states);
    for (int i = 0; i < states.size(); i++) {
      if (states.get(i) < 0
          || states.get(i) > LONGEST
          || (i > 0 && states.get(i) <= states.get(i - 1))) {
        throw new IllegalArgumentException(
            "states=" + states + ", not rising from 0 to " + (int) LONGEST);
      }
    }
    for (double seconds : new double[] {warmUp, leadIn, measured, cold, idle}) {
      if (!(seconds >= 0 && seconds <= LONGEST)) {
        throw new IllegalArgumentException("seconds=" + seconds + ", not 0 to " + LONGEST);
      }
    }
    if (rounds < 1 || rounds > MOST_ROUNDS || measured == 0) {
      throw new IllegalArgumentException("rounds=" + rounds + " measured=" + measured);
    }
    requireFew("the warm-up", FULL_RATE * warmUp);
    requireFew("the cold start", FULL_RATE * cold);
    cells.forEach(cell -> requireFew(cell.name(), cell.perSecond() * (leadIn + measured)));
  }

  /** The load under which states are measured: that of the first cell. */
  GatewayCell stateCell() {
    return cells.isEmpty() ? GatewayCell.PLAIN : cells.get(0);
  }

  /** Seconds for which a state is measured: ten, or the shortest time between two states. */
  int stateSeconds() {
    int seconds = MOST_STATE_SECONDS;
    for (int i = 1; i < states.size(); i++) {
      seconds = Math.min(seconds, states.get(i) - states.get(i - 1));
    }
    return seconds;
  }

  private static void requireFew(String what, double requests) {
    if (requests > MOST_REQUESTS) {
      throw new IllegalArgumentException(
          "%s has %.0f requests, more than %d".formatted(what, requests, MOST_REQUESTS));
    }
  }
}
