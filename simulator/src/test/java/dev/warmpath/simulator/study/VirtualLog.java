package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.fleet.FleetPlan;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Measures;
import dev.warmpath.simulator.fleet.PolicySpec;
import dev.warmpath.simulator.fleet.VirtualFleet;
import dev.warmpath.simulator.fleet.Workload;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/** A decision log as a router in front of a virtual fleet would write it. */
public final class VirtualLog {

  private static final long BEGIN_MILLIS = 1_700_000_000_000L;

  private VirtualLog() {}

  /** Chats of several turns behind some system prompts, on engines of a known cost. */
  public static Path write(Path file, StepCost cost, int chats, double secondsBetweenChats)
      throws IOException {
    Trace trace = chats(chats, secondsBetweenChats);
    KvCacheConfig cache = KvCacheConfig.fullAttention(64, 20_000);
    EngineConfig engine = new EngineConfig(cache, 8192, 256, cache.maxSequenceTokens(), cost);
    Workload workload = new Workload(trace, 1, 1, 1);
    FleetPlan plan = FleetPlan.of(4, engine, IndexMode.NOW, () -> PolicySpec.make("warm"), 1);
    Measures measures = new VirtualFleet(plan, workload).run(arrivals -> {});
    List<Integer> ended = new ArrayList<>();
    for (int i = 0; i < measures.requests(); i++) {
      ended.add(i);
    }
    ended.sort(Comparator.comparingDouble(i -> endMillis(measures, trace, i)));
    List<String> lines = new ArrayList<>();
    lines.add("{\"format\":\"warmpath-decisions\",\"version\":1,\"time_ms\":1,\"key\":\"aa\"}");
    for (int i : ended) {
      lines.add(line(measures, trace, i));
    }
    Files.write(file, lines);
    return file;
  }

  private static double endMillis(Measures measures, Trace trace, int i) {
    double decode =
        trace.answerTokens(i) > 1 ? measures.tokenMillis(i) * (trace.answerTokens(i) - 1) : 0;
    return 1e3 * measures.arrivedSeconds(i) + measures.firstMillis(i) + decode;
  }

  private static String line(Measures measures, Trace trace, int i) {
    double arrived = 1e3 * measures.arrivedSeconds(i);
    ByteBuffer pieces = ByteBuffer.allocate(4 * trace.blocks(i));
    pieces.asIntBuffer().put(trace.blockNumbers(i));
    return String.format(
        Locale.ROOT,
        "{\"time_ms\":%d,\"model\":\"m\",\"session\":\"s%d\",\"engine\":\"e%d\",\"prompt_tokens\":%d,"
            + "\"cached_tokens\":%d,\"answer_tokens\":%d,\"dispatch_ms\":0.0,\"ttft_ms\":%.1f,"
            + "\"total_ms\":%.1f,\"outcome\":\"completed\",\"keep\":0,"
            + "\"pieces\":\"%s\"}",
        BEGIN_MILLIS + Math.round(arrived),
        trace.session(i),
        measures.engine(i),
        trace.promptTokens(i),
        measures.cachedTokens(i),
        trace.answerTokens(i),
        measures.firstMillis(i),
        endMillis(measures, trace, i) - arrived,
        Base64.getEncoder().withoutPadding().encodeToString(pieces.array()));
  }

  static Trace chats(int chats, double secondsBetweenChats) {
    SplittableRandom random = new SplittableRandom(7);
    TraceBuilder trace = new TraceBuilder("chats", 64);
    double seconds = 0;
    int nextBlock = 1_000;
    for (int chat = 0; chat < chats; chat++) {
      seconds -= secondsBetweenChats * Math.log(1 - random.nextDouble());
      int system = 10 * random.nextInt(5);
      int prompt = 640 + (int) (200 * Math.exp(5.5 * random.nextDouble()));
      int turns = 1 + random.nextInt(5);
      int before = Trace.NONE;
      int grown = 0;
      for (int turn = 0; turn < turns; turn++) {
        int answer = 20 + random.nextInt(400);
        int number = trace.requests();
        double at = turn == 0 ? seconds : 2 + 20 * random.nextDouble();
        trace.request(at, before, chat, prompt, answer);
        int blocks = prompt / 64 - 10 - grown;
        if (before == Trace.NONE) {
          trace.blocks(system, 10);
        } else {
          trace.blocksOf(before, 10 + grown);
        }
        trace.blocks(nextBlock, blocks);
        nextBlock += blocks;
        grown += blocks;
        before = number;
        prompt += answer + 50 + random.nextInt(1_500);
      }
    }
    return trace.build();
  }
}
