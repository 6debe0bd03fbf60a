package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.router.HostFacts;
import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.ModelConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.StoreConfig;
import dev.warmpath.router.doctor.Checks.Check;
import dev.warmpath.router.doctor.Checks.Findings;
import dev.warmpath.router.doctor.EventsCheck.BlocksCheck;
import dev.warmpath.router.doctor.EventsCheck.ReplayCheck;
import dev.warmpath.router.doctor.Finding.Level;
import dev.warmpath.router.doctor.FleetFacts.DiscoveryFacts;
import dev.warmpath.router.doctor.FleetFacts.TlsFacts;
import dev.warmpath.router.doctor.HttpFacts.EngineKind;
import dev.warmpath.router.doctor.ReplicaFacts.StreamFacts;
import dev.warmpath.router.doctor.ReplicaFacts.Trial;
import dev.warmpath.router.health.MetricsPage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** All checks, in the order of the report. */
public final class Checks {

  /** Judges one thing about a fleet. Implementations have no state. */
  interface Check {

    /** Adds what it finds; nothing where it does not apply. */
    void look(FleetFacts fleet, Findings into);
  }

  private static final Map<String, Check> ALL = new LinkedHashMap<>();

  static {
    ALL.put("config", new ConfigCheck());
    ALL.put("discovery", new DiscoveryCheck());
    ALL.put("limits", new LimitsCheck());
    ALL.put("reachable", new ReachableCheck());
    ALL.put("tls", new TlsCheck());
    ALL.put("version", new VersionCheck());
    ALL.put("clock", new ClockCheck());
    ALL.put("metrics", new MetricsCheck());
    ALL.put("models", new ModelsCheck());
    ALL.put("events", new EventsCheck());
    ALL.put("replay", new ReplayCheck());
    ALL.put("blocks", new BlocksCheck());
    ALL.put("request", new RequestCheck());
    ALL.put("tokens", new TokensCheck());
    ALL.put("images", new ImagesCheck());
    ALL.put("cached-tokens", new CachedTokensCheck());
    ALL.put("transfers", new TransfersCheck());
  }

  private Checks() {}

  /** The names, in the order of the report. */
  public static List<String> names() {
    return List.copyOf(ALL.keySet());
  }

  /** What all checks find. */
  public static List<Finding> of(FleetFacts fleet) {
    List<Finding> all = new ArrayList<>();
    ALL.forEach((name, check) -> {
      Findings findings = new Findings(name);
      check.look(fleet, findings);
      all.addAll(findings.all());
    });
    return all;
  }

  /** Whether the engines' clocks agree with this machine's. */
  private static final class ClockCheck implements Check {

    private static final double MOST_SECONDS = 5;

    @Override
    public void look(FleetFacts fleet, Findings into) {
      for (ReplicaFacts replica : fleet.replicas()) {
        double ahead = replica.http().clockAheadSeconds();
        if (Math.abs(ahead) > MOST_SECONDS) {
          into.warn(
              replica.name(),
              String.format(
                  Locale.ROOT,
                  "its clock is %.0f s %s of this machine's",
                  Math.abs(ahead),
                  ahead > 0 ? "ahead" : "behind"),
              "set both by NTP: templates that print the time, logs and ages of events differ");
        } else if (!Double.isNaN(ahead)) {
          into.ok(replica.name(), "its clock agrees with this machine's");
        }
      }
    }
  }

  /** Whether each source of replicas can be looked at, and finds some. */
  private static final class DiscoveryCheck implements Check {

    @Override
    public void look(FleetFacts fleet, Findings into) {
      fleet.sources().forEach(source -> look(source, into));
    }

    private static void look(DiscoveryFacts source, Findings into) {
      for (String refused : source.refused()) {
        into.warn(
            Finding.ROUTER,
            source.source() + " refuses " + refused,
            "see docs/discovery.md for what a source may name, and `fleet.allowed-hosts`");
      }
      if (source.problem() != null) {
        into.fail(
            Finding.ROUTER,
            source.source() + ": " + source.problem(),
            "correct the source in `discovery`; until it answers it adds no replica");
      } else if (source.found().isEmpty()) {
        into.warn(
            Finding.ROUTER,
            source.source() + " finds no replica",
            "start the engines, or correct where `discovery` looks");
      } else {
        into.ok(Finding.ROUTER, source.source() + " finds " + String.join(", ", source.found()));
      }
    }
  }

  /** Whether an engine's metrics show its lifetime, and that it caches prefixes at all. */
  private static final class MetricsCheck implements Check {

    @Override
    public void look(FleetFacts fleet, Findings into) {
      for (ReplicaFacts replica : fleet.replicas()) {
        if (replica.http().reachable()) {
          look(replica, into);
        }
      }
    }

