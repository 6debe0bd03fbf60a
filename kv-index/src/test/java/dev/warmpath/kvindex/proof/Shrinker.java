package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Step.Remove;
import dev.warmpath.kvindex.workload.Step.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes a list of steps that fails smaller: leaves out steps, then blocks of steps, as long as it
 * still fails.
 *
 * <p>Confined to one thread.
 */
final class Shrinker {

  private final Predicate<List<Step>> fails;
  private List<Step> smallest;
  private long stepsLeft;

  private Shrinker(List<Step> failing, Predicate<List<Step>> fails, long maxSteps) {
    smallest = failing;
    this.fails = fails;
    stepsLeft = maxSteps;
  }

  /**
   * The smallest list found, {@code failing} itself if no smaller one fails.
   *
   * @param maxSteps how many steps may be done to find it
   */
  static List<Step> shrink(List<Step> failing, Predicate<List<Step>> fails, long maxSteps) {
    Shrinker shrinker = new Shrinker(failing, fails, maxSteps);
    boolean smaller = true;
    while (smaller) {
      smaller = shrinker.dropSteps();
      smaller |= shrinker.dropBlocks();
    }
    return shrinker.smallest;
  }

  private boolean dropSteps() {
    boolean any = false;
    for (int size = Math.max(1, smallest.size() / 2); size > 0; size /= 2) {
      for (int from = smallest.size() - size; from >= 0; from -= size) {
        List<Step> fewer = new ArrayList<>(smallest);
        fewer.subList(from, from + size).clear();
        any |= keep(fewer);
        from = Math.min(from, smallest.size());
      }
    }
    return any;
  }

  private boolean dropBlocks() {
    boolean any = false;
    for (int at = 0; at < smallest.size(); at++) {
      for (int size = blocks(smallest.get(at)) / 2; size > 0; size /= 2) {
        while (dropSome(at, size)) {
          any = true;
        }
      }
    }
    return any;
  }

  private boolean dropSome(int at, int size) {
    Step step = smallest.get(at);
    int blocks = blocks(step);
    for (int from = 0; from + size <= blocks && size < blocks; from += size) {
      if (step instanceof Remove remove && replace(at, remove.without(from, from + size))) {
        return true;
      }
    }
    return step instanceof Store store
        && size < blocks
        && (replace(at, store.part(0, blocks - size)) || replace(at, store.part(size, blocks)));
  }

  private boolean replace(int at, Step smaller) {
    List<Step> changed = new ArrayList<>(smallest);
    changed.set(at, smaller);
    return keep(changed);
  }

  private boolean keep(List<Step> smaller) {
    stepsLeft -= smaller.size();
    if (stepsLeft < 0 || !fails.test(smaller)) {
      return false;
    }
    smallest = smaller;
    return true;
  }

  private static int blocks(Step step) {
    if (step instanceof Store store) {
      return store.hashes().length;
    }
    return step instanceof Remove remove ? remove.hashes().length : 0;
  }
}
