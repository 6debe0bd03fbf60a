package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.fleet.Change;
import dev.warmpath.simulator.fleet.FleetPlan;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Pairs;
import dev.warmpath.simulator.fleet.PolicySpec;
import dev.warmpath.simulator.fleet.Routers;
import dev.warmpath.simulator.study.CostModels;
import dev.warmpath.simulator.study.Study;
import dev.warmpath.simulator.terminal.ShareText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags that say what is combined, and how each combination is run.
 *
 * <p>Confined to the main thread.
 */
final class StudyFlags {

  private static final int MOST_REPLICAS = 100_000;
  private static final int MOST_ROUTERS = 1_000;
  private static final double HIGHEST_RATE = 1e6;
  private static final String OFF = "off";

  @Option(
      names = "--policies",
      split = ",",
      paramLabel = "POLICY",
      defaultValue = "warm,least-requests,round-robin",
      description = {
        "Policies by name, or all (${DEFAULT-VALUE}). Options follow the name, as in",
        "warm:miss-weight=4:decode-weight=1."
      })
  private List<String> policies = List.of();

  @Option(
      names = "--replicas",
      split = ",",
      paramLabel = "N",
      defaultValue = "8",
      description = "Engines (${DEFAULT-VALUE}).")
  private List<Integer> replicas = List.of();

  @Option(
      names = "--kv-tokens",
      split = ",",
      paramLabel = "N",
      defaultValue = "2000000",
      description = "Tokens that an engine's cache holds (${DEFAULT-VALUE}).")
  private List<Long> kvTokens = List.of();

  @Option(
      names = "--host-kv-tokens",
      split = ",",
      paramLabel = "N",
      defaultValue = "0",
      description = {
        "Tokens that host memory holds behind an engine's cache; 0: no such tier",
        "(${DEFAULT-VALUE})."
      })
  private List<Long> hostKvTokens = List.of();

  @Option(
      names = "--host-load",
      paramLabel = "MS:US",
      defaultValue = "2:5",
      description = {
        "How long an engine takes to load from host memory, one request after another: so many",
        "milliseconds, and microseconds a token (${DEFAULT-VALUE})."
      })
  private String hostLoad = "";

  @Option(
      names = "--load-back",
      paramLabel = "RULE",
      defaultValue = "cheapest",
      description = {
        "Whether engines load what only their host memory holds of a prompt, or compute it again:",
        "cheapest, always, never (${DEFAULT-VALUE})."
      })
  private String loadBack = "";

  @Option(
      names = "--pull",
      paramLabel = "MS:US",
      description = {
        "How long it takes to get from another engine's host memory what is cheaper to get than to",
        "compute: so many milliseconds, and microseconds a token (engines do not)."
      })
  private @Nullable String pull;

  @Option(
      names = "--store-kv-tokens",
      paramLabel = "N",
      defaultValue = "0",
      description = {
        "Tokens that a store holds which all engines read, loaded as from host memory; 0: no such",
        "store (${DEFAULT-VALUE})."
      })
  private long storeKvTokens;

  @Option(names = "--store-silent", description = "Routers do not hear of what that store drops.")
  private boolean storeSilent;

  @Option(
      names = "--queue-ms",
      paramLabel = "MS",
      defaultValue = "" + FleetPlan.QUEUE_MILLIS,
      description = "What has waited so long at a router is refused (${DEFAULT-VALUE}).")
  private long queueMillis;

  @Option(
      names = "--rate",
      split = ",",
      paramLabel = "X",
      description = "How many times as fast as recorded requests arrive (1).")
  private List<Double> rates = new ArrayList<>();

  @Option(
      names = "--load",
      split = ",",
      paramLabel = "X",
      description = "Instead: as a share of the rate at which waiting times rise.")
  private List<Double> loads = new ArrayList<>();

  @Option(
      names = "--index",
      split = ",",
      paramLabel = "INDEX",
      defaultValue = "exact",
      description = {
        "What the router knows: exact, delayed:MS (events are late), approx[:SECONDS] (no events:",
        "what was routed) (${DEFAULT-VALUE})."
      })
  private List<String> indexes = List.of();

  @Option(
      names = "--routers",
      split = ",",
      paramLabel = "N",
      defaultValue = "1",
      description = "Routers in front of the engines (${DEFAULT-VALUE}).")
  private List<Integer> routers = List.of();

  @Option(
      names = "--share-ms",
      split = ",",
      paramLabel = "MS",
      defaultValue = "2",
      description = {
        "How long what one router tells is on its way to the others: MS, MS:JITTER_MS,",
        "MS:JITTER_MS:LOSS, or off (${DEFAULT-VALUE})."
      })
  private List<String> shares = List.of();