    private static void look(ReplicaFacts replica, Findings into) {
      MetricsPage metrics = replica.http().metrics();
      if ("False".equals(metrics.label("enable_prefix_caching"))) {
        into.fail(
            replica.name(),
            "prefix caching is off, so no prompt is reused",
            "start the engine with --enable-prefix-caching");
      } else if (metrics.asleep()) {
        into.warn(
            replica.name(), "the engine sleeps, and its cache is empty", "POST /wake_up to it");
      } else if (Double.isNaN(metrics.startSeconds()) && Double.isNaN(metrics.waiting())) {
        boolean sglang = replica.http().kind() == EngineKind.SGLANG;
        into.warn(
            replica.name(),
            "GET /metrics shows neither its start nor its queue",
            sglang
                ? "start the engine with --enable-metrics"
                : "start the engine without --disable-log-stats, and let GET /metrics pass");
      } else {
        into.ok(replica.name(), "its start and its queue are seen");
      }
    }
  }

  /** Whether each replica answers, and is well. */
  private static final class ReachableCheck implements Check {

    private static final int OK = 200;

    private static boolean isRefused(String problem) {
      return problem.contains("nothing listens") || problem.contains("cannot be resolved");
    }

    @Override
    public void look(FleetFacts fleet, Findings into) {
      for (ReplicaFacts replica : fleet.replicas()) {
        HttpFacts http = replica.http();
        String url = replica.config().url().toString();
        String problem = http.problem();
        if (problem != null) {
          into.fail(
              replica.name(),
              url + ": " + problem,
              isRefused(problem)
                  ? "start the engine, or correct `url`; inside a container 127.0.0.1 is the"
                      + " container"
                  : "look into the engine's log; `url` begins with https:// if it was started with a"
                      + " certificate, else with http://");
        } else if (http.health() != OK) {
          into.fail(
              replica.name(),
              "GET %s%s: status %d".formatted(url, http.healthPath(), http.health()),
              "wait until the engine is up, and look into its log");
        } else {
          into.ok(replica.name(), "%s answers in %d ms".formatted(url, http.millis()));
        }
      }
    }
  }

  /** Whether each engine serves a request for one token. */
  private static final class RequestCheck implements Check {

    private static final int UNAUTHORIZED = 401;
    private static final int NOT_FOUND = 404;

    @Override
    public void look(FleetFacts fleet, Findings into) {
      for (ReplicaFacts replica : fleet.replicas()) {
        for (Trial trial : replica.trials()) {
          String engine = replica.engine(trial.engine().dpRank());
          if (trial.problem() == null) {
            into.ok(engine, "it serves requests for " + trial.model());
          } else {
            into.fail(
                engine,
                "a request for %s was not served: %s".formatted(trial.model(), trial.problem()),
                remedy(trial.status()));
          }
        }
      }
    }

    private static String remedy(int status) {
      return switch (status) {
        case UNAUTHORIZED -> "the engine wants an API key; clients must send it";
        case NOT_FOUND -> "`url` must be the engine's own address, without a path";
        default -> "look into the engine's log";
      };
    }
  }

  /** How long the certificates of {@code https} replicas are valid. */
  private static final class TlsCheck implements Check {

    private static final long WARN_DAYS = 14;

    @Override
    public void look(FleetFacts fleet, Findings into) {
      for (ReplicaFacts replica : fleet.replicas()) {
        TlsFacts tls = replica.tls();
        if (tls == null) {
          continue;
        }
        long days = Duration.between(fleet.now(), tls.notAfter()).toDays();
        String found = "the certificate of %s ends %s".formatted(tls.subject(), tls.notAfter());
        if (tls.notAfter().isBefore(fleet.now())) {
          into.fail(replica.name(), found, "renew it: it has expired");
        } else if (days < WARN_DAYS) {
          into.warn(replica.name(), found, "renew it: %d days are left".formatted(days));
        } else {
          into.ok(replica.name(), found);
        }
      }
    }
  }

  /** Whether an engine reports what it reused, and reuses what was predicted. */
  private static final class CachedTokensCheck implements Check {

    @Override
    public void look(FleetFacts fleet, Findings into) {
      for (ReplicaFacts replica : fleet.replicas()) {
        for (Trial trial : replica.trials()) {
          if (trial.problem() == null) {
            look(replica, trial, into);
          }
        }
      }
    }

