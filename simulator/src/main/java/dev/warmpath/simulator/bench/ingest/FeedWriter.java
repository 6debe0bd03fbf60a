package dev.warmpath.simulator.bench.ingest;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.live.event.BlockHash;
import dev.warmpath.simulator.live.event.CacheEvent;
import dev.warmpath.simulator.live.event.CacheEvent.Removed;
import dev.warmpath.simulator.live.event.CacheEvent.Stored;
import dev.warmpath.simulator.live.publish.EventEncoder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Writes what an engine that serves chats says about its cache, step by step.
 *
 * <p>A step evicts blocks one by one, stores the blocks of a prompt together when one is admitted,
 * and those that running chats fill one by one. Half of the prompts begin a chat, often behind a
 * system prompt that all engines know; the others go on with one. The oldest chat loses its blocks
 * first, the last one first.
 *
 * <p>Confined to its thread.
 */
final class FeedWriter {

  static final int BLOCK_TOKENS = 16;
  static final String MODEL = "bench";

  private static final int LEAST_BLOCKS = 16;
  private static final int MOST_BLOCKS = 512;
  private static final int RUNNING = 8;
  private static final int SYSTEM_PROMPTS = 64;
  private static final int SYSTEM_BLOCKS = 32;
  private static final int PROBE_EVERY = 4;
  private static final CacheGroup GROUP =
      new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, BLOCK_TOKENS, 0);
  private static final ChainSpace SPACE = new ChainSpace(MODEL, BLOCK_TOKENS, 0);

  private final EventEncoder encoder;
  private final EventMix mix;
  private final SplittableRandom random;
  private final Map<Integer, Chat> systemPrompts = new HashMap<>();
  private final List<Chat> running = new ArrayList<>();
  private final Deque<Chat> ended = new ArrayDeque<>();
  private final List<byte[]> payloads = new ArrayList<>();
  private final List<Integer> blocksOfBatches = new ArrayList<>();
  private final List<Probe> probes = new ArrayList<>();
  private final List<CacheEvent> step = new ArrayList<>();
  private double decodesDue;
  private double removalsDue;
  private int stepBlocks;
  private int held;
  private int prefills;

  FeedWriter(EventEncoder encoder, EventMix mix, long seed) {
    this.encoder = encoder;
    this.mix = mix;
    random = new SplittableRandom(seed);
  }

  /** Batches with at least so many event blocks together, behind an empty one. */
  EngineFeed write(int eventBlocks) {
    flush();
    for (int written = 0; written < eventBlocks; written += stepBlocks) {
      stepBlocks = 0;
      evict();
      if (decodesDue < RUNNING) {
        prefill();
      }
      decode();
      flush();
    }
    return new EngineFeed(
        payloads.toArray(byte[][]::new),
        blocksOfBatches.stream().mapToInt(Integer::intValue).toArray(),
        held,
        List.copyOf(probes));
  }

  private void flush() {
    payloads.add(encoder.encode(1_760_000_000 + payloads.size() / 64.0, step, 0));
    blocksOfBatches.add(stepBlocks);
    step.clear();
  }

  private void evict() {
    int evicted = 0;
    for (; removalsDue >= 1 && evicted < 4 * MOST_BLOCKS && !ended.isEmpty(); evicted++) {
      Chat oldest = ended.getFirst();
      step.add(new Removed(0, oldest.shrink()));
      if (oldest.isGone()) {
        ended.removeFirst();
      }
      removalsDue--;
    }
    stepBlocks += evicted;
    held -= evicted;
  }

  private void prefill() {
    int blocks =
        (int) (LEAST_BLOCKS * Math.pow((double) MOST_BLOCKS / LEAST_BLOCKS, random.nextDouble()));
    Chat chat = admitted();
    store(chat, blocks);
    if (++prefills % PROBE_EVERY == 0) {
      int[] prompt = chat.next();
      BlockChain chain = BlockChain.of(SPACE, prompt, PromptKeys.NONE);
      long last = Objects.requireNonNull(chat.last()).low64();
      probes.add(new Probe(payloads.size(), last, chain, prompt.length - 1));
    }
    decodesDue += mix.decoded() * blocks;
    removalsDue += mix.removed() * blocks;
  }

  private Chat admitted() {
    if (running.size() >= RUNNING && random.nextBoolean()) {
      return running.get(random.nextInt(RUNNING));
    }
    boolean behindSystemPrompt = random.nextInt(4) > 0;
    Chat chat =
        behindSystemPrompt
            ? new Chat(random.split(), systemPrompt(random.nextInt(SYSTEM_PROMPTS)))
            : new Chat(random.split());
    running.add(chat);
    if (running.size() > RUNNING) {
      ended.addLast(running.remove(0));
    }
    return chat;
  }

  private Chat systemPrompt(int number) {
    Chat prompt = systemPrompts.get(number);
    if (prompt == null) {
      prompt = new Chat(new SplittableRandom(number));
      systemPrompts.put(number, prompt);
      store(prompt, SYSTEM_BLOCKS);
    }
    return prompt;
  }

  private void decode() {
    for (int i = 0; i < running.size() && decodesDue >= 1; i++) {
      store(running.get(i), 1);
      decodesDue--;
    }
  }

  private void store(Chat chat, int blocks) {
    BlockHash parent = chat.last();
    int[] tokens = chat.grow(blocks, BLOCK_TOKENS);
    step.add(
        new Stored(
            GROUP,
            parent,
            chat.lastHashes(blocks),
            tokens,
            Collections.nCopies(blocks, List.of()),
            null));
    stepBlocks += blocks;
    held += blocks;
  }
}
