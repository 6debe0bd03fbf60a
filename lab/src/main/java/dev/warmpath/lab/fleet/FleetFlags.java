package dev.warmpath.lab.fleet;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags that describe fleet and load.
 *
 * <p>Confined to the main thread.
 */
final class FleetFlags {

  private static final FleetBenchPlan USUAL =
      new FleetBenchPlan(4, 3_000, 16, 1, 3, 70, 3, 3, List.of(1L, 2L, 3L, 4L));
  private static final FleetBenchPlan SHORT =
      new FleetBenchPlan(2, 1_500, 16, 1, 3, 5, 0.2, 0, List.of(1L));

  @Option(names = "--engines", description = "Simulated engines (4).")
  private @Nullable Integer engines;

  @Option(names = "--blocks", description = "Blocks of each engine's KV cache (3000).")
  private @Nullable Integer blocks;

  @Option(names = "--block-size", paramLabel = "TOKENS", description = "Tokens a block (16).")
  private @Nullable Integer blockSizeTokens;

  @Option(
      names = "--speed",
      description = "How many times faster the engines are than a 70B-like model on four H100 (1).")
  private @Nullable Double speed;

  @Option(
      names = "--rate",
      paramLabel = "SESSIONS",
      description = "Chat sessions that arrive a second (3).")
  private @Nullable Double sessionsPerSecond;

  @Option(names = "--seconds", description = "Seconds in which sessions arrive (70).")
  private @Nullable Double seconds;

  @Option(
      names = "--seeds",
      split = ",",
      paramLabel = "SEED",
      description = "One round of turns for each (1,2,3,4).")
  private List<Long> seeds = new ArrayList<>();

  @Option(
      names = "--short",
      description =
          "Two engines, one seed, sessions of 5 seconds whose users hardly think, for a look"
              + " whether all works.")
  private boolean brief;

  FleetBenchPlan plan() {
    FleetBenchPlan usual = brief ? SHORT : USUAL;
    return new FleetBenchPlan(
        or(engines, usual.engines()),
        or(blocks, usual.blocks()),
        or(blockSizeTokens, usual.blockSizeTokens()),
        or(speed, usual.speed()),
        or(sessionsPerSecond, usual.sessionsPerSecond()),
        or(seconds, usual.seconds()),
        usual.thinkSeconds(),
        usual.settleSeconds(),
        seeds.isEmpty() ? usual.seeds() : seeds);
  }

  private static <T> T or(@Nullable T given, T usual) {
    return given == null ? usual : given;
  }
}
