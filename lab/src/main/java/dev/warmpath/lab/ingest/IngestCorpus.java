package dev.warmpath.lab.ingest;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.simulator.live.EventEncoder;
import dev.warmpath.simulator.live.WireForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What all engines of a fleet send, encoded beforehand; every second engine sends arrays, the
 * others maps.
 *
 * <p>Immutable, as long as nobody writes to the arrays.
 */
record IngestCorpus(List<EngineFeed> feeds) {

  private static final int ORPHANS_PER_ENGINE = 1 << 16;
  private static final int LEAST_CAPACITY = 1_024;
  private static final int MOST_CAPACITY = 32_768;

  /* Tokens of an answer for each new one of its prompt; full caches compute some prompts again. */
  private static final double FILLING_ANSWERS = 0.21;
  private static final double FULL_ANSWERS = 0.6;

  /**
   * A corpus of about {@code eventBlocks} event blocks.
   *
   * @param filling whether caches have room for all of them; else they are full long before the
   *     half
   */
  static IngestCorpus of(int engines, int eventBlocks, boolean filling) {
    int blocks = eventBlocks / engines;
    int capacityBlocks =
        Math.max(LEAST_CAPACITY, filling ? 2 * blocks : Math.min(MOST_CAPACITY, blocks / 4));
    double answers = filling ? FILLING_ANSWERS : FULL_ANSWERS;
    List<EngineFeed> feeds = new ArrayList<>();
    for (int i = 0; i < engines; i++) {
      WireForm form = i % 2 == 0 ? WireForm.MAP : WireForm.ARRAY;
      EventEncoder encoder = new EventEncoder(form, false, true);
      feeds.add(new FeedRecorder(encoder, capacityBlocks, answers, i).record(blocks));
    }
    return new IngestCorpus(feeds);
  }

  /** An empty index for it. */
  static RunKvIndex index() {
    return new RunKvIndex(IndexLimits.unbounded(ORPHANS_PER_ENGINE));
  }

  /** The engine with this number, behind {@code endpoint}. */
  static EngineSource source(int engine, String endpoint) {
    EngineId id = new EngineId("engine-" + engine, 0);
    return new EngineSource(id, FeedRecorder.MODEL, endpoint, false, null, EngineDialect.VLLM);
  }

  int engines() {
    return feeds.size();
  }

  /** Batches of the engine that has most. */
  int longest() {
    return feeds.stream().mapToInt(EngineFeed::batches).max().orElseThrow();
  }

  long eventBlocks() {
    return feeds.stream().mapToLong(feed -> Arrays.stream(feed.eventBlocks()).sum()).sum();
  }

  long heldBlocks() {
    return feeds.stream().mapToLong(EngineFeed::heldBlocks).sum();
  }

  long bytes() {
    return feeds.stream()
        .flatMap(feed -> Arrays.stream(feed.payloads()))
        .mapToLong(p -> p.length)
        .sum();
  }
}
