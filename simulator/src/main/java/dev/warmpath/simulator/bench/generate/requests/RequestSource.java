package dev.warmpath.simulator.bench.generate.requests;

import java.io.IOException;

/**
 * Requests in the order in which they come; the same each time.
 *
 * <p>Blocks are numbered; equal numbers mean equal prefixes, so a number has one predecessor in all
 * requests.
 *
 * <p>Immutable.
 */
public interface RequestSource {

  /** Hands all requests to {@code sink}. */
  void feed(Sink sink) throws IOException;

  /** Takes requests. Confined to the thread that feeds it. */
  interface Sink {

    /** A request that comes at {@code seconds} for the blocks of {@code chain}. */
    void request(double seconds, int[] chain);
  }
}
