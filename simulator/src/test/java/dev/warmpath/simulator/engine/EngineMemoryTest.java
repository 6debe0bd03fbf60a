package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.warmpath.kvindex.CacheGroup;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What an engine allocates: a thousand large ones must fit in one process. */
class EngineMemoryTest {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int BLOCKS = 65_536;
  private static final EngineConfig CONFIG = TestEngines.config(64, BLOCKS, 8192);

  private static final CacheListener SILENT =
      new CacheListener() {
        @Override
        public void stored(CachedSequence sequence, CacheGroup group, int from, int to, int held) {}

        @Override
        public void removed(int group, long blockName) {}

        @Override
        public void cleared() {}
      };

  @Test
  void anEmptyEngineIsSmallAndGrowsWithTheBlocksInUse() {
    serve(new SimulatedEngine(CONFIG, SILENT), requests(0, 1)); // loads the classes
    long before = THREADS.getCurrentThreadAllocatedBytes();
    SimulatedEngine engine = new SimulatedEngine(CONFIG, SILENT);
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);

    List<EngineRequest> requests = requests(0, 1000);
    before = THREADS.getCurrentThreadAllocatedBytes();
    serve(engine, requests);
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;

    assertThat(engine.committedBlocks()).isGreaterThan(BLOCKS - 200);
    assertThat(allocated / BLOCKS)
        .as("bytes a block, arrays that were outgrown too")
        .isLessThan(90);
  }

  @Test
  void servingAllocatesNothing() {
    SimulatedEngine engine = new SimulatedEngine(CONFIG, SILENT);
    serve(engine, requests(0, 1000));
    List<EngineRequest> more = requests(500, 1000);
    long before = THREADS.getCurrentThreadAllocatedBytes();

    serve(engine, more);

    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
    assertThat(engine.load().cacheHitsTokens()).isPositive();
  }

  /** Prompts of 100 blocks; those with the same number are the same. */
  private static List<EngineRequest> requests(int first, int count) {
    List<EngineRequest> requests = new ArrayList<>();
    LongStream.range(first, first + count)
        .forEach(
            number -> requests.add(new EngineRequest(block -> number << 32 | block, 6401, 30)));
    return requests;
  }

  private static void serve(SimulatedEngine engine, List<EngineRequest> requests) {
    for (int i = 0; i < requests.size(); i++) {
      engine.submit(requests.get(i));
      if (i % 20 == 19) {
        run(engine);
      }
    }
    run(engine);
  }

  private static void run(SimulatedEngine engine) {
    while (!engine.idle()) {
      engine.beginStep();
      engine.endStep((request, index, last) -> {});
    }
  }
}
