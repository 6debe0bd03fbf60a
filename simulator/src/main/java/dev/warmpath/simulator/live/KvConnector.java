package dev.warmpath.simulator.live;

import java.util.Locale;

/** Whose way of handing over KV blocks an engine imitates. */
public enum KvConnector {
  /** Nothing is handed over; fields of requests that ask for it are ignored. */
  NONE,
  /** vLLM's NixlConnector: the prefill's answer says where the decode fetches. */
  NIXL,
  /** The same, but the prefill writes. */
  NIXL_PUSH,
  /** vLLM's MooncakeConnector: both meet by a {@code transfer_id}. */
  MOONCAKE,
  /** vLLM's OffloadingConnector with its peer-to-peer tier: both meet by a request id. */
  OFFLOADING,
  /** SGLang: both meet in a {@code bootstrap_room}; what does not arrive is an error. */
  SGLANG,
  /** TensorRT-LLM: {@code disaggregated_params} of the first answer go into the second request. */
  TRTLLM;

  /** Whether the decode's request names what the prefill's names, so that either may come first. */
  boolean isTogether() {
    return this == MOONCAKE || this == OFFLOADING || this == SGLANG;
  }

  boolean isNixl() {
    return this == NIXL || this == NIXL_PUSH;
  }

  /** Whether a decode can compute what did not arrive. */
  boolean canRecompute() {
    return this != SGLANG && this != TRTLLM;
  }

  /** Whether a prefill makes one token whatever the request says. */
  boolean stopsAtFirstToken() {
    return this == SGLANG || this == TRTLLM;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
