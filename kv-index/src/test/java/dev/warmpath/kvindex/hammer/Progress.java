package dev.warmpath.kvindex.hammer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How far the writer is in its laps through a script, and what a reader may see meanwhile.
 *
 * <p>States are counted on from lap to lap.
 *
 * <p>Single writer, many readers.
 */
final class Progress {

  private static final int MAX_LAPS = 1 << 20;

  private final Timeline timeline;
  private final int[][] slotsByLap = new int[MAX_LAPS][];
  private volatile long begun;
  private volatile long done;
  private volatile boolean stopped;

  Progress(Timeline timeline) {
    this.timeline = timeline;
  }

  /** Number of engines that arrive in a lap; their slots are below it. */
  int engines() {
    return timeline.engines();
  }

  /** The slots that the engines of this lap will have, to be filled in as they arrive. */
  int[] lap(int lap) {
    int[] slots = new int[timeline.engines()];
    Arrays.fill(slots, -1);
    slotsByLap[lap] = slots;
    return slots;
  }

  void begin(int lap, int step) {
    begun = absolute(lap, step);
  }

  void done(int lap, int step) {
    done = absolute(lap, step);
  }

  /** Something is wrong: nobody needs to go on. */
  void stop() {
    stopped = true;
  }

  boolean isStopped() {
    return stopped;
  }

  /** The first state that a query may see that begins now. */
  long first() {
    return done;
  }

  /** The last state that a query may have seen that ends now. */
  long last() {
    return begun;
  }

  /** The different answers by slot from one state to another. */
  List<Answer> answers(int question, long first, long last) {
    List<Answer> answers = new ArrayList<>();
    for (int lap = lapOf(first); lap <= lapOf(last); lap++) {
      int from = lap == lapOf(first) ? stateOf(first) : 0;
      int to = lap == lapOf(last) ? stateOf(last) : timeline.states() - 1;
      int[] slots = slotsByLap[lap];
      timeline.answers(question, from, to).forEach(answer -> answers.add(answer.bySlot(slots)));
    }
    return answers;
  }

  /** Where the writer is in this state, in words. */
  String text(long state) {
    return "lap " + lapOf(state) + " state " + stateOf(state) + ' ' + timeline.step(stateOf(state));
  }

  private long absolute(int lap, int step) {
    return (long) lap * timeline.states() + timeline.lastState(step);
  }

  private int lapOf(long state) {
    return (int) (state / timeline.states());
  }

  private int stateOf(long state) {
    return (int) (state % timeline.states());
  }
}