  @Option(
      names = "--routers-by-session",
      description = "Requests of one session go to one router, not to any.")
  private boolean routersBySession;

  @Option(
      names = "--prefills",
      split = ",",
      paramLabel = "N",
      description = {
        "Engines serve requests in pairs: the first N only compute prompts, the others answer; 0:",
        "each does both; off: no pairs, to compare with."
      })
  private List<String> prefills = List.of();

  @Option(
      names = "--split",
      split = ",",
      paramLabel = "RULE",
      defaultValue = "cheapest",
      description = {
        "Which requests a pair serves; options follow the name, as in",
        "prompt-tokens:min-tokens=4096 (${DEFAULT-VALUE})."
      })
  private List<String> splits = List.of();

  @Option(
      names = "--transfer",
      split = ",",
      paramLabel = "MS:US",
      defaultValue = "2:5",
      description = {
        "How long a pair's transfer takes: so many milliseconds, and microseconds a token",
        "(${DEFAULT-VALUE})."
      })
  private List<String> transfers = List.of();

  @Option(
      names = "--change",
      split = ",",
      paramLabel = "CHANGE",
      description = {
        "One replica more or fewer in the middle of a run: none, leave:least-worth,",
        "leave:most-worth, leave:random, leave:N (from 0 on), join:cold, join:warm. Ten minutes from",
        "then on are counted."
      })
  private List<String> changes = List.of();

  @Option(
      names = "--change-at",
      paramLabel = "SECONDS",
      defaultValue = "1200",
      description = "When it comes (${DEFAULT-VALUE}).")
  private double changeAt;

  @Option(
      names = "--copies",
      paramLabel = "N",
      defaultValue = "0",
      description = "Clients that play the workload side by side; 0: one for each eight replicas.")
  private int copies;

