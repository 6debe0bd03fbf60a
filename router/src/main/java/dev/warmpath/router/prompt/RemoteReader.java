package dev.warmpath.router.prompt;

import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Finds out elsewhere what could not be read here. Called on the pool's threads and event loops;
 * does not block.
 *
 * <p>Thread-safe.
 */
@FunctionalInterface
public interface RemoteReader {

  /** Asks nobody. */
  RemoteReader NONE = (kind, body, local) -> null;

  /**
   * The prompt of {@code body}, of which {@code local} was read here; its tree may be used until
   * the future is completed.
   *
   * @return null where there is no need, or nobody to ask; else a prompt, or null in the end, soon
   */
  @Nullable CompletableFuture<@Nullable PromptResult> ask(
      RequestKind kind, byte[] body, ReadRequest local);
}
