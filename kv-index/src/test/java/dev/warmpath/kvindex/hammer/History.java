package dev.warmpath.kvindex.hammer;

import java.util.ArrayList;
import java.util.List;

/**
 * The right answers to one question, and from which state on each is right.
 *
 * <p>Single writer.
 */
final class History {

  private final List<Integer> since = new ArrayList<>();
  private final List<Answer> answers = new ArrayList<>();

  void add(int state, Answer answer) {
    if (answers.isEmpty() || !answers.get(answers.size() - 1).isSame(answer)) {
      since.add(state);
      answers.add(answer);
    }
  }

  /** The different answers from one state to another. */
  List<Answer> between(int from, int to) {
    return answers.subList(indexAt(from), indexAt(to) + 1);
  }

  private int indexAt(int state) {
    int low = 0;
    int high = since.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) / 2;
      if (since.get(middle) <= state) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
