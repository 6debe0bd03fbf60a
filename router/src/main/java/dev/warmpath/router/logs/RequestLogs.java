package dev.warmpath.router.logs;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.PreparedRequest;
import org.jspecify.annotations.Nullable;

/**
 * Where requests that are over are noted: the decision log, the access log, and the admin port's
 * last decisions. All get the same record.
 *
 * <p>Thread-safe.
 *
 * @param decisions null for no log
 * @param accessLog null for no log
 * @param recent keeps the last ones in memory
 */
public record RequestLogs(
    @Nullable RequestLog decisions, @Nullable RequestLog accessLog, Recent recent) {

  /** Keeps the last decisions. Called on event loops; implementations are thread-safe and fast. */
  public interface Recent {

    /**
     * A request has just ended.
     *
     * @param request null if its body was not read
     */
    void add(Decision decision, @Nullable PreparedRequest request);
  }

  /** Whether prompts are to be cut into {@link PromptPieces}. */
  public boolean wantsPieces() {
    return decisions != null;
  }

  /**
   * A request has just ended.
   *
   * @param request null if its body was not read
   * @param pieces the prompt's {@link PromptPieces}, null if they are not known or not wanted
   */
  public void ended(
      Decision decision, @Nullable PreparedRequest request, @Nullable BlockChain pieces) {
    if (decisions != null) {
      decisions.add(decision, pieces);
    }
    accessed(decision);
    recent.add(decision, request);
  }

  /** A request that asked for no decision has just ended. */
  public void accessed(Decision decision) {
    if (accessLog != null) {
      accessLog.add(decision, null);
    }
  }
}
