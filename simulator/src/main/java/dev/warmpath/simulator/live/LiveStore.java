package dev.warmpath.simulator.live;

import dev.warmpath.simulator.engine.BlockStore;
import dev.warmpath.simulator.engine.CachedSequence;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A store that simulated engines share, and what its master publishes of it.
 *
 * <p>Thread-safe.
 */
final class LiveStore implements AutoCloseable {

  private final BlockStore blocks;
  private final Map<Long, BlockHash> hashes = new HashMap<>();
  private volatile StorePublisher publisher = new StorePublisher(0);
  private final int port = publisher.port();

  /** Room for so many blocks. */
  public LiveStore(int blocks) {
    this(blocks, true);
  }

  /**
   * Room for so many blocks.
   *
   * @param publishesRemovals whether its master says what it drops
   */
  public LiveStore(int blocks, boolean publishesRemovals) {
    this.blocks = new BlockStore(blocks, BlockStore.Listener.NONE);
    this.blocks.listener(
        new BlockStore.Listener() {
          @Override
          public void stored(CachedSequence sequence, int block) {
            BlockHash hash = ((HashedRequest) sequence).hash(block);
            hashes.put(hash.name(), hash);
            publisher.publish("BlockStored", hash);
          }

          @Override
          public void removed(long blockName) {
            BlockHash hash = Objects.requireNonNull(hashes.remove(blockName));
            if (publishesRemovals) {
              publisher.publish("BlockRemoved", hash);
            }
          }
        });
  }

  /** To be given to each of the engines. */
  public BlockStore blocks() {
    return blocks;
  }

  /** Where its master publishes. */
  public String eventsEndpoint() {
    return "tcp://127.0.0.1:" + port;
  }

  /** It drops blocks, and publishes that, until so many are left. */
  public void shrink(int left) {
    blocks.shrink(left);
  }

  /** It drops blocks of which nobody hears. */
  public void loseQuietly() {
    blocks.restart();
  }

  /** Its master is another process, and holds nothing. */
  public void restart() {
    publisher.close();
    blocks.restart();
    publisher = new StorePublisher(port);
  }

  @Override
  public void close() {
    publisher.close();
  }
}
