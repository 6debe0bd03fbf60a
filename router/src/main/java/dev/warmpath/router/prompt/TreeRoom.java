package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.NumericNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.databind.node.ValueNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The heap that bodies take together while their prompts are read: their trees, and what is made of
 * them. A few bytes of JSON can be a hundred of a tree, so nodes are counted while they are made.
 *
 * <p>Thread-safe.
 */
public final class TreeRoom {

  /** A body does not fit, alone or beside the others. */
  public static final class FullException extends RuntimeException {

    private static final long serialVersionUID = 1;

    FullException() {
      super("no room for the body's tree", null, false, false);
    }
  }

  /**
   * What one body takes; {@link #close} gives it back.
   *
   * <p>Confined to one thread.
   */
  public final class Share implements AutoCloseable {
    private long usedBytes;
    private long takenBytes;
    private boolean closed;

    private Share() {}

    /**
     * Reads a body's first value.
     *
     * @throws FullException if there is no room for its tree
     */
    public JsonNode parse(ObjectMapper json, byte[] body) throws IOException {
      return reader(json, body).readTree(body);
    }

    /** A reader for this body whose nodes are counted until {@link #close}. */
    ObjectReader reader(ObjectMapper json, byte[] body) {
      take((long) COPIES_OF_TEXT * body.length);
      return json.reader(new CountedNodes(this));
    }

    /** What it takes, the tree and all that is made of it. */
    public long usedBytes() {
      return usedBytes;
    }

    private void take(long bytes) {
      usedBytes += bytes;
      if (usedBytes > takenBytes && !closed) {
        long more = Math.max(STEP_BYTES, usedBytes - takenBytes);
        if (TreeRoom.this.bytes.addAndGet(more) > limitBytes) {
          TreeRoom.this.bytes.addAndGet(-more);
          throw new FullException();
        }
        takenBytes += more;
      }
    }

    @Override
    public void close() {
      closed = true;
      bytes.addAndGet(-takenBytes);
      takenBytes = 0;
    }
  }

  /** Where all nodes of a tree come from. */
  private static final class CountedNodes extends JsonNodeFactory {
    private static final long serialVersionUID = 1;

    private final transient Share share;

    CountedNodes(Share share) {
      this.share = share;
    }

    private void count(int bytes) {
      share.take((long) COPIES_OF_NODES * (NodeBytes.ENTRY_BYTES + bytes));
    }

    @Override
    public ObjectNode objectNode() {
      count(NodeBytes.CONTAINER_BYTES);
      return super.objectNode();
    }

    @Override
    public ArrayNode arrayNode() {
      count(NodeBytes.CONTAINER_BYTES);
      return super.arrayNode();
    }

    @Override
    public ArrayNode arrayNode(int capacity) {
      count(NodeBytes.CONTAINER_BYTES);
      return super.arrayNode(capacity);
    }

    @Override
    public TextNode textNode(String text) {
      count(NodeBytes.TEXT_BYTES);
      return super.textNode(text);
    }

    @Override
    public BooleanNode booleanNode(boolean value) {
      count(0);
      return super.booleanNode(value);
    }

    @Override
    public NullNode nullNode() {
      count(0);
      return super.nullNode();
    }

    @Override
    public NumericNode numberNode(int value) {
      count(NodeBytes.OTHER_BYTES);
      return super.numberNode(value);
    }

    @Override
    public NumericNode numberNode(long value) {
      count(NodeBytes.OTHER_BYTES);
      return super.numberNode(value);
    }

    @Override
    public NumericNode numberNode(double value) {
      count(NodeBytes.OTHER_BYTES);
      return super.numberNode(value);
    }

    @Override
    public ValueNode numberNode(BigInteger value) {
      count(NodeBytes.TEXT_BYTES);
      return super.numberNode(value);
    }

    @Override
    public ValueNode numberNode(BigDecimal value) {
      count(NodeBytes.TEXT_BYTES);
      return super.numberNode(value);
    }
  }

  /** Each node becomes a value for the template. */
  private static final int COPIES_OF_NODES = 2;

  /** Of a text there are its string, the rendered prompt, its pieces and its tokens. */
  private static final int COPIES_OF_TEXT = 6;

  private static final int STEP_BYTES = 1 << 16;

  private final long limitBytes;
  private final AtomicLong bytes = new AtomicLong();

  public TreeRoom(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** A share for one more body. */
  public Share share() {
    return new Share();
  }

  /** Bytes that are taken. */
  public long bytes() {
    return bytes.get();
  }

  /** Bytes that may be taken. */
  public long limitBytes() {
    return limitBytes;
  }
}
