package dev.warmpath.simulator.fleet;

import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * One replica more or fewer in the middle of a run.
 *
 * @param engine the one that leaves, for {@link Kind#NAMED}; without effect otherwise
 */
public record Change(Kind kind, int engine) {

  /** The fleet stays as it is. */
  public static final Change NONE = new Change(Kind.NONE, 0);

  private static final String LEAVE = "leave:";

  /** Who leaves or joins. */
  public enum Kind {
    NONE("none"),
    LEAST_WORTH(LEAVE + "least-worth"),
    MOST_WORTH(LEAVE + "most-worth"),
    /** Another one with each seed. */
    RANDOM(LEAVE + "random"),
    NAMED(LEAVE + "N"),
    COLD("join:cold"),
    WARM("join:warm");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /**
   * Reads what {@link #toString} writes.
   *
   * @throws IllegalArgumentException for another text, or an engine that the fleet does not have
   */
  public static Change parse(String text, int engines) {
    Optional<Kind> kind =
        Stream.of(Kind.values())
            .filter(each -> each != Kind.NAMED && each.text.equals(text))
            .findFirst();
    if (kind.isPresent()) {
      return new Change(kind.get(), 0);
    }
    if (!text.matches(LEAVE + "\\d{1,9}")) {
      throw new IllegalArgumentException(
          "must be none, leave:least-worth, leave:most-worth, leave:random, leave:N, join:cold or join:warm");
    }
    int engine = Integer.parseInt(text.substring(LEAVE.length()));
    if (engine >= engines) {
      throw new IllegalArgumentException("engines are from 0 to " + (engines - 1));
    }
    return new Change(Kind.NAMED, engine);
  }

  /** Whether a replica leaves. */
  public boolean leaves() {
    return toString().startsWith(LEAVE);
  }

  /** What happens to a fleet of so many engines for it. */
  public List<Incident> incidents(double seconds, int engines, long seed) {
    return switch (kind) {
      case NONE -> List.of();
      case LEAST_WORTH -> List.of(Incident.of(seconds, 0, Incident.Kind.LEAST_WORTH_LEAVES));
      case MOST_WORTH -> List.of(Incident.of(seconds, 0, Incident.Kind.MOST_WORTH_LEAVES));
      case RANDOM -> {
        int drawn = new SplittableRandom(Workload.mixed(seed)).nextInt(engines);
        yield List.of(Incident.of(seconds, drawn, Incident.Kind.LEAVE));
      }
      case NAMED -> List.of(Incident.of(seconds, engine, Incident.Kind.LEAVE));
      case COLD -> List.of(Incident.of(seconds, engines, Incident.Kind.JOIN));
      case WARM -> List.of(Incident.of(seconds, engines, Incident.Kind.JOIN_WARM));
    };
  }

  @Override
  public String toString() {
    return kind == Kind.NAMED ? LEAVE + engine : kind.text;
  }
}
