package dev.warmpath.router.warmup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Publishes the events of a stub engine as vLLM does: what it stores of the prompts that it
 * computes, and what it evicts for them.
 *
 * <p>Confined to one thread.
 */
final class StubEvents implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StubEvents.class);
  private static final int BLOCK_TOKENS = 16;
  private static final int CACHE_BLOCKS = 2_000;
  private static final long HASH_FACTOR = 0x9E3779B97F4A7C15L;
  private static final byte[] TOPIC = "kv".getBytes(StandardCharsets.UTF_8);

  private final ZContext context = new ZContext(1);
  private final ZMQ.Socket socket = context.createSocket(SocketType.XPUB);
  private final String endpoint;
  private final Set<Long> held = new LinkedHashSet<>();
  private long sequence;

  StubEvents() {
    socket.setLinger(0);
    endpoint = "tcp://127.0.0.1:" + socket.bindToRandomPort("tcp://127.0.0.1");
  }

  String endpoint() {
    return endpoint;
  }

  /** Waits until somebody hears them, or {@code limitMillis} are over. */
  void awaitSubscriber(int limitMillis) {
    socket.setReceiveTimeOut(limitMillis);
    byte[] subscription = socket.recv();
    if (subscription == null) {
      LOG.debug("nobody subscribes to the stub engine's events");
    }
  }

  /**
   * A prompt is computed: those of its blocks are stored that are not held, and what was stored
   * first is evicted when the cache is full.
   */
  void computed(int[] tokenIds) {
    long[] hashes = chain(tokenIds);
    int known = 0;
    while (known < hashes.length && held.contains(hashes[known])) {
      known++;
    }
    if (known == hashes.length) {
      return;
    }
    int begin = known;
    List<Long> evicted = evict(hashes.length - begin);
    send(packer -> {
      packer.packArrayHeader(evicted.isEmpty() ? 1 : 2);
      store(packer, tokenIds, hashes, begin);
      if (!evicted.isEmpty()) {
        packer.packArrayHeader(3).packString("BlockRemoved").packArrayHeader(evicted.size());
        for (long hash : evicted) {
          packer.packLong(hash);
        }
        packer.packString("GPU");
      }
    });
    for (int i = begin; i < hashes.length; i++) {
      held.add(hashes[i]);
    }
  }

  /** Chained, so that prompts that begin alike share blocks. */
  private static long[] chain(int[] tokenIds) {
    long[] hashes = new long[tokenIds.length / BLOCK_TOKENS];
    long hash = 1;
    for (int i = 0; i < hashes.length * BLOCK_TOKENS; i++) {
      hash = (hash ^ tokenIds[i]) * HASH_FACTOR + 1;
      hashes[i / BLOCK_TOKENS] = hash;
    }
    return hashes;
  }

  private List<Long> evict(int blocks) {
    List<Long> evicted = new ArrayList<>();
    Iterator<Long> oldest = held.iterator();
    for (int left = held.size() + blocks - CACHE_BLOCKS; left > 0 && oldest.hasNext(); left--) {
      evicted.add(oldest.next());
      oldest.remove();
    }
    return evicted;
  }

  private static void store(MessageBufferPacker packer, int[] tokenIds, long[] hashes, int begin)
      throws IOException {
    packer.packArrayHeader(9).packString("BlockStored").packArrayHeader(hashes.length - begin);
    for (int i = begin; i < hashes.length; i++) {
      packer.packLong(hashes[i]);
    }
    if (begin == 0) {
      packer.packNil();
    } else {
      packer.packLong(hashes[begin - 1]);
    }
    packer.packArrayHeader((hashes.length - begin) * BLOCK_TOKENS);
    for (int i = begin * BLOCK_TOKENS; i < hashes.length * BLOCK_TOKENS; i++) {
      packer.packInt(tokenIds[i]);
    }
    packer.packInt(BLOCK_TOKENS).packNil().packString("GPU").packNil().packNil();
  }

  /** Writes the events of a batch. */
  private interface Events {
    void writeTo(MessageBufferPacker packer) throws IOException;
  }

  private void send(Events events) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(0);
      events.writeTo(packer);
      packer.packInt(0);
      socket.sendMore(TOPIC);
      socket.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence++).array());
      socket.send(packer.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
