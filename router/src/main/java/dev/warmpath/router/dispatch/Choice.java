package dev.warmpath.router.dispatch;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.Store;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which engine was chosen for a request, why, and how it stood then. It outlives the request: the
 * logs and the console's last decisions hold it as it is.
 *
 * <p>Immutable.
 *
 * @param engine the engine's name, as it is shown in metrics
 * @param policy the name of the policy that chose
 * @param reason the policy's word for why
 * @param prediction the cached tokens that the engine is expected to report
 * @param uncached why tokens of the prompt would not be cached; null if nothing is predicted
 * @param blocks the prompt's blocks in the engine's space, null if its tokens are not known
 * @param slowTier what becomes of what only the engine's slower memory holds of it
 * @param pulled what it gets from another engine; null for nothing
 * @param stored what it reads from a store that others read too; null for nothing
 * @param inFlight requests that the engine had, from dispatch to last byte
 * @param waiting those of them whose prompts were not computed yet
 * @param prefillBacklogMillis the time predicted for these prompts
 * @param prefillMillis the time predicted for this request's prompt; 0 if it is not known
 * @param scored what the choice would have cost: the winner first, then some others; none if that
 *     is not kept
 * @param prefill the engine that computes the prompt for this one, whose prediction this one has as
 *     well: what is reported is that one's reuse; null if none does
 */
public record Choice(
    String engine,
    String policy,
    String reason,
    Prediction prediction,
    @Nullable UncachedCauses uncached,
    @Nullable BlockChain blocks,
    Contender.SlowTier slowTier,
    @Nullable Pulled pulled,
    Store.@Nullable Read stored,
    int inFlight,
    int waiting,
    double prefillBacklogMillis,
    double prefillMillis,
    List<Explanation.Row> scored,
    @Nullable Choice prefill) {

  /**
   * What an engine gets from another one's memory.
   *
   * @param from that one's name
   * @param tokens behind what it holds itself
   */
  public record Pulled(String from, int tokens) {}

  private static final long ROW_BYTES = 250;
  private static final long TERM_BYTES = 40;
  private static final long PART_BYTES = 32;
  private static final long BLOCK_BYTES = 2 * Long.BYTES;

  /**
   * Why what the engine computed of the prompt was not cached; null if nothing was predicted, or
   * the engine has not reported.
   *
   * @param promptTokens as the engine counts them
   * @param cachedTokens as it reports them; below 0 if it does not
   */
  public @Nullable UncachedTokens uncached(int promptTokens, int cachedTokens) {
    return uncached == null || cachedTokens < 0 ? null : uncached.of(promptTokens, cachedTokens);
  }

  /** About as many bytes as its blocks and scores take in memory. */
  public long bytes() {
    long bytes = blocks == null ? 0 : blocks.blocks() * BLOCK_BYTES;
    bytes += uncached == null ? 0 : uncached.parts().size() * PART_BYTES;
    for (Explanation.Row row : scored) {
      bytes += ROW_BYTES + TERM_BYTES * row.score().terms().size();
    }
    return prefill == null ? bytes : bytes + prefill.bytes();
  }
}