  @Option(
      names = "--spread-ms",
      paramLabel = "MS",
      defaultValue = "0",
      description = {
        "Each arrival is later by a random part of it, for traces that tell times roughly",
        "(${DEFAULT-VALUE})."
      })
  private double spreadMillis;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      defaultValue = "1",
      description = "Runs of each combination; two or more give confidence (${DEFAULT-VALUE}).")
  private int seeds;

  @Option(
      names = "--warm-up",
      paramLabel = "SHARE",
      defaultValue = "0.1",
      description = "Share of the time that is not counted, from its begin (${DEFAULT-VALUE}).")
  private String warmUp = "";

  @Option(
      names = "--cost",
      split = ",",
      paramLabel = "MODEL",
      defaultValue = "h100x4",
      description = {
        "How long an engine's steps take: h100x4, dynamo or a JSON file; of several the engines take",
        "one after the other (${DEFAULT-VALUE})."
      })
  private List<String> costs = List.of();

  /**
   * What is combined.
   *
   * @param blockSizeTokens of the workload
   */
  public Study.Grid grid(int blockSizeTokens) {
    if (!rates.isEmpty() && !loads.isEmpty()) {
      throw CommandException.usage("--rate and --load exclude each other");
    }
    List<String> names = policies.equals(List.of("all")) ? Policies.names() : policies;
    check("--policies", names, PolicySpec::make);
    check("--replicas", replicas, value -> bounded(value, 1, MOST_REPLICAS));
    check("--kv-tokens", kvTokens, value -> bounded(value, 2.0 * blockSizeTokens, 1 << 30));
    check("--host-kv-tokens", hostKvTokens, value -> bounded(value, 0, 1 << 30));
    check("--rate", rates, value -> bounded(value, 1 / HIGHEST_RATE, HIGHEST_RATE));
    check("--load", loads, value -> bounded(value, 1 / HIGHEST_RATE, HIGHEST_RATE));
    List<Double> given = !loads.isEmpty() ? loads : !rates.isEmpty() ? rates : List.of(1.0);
    return new Study.Grid(
        distinct(names),
        distinct(replicas),
        distinct(kvTokens),
        distinct(hostKvTokens),
        distinct(given),
        !loads.isEmpty(),
        distinct(converted("--index", indexes, IndexMode::parse)),
        fronts(),
        pairs(),
        changes());
  }

  private List<Change> changes() {
    if (changes.isEmpty()) {
      return List.of(Change.NONE);
    }
    if (prefills.stream().anyMatch(each -> !each.equals(OFF))) {
      throw CommandException.usage("--change: engines in pairs do not change (--prefills)");
    }
    List<Change> all =
        converted("--change", changes, value -> Change.parse(value, leastReplicas()));
    if (leastReplicas() == 1 && all.stream().anyMatch(Change::leaves)) {
      throw CommandException.usage("--change: the only replica cannot leave (--replicas 1)");
    }
    return distinct(all);
  }

  /** Without pairs neither rule nor transfer makes a difference. */
  private List<Pairs> pairs() {
    check("--split", splits, PolicySpec::rule);
    List<Pairs> pairs = new ArrayList<>();
    for (String prefill : prefills.isEmpty() ? List.of(OFF) : prefills) {
      if (prefill.equals(OFF)) {
        pairs.add(Pairs.NONE);
        continue;
      }
      int count =
          converted("--prefills", List.of(prefill), value -> bounded(value, leastReplicas() - 1))
              .get(0);
      for (String rule : splits) {
        pairs.addAll(
            converted("--transfer", transfers, value -> new Pairs(count, rule, Link.parse(value))));
      }
    }
    return distinct(pairs);
  }

  private int leastReplicas() {
    return replicas.stream().mapToInt(each -> each).min().orElse(1);
  }

  private static int bounded(String number, int most) {
    int value = Integer.parseInt(number);
    bounded(value, 0, most);
    return value;
  }

  /** Sharing makes no difference to one router. */
  private List<Routers> fronts() {
    check("--routers", routers, value -> bounded(value, 1, MOST_ROUTERS));
    List<Routers> fronts = new ArrayList<>();
    for (int count : routers) {
      for (Routers.Sharing share : converted("--share-ms", shares, Routers.Sharing::parse)) {
        fronts.add(count == 1 ? Routers.ONE : new Routers(count, routersBySession, share));
      }
    }
    return distinct(fronts);
  }

  /** How each combination is run: by as many threads as there are processors. */
  public Study.Runs runs() {
    check("--copies", List.of(copies), value -> bounded(value, 0, MOST_REPLICAS));
    check("--seeds", List.of(seeds), value -> bounded(value, 1, MOST_REPLICAS));
    check("--spread-ms", List.of(spreadMillis), value -> bounded(value, 0, 1e9));
    check("--store-kv-tokens", List.of(storeKvTokens), value -> bounded(value, 0, 1 << 30));
    check("--queue-ms", List.of(queueMillis), value -> bounded(value, 1, 1e12));
    check("--change-at", List.of(changeAt), value -> bounded(value, 0, 1e9));
    double left = ShareText.share("--warm-up", warmUp);
    return new Study.Runs(
        copies,
        seeds,
        Runtime.getRuntime().availableProcessors(),
        left,
        converted("--cost", costs, CostModels::named),
        spreadMillis,
        converted("--host-load", List.of(hostLoad), Link::parse).get(0),
        converted("--load-back", List.of(loadBack), StudyFlags::loadBack).get(0),
        pull == null ? null : converted("--pull", List.of(pull), this::pull).get(0),
        storeKvTokens,
        !storeSilent,
        queueMillis,
        changes.isEmpty() ? Double.NaN : changeAt);
  }

  private Link pull(String text) {
    if (prefills.stream().anyMatch(each -> !each.equals(OFF))) {
      throw new IllegalArgumentException("engines in pairs get nothing so (--prefills)");
    }
    return Link.parse(text);
  }

  private static LoadBack loadBack(String text) {
    return Stream.of(LoadBack.values())
        .filter(rule -> rule.name().toLowerCase(Locale.ROOT).equals(text))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("must be cheapest, always or never"));
  }

  /** The cost models in words. */
  public String cost() {
    return costs.stream()
        .map(name -> name + ": " + CostModels.text(CostModels.named(name)))
        .collect(Collectors.joining("; "));
  }

  private static void bounded(Number value, double from, double to) {
    if (!(value.doubleValue() >= from && value.doubleValue() <= to)) {
      throw new IllegalArgumentException("must be from %s to %s".formatted(plain(from), plain(to)));
    }
  }

  private static String plain(double bound) {
    return bound == Math.rint(bound) ? Long.toString((long) bound) : Double.toString(bound);
  }

  private static <T> void check(String flag, List<T> values, Consumer<T> check) {
    converted(
        flag,
        values,
        value -> {
          check.accept(value);
          return value;
        });
  }

  /** Names the flag and the value that is wrong. */
  private static <T, R> List<R> converted(String flag, List<T> values, Function<T, R> convert) {
    List<R> converted = new ArrayList<>();
    for (T value : values) {
      try {
        converted.add(convert.apply(value));
      } catch (IllegalArgumentException e) {
        throw CommandException.usage(flag + " " + value + ": " + e.getMessage());
      }
    }
    return converted;
  }

  private static <T> List<T> distinct(List<T> values) {
    return values.stream().distinct().toList();
  }
}
