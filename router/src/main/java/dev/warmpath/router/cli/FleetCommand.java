package dev.warmpath.router.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath fleet}: shows the fleet of a running router, and changes it.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "fleet",
    description =
        "Shows the fleet of a running router, drains or warms a replica, reloads a configuration.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  warmpath fleet status",
      "  warmpath fleet drain gpu-3 --wait 300",
      "  warmpath fleet warm gpu-4 --wait 60",
      "  warmpath fleet reload --admin http://127.0.0.1:9081 --key-file admin.key"
    })
public final class FleetCommand implements WarmpathCommand {

  private static final long POLL_MILLIS = 500;
  private static final byte[] NOTHING = {};
  private static final String UNKNOWN = "-";

  @Spec private CommandSpec spec = CommandSpec.create();

  /** What each of its commands takes. */
  static final class Flags {
    @Mixin private final AdminPort router = new AdminPort();

    @Option(names = "--json", description = "Print the router's answer, one JSON object.")
    private boolean json;
  }

  @Override
  public Integer call() {
    spec.commandLine().usage(System.err);
    return Exit.USAGE;
  }

  /** One line an engine, then what is wrong with it. */
  @Command(
      name = "status",
      description = "Shows each replica's health, index and load.",
      mixinStandardHelpOptions = true)
  int status(@Mixin Flags flags) throws InterruptedException {
    JsonNode fleet = flags.router.get("/admin/fleet");
    if (flags.json) {
      return printed(fleet);
    }
    out().printf("policy   %s%n", fleet.path("policy").asText());
    out()
        .printf(
            "router   %s, %d requests being served%n%n",
            fleet.path("stage").asText(), fleet.path("requestsServing").asLong());
    Table table = new Table(out());
    table.row("replica", "health", "events", "blocks", "requests", "waiting", "KV use", "hit rate");
    List<String> problems = new ArrayList<>();
    for (JsonNode replica : fleet.path("replicas")) {
      for (JsonNode engine : replica.path("engines")) {
        row(table, replica, engine);
        problem(problems, engine.path("engine"), engine.path("problem"));
      }
      problem(problems, replica.path("name"), replica.path("problem"));
    }
    table.print();
    for (JsonNode stale : fleet.path("staleFiles")) {
      problem(problems, stale.path("file"), stale.path("problem"));
    }
    for (JsonNode model : fleet.path("modelsWithoutReplica")) {
      problems.add("model " + model.asText() + ": none of its replicas is well");
    }
    if (!problems.isEmpty()) {
      out().println();
      problems.forEach(out()::println);
    }
    return Exit.OK;
  }

  private static void row(Table table, JsonNode replica, JsonNode engine) {
    JsonNode events = engine.path("events");
    table.row(
        engine.path("engine").asText(),
        health(replica, engine),
        events.isObject() ? events.path("trust").asText() : "none",
        engine.path("index").path("heldBlocks").asText(UNKNOWN),
        engine.path("requestsInFlight").asText(),
        engine.path("requestsWaiting").isNumber()
            ? engine.path("requestsWaiting").asText()
            : UNKNOWN,
        percent(engine.path("kvUse")),
        percent(engine.path("hitRate")));
  }

  private static String health(JsonNode replica, JsonNode engine) {
    List<String> words = new ArrayList<>();
    words.add(replica.path("health").asText());
    for (String state : List.of("asleep", "stuck", "draining", "leaving")) {
      if (replica.path(state).asBoolean()) {
        words.add(state);
      }
    }
    if (!engine.path("circuit").asText("closed").equals("closed")) {
      words.add("circuit " + engine.path("circuit").asText());
    }
    return String.join(", ", words);
  }

  private static String percent(JsonNode share) {
    return share.isNumber() ? Math.round(100 * share.asDouble()) + " %" : UNKNOWN;
  }

  private static void problem(List<String> problems, JsonNode of, JsonNode problem) {
    if (problem.isTextual()) {
      problems.add(of.asText() + ": " + problem.asText());
    }
  }