    private static void look(ReplicaFacts replica, Trial trial, Findings into) {
      String engine = replica.engine(trial.engine().dpRank());
      int reused = trial.second().cachedTokens();
      int predicted = trial.predictedTokens();
      if (!trial.second().tellsCachedTokens()) {
        boolean sglang = replica.http().kind() == EngineKind.SGLANG;
        into.warn(
            engine,
            "its answers do not show `cached_tokens`, so no prediction can be verified",
            "start the engine with "
                + (sglang ? "--enable-cache-report" : "--enable-prompt-tokens-details"));
      } else if (!trial.isJudged() || trial.heldBlocks() == 0) {
        into.ok(engine, "its answers show `cached_tokens`; nothing was predicted");
      } else if (predicted > reused) {
        into.fail(
            engine,
            "%d cached tokens were predicted, and %d were reused".formatted(predicted, reused),
            "run it again without other traffic; if it stays, see `dialect` in"
                + " docs/configuration.md and bin/warmpath check-live");
      } else if (predicted < reused) {
        into.warn(
            engine,
            "%d cached tokens were predicted, and %d were reused".formatted(predicted, reused),
            "run it again without other traffic; if it stays, bin/warmpath check-live");
      } else {
        into.ok(
            engine, "%d cached tokens were predicted, and %d reused".formatted(predicted, reused));
      }
    }
  }

  /**
   * Gathers what one check finds.
   *
   * <p>Confined to one thread.
   */
  static final class Findings {

    private final String check;
    private final List<Finding> all = new ArrayList<>();

    public Findings(String check) {
      this.check = check;
    }

    /** In the order in which they were found. */
    public List<Finding> all() {
      return all;
    }

    /** All is well. */
    public void ok(String subject, String found) {
      all.add(new Finding(Level.OK, subject, check, found, null));
    }

    /** Something is missing. */
    public void warn(String subject, String found, String change) {
      all.add(new Finding(Level.WARN, subject, check, found, change));
    }

    /** Something is wrong. */
    public void fail(String subject, String found, String change) {
      all.add(new Finding(Level.FAIL, subject, check, found, change));
    }
  }

  /** Whether there is something to route, something to tokenize with, and nothing twice or idle. */
  private static final class ConfigCheck implements Check {

    @Override
    public void look(FleetFacts fleet, Findings into) {
      RouterConfig config = fleet.config();
      if (config.replicas().isEmpty() && config.discovery().isEmpty()) {
        into.fail(
            Finding.ROUTER, "no replica is configured", "add `replicas`, `discovery` or --replica");
      }
      if (config.models().isEmpty()) {
        into.fail(
            Finding.ROUTER,
            "no tokenizer is configured, so every request is routed by load",
            "add `models` with `name` and `tokenizer`, or --tokenizer MODEL=DIR");
      }
      fleet
          .tokenizerProblems()
          .forEach((model, problem) ->
              into.fail(
                  Finding.ROUTER,
                  "the tokenizer of " + model + " cannot be loaded: " + problem,
                  "correct the model's `tokenizer`: the folder that its engines load"));
      repeated(fleet, into);
      stores(fleet, into);
      if (into.all().isEmpty()) {
        into.ok(
            Finding.ROUTER,
            "replicas: %d, tokenizers: %d"
                .formatted(config.replicas().size(), config.models().size()));
      }
    }

    private static void stores(FleetFacts fleet, Findings into) {
      RouterConfig config = fleet.config();
      for (StoreConfig store : config.stores()) {
        boolean isRead =
            fleet.replicas().stream()
                .map(ReplicaFacts::config)
                .anyMatch(replica ->
                    store.isReadBy(
                        replica.name(),
                        replica.blockModel(config.onlyModel()),
                        config.onlyModel()));
        if (!isRead) {
          into.warn(
              Finding.ROUTER,
              "no replica reads the store " + store.name(),
              "correct its `replicas` and `model`");
        } else if (store.events() == null) {
          into.warn(
              Finding.ROUTER,
              "nobody hears what the store %s drops, so it is trusted by age"
                  .formatted(store.name()),
              "add its `events`, if it can publish (Mooncake: build the master with kv events)");
        }
      }
    }

    private static void repeated(FleetFacts fleet, Findings into) {
      Map<String, String> seen = new HashMap<>();
      for (ReplicaFacts replica : fleet.replicas()) {
        once(seen, "url", replica.config().url().toString(), replica.name(), into);
        for (StreamFacts stream : replica.streams()) {
          EngineSource source = stream.source();
          String engine = replica.engine(source.id().dpRank());
          once(seen, "events", source.endpoint(), engine, into);
          if (source.replayEndpoint() != null) {
            once(seen, "replay", source.replayEndpoint(), engine, into);
          }
        }
      }
    }

    private static void once(
        Map<String, String> seen, String key, String value, String subject, Findings into) {
      String other = seen.putIfAbsent(key + " " + value, subject);
      if (other != null) {
        into.fail(
            subject,
            "its `%s` is that of %s: %s".formatted(key, other, value),
            "give each engine its own address");
      }
    }
  }

  /** Whether the machine and the router's bounds are large enough for the fleet. */
  private static final class LimitsCheck implements Check {

    private static final long BYTES_PER_MB = 1 << 20;

