package dev.warmpath.simulator.bench.beside;

import dev.warmpath.simulator.bench.corpus.Corpus;
import dev.warmpath.simulator.bench.index.IndexBench;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Rounds in which our index, warmed up in this JVM, and the peers' programs take turns.
 *
 * <p>Confined to the measuring thread.
 */
public final class Beside {

  private final IndexBench bench;
  private final List<Peer> peers;
  private final Consumer<String> progress;

  /**
   * @param progress is told what is going on
   */
  public Beside(IndexBench bench, List<Peer> peers, Consumer<String> progress) {
    this.bench = bench;
    this.peers = List.copyOf(peers);
    this.progress = progress;
  }

  /** Measures {@code rounds} rounds on {@code corpus}, which stands in {@code file}. */
  public List<BesideRound> run(Corpus corpus, Path file, int rounds)
      throws IOException, InterruptedException {
    List<BesideRound> measured = new ArrayList<>();
    for (int i = 1; i <= rounds; i++) {
      List<PeerFigures> figures = new ArrayList<>();
      var ours = bench.round(corpus);
      for (Peer peer : peers) {
        figures.add(peer.run(file, corpus.answers()));
      }
      measured.add(new BesideRound(ours, figures));
      progress.accept("round %d of %d".formatted(i, rounds));
    }
    return measured;
  }
}
