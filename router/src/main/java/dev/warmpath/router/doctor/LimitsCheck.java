package dev.warmpath.router.doctor;

import dev.warmpath.router.HostFacts;
import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.RouterConfig;

/** Whether the machine and the router's bounds are large enough for the fleet. */
final class LimitsCheck implements Check {

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
        fleet.replicas().stream().mapToLong(replica -> replica.http().metrics().gpuBlocks()).sum();
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
