package dev.warmpath.simulator.live;

import java.util.Locale;

/**
 * How an engine takes part in disaggregated serving.
 *
 * @param role only SGLang's connector enforces it
 * @param tokensPerSecond that leave this engine for one request
 * @param latencyMillis what each transfer takes besides
 * @param leaseSeconds how long blocks wait to be fetched; one that comes first waits as long
 */
public record KvTransferOptions(
    KvConnector connector,
    Role role,
    double tokensPerSecond,
    double latencyMillis,
    double leaseSeconds,
    LoadFailure onLoadFailure) {

  /** An engine that serves requests alone. */
  public static final KvTransferOptions NONE = of(KvConnector.NONE, Role.BOTH);

  /** What an engine is for. */
  public enum Role {
    BOTH,
    PREFILL,
    DECODE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What a decode does without the blocks ({@code kv_load_failure_policy}). */
  public enum LoadFailure {
    FAIL,
    RECOMPUTE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public KvTransferOptions {
    if (!(tokensPerSecond > 0) || !(latencyMillis >= 0) || !(leaseSeconds > 0)) {
      throw new IllegalArgumentException(
          "tokensPerSecond=%s latencyMillis=%s leaseSeconds=%s"
              .formatted(tokensPerSecond, latencyMillis, leaseSeconds));
    }
  }

  /** 320 KiB a token, as of a 70B-like model, over 100 GB/s; vLLM's lease and policy. */
  public static KvTransferOptions of(KvConnector connector, Role role) {
    return new KvTransferOptions(connector, role, 300_000, 0.5, 30, LoadFailure.FAIL);
  }

  /** The same with another lease and policy. */
  public KvTransferOptions with(double leaseSeconds, LoadFailure onLoadFailure) {
    return new KvTransferOptions(
        connector, role, tokensPerSecond, latencyMillis, leaseSeconds, onLoadFailure);
  }

  /** The same at another pace. */
  public KvTransferOptions pace(double tokensPerSecond, double latencyMillis) {
    return new KvTransferOptions(
        connector, role, tokensPerSecond, latencyMillis, leaseSeconds, onLoadFailure);
  }

  /** Whether it neither reads nor announces cached blocks: SGLang's decode by default. */
  public boolean isWithoutPrefixCache() {
    return connector == KvConnector.SGLANG && role == Role.DECODE;
  }

  /** Milliseconds that this many tokens take. */
  double millis(int tokens) {
    return tokens == 0 ? 0 : latencyMillis + tokens * 1e3 / tokensPerSecond;
  }
}
