package dev.warmpath.router.proxy;

import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;

/**
 * What both legs of one try know of each other before either has begun.
 *
 * <p>Immutable.
 *
 * @param id names this try to both engines: ours, and never used again
 * @param room the same as a number from 0 to 2<sup>63</sup> − 1
 * @param isResponse whether the request is one of {@code /v1/responses}
 * @param capsLoads whether the prefill must read nothing back from slower memory
 */
public record Handoff(
    String id, long room, boolean isResponse, boolean capsLoads, End prefill, End decode) {

  /** Names a try to the engines that take part in it; drawn at random. */
  public static String id(long room) {
    return "wp-" + Long.toHexString(room);
  }

  /** The same with the name that the prefill's connector has given itself. */
  public Handoff named(String engineId) {
    End known = prefill;
    return new Handoff(
        id,
        room,
        isResponse,
        capsLoads,
        new End(known.host, known.port, known.secondPort, known.rank, known.ranks, engineId),
        decode);
  }

  /**
   * One engine, as others reach it for its KV cache.
   *
   * @param port of the bootstrap server, or of the connector's own socket
   * @param secondPort of connectors that have two
   * @param rank the data-parallel rank, counted from 0 at its endpoint
   * @param ranks how many there are
   * @param engineId what its connector calls itself where others must know; empty if they need not
   */
  public record End(String host, int port, int secondPort, int rank, int ranks, String engineId) {

    /** One of a replica's engines, whose connector's own name need not be known. */
    public static End of(Replica replica, int rank) {
      KvTransfer there = replica.transfer();
      return new End(there.host(), there.port(), there.secondPort(), rank, replica.ranks(), "");
    }
  }
}