  /** Gives a replica no new requests any more. */
  @Command(
      name = "drain",
      description = "Gives a replica no new requests until it is resumed.",
      mixinStandardHelpOptions = true)
  int drain(
      @Mixin Flags flags,
      @Parameters(paramLabel = "REPLICA", description = "Its name.") String name,
      @Option(
              names = "--wait",
              paramLabel = "SECONDS",
              description = "Wait until it has no requests, at most so long.")
          @Nullable Integer seconds)
      throws InterruptedException {
    long until = waitUntil(seconds);
    JsonNode answer = flags.router.post(replica(name, "drain"), NOTHING);
    while (requests(answer) > 0 && System.nanoTime() < until) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      answer = replica(flags, name);
      if (!answer.path("draining").asBoolean()) {
        throw CommandException.failed(name + ": was resumed or has left meanwhile");
      }
    }
    if (flags.json) {
      printed(answer);
    } else {
      out().printf("%s drains; %d requests in flight%n", name, requests(answer));
    }
    return seconds != null && requests(answer) > 0 ? Exit.FAILED : Exit.OK;
  }

  private static long waitUntil(@Nullable Integer seconds) {
    if (seconds != null && seconds < 0) {
      throw CommandException.usage("--wait " + seconds + ": must not be negative");
    }
    return System.nanoTime() + Duration.ofSeconds(seconds == null ? 0 : seconds).toNanos();
  }

  /** What the router says of one now; missing if it has left. */
  private static JsonNode replica(Flags flags, String name) throws InterruptedException {
    for (JsonNode replica : flags.router.get("/admin/replicas").path("replicas")) {
      if (replica.path("name").asText().equals(name)) {
        return replica;
      }
    }
    return MissingNode.getInstance();
  }

  private static long requests(JsonNode answer) {
    return answer.path("requests").asLong();
  }

  /** Gives a replica requests again. */
  @Command(
      name = "resume",
      description = "Gives a drained replica requests again.",
      mixinStandardHelpOptions = true)
  int resume(
      @Mixin Flags flags,
      @Parameters(paramLabel = "REPLICA", description = "Its name.") String name)
      throws InterruptedException {
    JsonNode answer = flags.router.post(replica(name, "resume"), NOTHING);
    return flags.json ? printed(answer) : printed(name + " takes requests again");
  }

  /** Forgets what a replica holds. */
  @Command(
      name = "clear",
      description = {
        "Forgets what a replica's cache holds: after its /reset_prefix_cache, whose event comes",
        "with its next step only."
      },
      mixinStandardHelpOptions = true)
  int clear(
      @Mixin Flags flags,
      @Parameters(paramLabel = "REPLICA", description = "Its name.") String name)
      throws InterruptedException {
    JsonNode answer = flags.router.post(replica(name, "clear"), NOTHING);
    return flags.json
        ? printed(answer)
        : printed(name + ": forgotten, engines: " + answer.path("enginesCleared").asLong());
  }

  /** Lets a replica compute what sessions share. */
  @Command(
      name = "warm",
      description = {
        "Lets a replica compute the prefixes that many sessions share and that it lacks, while it",
        "has nothing else to do."
      },
      mixinStandardHelpOptions = true)
  int warm(
      @Mixin Flags flags,
      @Parameters(paramLabel = "REPLICA", description = "Its name.") String name,
      @Option(
              names = "--wait",
              paramLabel = "SECONDS",
              description =
                  "Wait until it is over, at most so long. Fails unless it is done or spent.")
          @Nullable Integer seconds)
      throws InterruptedException {
    long until = waitUntil(seconds);
    JsonNode answer = flags.router.post(replica(name, "warm"), NOTHING);
    JsonNode engines = answer.path("engines");
    while (isWarming(engines) && System.nanoTime() < until) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      engines = engines(flags, name);
    }
    if (engines.isEmpty()) {
      throw CommandException.failed(name + ": has left meanwhile");
    }
    if (flags.json) {
      ObjectNode printed = answer.deepCopy();
      ArrayNode list = printed.putArray("engines");
      for (JsonNode engine : engines) {
        list.addObject()
            .put("engine", engine.path("engine").asText())
            .set("prewarm", engine.path("prewarm"));
      }
      printed(printed);
    } else {
      Table table = new Table(out());
      table.row("engine", "state", "prefixes", "computed", "tokens", "ms");
      for (JsonNode engine : engines) {
        JsonNode prewarm = engine.path("prewarm");
        table.row(
            engine.path("engine").asText(),
            prewarm.path("state").asText(UNKNOWN).replace('_', ' '),
            prewarm.path("prefixes").asText(UNKNOWN),
            prewarm.path("computed").asText(UNKNOWN),
            prewarm.path("tokens").asText(UNKNOWN),
            prewarm.path("millis").asText(UNKNOWN));
      }
      table.print();
    }
    return seconds == null || isWarm(engines) ? Exit.OK : Exit.FAILED;
  }

  /** What the router says of a replica's engines now; none if it has left. */
  private static JsonNode engines(Flags flags, String name) throws InterruptedException {
    for (JsonNode replica : flags.router.get("/admin/fleet").path("replicas")) {
      if (replica.path("name").asText().equals(name)) {
        return replica.path("engines");
      }
    }
    return MissingNode.getInstance();
  }

  private static boolean isWarming(JsonNode engines) {
    for (JsonNode engine : engines) {
      if (engine.path("prewarm").path("state").asText().equals("running")) {
        return true;
      }
    }
    return false;
  }

  private static boolean isWarm(JsonNode engines) {
    for (JsonNode engine : engines) {
      String state = engine.path("prewarm").path("state").asText();
      if (!state.equals("done") && !state.equals("spent")) {
        return false;
      }
    }
    return true;
  }

  /** Reads the configuration again. */
  @Command(
      name = "reload",
      description = "Makes the router read its configuration again.",
      mixinStandardHelpOptions = true)
  int reload(@Mixin Flags flags) throws InterruptedException {
    JsonNode answer = flags.router.post("/admin/reload", NOTHING);
    if (flags.json) {
      return printed(answer);
    }
    changes("applied", answer.path("applied"));
    changes("needs a restart", answer.path("needsRestart"));
    return Exit.OK;
  }

  private void changes(String what, JsonNode changes) {
    out().printf("%s: %s%n", what, changes.isEmpty() ? "nothing" : "");
    for (JsonNode change : changes) {
      out()
          .printf(
              "  %s: %s, was %s%n",
              change.path("key").asText(),
              change.path("after").asText("unset"),
              change.path("before").asText("unset"));
    }
  }

  private static String replica(String name, String action) {
    String escaped = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    return "/admin/replicas/" + escaped + "/" + action;
  }

  private int printed(JsonNode answer) {
    out().println(answer);
    return Exit.OK;
  }

  private int printed(String text) {
    out().println(text);
    return Exit.OK;
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** Columns as wide as their widest cell, two spaces apart. */
  private record Table(PrintWriter to, List<String[]> rows) {
    Table(PrintWriter to) {
      this(to, new ArrayList<>());
    }

    void row(String... cells) {
      rows.add(cells);
    }

    void print() {
      for (String[] row : rows) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < row.length; column++) {
          int place = column;
          int width = rows.stream().mapToInt(each -> each[place].length()).max().orElse(0);
          line.append(row[column]).append(" ".repeat(width - row[column].length() + 2));
        }
        to.println(line.toString().stripTrailing());
      }
    }
  }
}
