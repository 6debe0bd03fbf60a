package dev.warmpath.eventingest.wire;

import dev.warmpath.kvindex.CacheGroup;
import org.jspecify.annotations.Nullable;

/**
 * How a KV-cache group keeps blocks.
 *
 * @param kind vLLM's {@code kv_cache_spec_kind}, or null when the engine does not say
 * @param slidingWindowTokens its window, 0 for none
 */
public record GroupSpec(@Nullable String kind, int slidingWindowTokens) {

  /** An engine that names no groups: it has one, of full attention. */
  public static final GroupSpec UNSAID = new GroupSpec(null, 0);

  public GroupSpec {
    if (slidingWindowTokens < 0) {
      throw new IllegalArgumentException("slidingWindowTokens=" + slidingWindowTokens);
    }
  }

  /** The rule by which the group agrees to a hit. */
  public CacheGroup.Kind rule() {
    if (kind == null) {
      return CacheGroup.Kind.FULL_ATTENTION;
    }
    return switch (kind) {
      case "full_attention", "mla_attention", "sink_full_attention" ->
          CacheGroup.Kind.FULL_ATTENTION;
      case "sliding_window", "sliding_window_mla" ->
          slidingWindowTokens > 0 ? CacheGroup.Kind.SLIDING_WINDOW : CacheGroup.Kind.UNKNOWN;
      case "mamba" -> CacheGroup.Kind.MAMBA;
      default -> CacheGroup.Kind.UNKNOWN;
    };
  }
}
