package dev.warmpath.simulator.fleet;

import dev.warmpath.router.dispatch.Prewarming;
import dev.warmpath.router.fleet.SharedPrefix;
import dev.warmpath.simulator.engine.EngineRequest;
import java.util.function.Consumer;

/**
 * A prefix that an engine is asked to compute.
 *
 * <p>Single writer.
 */
final class PrewarmRequest extends EngineRequest {

  private final Consumer<Prewarming.Result> done;

  PrewarmRequest(SharedPrefix prefix, Consumer<Prewarming.Result> done) {
    super(
        block -> prefix.chain().localHash(block), // nobody asks for the answer's only token
        prefix.chain().blocks() * prefix.chain().space().blockSizeTokens(),
        1);
    this.done = done;
  }

  void computed() {
    done.accept(Prewarming.Result.COMPUTED);
  }
}
