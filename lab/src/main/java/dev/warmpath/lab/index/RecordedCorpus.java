package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.simulator.trace.Trace;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A recording of engines of the model that serve a trace, one request after the other: each goes to
 * the engine with the least (blocks to compute + decayed load), is recorded as a query, and then
 * what its engine stores and evicts. The exact answers are the engines' own.
 */
record RecordedCorpus(String name, Trace load, RecordedFleet fleet) implements CorpusSource {

  private static final long SEED = 7;
  private static final int BALLAST_DEPTH = 128;
  private static final int BALLAST_STORE = 64;

  /** Above all numbers that requests use. */
  private static final int FIRST_BALLAST = 1 << 30;

  @Override
  public CorpusShape shape() {
    return fleet.groups().size() == 1
        ? CorpusShape.SIMPLE
        : new CorpusShape(
            new ChainSpace("bench", SerialEngine.BLOCK_TOKENS, 0),
            new CacheLayout(fleet.groups(), 0, 0));
  }

  @Override
  public ExactAnswers feed(CorpusSink sink) {
    CorpusEngine[] engines = engines(sink);
    storeBallast(engines);
    Balance balance = new Balance(engines.length);
    Random random = new Random(SEED);
    Sums interleaved = Sums.NONE;
    for (int request = 0; request < load.requests(); request++) {
      long[] prompt = prompt(request);
      int[] reusable = reusable(engines, prompt);
      interleaved = interleaved.plus(Sums.of(reusable));
      CorpusEngine chosen = engines[balance.choose(load.seconds(request), prompt.length, reusable)];
      chosen.serve(prompt);
      if (fleet.lostShare() > 0) {
        chosen.lose(prompt, fleet.lostShare(), random);
      }
    }
    Sums atEnd = Sums.NONE;
    for (int request = 0; request < load.requests(); request++) {
      atEnd = atEnd.plus(Sums.of(reusable(engines, prompt(request))));
    }
    long held = Arrays.stream(engines).mapToLong(CorpusEngine::heldBlocks).sum();
    long ballast = (long) fleet.ballastFamilies() * BALLAST_DEPTH;
    return new ExactAnswers(interleaved, atEnd, held + ballast);
  }

  private CorpusEngine[] engines(CorpusSink sink) {
    HashNames hashes = new HashNames(fleet.ownHashes());
    CorpusEngine.Recording recording =
        new CorpusEngine.Recording(hashes, shape().space().rootKey(), fleet.singleRemovals());
    return IntStream.range(0, fleet.engines())
        .mapToObj(engine ->
            new CorpusEngine(engine, fleet.groups(), fleet.capacityBlocks(), recording, sink))
        .toArray(CorpusEngine[]::new);
  }

  /** Chains of blocks that make the index large and its caches cold. */
  private void storeBallast(CorpusEngine[] engines) {
    for (int family = 0; family < fleet.ballastFamilies(); family++) {
      int first = FIRST_BALLAST + family * BALLAST_DEPTH;
      CorpusEngine engine = engines[family % engines.length];
      for (int from = 0; from < BALLAST_DEPTH; from += BALLAST_STORE) {
        engine.store(0, block -> first + block, from, from + BALLAST_STORE);
      }
    }
  }

  /** The names of its blocks, as many as an engine can hold. */
  private long[] prompt(int request) {
    int most = fleet.capacityBlocks() / fleet.groups().size();
    return Arrays.stream(load.blockNumbers(request)).limit(most).asLongStream().toArray();
  }

  private static int[] reusable(CorpusEngine[] engines, long[] prompt) {
    return Arrays.stream(engines).mapToInt(engine -> engine.reusable(prompt)).toArray();
  }

  /**
   * Chooses the engine with the least (blocks to compute + load); the load decays with time.
   *
   * <p>Single writer.
   */
  static final class Balance {

    private static final double LOAD_SECONDS = 10;

    private final double[] loads;
    private double now;

    Balance(int engines) {
      loads = new double[engines];
    }

    /**
     * The engine for a prompt of {@code blocks} blocks of which each holds {@code depths}; the
     * lowest number wins a tie.
     */
    int choose(double seconds, int blocks, int[] depths) {
      decay(seconds);
      int best = 0;
      for (int engine = 1; engine < depths.length; engine++) {
        if (loads[engine] - depths[engine] < loads[best] - depths[best]) {
          best = engine;
        }
      }
      loads[best] += blocks - depths[best];
      return best;
    }

    private void decay(double seconds) {
      if (seconds > now) {
        double factor = Math.exp(-(seconds - now) / LOAD_SECONDS);
        for (int engine = 0; engine < loads.length; engine++) {
          loads[engine] *= factor;
        }
        now = seconds;
      }
    }
  }
}
