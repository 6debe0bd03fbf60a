package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The last hour in steps of {@value #STEP_SECONDS} seconds, and the last seconds.
 *
 * <p>Thread-safe.
 */
public final class History {

  /** Length of a step. */
  public static final int STEP_SECONDS = 10;

  /** So many are kept. */
  public static final int STEPS = 360;

  /** Readings that {@link #rates} looks back over: five minutes. */
  private static final int RATE_STEPS = 30;

  private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(STEP_SECONDS);

  /** Readings in between are at least as far apart, so that their number is bounded. */
  private static final long RECENT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Totals totals;
  private final Clock clock;
  private final Deque<Step> steps = new ArrayDeque<>();
  private final Deque<Reading> readings = new ArrayDeque<>();

  /** Readings between those, while somebody looks; the youngest first. */
  private final Deque<Reading> recent = new ArrayDeque<>();

  private long endMillis;

  /** Begins now. */
  public History(Totals.Sources sources, Clock clock) {
    this.totals = new Totals(sources);
    this.clock = clock;
    readings.add(totals.read());
  }

  /** Another step is over. */
  public synchronized void step() {
    Reading reading = totals.read();
    steps.add(new Step(readings.getLast(), reading));
    readings.add(reading);
    endMillis = clock.millis();
    if (steps.size() > STEPS) {
      steps.remove();
    }
    if (readings.size() > RATE_STEPS + 1) {
      readings.remove();
    }
  }

  /**
   * The step that ends now: as long as the others if there is a reading to begin with, else a
   * little longer, or shorter in a young process.
   */
  public synchronized ObjectNode now() {
    Reading reading = totals.read();
    recent.removeIf(old -> reading.nanos() - old.nanos() > 2 * STEP_NANOS);
    Reading begin = begin(reading);
    if (recent.isEmpty() || reading.nanos() - recent.getFirst().nanos() >= RECENT_NANOS) {
      recent.addFirst(reading);
    }
    return new Step(begin, reading).json().put("at", clock.millis());
  }

  private Reading begin(Reading reading) {
    Reading best = readings.getFirst();
    for (Iterator<Reading> each = readings.descendingIterator(); each.hasNext(); ) {
      best = each.next();
      if (reading.nanos() - best.nanos() >= STEP_NANOS) {
        break;
      }
    }
    for (Reading each : recent) {
      if (reading.nanos() - each.nanos() >= STEP_NANOS && each.nanos() - best.nanos() > 0) {
        return each;
      }
    }
    return best;
  }

  /** How an engine's cache did in the last five minutes. */
  public synchronized HitRates rates(String engine) {
    HitRateCounts now = readings.getLast().engines().get(engine);
    return now == null
        ? HitRates.UNKNOWN
        : now.since(readings.getFirst().engines().getOrDefault(engine, HitRateCounts.NONE));
  }

  /** The last {@code seconds}, as far as they are known. */
  public synchronized ObjectNode json(int seconds) {
    int wanted = Math.min(steps.size(), (seconds + STEP_SECONDS - 1) / STEP_SECONDS);
    List<Step> shown = new ArrayList<>(steps).subList(steps.size() - wanted, steps.size());
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("stepSeconds", STEP_SECONDS);
    root.put("from", endMillis - TimeUnit.SECONDS.toMillis((long) wanted * STEP_SECONDS));
    ObjectNode all = root.putObject("series");
    for (Series series : Series.values()) {
      ArrayNode values = all.putArray(series.label());
      shown.forEach(step -> values.add(Series.shown(step.value(series))));
    }
    rates(all.putObject("refusals"), shown, Step::refusals);
    rates(all.putObject("picks"), shown, Step::picks);
    rates(all.putObject("uncached"), shown, Step::uncached);
    return root;
  }

  private static void rates(
      ObjectNode to, List<Step> steps, Function<Step, Map<String, Double>> rates) {
    Stream<String> names = steps.stream().flatMap(step -> rates.apply(step).keySet().stream());
    for (String name : new TreeSet<>(names.toList())) {
      ArrayNode values = to.putArray(name);
      steps.forEach(step -> values.add(Series.shown(rates.apply(step).getOrDefault(name, 0.0))));
    }
  }
}
