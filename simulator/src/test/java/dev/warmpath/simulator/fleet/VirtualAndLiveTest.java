package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.live.TestHashing;
import dev.warmpath.simulator.live.TokenEngine;
import dev.warmpath.simulator.live.TokenEngine.StepResult.Token;
import dev.warmpath.simulator.live.TokenRequest;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The engines of a virtual fleet and those that answer over HTTP reuse the same. */
class VirtualAndLiveTest {

  private static final int BLOCK = 16;

  @ParameterizedTest
  @CsvSource({"600, 0", "1200, 0", "10000, 0", "600, 1000"})
  void theSameRequestsAtTheSameTimesReuseTheSame(int blocks, int hostBlocks) {
    Trace trace = chats(3, 40);
    EngineConfig engine = Runs.engine(BLOCK, blocks, hostBlocks);
    Runs.Outcome virtual = Runs.run("round-robin", trace, 1, engine, IndexMode.NOW);
    assertThat(virtual.answered()).isEqualTo(trace.requests());
    assertThat(virtual.hostTokens() > 0).isEqualTo(hostBlocks > 0);
    Live live = new Live(trace, engine, virtual.measures());
    live.run();
    for (int request = 0; request < trace.requests(); request++) {
      assertThat(live.cached[request])
          .as("request %d", request)
          .isEqualTo(virtual.measures().cachedTokens(request));
      assertThat(live.firstMillis[request])
          .as("request %d", request)
          .isEqualTo(virtual.measures().firstMillis(request), within(0.01));
    }
    assertThat(virtual.hitRate()).isPositive();
  }

  /** Chats that share system prompts and grow. */
  private static Trace chats(int tenants, int chats) {
    SplittableRandom random = new SplittableRandom(5);
    TraceBuilder trace = new TraceBuilder("chats", BLOCK);
    int next = 100 * tenants;
    for (int chat = 0; chat < chats; chat++) {
      int before = Trace.NONE;
      int shared = 20 + random.nextInt(60);
      int first = 100 * random.nextInt(tenants);
      int own = 0;
      for (int turn = 0; turn < 1 + random.nextInt(4); turn++) {
        int grown = 1 + random.nextInt(30);
        double seconds = before == Trace.NONE ? 20 * random.nextDouble() : random.nextDouble();
        int number = trace.requests();
        int tokens = BLOCK * (shared + own + grown) + random.nextInt(BLOCK);
        trace.request(seconds, before, chat, tokens, 1 + random.nextInt(120));
        if (before == Trace.NONE) {
          trace.blocks(first, shared);
        } else {
          trace.blocksOf(before, shared + own);
        }
        trace.blocks(next, grown);
        next += grown;
        own += grown;
        before = number;
      }
    }
    return trace.build();
  }

  /** A live engine's core, stepped by the times of the virtual run. */
  private static final class Live {
    private final Trace trace;
    private final Measures times;
    private final TokenEngine engine;
    private final int[] cached;
    private final double[] firstMillis;
    private final List<Integer> order = new ArrayList<>();
    private int arrived;

    Live(Trace trace, EngineConfig config, Measures times) {
      this.trace = trace;
      this.times = times;
      engine = new TokenEngine(config, TestHashing.of(HashAlgorithm.SHA256, BLOCK, Map.of()));
      cached = new int[trace.requests()];
      firstMillis = new double[trace.requests()];
      for (int i = 0; i < trace.requests(); i++) {
        order.add(i);
      }
      order.sort(Comparator.comparingDouble(times::arrivedSeconds));
    }

    void run() {
      long now = 0;
      while (arrived < order.size() || !engine.idle()) {
        if (engine.idle()) {
          now = nanos(order.get(arrived));
        }
        submitUntil(now);
        now = stepEnd(now, Math.round(engine.beginStep(now) * 1e6));
        for (Token token : engine.endStep().tokens()) {
          if (token.index() == 0) {
            int request = Integer.parseInt(token.requestId());
            cached[request] = token.cachedTokens();
            firstMillis[request] = (now - nanos(request)) / 1e6;
          }
        }
      }
    }

    /** A step that only waits for a load ends when a request arrives. */
    private long stepEnd(long now, long nanos) {
      return engine.waitsForLoad() && arrived < order.size()
          ? Math.min(now + nanos, Math.max(now, nanos(order.get(arrived))))
          : now + nanos;
    }

    private long nanos(int request) {
      return Math.round(times.arrivedSeconds(request) * 1e9);
    }

    private void submitUntil(long now) {
      while (arrived < order.size() && nanos(order.get(arrived)) <= now) {
        int request = order.get(arrived++);
        engine.submit(
            new TokenRequest(
                Integer.toString(request),
                prompt(request),
                answer(request),
                PromptKeys.NONE,
                true));
      }
    }

    private int[] prompt(int request) {
      int[] numbers = trace.blockNumbers(request);
      int[] tokens = new int[trace.promptTokens(request)];
      for (int i = 0; i < tokens.length; i++) {
        int block = i / BLOCK;
        tokens[i] = block < numbers.length ? BLOCK * numbers[block] + i % BLOCK : own(request, i);
      }
      return tokens;
    }

    private int[] answer(int request) {
      int[] tokens = new int[trace.answerTokens(request)];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = own(request, trace.promptTokens(request) + i);
      }
      return tokens;
    }

    private static int own(int request, int position) {
      return 1 << 30 | request << 16 | position;
    }
  }
}
