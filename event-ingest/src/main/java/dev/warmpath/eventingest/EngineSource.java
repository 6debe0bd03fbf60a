package dev.warmpath.eventingest;

import org.jspecify.annotations.Nullable;

/**
 * Where one engine's events come from and how they are to be read.
 *
 * <p>Immutable.
 *
 * @param id the engine
 * @param model the base model's name, the same for all engines that are to share block keys
 * @param endpoint ZMQ endpoint of the live stream
 * @param bind whether this side binds the endpoint; else it connects
 * @param replayEndpoint ZMQ endpoint of the replay socket, or null if the engine has none
 * @param dialect whose rules the events follow
 * @param droppedBlocks matched blocks that the engine computes again all the same: 1 for vLLM to
 *     0.32 with EAGLE or MTP, else 0
 */
public record EngineSource(
    EngineId id,
    String model,
    String endpoint,
    boolean bind,
    @Nullable String replayEndpoint,
    EngineDialect dialect,
    int droppedBlocks) {

  public EngineSource {
    if (endpoint.isEmpty()) {
      throw new IllegalArgumentException("endpoint is empty, id=" + id);
    }
    if (droppedBlocks < 0) {
      throw new IllegalArgumentException("droppedBlocks=" + droppedBlocks);
    }
  }

  /** An engine that computes no matched block again. */
  public EngineSource(
      EngineId id,
      String model,
      String endpoint,
      boolean bind,
      @Nullable String replayEndpoint,
      EngineDialect dialect) {
    this(id, model, endpoint, bind, replayEndpoint, dialect, 0);
  }
}
