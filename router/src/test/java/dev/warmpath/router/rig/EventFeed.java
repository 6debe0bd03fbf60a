package dev.warmpath.router.rig;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Publishes an engine's events as vLLM does; of one thread. */
public final class EventFeed implements AutoCloseable {

  private static final int BLOCK_TOKENS = 16;

  private final ZContext context = new ZContext(1);
  private final ZMQ.Socket socket = context.createSocket(SocketType.PUB);
  private final String endpoint;
  private final int rank;
  private long sequence;
  private long hashes;

  public EventFeed() {
    this(0);
  }

  /** The events of a data-parallel rank. */
  public EventFeed(int rank) {
    this.rank = rank;
    socket.setLinger(0);
    endpoint = "tcp://127.0.0.1:" + socket.bindToRandomPort("tcp://127.0.0.1");
  }

  public String endpoint() {
    return endpoint;
  }

  /** A prompt of so many blocks that no other begins like is stored. */
  public void stored(int blocks) {
    int[] tokens = new int[blocks * BLOCK_TOKENS];
    long first = (hashes + blocks) * BLOCK_TOKENS;
    Arrays.setAll(tokens, i -> (int) (first + i) & 0xffff);
    stored(tokens);
  }

  /** The whole blocks of a prompt of these tokens are stored. */
  public void stored(int[] tokens) {
    stored(tokens, 0);
  }

  /** The same where each block's hash covers so many tokens behind it too. */
  public void stored(int[] tokens, int lookahead) {
    int blocks = (tokens.length - lookahead) / BLOCK_TOKENS;
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(0).packArrayHeader(1);
      packer
          .packArrayHeader(lookahead == 0 ? 9 : 16)
          .packString("BlockStored")
          .packArrayHeader(blocks);
      for (int i = 0; i < blocks; i++) {
        packer.packLong(hashes++);
      }
      packer.packNil().packArrayHeader(blocks * BLOCK_TOKENS);
      for (int i = 0; i < blocks * BLOCK_TOKENS; i++) {
        packer.packInt(tokens[i]);
      }
      packer.packInt(BLOCK_TOKENS).packNil().packString("GPU").packNil().packNil();
      if (lookahead > 0) {
        for (int i = 0; i < 6; i++) {
          packer.packNil();
        }
        packer.packArrayHeader(blocks);
        for (int block = 1; block <= blocks; block++) {
          packer.packArrayHeader(lookahead);
          for (int i = 0; i < lookahead; i++) {
            packer.packInt(tokens[block * BLOCK_TOKENS + i]);
          }
        }
      }
      packer.packInt(rank);
      socket.sendMore("kv".getBytes(StandardCharsets.UTF_8));
      socket.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence++).array());
      socket.send(packer.toByteArray());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
