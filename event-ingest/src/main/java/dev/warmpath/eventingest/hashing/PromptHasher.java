package dev.warmpath.eventingest.hashing;

import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.EngineHasher;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Hashes prompts as engines do, on a thread of its own that is there only while it is needed.
 *
 * <p>So many blocks a second and so many prompts that wait, and no more: what is beyond is refused.
 *
 * <p>Thread-safe.
 */
public final class PromptHasher implements AutoCloseable {

  /** A tenth of a core, about. */
  public static final int BLOCKS_A_SECOND = 50_000;

  private static final int WAITING_PROMPTS = 64;
  private static final long IDLE_SECONDS = 5;
  private static final double NANOS_A_SECOND = 1e9;

  private final LongSupplier nanoClock;
  private final ThreadPoolExecutor thread;
  private double allowedBlocks = BLOCKS_A_SECOND;
  private long allowedNanos;

  /**
   * @param nanoClock counts nanoseconds from anywhere, as {@link System#nanoTime} does
   */
  public PromptHasher(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    allowedNanos = nanoClock.getAsLong();
    thread =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING_PROMPTS),
            PromptHasher::daemon);
    thread.allowCoreThreadTimeOut(true);
  }

  /**
   * A prompt to be hashed; its tokens are read, not kept after that.
   *
   * @param chain the prompt's blocks, in a space that the scheme covers
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Order(KnownScheme scheme, BlockChain chain, int[] tokenIds, PromptKeys keys) {}

  /** Hashes a prompt soon and gives it to {@code into}, on another thread; false if refused. */
  public boolean hash(Order order, Consumer<HashedPrompt> into) {
    if (!allows(order.chain().blocks())) {
      return false;
    }
    try {
      thread.execute(() ->
          into.accept(
              HashedPrompt.of(order.scheme(), order.chain(), order.tokenIds(), order.keys())));
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Stops; what waits is dropped. */
  @Override
  public void close() {
    thread.shutdownNow();
  }

  private synchronized boolean allows(int blocks) {
    long now = nanoClock.getAsLong();
    double more = (now - allowedNanos) / NANOS_A_SECOND * BLOCKS_A_SECOND;
    allowedBlocks = Math.min(BLOCKS_A_SECOND, allowedBlocks + more);
    allowedNanos = now;
    if (blocks > allowedBlocks) {
      return false;
    }
    allowedBlocks -= blocks;
    return true;
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "warmpath-prompt-hashes");
    thread.setDaemon(true);
    return thread;
  }

  /** The blocks of a prompt with the hashes that an engine gives to them. */
  public static final class HashedPrompt {

    private final KnownScheme scheme;
    private final BlockChain chain;
    private final long[] hashes;

    private HashedPrompt(KnownScheme scheme, BlockChain chain, long[] hashes) {
      this.scheme = scheme;
      this.chain = chain;
      this.hashes = hashes;
    }

    /**
     * Hashes the blocks of a prompt.
     *
     * @param chain the prompt's blocks, in a space that the scheme {@linkplain KnownScheme#covers
     *     covers}
     */
    public static HashedPrompt of(
        KnownScheme scheme, BlockChain chain, int[] tokenIds, PromptKeys keys) {
      EngineHasher hasher = scheme.hasher();
      int size = chain.space().blockSizeTokens();
      long[] hashes = new long[chain.blocks()];
      byte[] parent = hasher.rootHash();
      for (int i = 0; i < hashes.length; i++) {
        parent = hasher.hash(parent, tokenIds, i * size, keys.of(i, size));
        hashes[i] = EngineHasher.low64(parent);
      }
      return new HashedPrompt(scheme, chain, hashes);
    }

    /** The prompt's blocks, in the engine's space. */
    public BlockChain chain() {
      return chain;
    }

    /** Whether this is still how the engine makes its hashes. */
    public boolean isBy(KnownScheme known) {
      return scheme.hasher() == known.hasher();
    }

    /** Writes all blocks, of a group on the GPU, into {@code blocks}, which is returned. */
    public StoredBlocks names(StoredBlocks blocks, int group) {
      blocks.atRoot(StorageTier.GPU, group, chain.space().rootKey());
      for (int i = 0; i < hashes.length; i++) {
        blocks.add(hashes[i], chain.localHash(i));
      }
      return blocks;
    }
  }
}
