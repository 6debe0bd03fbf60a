package dev.warmpath.router;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.proxy.Pages;
import dev.warmpath.router.tokenize.TokenizerStatus;
import dev.warmpath.router.tokenize.TokenizerStatus.State;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The answers that the router gives itself.
 *
 * <p>Thread-safe.
 */
final class RouterPages implements Pages {

  private final Core core;

  RouterPages(Core core) {
    this.core = core;
  }

  @Override
  public @Nullable String models(Predicate<String> shown) {
    return core.catalog().list(name -> shown.test(core.modelOf(name)));
  }

  @Override
  public @Nullable String model(String id, Predicate<String> shown) {
    return shown.test(core.modelOf(id)) ? core.catalog().entry(id) : null;
  }

  @Override
  public int replicasUp() {
    return (int) core.fleet().replicas().stream().filter(RouterPages::takesRequests).count();
  }

  @Override
  public boolean hasSlowReplica() {
    return core.fleet().replicas().stream()
        .anyMatch(replica -> replica.isOnlySlow() && !replica.draining());
  }

  private static boolean takesRequests(Replica replica) {
    return replica.health() == Replica.Health.UP && !replica.draining();
  }

  @Override
  public int replicas() {
    return core.fleet().replicas().size();
  }

  @Override
  public @Nullable String seed() {
    return core.seed();
  }

  @Override
  public boolean indexing() {
    return core.ingest().isWriting();
  }

  @Override
  public Loaded tokenizers() {
    Map<State, Long> counts =
        core.tokenizers().status().stream()
            .collect(Collectors.groupingBy(TokenizerStatus::state, Collectors.counting()));
    return new Loaded(
        counts.getOrDefault(State.READY, 0L).intValue(),
        (int) (counts.getOrDefault(State.LOADING, 0L) + counts.getOrDefault(State.DOWNLOADING, 0L)),
        counts.getOrDefault(State.FAILED, 0L).intValue());
  }

  @Override
  public String metrics() {
    return core.metrics().scrape();
  }
}
