package dev.warmpath.eventingest.wire;

import java.util.Locale;

/**
 * Whether the blocks of a store can be named by their tokens, and if not, why.
 *
 * <p>A store that cannot be named still says which engine hashes are held.
 */
public enum Naming {
  /** Every hash has its whole block of tokens and its extra keys. */
  DENSE,
  /** Hashes without tokens: the placeholders of an offload tier. */
  TOKENLESS,
  /** More or fewer tokens than the hashes cover: blocks were left out, nobody can say where. */
  SPARSE,
  /** Extra keys or lookahead tokens, but not one entry for each hash. */
  UNEVEN,
  /** Lookahead tokens or token pairs that contradict the tokens that follow. */
  BROKEN_LOOKAHEAD,
  /** An extra key of a kind that is not known here. */
  UNKNOWN_KEY,
  /** Computed by an adapter whose name is not given (vLLM before 0.15). */
  UNNAMED_ADAPTER;

  /** The constant as it appears in metrics. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
