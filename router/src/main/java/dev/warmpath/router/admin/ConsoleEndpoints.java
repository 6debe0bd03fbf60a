package dev.warmpath.router.admin;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.admin.ReplicaEndpoints.Reply;
import dev.warmpath.router.console.Console;
import dev.warmpath.router.console.LiveStream;
import dev.warmpath.router.observe.RouterMetrics;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the console asks for: {@code GET /admin/console/history}, {@code …/settings}, and the events
 * of {@code …/live}.
 *
 * <p>Thread-safe.
 */
final class ConsoleEndpoints implements LiveStream.Source {

  static final String LIVE = "/admin/console/live";
  static final long TURN_MILLIS = 1_000;

  private static final String HISTORY = "/admin/console/history";
  private static final String SETTINGS = "/admin/console/settings";

  /** Turns between two looks at the whole fleet. */
  private static final int FLEET_TURNS = 2;

  private final AdminContext admin;

  ConsoleEndpoints(AdminContext admin) {
    this.admin = admin;
  }

  static boolean takes(String path) {
    return path.equals(HISTORY) || path.equals(SETTINGS);
  }

  /**
   * Answers a GET.
   *
   * @param parameter takes the name of a parameter of the query
   */
  Reply answer(String path, Function<String, @Nullable String> parameter) {
    return path.equals(SETTINGS) ? Reply.ok(settings()) : history(parameter.apply("seconds"));
  }

  private ObjectNode settings() {
    return JsonNodeFactory.instance
        .objectNode()
        .put("policy", admin.dispatcher().policy().name())
        .put("version", RouterMetrics.version())
        .put("stepSeconds", Console.STEP_SECONDS);
  }

  private Reply history(@Nullable String seconds) {
    Integer wanted = whole(seconds, Console.HISTORY_SECONDS);
    return wanted == null
        ? Reply.failed(400, "seconds must be a whole number from 1 to " + Console.HISTORY_SECONDS)
        : Reply.ok(admin.console().history(wanted));
  }

  /** A number from 1 to {@code most}, which is also what none means; null if it is none. */
  private static @Nullable Integer whole(@Nullable String text, int most) {
    if (text == null) {
      return most;
    }
    try {
      int number = Integer.parseInt(text);
      return number >= 1 && number <= most ? number : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  @Override
  public String first() {
    return fleet() + now();
  }

  @Override
  public String next(long turn) {
    return turn % FLEET_TURNS == 0 ? now() + fleet() : now();
  }

  private String fleet() {
    return LiveStream.event("fleet", FleetReport.of(admin).toString());
  }

  private String now() {
    return LiveStream.event("now", admin.console().now().toString());
  }
}
