package dev.warmpath.router.doctor;

import dev.warmpath.router.health.MetricsPage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** All checks, in the order of the report. */
public final class Checks {

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
}