    /** Of one block of one engine in the index. */
    private static final int BYTES_A_BLOCK = 30;

    /** Text of one token, on the average. */
    private static final int BYTES_A_TOKEN = 4;

    @Override
    public void look(FleetFacts fleet, Findings into) {
      files(fleet, into);
      index(fleet, into);
      prompts(fleet, into);
      if (into.all().isEmpty()) {
        into.ok(
            Finding.ROUTER,
            "%d open files, %d MiB heap"
                .formatted(fleet.host().openFiles(), fleet.host().heapBytes() / BYTES_PER_MB));
      }
    }

    private static void files(FleetFacts fleet, Findings into) {
      RouterConfig.Limits limits = fleet.config().limits();
      long followed =
          RouterConfig.openFiles(fleet.replicas().stream().map(ReplicaFacts::config).toList());
      long wanted = (long) limits.connections() + limits.requests() + followed;
      long allowed = fleet.host().openFiles();
      if (allowed > 0 && allowed < wanted) {
        into.warn(
            Finding.ROUTER,
            "%d files may be open, but following the fleet needs %d, and `limits` allow for %d more"
                .formatted(allowed, followed, wanted - followed),
            HostFacts.MORE_FILES);
      }
    }

    private static void index(FleetFacts fleet, Findings into) {
      long blocks =
          fleet.replicas().stream()
              .mapToLong(replica -> replica.http().metrics().gpuBlocks())
              .sum();
      long room = MemoryBudget.of(fleet.config(), fleet.host().heapBytes()).indexBytes();
      long wanted = blocks * BYTES_A_BLOCK;
      if (wanted > room) {
        into.warn(
            Finding.ROUTER,
            "the engines' %d blocks take about %d MiB, and the index has %d MiB"
                .formatted(blocks, wanted / BYTES_PER_MB, room / BYTES_PER_MB),
            "raise `index.memory-mb` and the heap (WARMPATH_JAVA_OPTS=-Xmx4g)");
      }
    }

    private static void prompts(FleetFacts fleet, Findings into) {
      long bytes = fleet.config().tokenizing().bodyBytes();
      for (ReplicaFacts replica : fleet.replicas()) {
        long longest = (long) replica.http().maxModelTokens() * BYTES_A_TOKEN;
        if (longest > bytes) {
          into.warn(
              replica.name(),
              "its longest prompts of %d tokens are longer than the %d bytes that are tokenized"
                  .formatted(replica.http().maxModelTokens(), bytes),
              "raise `tokenizing.body-bytes`, or longer prompts are routed by load");
        }
      }
    }
  }

  /** Whether the names of models are those that the engines serve. */
  private static final class ModelsCheck implements Check {

    @Override
    public void look(FleetFacts fleet, Findings into) {
      Set<String> configured =
          fleet.config().models().stream()
              .map(ModelConfig::name)
              .collect(Collectors.toUnmodifiableSet());
      for (ReplicaFacts replica : fleet.replicas()) {
        if (replica.http().reachable()) {
          look(replica, configured, into);
        }
      }
      notServed(fleet, into);
    }

    private static void look(ReplicaFacts replica, Set<String> configured, Findings into) {
      List<String> served = replica.http().baseModels();
      List<String> unknown = served.stream().filter(model -> !configured.contains(model)).toList();
      if (served.isEmpty()) {
        into.warn(
            replica.name(),
            "GET /v1/models gives no list",
            "let it pass without a key, or name the replica's `models`");
      } else if (unknown.size() == served.size()) {
        into.fail(
            replica.name(),
            "it serves " + String.join(", ", served) + ", and has no tokenizer for that",
            "add to `models`: {name: %s, tokenizer: its folder}".formatted(served.get(0)));
      } else if (!unknown.isEmpty()) {
        into.warn(
            replica.name(),
            "it serves " + String.join(", ", unknown) + " without a tokenizer",
            "requests for that are routed by load: add it to `models`");
      } else {
        into.ok(replica.name(), "it serves " + String.join(", ", served));
      }
    }

    private static void notServed(FleetFacts fleet, Findings into) {
      boolean allKnown =
          !fleet.replicas().isEmpty()
              && fleet.sources().stream().allMatch(source -> source.problem() == null);
      boolean allTold =
          allKnown
              && fleet.replicas().stream()
                  .noneMatch(replica -> replica.http().baseModels().isEmpty());
      for (ModelConfig model : fleet.config().models()) {
        boolean served =
            fleet.replicas().stream()
                .anyMatch(replica -> replica.http().baseModels().contains(model.name()));
        if (allTold && !served) {
          into.fail(
              Finding.ROUTER,
              "no replica serves " + model.name(),
              "give the model the name that GET /v1/models of its engines shows");
        }
      }
    }
  }
}
