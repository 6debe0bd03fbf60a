package dev.warmpath.simulator.live;

import dev.warmpath.simulator.engine.BlockStore;
import dev.warmpath.simulator.engine.CachedSequence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

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

  /**
   * Publishes what a store holds as Mooncake's master does (kv_event_publisher.cpp): an object's
   * key for each block, numbers from 1, an empty topic, no replay.
   *
   * <p>Thread-safe.
   */
  private static final class StorePublisher implements AutoCloseable {

    private static final String KEYS = "sim@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@";
    private static final String[] UNKNOWN = {
      "model_name", "block_size", "additional_salt", "lora_name"
    };

    private final ZContext context = new ZContext();
    private final ZMQ.Socket socket = context.createSocket(SocketType.PUB);
    private final int port;
    private long sequence = 1;
    private boolean closed;

    /**
     * @param port 0 for any
     */
    public StorePublisher(int port) {
      socket.setSndHWM(10_000);
      socket.setLinger(0);
      if (port == 0) {
        this.port = socket.bindToRandomPort("tcp://127.0.0.1");
      } else {
        socket.bind("tcp://127.0.0.1:" + port);
        this.port = port;
      }
    }

    public int port() {
      return port;
    }

    /**
     * A block is stored or removed.
     *
     * @param type as vLLM calls it
     */
    public synchronized void publish(String type, BlockHash hash) {
      if (closed) {
        return;
      }
      socket.sendMore(new byte[0]);
      socket.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence++).array());
      socket.send(payload(type, hash));
    }

    private byte[] payload(String type, BlockHash hash) {
      boolean isStored = type.equals("BlockStored");
      long now = System.currentTimeMillis();
      try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
        packer.packArrayHeader(3).packLong(now).packArrayHeader(1);
        packer.packMapHeader(isStored ? 20 : 17);
        packer.packString("event_id").packLong(sequence);
        packer.packString("timestamp").packLong(now);
        packer.packString("event_type").packString(isStored ? "stored" : "removed");
        packer.packString("type").packString(type);
        for (String key : UNKNOWN) {
          packer.packString(key).packNil();
        }
        packer.packString("tenant_id").packString("default");
        packer.packString("backend_id").packString("pool");
        packer.packString("group_id").packNil();
        packer.packString("medium").packString("cpu");
        packer.packString("dp_rank").packNil();
        packer.packString("object_key").packString(KEYS + HexFormat.of().formatHex(hash.digest()));
        packer.packString("seq_hashes").packArrayHeader(0);
        packer.packString("block_hashes").packArrayHeader(0);
        position(packer, isStored);
        packer.packInt(0);
        return packer.toByteArray();
      } catch (IOException e) {
        throw new UncheckedIOException("writing to memory", e);
      }
    }

    private static void position(MessagePacker packer, boolean isStored) throws IOException {
      packer.packString("base_block_idx");
      if (!isStored) {
        packer.packNil();
        return;
      }
      packer.packInt(0);
      packer.packString("parent_hash").packNil();
      packer.packString("token_ids").packNil();
      packer.packString("parent_block_hash").packNil();
    }

    /** Stops at once; waits until the port is free. */
    @Override
    public synchronized void close() {
      closed = true;
      context.close();
    }
  }
}
