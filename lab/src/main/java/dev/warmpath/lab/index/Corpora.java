package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.lab.index.Corpus.CorpusSource;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import dev.warmpath.simulator.trace.TraceException;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

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

  /**
   * Bursts of sibling prompts: many prompts at nearly the same time that share a long prefix and
   * part from it, half of them at its end and half anywhere in its last quarter.
   *
   * <p>Every other burst takes up the prefix of an earlier one.
   *
   * @param requests how many
   * @param seed of all random choices
   */
  record SiblingBursts(int requests, long seed) {

    private static final double SECONDS_BETWEEN_BURSTS = 5;
    private static final int MAX_PREFIX_BLOCKS = 384;
    private static final int MAX_SUFFIX_BLOCKS = 24;
    private static final int MAX_SIBLINGS = 96;

    Trace trace() {
      Random random = new Random(seed);
      PromptTrace trace = new PromptTrace();
      List<int[]> prefixes = new ArrayList<>();
      double seconds = 0;
      int left = requests;
      while (left > 0) {
        int[] prefix = prefix(prefixes, trace, random);
        int siblings = Math.min(left, 16 + random.nextInt(MAX_SIBLINGS - 16));
        for (int i = 0; i < siblings; i++) {
          int[] shared = random.nextBoolean() ? prefix : cut(prefix, random);
          trace.request(
              seconds + i * 1e-3, trace.grow(shared, 1 + random.nextInt(MAX_SUFFIX_BLOCKS)));
        }
        left -= siblings;
        seconds += SECONDS_BETWEEN_BURSTS;
      }
      return trace.build();
    }

    private static int[] prefix(List<int[]> prefixes, PromptTrace trace, Random random) {
      if (!prefixes.isEmpty() && random.nextBoolean()) {
        return prefixes.get(random.nextInt(prefixes.size()));
      }
      int[] prefix = trace.grow(new int[0], 16 + random.nextInt(MAX_PREFIX_BLOCKS - 16));
      prefixes.add(prefix);
      return prefix;
    }

    private static int[] cut(int[] prefix, Random random) {
      return Arrays.copyOf(prefix, prefix.length - 1 - random.nextInt(prefix.length / 4));
    }
  }

  /**
   * A synthetic conversation workload: chats begin with one of a few shared system prompts, popular
   * ones more often, and grow from turn to turn; each turn asks for the whole chat so far.
   *
   * <p>Sizes follow the Mooncake conversation trace: about 90 blocks of 128 tokens a request, most
   * of them fresh.
   *
   * @param requests how many
   * @param systemPrompts how many different system prompts
   * @param openChats chats that take turns at a time
   * @param seed of all random choices
   */
  record SyntheticChats(int requests, int systemPrompts, int openChats, long seed) {

    private static final double REQUESTS_PER_SECOND = 3.4;
    private static final double LAST_TURN = 0.35;
    private static final int MAX_BLOCKS = 900;

    Trace trace() {
      Random random = new Random(seed);
      PromptTrace trace = new PromptTrace();
      List<int[]> systems = new ArrayList<>();
      for (int i = 0; i < systemPrompts; i++) {
        systems.add(trace.grow(new int[0], 1 + random.nextInt(16)));
      }
      List<int[]> chats = new ArrayList<>();
      double seconds = 0;
      for (int i = 0; i < requests; i++) {
        seconds -= Math.log(1 - random.nextDouble()) / REQUESTS_PER_SECOND;
        int[] chat = takeTurn(chats, systems, trace, random);
        trace.request(seconds, chat);
        if (chat.length < MAX_BLOCKS && random.nextDouble() >= LAST_TURN) {
          chats.add(chat);
        }
      }
      return trace.build();
    }

    /** One more turn of an open chat, or the first of a new one. */
    private int[] takeTurn(
        List<int[]> chats, List<int[]> systems, PromptTrace trace, Random random) {
      if (chats.size() > random.nextInt(openChats)) {
        int[] chat = chats.remove(random.nextInt(chats.size()));
        return trace.grow(chat, 1 + random.nextInt(30));
      }
      int popular = (int) (systems.size() * Math.pow(random.nextDouble(), 3));
      int blocks = (int) Math.min(MAX_BLOCKS, 1 - 65 * Math.log(1 - random.nextDouble()));
      return trace.grow(systems.get(popular), blocks);
    }
  }

  /**
   * A recording of engines of the model that serve a trace, one request after the other: each goes
   * to the engine with the least (blocks to compute + decayed load), is recorded as a query, and
   * then what its engine stores and evicts. The exact answers are the engines' own.
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
        CorpusEngine chosen =
            engines[balance.choose(load.seconds(request), prompt.length, reusable)];
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

  /**
   * A trace of prompts that grow by fresh blocks.
   *
   * <p>Single writer.
   */
  private static final class PromptTrace {

    private static final int BLOCK_TOKENS = 128;

    private final TraceBuilder trace = new TraceBuilder("prompts", BLOCK_TOKENS);
    private int next;

    /** {@code prompt} with {@code blocks} fresh blocks behind it. */
    int[] grow(int[] prompt, int blocks) {
      int[] grown = Arrays.copyOf(prompt, prompt.length + blocks);
      for (int i = prompt.length; i < grown.length; i++) {
        grown[i] = next++;
      }
      return grown;
    }

    /** Adds a request that comes at {@code seconds}. */
    void request(double seconds, int[] prompt) {
      trace.request(seconds, Trace.NONE, Trace.NONE, prompt.length * BLOCK_TOKENS, 1);
      for (int number : prompt) {
        trace.blocks(number, 1);
      }
    }

    Trace build() {
      return trace.build();
    }

    /** A trace of larger blocks, each parted in blocks of the size used here. */
    static Trace parted(Trace trace) {
      int parts = trace.blockSizeTokens() / BLOCK_TOKENS;
      TraceBuilder parted = new TraceBuilder(trace.name(), BLOCK_TOKENS);
      for (int i = 0; i < trace.requests(); i++) {
        if (trace.blocks(i) > 0) {
          parted.request(trace.seconds(i), Trace.NONE, Trace.NONE, trace.promptTokens(i), 1);
        }
        for (int number : trace.blockNumbers(i)) {
          parted.blocks(number * parts, parts);
        }
      }
      return parted.build();
    }
  }

  /**
   * The engines that serve a workload, and how what they do is recorded.
   *
   * @param engines number of engines
   * @param groups of each engine's cache
   * @param capacityBlocks full blocks that each engine can hold, of all groups
   * @param singleRemovals whether each evicted block has a record of its own, as vLLM does it
   * @param ownHashes whether each engine has its own engine hashes
   * @param lostShare the share of a request's blocks that its engine loses right after it, anywhere
   * @param ballastFamilies chains of blocks that no request wants and no engine evicts
   */
  record RecordedFleet(
      int engines,
      List<CacheGroup> groups,
      int capacityBlocks,
      boolean singleRemovals,
      boolean ownHashes,
      double lostShare,
      int ballastFamilies) {

    RecordedFleet {
      groups = List.copyOf(groups);
    }

    /** Engines with one group that evict from the end only and share their hashes. */
    static RecordedFleet of(int engines, int capacityBlocks) {
      return new RecordedFleet(
          engines, SerialEngine.fullAttention(), capacityBlocks, false, false, 0, 0);
    }

    /** Engines of a hybrid model, with so many blocks for each of two groups. */
    static RecordedFleet hybrid(int engines, int groupBlocks, int windowBlocks) {
      return new RecordedFleet(
          engines, SerialEngine.hybrid(windowBlocks), 2 * groupBlocks, false, false, 0, 0);
    }

    RecordedFleet withSingleRemovals() {
      return new RecordedFleet(
          engines, groups, capacityBlocks, true, ownHashes, lostShare, ballastFamilies);
    }

    RecordedFleet withOwnHashes() {
      return new RecordedFleet(
          engines, groups, capacityBlocks, singleRemovals, true, lostShare, ballastFamilies);
    }

    RecordedFleet losing(double share) {
      return new RecordedFleet(
          engines, groups, capacityBlocks, singleRemovals, ownHashes, share, ballastFamilies);
    }

    RecordedFleet withBallast(int families) {
      return new RecordedFleet(
          engines, groups, capacityBlocks, singleRemovals, ownHashes, lostShare, families);
    }
  }

  /**
   * The workloads that are made here rather than read from a file, by the letters that users know.
   */
  enum SyntheticCell {
    /** Chats on many engines. */
    LARGE_FLEET('B'),
    /** Chats on an index that holds 16 million other memberships. */
    BALLAST('C'),
    /** Chats on engines that call the same blocks by different engine hashes. */
    OWN_HASHES('D'),
    /** Chats on engines that lose one block in fifty, anywhere in a prompt. */
    HOLES('E'),
    /** Bursts of prompts that share a long prefix. */
    BURSTS('F'),
    /** Chats on engines of a hybrid model: full attention and a sliding window. */
    HYBRID('G');

    private final char letter;

    SyntheticCell(char letter) {
      this.letter = letter;
    }

    @Override
    public String toString() {
      return String.valueOf(letter);
    }
  }

  /**
   * What may differ from a cell's own sizes.
   *
   * @param engines number of engines; null for the cell's own
   * @param requests the most requests; null for the cell's own
   * @param trace a Mooncake trace instead of synthetic chats; null for synthetic ones
   */
  record CellOptions(@Nullable Integer engines, @Nullable Integer requests, @Nullable Path trace) {

    CellOptions {
      if (engines != null && (engines < 1 || engines > 4096)) {
        throw new IllegalArgumentException("engines=" + engines + ", not 1 to 4096");
      }
      if (requests != null && requests < 1) {
        throw new IllegalArgumentException("requests=" + requests);
      }
    }

    int enginesOr(int own) {
      return engines == null ? own : engines;
    }

    int requestsOr(int own) {
      return requests == null ? own : requests;
    }
  }
}
