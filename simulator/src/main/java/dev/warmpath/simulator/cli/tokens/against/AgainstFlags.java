package dev.warmpath.simulator.cli.tokens.against;

import dev.warmpath.tokenizer.RequestKind;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags of {@code warmpath tokenize --against}.
 *
 * <p>Confined to the main thread.
 */
public final class AgainstFlags {

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "300",
      description = "With --against: how many requests. Default: ${DEFAULT-VALUE}.")
  private int requests;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "With --against: what the requests are drawn from. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--kinds",
      paramLabel = "K",
      split = ",",
      description =
          "With --against: kinds of requests, of ${COMPLETION-CANDIDATES}. Default: CHAT, MESSAGES,"
              + " RESPONSES.")
  private @Nullable List<RequestKind> kinds;

  /** How many requests. */
  public int requests() {
    return requests;
  }

  /** What they are drawn from. */
  public long seed() {
    return seed;
  }

  /** Of which kinds they are. */
  public List<RequestKind> kinds() {
    return kinds == null
        ? List.of(RequestKind.CHAT, RequestKind.MESSAGES, RequestKind.RESPONSES)
        : kinds;
  }
}
