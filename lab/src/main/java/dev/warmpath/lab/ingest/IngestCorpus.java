package dev.warmpath.lab.ingest;

import static dev.warmpath.lab.index.SerialEngine.BLOCK_TOKENS;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.ingest.EngineFeed.Probe;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.SimulatedEngine;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.EventEncoder;
import dev.warmpath.simulator.live.WireForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

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

  /**
   * Records what a simulated engine that is never idle publishes, a batch for each step.
   *
   * <p>Half of the prompts begin a chat, most of them behind a system prompt that all engines know;
   * the others go on with one.
   *
   * <p>Confined to its thread.
   */
  private static final class FeedRecorder implements CacheListener {

    static final String MODEL = "bench";

    private static final ChainSpace SPACE = new ChainSpace(MODEL, BLOCK_TOKENS, 0);
    private static final int VOCABULARY = 151_936;
    private static final int STEP_TOKENS = 8_192;
    private static final int MOST_RUNNING = 256;
    private static final int BLOCKS_PER_RUNNING = 512;
    private static final int LEAST_BLOCKS = 16;
    private static final int MOST_BLOCKS = 512;
    private static final int MOST_RESTING = 16;
    private static final int SYSTEM_PROMPTS = 64;
    private static final int SYSTEM_BLOCKS = 32;
    private static final int PROBE_EVERY = 4;

    private final EventEncoder encoder;
    private final int capacityBlocks;
    private final double answerShare;
    private final int running;
    private final long firstChat;
    private final SplittableRandom random;
    private final WireEvents events = new WireEvents(VOCABULARY);
    private final SimulatedEngine engine;
    private final List<Chat> resting = new ArrayList<>();
    private final List<byte[]> payloads = new ArrayList<>();
    private final List<Integer> blocksOfBatches = new ArrayList<>();
    private final List<Probe> probes = new ArrayList<>();
    private int active;
    private int prompts;
    private int stepBlocks;

    /** A chat between two turns: its number, its system prompt or −1, and all tokens so far. */
    private record Chat(long number, int systemPrompt, int tokens) {
      long name(int block) {
        return systemPrompt >= 0 && block < SYSTEM_BLOCKS
            ? -1 - ((long) systemPrompt * SYSTEM_BLOCKS + block)
            : number << 16 | block;
      }
    }

    /** One turn of a chat on its way. Confined to the recorder's thread. */
    private static final class Turn extends EngineRequest {
      private final Chat chat;
      private final int promptBlocks;
      private boolean isProbe;

      Turn(Chat chat, int promptTokens, int answerTokens, boolean isProbe) {
        super(chat::name, promptTokens, answerTokens);
        this.chat = chat;
        this.promptBlocks = promptTokens / BLOCK_TOKENS;
        this.isProbe = isProbe;
      }
    }

    /**
     * @param capacityBlocks of the engine's cache, at least 1,024
     * @param answerShare tokens of an answer for each new one of its prompt
     * @param number of the engine, which is the seed of its chats
     */
    FeedRecorder(EventEncoder encoder, int capacityBlocks, double answerShare, int number) {
      this.encoder = encoder;
      this.capacityBlocks = capacityBlocks;
      this.answerShare = answerShare;
      running = Math.max(2, Math.min(MOST_RUNNING, capacityBlocks / BLOCKS_PER_RUNNING));
      firstChat = (number + 1L) << 32;
      random = new SplittableRandom(number);
      KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK_TOKENS, capacityBlocks + 1);
      engine =
          new SimulatedEngine(
              new EngineConfig(
                  cache, STEP_TOKENS, running, cache.maxSequenceTokens(), StepCost.H100X4),
              this);
    }

    /** Batches with at least so many event blocks together, behind an empty one. */
    EngineFeed record(int eventBlocks) {
      endBatch();
      for (int written = 0; written < eventBlocks; written += endBatch()) {
        while (active < running) {
          submit();
        }
        engine.beginStep();
        engine.endStep((request, index, last) -> rest((Turn) request, last));
      }
      return new EngineFeed(
          payloads.toArray(byte[][]::new),
          blocksOfBatches.stream().mapToInt(Integer::intValue).toArray(),
          engine.heldBlocks(),
          List.copyOf(probes));
    }

    @Override
    public void stored(
        CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {
      events.stored(sequence, group, fromBlock, toBlock, heldFrom);
      stepBlocks += toBlock - heldFrom;
      Turn turn = (Turn) sequence;
      if (turn.isProbe && toBlock == turn.promptBlocks && toBlock - heldFrom > 1) {
        turn.isProbe = false;
        int[] prompt = events.tokens(turn.chat::name, 0, toBlock);
        BlockChain chain =
            BlockChain.of(SPACE, Arrays.copyOf(prompt, prompt.length + 1), PromptKeys.NONE);
        long last = WireEvents.hash(turn.chat.name(toBlock - 1)).low64();
        probes.add(new Probe(payloads.size(), last, chain, prompt.length));
      }
    }

    @Override
    public void removed(int group, long blockName) {
      events.removed(group, blockName);
      stepBlocks++;
    }

    @Override
    public void cleared() {
      throw new IllegalStateException("nobody asked for it");
    }

    /** Ends a batch, if there is anything in it; returns its blocks. */
    private int endBatch() {
      int blocks = stepBlocks;
      if (blocks > 0 || payloads.isEmpty()) {
        payloads.add(encoder.encode(1_760_000_000 + payloads.size() / 64.0, events.take(), 0));
        blocksOfBatches.add(blocks);
      }
      stepBlocks = 0;
      return blocks;
    }

    private void submit() {
      int blocks =
          (int) (LEAST_BLOCKS * Math.pow((double) MOST_BLOCKS / LEAST_BLOCKS, random.nextDouble()));
      Chat chat = next();
      int promptTokens = chat.tokens + blocks * BLOCK_TOKENS;
      boolean isProbe = ++prompts % PROBE_EVERY == 0;
      int answerTokens = (int) Math.ceil(blocks * BLOCK_TOKENS * answerShare);
      engine.submit(new Turn(chat, promptTokens, answerTokens, isProbe));
      active++;
    }

    private Chat next() {
      if (!resting.isEmpty() && random.nextBoolean()) {
        return resting.remove(random.nextInt(resting.size()));
      }
      int systemPrompt = random.nextInt(4) > 0 ? random.nextInt(SYSTEM_PROMPTS) : -1;
      int tokens = systemPrompt < 0 ? 1 : SYSTEM_BLOCKS * BLOCK_TOKENS + 1;
      return new Chat(firstChat + prompts, systemPrompt, tokens);
    }

    private void rest(Turn turn, boolean last) {
      if (last) {
        active--;
        int tokens = turn.promptTokens() + turn.answerTokens();
        if (tokens / BLOCK_TOKENS < Math.min(MOST_BLOCKS, capacityBlocks / 4)) {
          resting.add(new Chat(turn.chat.number, turn.chat.systemPrompt, tokens));
        }
        if (resting.size() > MOST_RESTING) {
          resting.remove(0);
        }
      }
    }
  }
}
