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

  private final Consumer<Prewarming.Answer> done;

  PrewarmRequest(SharedPrefix prefix, Consumer<Prewarming.Answer> done) {
    super(
        block -> prefix.chain().localHash(block), // nobody asks for the answer's only token
        prefix.chain().blocks() * prefix.chain().space().blockSizeTokens(),
        1);
    this.done = done;
  }

  void computed() {
    int computed = promptTokens() - cachedTokens();
    done.accept(new Prewarming.Answer(Prewarming.Result.COMPUTED, computed, null));
  }
}
