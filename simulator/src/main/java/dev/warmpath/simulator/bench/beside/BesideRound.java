package dev.warmpath.simulator.bench.beside;

import dev.warmpath.simulator.bench.index.Round;
import java.util.List;

/**
 * One round of ours and one of each peer, one after another.
 *
 * <p>Immutable.
 */
public record BesideRound(Round ours, List<PeerFigures> peers) {

  public BesideRound {
    peers = List.copyOf(peers);
  }
}
