package dev.warmpath.router.warmup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Publishes the events of a stub engine as vLLM does: what it stores of the prompts it is given,
 * and that it removes it again.
 *
 * <p>Confined to one thread.
 */
final class StubEvents implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StubEvents.class);
  private static final int BLOCK_TOKENS = 16;
  private static final byte[] TOPIC = "kv".getBytes(StandardCharsets.UTF_8);

  private final ZContext context = new ZContext(1);
  private final ZMQ.Socket socket = context.createSocket(SocketType.XPUB);
  private final String endpoint;
  private long sequence;
  private long hashes;

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

  /** A prompt is stored, and the first block of it removed again. */
  void stored(int[] tokenIds) {
    int blocks = tokenIds.length / BLOCK_TOKENS;
    if (blocks > 0) {
      send(packer -> {
        packer.packArrayHeader(2);
        store(packer, tokenIds, blocks);
        packer.packArrayHeader(3).packString("BlockRemoved");
        packer.packArrayHeader(1).packLong(hashes);
        packer.packString("GPU");
      });
      hashes += blocks;
    }
  }

  private void store(MessageBufferPacker packer, int[] tokenIds, int blocks) throws IOException {
    packer.packArrayHeader(9).packString("BlockStored").packArrayHeader(blocks);
    for (int i = 0; i < blocks; i++) {
      packer.packLong(hashes + i);
    }
    packer.packNil().packArrayHeader(blocks * BLOCK_TOKENS);
    for (int i = 0; i < blocks * BLOCK_TOKENS; i++) {
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
