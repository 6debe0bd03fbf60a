package dev.warmpath.router.doctor;

import dev.warmpath.router.config.ReplicaConfig.Dialect;
import dev.warmpath.router.doctor.Checks.Check;
import dev.warmpath.router.doctor.Checks.Findings;
import dev.warmpath.router.doctor.HttpFacts.EngineKind;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Which engines there are, and whether their releases are among those that were verified. */
final class VersionCheck implements Check {

  private static final Pattern NUMBER = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4}).*");
  private static final int RELEASES = 1000;

  /** vLLM 0.15 to 0.32 and SGLang 0.5. */
  private static final int VLLM_FIRST = 15;

  private static final int VLLM_LAST = 32;
  private static final int SGLANG = 5;

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      if (replica.http().reachable()) {
        look(replica, into);
      }
    }
    Set<String> all =
        fleet.replicas().stream()
            .filter(replica -> replica.http().reachable())
            .map(replica -> name(replica.http()))
            .collect(Collectors.toSet());
    if (all.size() > 1) {
      into.warn(
          Finding.ROUTER,
          "the replicas run different releases: "
              + String.join(", ", all.stream().sorted().toList()),
          "run the same one where replicas share a model: prompts may be rendered differently");
    }
  }

  private static void look(ReplicaFacts replica, Findings into) {
    HttpFacts http = replica.http();
    Dialect dialect = replica.config().dialect();
    if (http.kind() == EngineKind.SGLANG && !dialect.isSglang()) {
      into.fail(replica.name(), name(http) + " is read as " + label(dialect), "dialect: sglang");
    } else if (http.kind() == EngineKind.VLLM && dialect.isSglang()) {
      into.fail(replica.name(), name(http) + " is read as " + label(dialect), "dialect: vllm");
    } else if (http.kind() == EngineKind.OTHER || http.version().isEmpty()) {
      into.warn(
          replica.name(), "it is " + name(http), "verify its predictions: bin/warmpath check-live");
    } else if (!isVerified(http)) {
      into.warn(
          replica.name(),
          name(http) + " is none of the releases that Warmpath was verified with",
          "verify its predictions: bin/warmpath check-live");
    } else {
      into.ok(replica.name(), name(http));
    }
  }

  private static String name(HttpFacts http) {
    return http.version().isEmpty()
        ? http.kind().label()
        : http.kind().label() + " " + http.version();
  }

  private static String label(Dialect dialect) {
    return "dialect " + dialect.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static boolean isVerified(HttpFacts http) {
    Matcher number = NUMBER.matcher(http.version());
    if (!number.matches()) {
      return false;
    }
    int release = Integer.parseInt(number.group(1)) * RELEASES + Integer.parseInt(number.group(2));
    return http.kind() == EngineKind.SGLANG
        ? release == SGLANG
        : release >= VLLM_FIRST && release <= VLLM_LAST;
  }
}
