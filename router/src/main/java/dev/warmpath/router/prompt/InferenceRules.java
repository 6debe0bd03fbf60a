package dev.warmpath.router.prompt;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What the operators of inference pools say of requests beside the pools: which priority an
 * objective has, and which model an engine is asked for in the place of another one.
 *
 * <p>Thread-safe.
 */
public final class InferenceRules {

  /**
   * The rules of one source.
   *
   * @param priorities of objectives by name: the higher, the more important
   * @param rewrites the first that matches counts, one that names the model before one that does
   *     not
   */
  public record Rules(Map<String, Integer> priorities, List<Rewrite> rewrites) {

    /** None, but headers that name some are read. */
    public static final Rules NONE = new Rules(Map.of(), List.of());

    public Rules {
      priorities = Map.copyOf(priorities);
      rewrites = List.copyOf(rewrites);
    }
  }

  /**
   * Which models take the place of one.
   *
   * @param model that a request names; null for any
   * @param targets not empty
   */
  public record Rewrite(@Nullable String model, List<Target> targets) {

    public Rewrite {
      targets = List.copyOf(targets);
    }
  }

  /**
   * A model that engines have.
   *
   * @param weight its share among those of its rewrite, at least 0
   */
  public record Target(String model, int weight) {}

  private final RandomGenerator random;
  private final Map<String, Rules> bySource = new TreeMap<>();
  private volatile @Nullable Rules all;

  /**
   * @param random thread-safe
   */
  public InferenceRules(RandomGenerator random) {
    this.random = random;
  }

  /** Replaces the rules of a source; of two sources the first by name goes before. */
  public synchronized void set(String source, Rules rules) {
    if (rules.equals(bySource.put(source, rules))) {
      return;
    }
    Map<String, Integer> priorities = new TreeMap<>();
    List<Rewrite> rewrites = new ArrayList<>();
    for (Rules each : bySource.values()) {
      each.priorities().forEach(priorities::putIfAbsent);
      rewrites.addAll(each.rewrites());
    }
    all = new Rules(priorities, rewrites);
  }

  /** Whether there is a pool, whose gateway says by headers what a request is. */
  public boolean isInUse() {
    return all != null;
  }

  /** The priority of an objective, the higher the more important; 0 if it is unknown. */
  public int priority(String objective) {
    Rules now = all;
    return now == null ? 0 : now.priorities().getOrDefault(objective, 0);
  }

  /**
   * The model that an engine is asked for.
   *
   * @param model that the request names
   * @param session requests of one session get one model, of all routers; null for any
   * @return null if it is the request's
   */
  public @Nullable String rewritten(String model, @Nullable String session) {
    Rules now = all;
    Rewrite found = null;
    for (Rewrite each : now == null ? List.<Rewrite>of() : now.rewrites()) {
      if (model.equals(each.model())) {
        return choose(each, model, session);
      }
      found = found == null && each.model() == null ? each : found;
    }
    return found == null ? null : choose(found, model, session);
  }

  private @Nullable String choose(Rewrite rewrite, String model, @Nullable String session) {
    long total = rewrite.targets().stream().mapToLong(Target::weight).sum();
    if (total == 0) {
      return null;
    }
    long point =
        session == null
            ? random.nextLong(total)
            : Math.floorMod(mixed(31L * session.hashCode() + model.hashCode()), total);
    for (Target target : rewrite.targets()) {
      point -= target.weight();
      if (point < 0) {
        return target.model().equals(model) ? null : target.model();
      }
    }
    throw new IllegalStateException("total=" + total);
  }

  /** Spreads neighbouring numbers evenly (the finalizer of SplitMix64). */
  private static long mixed(long number) {
    long z = number + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
