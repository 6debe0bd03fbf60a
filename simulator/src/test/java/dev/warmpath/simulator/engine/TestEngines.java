package dev.warmpath.simulator.engine;

import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.engine.EngineRequest.Transfer;
import dev.warmpath.simulator.live.BlockHash;
import dev.warmpath.simulator.live.BlockHashing;
import dev.warmpath.simulator.live.CacheEvent;
import dev.warmpath.simulator.live.TokenEngine;
import dev.warmpath.simulator.live.TokenEngine.StepResult;
import dev.warmpath.simulator.live.TokenEngine.StepResult.Token;
import dev.warmpath.simulator.live.TokenRequest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Small engines and requests for tests. */
public final class TestEngines {

  /** A cheap hash of the same shape as the engines' own. */
  public static final BlockHashing HASHING =
      (parent, tokenIds, from, length, keys) -> {
        long local = BlockHasher.localHash(tokenIds, from, length, keys);
        long key = BlockHasher.blockKey(parent == null ? 0 : parent.low64(), local);
        return new BlockHash(ByteBuffer.allocate(8).putLong(key).array());
      };

  private TestEngines() {}

  public static EngineConfig config(int blockSize, int blocks, int stepTokens) {
    KvCacheConfig cache = KvCacheConfig.fullAttention(blockSize, blocks);
    return new EngineConfig(cache, stepTokens, 64, cache.maxSequenceTokens(), StepCost.H100X4);
  }

  public static TokenEngine engine(int blockSize, int blocks, int stepTokens) {
    return new TokenEngine(config(blockSize, blocks, stepTokens), HASHING);
  }

  public static int[] tokens(int first, int count) {
    return IntStream.range(first, first + count).toArray();
  }

  public static TokenRequest request(String id, int[] prompt, int answerTokens) {
    return new TokenRequest(id, prompt, tokens(50_000, answerTokens), PromptKeys.NONE, true);
  }

  /** The same with a part in it of another engine. */
  public static TokenRequest request(String id, int[] prompt, int answerTokens, Transfer transfer) {
    int[] answer = tokens(50_000, answerTokens);
    return new TokenRequest(id, prompt, answer, PromptKeys.NONE, true).with(transfer);
  }

  /** Runs the engine until it is idle; one result a step. */
  public static List<StepResult> run(TokenEngine engine) {
    List<StepResult> results = new ArrayList<>();
    while (!engine.idle()) {
      engine.beginStep();
      results.add(engine.endStep());
    }
    return results;
  }

  /** Serves one request alone and returns its cached tokens. */
  public static int serve(TokenEngine engine, TokenRequest request) {
    engine.submit(request);
    List<Token> tokens = run(engine).stream().flatMap(step -> step.tokens().stream()).toList();
    return tokens.get(tokens.size() - 1).cachedTokens();
  }

  /** Blocks that a step evicted. */
  public static int removals(StepResult step) {
    return (int) step.events().stream().filter(CacheEvent.Removed.class::isInstance).count();
  }
}
