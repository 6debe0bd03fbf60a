package dev.warmpath.lab.index;

import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceException;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import java.io.IOException;
import java.util.List;

/** The corpora that can be made here. */
final class Corpora {

  private static final int BALLAST_FAMILIES = 125_000;
  private static final int ENGINE_BLOCKS = 16_384;
  private static final int WINDOW_BLOCKS = 64;
  private static final double LOST = 0.02;

  private Corpora() {}

  /** A small conversation workload on 16 engines. */
  static CorpusSource small() {
    return new RecordedCorpus(
        "small synthetic chats",
        new SyntheticChats(4_000, 64, 200, 1).trace(),
        RecordedFleet.of(16, 4_096));
  }

  /** What a JVM is warmed up with: other chats, other sizes, single removals, holes. */
  static List<CorpusSource> warmUp() {
    Trace chats = new SyntheticChats(1_500, 40, 100, 99).trace();
    RecordedFleet fleet = RecordedFleet.of(12, 2_048);
    return List.of(
        new RecordedCorpus("warm-up", chats, fleet),
        new RecordedCorpus("warm-up, single removals", chats, fleet.withSingleRemovals()),
        new RecordedCorpus("warm-up, holes", chats, fleet.losing(LOST)));
  }

  /** The corpus of a cell; reads a trace if there is one. */
  static CorpusSource cell(SyntheticCell cell, CellOptions options)
      throws IOException, TraceException {
    int engines = options.enginesOr(cell == SyntheticCell.LARGE_FLEET ? 128 : 16);
    RecordedFleet fleet = RecordedFleet.of(engines, ENGINE_BLOCKS);
    return new RecordedCorpus(
        cell == SyntheticCell.LARGE_FLEET ? "cell B, " + engines + " engines" : "cell " + cell,
        cell == SyntheticCell.BURSTS ? bursts(options) : chats(cell, options),
        switch (cell) {
          case LARGE_FLEET -> RecordedFleet.of(engines, Math.max(1_024, (1 << 19) / engines));
          case BALLAST -> fleet.withBallast(BALLAST_FAMILIES);
          case OWN_HASHES -> fleet.withOwnHashes();
          case HOLES -> fleet.losing(LOST);
          case BURSTS -> fleet;
          case HYBRID -> RecordedFleet.hybrid(engines, ENGINE_BLOCKS, WINDOW_BLOCKS);
        });
  }

  private static Trace chats(SyntheticCell cell, CellOptions options)
      throws IOException, TraceException {
    if (options.trace() != null) {
      int limit = options.requestsOr(Integer.MAX_VALUE);
      return PromptTrace.parted(TraceFile.read(options.trace(), TraceFormat.MOONCAKE, limit));
    }
    int requests = options.requestsOr(cell == SyntheticCell.LARGE_FLEET ? 40_000 : 12_000);
    return new SyntheticChats(requests, 64, Math.max(1, requests / 20), 1).trace();
  }

  private static Trace bursts(CellOptions options) {
    return new SiblingBursts(options.requestsOr(12_000), 1).trace();
  }
}
