package dev.warmpath.router.doctor;

import dev.warmpath.router.doctor.Checks.Check;
import dev.warmpath.router.doctor.Checks.Findings;
import dev.warmpath.router.doctor.FleetFacts.PairTrial;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.KvTransfer.Connector;
import dev.warmpath.router.fleet.KvTransfer.Role;
import java.util.List;
import java.util.Locale;

/** Whether prompts that one engine computes can be answered by another one. */
final class TransfersCheck implements Check {

  private static final double LEAST_SHARE = 0.5;

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      role(replica, into);
      if (transfer(replica).prefills()) {
        reached(replica, fleet.replicas(), into);
      }
      if (transfer(replica).decodes()) {
        reaching(replica, fleet.replicas(), into);
      }
    }
    fleet.pairs().forEach(pair -> judge(pair, fleet, into));
  }

  private static KvTransfer transfer(ReplicaFacts replica) {
    return replica.http().transfer(replica.config().kvTransfer());
  }

  private static void role(ReplicaFacts replica, Findings into) {
    Role role = replica.config().kvTransfer().role();
    if (role != Role.BOTH && transfer(replica).role() != role) {
      into.warn(
          replica.name(),
          "its --disaggregation-mode is %s, its `role` here is %s: the router goes by its own word"
              .formatted(
                  replica.http().info().disaggregationMode(), role.name().toLowerCase(Locale.ROOT)),
          "leave `role` and `kv-connector` out");
    }
  }

  private static boolean reaches(ReplicaFacts from, ReplicaFacts to) {
    return !from.name().equals(to.name())
        && transfer(from).reaches(transfer(to))
        && mayShareModel(from.http(), to.http());
  }

  /** Who does not say what it serves may serve all. */
  private static boolean mayShareModel(HttpFacts from, HttpFacts to) {
    return from.baseModels().isEmpty()
        || to.baseModels().isEmpty()
        || !from.sharedModels(to).isEmpty();
  }

  private static void reached(ReplicaFacts from, List<ReplicaFacts> all, Findings into) {
    if (transfer(from).role() == Role.PREFILL && all.stream().noneMatch(to -> reaches(from, to))) {
      into.fail(
          from.name(),
          "no replica answers what it computes: it serves nobody",
          "give a replica of its model `role: decode` or `both` with the same `kv-connector` and"
              + " `kv-group`");
    }
  }

  private static void reaching(ReplicaFacts to, List<ReplicaFacts> all, Findings into) {
    List<ReplicaFacts> reaching = all.stream().filter(from -> reaches(from, to)).toList();
    differences(to, reaching, into);
    if (!reaching.isEmpty() || transfer(to).role() != Role.DECODE) {
      return;
    }
    String change =
        "give a replica of its model `role: prefill` or `both` with the same `kv-connector` and"
            + " `kv-group`";
    if (transfer(to).connector() == Connector.SGLANG) {
      into.fail(to.name(), "no replica computes prompts for it: it serves nobody", change);
    } else {
      into.warn(to.name(), "no replica computes prompts for it: it computes all itself", change);
    }
  }

  /** One of a kind is told, so that a fleet of two releases is no page of findings. */
  private static void differences(ReplicaFacts to, List<ReplicaFacts> reaching, Findings into) {
    long blockTokens = blockTokens(to);
    reaching.stream()
        .filter(from -> blockTokens != 0 && blockTokens(from) != 0)
        .filter(from -> blockTokens(from) != blockTokens)
        .findFirst()
        .ifPresent(from ->
            into.fail(
                to.name(),
                "it has blocks of %d tokens, %s of %d"
                    .formatted(blockTokens, from.name(), blockTokens(from)),
                "start both with the same --block-size: what is handed over may be garbage"));
    reaching.stream()
        .filter(from -> !from.http().version().isEmpty() && !to.http().version().isEmpty())
        .filter(from -> !release(from).equals(release(to)))
        .findFirst()
        .ifPresent(from ->
            into.warn(
                to.name(),
                "it runs %s, %s runs %s".formatted(release(to), from.name(), release(from)),
                "run the same release in a pair, or part them by `kv-group`"));
  }

  private static long blockTokens(ReplicaFacts replica) {
    return replica.http().metrics().number("block_size", 0);
  }

  private static String release(ReplicaFacts replica) {
    return replica.http().kind().label() + " " + replica.http().version();
  }

  private static void judge(PairTrial pair, FleetFacts fleet, Findings into) {
    String connector =
        fleet.replicas().stream()
            .filter(replica -> replica.name().equals(pair.decode()))
            .map(replica -> transfer(replica).connector().name())
            .findFirst()
            .orElse(Finding.ROUTER)
            .toLowerCase(Locale.ROOT)
            .replace('_', '-');
    if (pair.problem() != null) {
      into.fail(
          pair.decode(),
          "a prompt computed at %s was not answered here: %s"
              .formatted(pair.prefill(), pair.problem()),
          "start both engines for kv-connector %s, and look into their logs".formatted(connector));
    } else if (pair.receivedTokens() == 0) {
      into.fail(
          pair.decode(),
          "a prompt of %d tokens computed at %s was computed here again: nothing came over"
              .formatted(pair.promptTokens(), pair.prefill()),
          "compare both engines' --kv-transfer-config, and let them reach each other's ports (NIXL:"
              + " VLLM_NIXL_SIDE_CHANNEL_HOST)");
    } else if (pair.receivedTokens() < LEAST_SHARE * pair.promptTokens()) {
      into.warn(
          pair.decode(),
          "of a prompt of %d tokens computed at %s only %.0f came over"
              .formatted(pair.promptTokens(), pair.prefill(), pair.receivedTokens()),
          "look into both engines' logs");
    } else if (Double.isNaN(pair.receivedTokens())) {
      into.ok(
          pair.decode(),
          "it answers what %s computes by %s; it does not count what comes over"
              .formatted(pair.prefill(), connector));
    } else {
      into.ok(
          pair.decode(),
          "%.0f of %d prompt tokens came from %s by %s"
              .formatted(pair.receivedTokens(), pair.promptTokens(), pair.prefill(), connector));
    }
  }
}
