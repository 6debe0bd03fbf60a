package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;

/**
 * A body with what it was parsed to, up to the end of its messages.
 *
 * <p>Immutable, if nobody changes bytes and nodes.
 */
final class KnownBody {

  /** What an entry takes besides what is counted, about. */
  private static final int BODY_BYTES = 1024;

  private final byte[] bytes;
  private final ObjectNode before;
  private final NamedModels modelsBefore;
  private final String name;
  private final Messages messages;
  private final long weight;

  /**
   * A body of these parts.
   *
   * @param before the fields before the list, of which nobody may change any
   * @param modelsBefore that they name, not to be changed either
   * @param name the field that the list stands in
   */
  KnownBody(
      byte[] bytes, ObjectNode before, NamedModels modelsBefore, String name, Messages messages) {
    this.bytes = bytes;
    this.before = before;
    this.modelsBefore = modelsBefore;
    this.name = name;
    this.messages = messages;
    this.weight =
        BODY_BYTES
            + bytes.length
            + NodeBytes.of(before)
            + modelsBefore.weight()
            + messages.weight();
  }

  /**
   * How many messages {@code body} begins with that need no parsing. The first byte of the message
   * behind them is the same too, so in both bodies a message begins there.
   */
  int shared(byte[] body) {
    int same = Arrays.mismatch(bytes, body);
    if (same < 0) {
      same = body.length;
    }
    return Math.max(0, messages.countBefore(same) - 1);
  }

  /** Whether a body that shares so many messages makes this one needless. */
  boolean isContinuedFrom(int shared) {
    return shared >= messages.count() - 1;
  }

  /** Where message {@code index} begins. */
  int start(int index) {
    return messages.start(index);
  }

  ObjectNode before() {
    return before;
  }

  NamedModels modelsBefore() {
    return modelsBefore;
  }

  String name() {
    return name;
  }

  Messages messages() {
    return messages;
  }

  /** Bytes of the heap, about. */
  long weight() {
    return weight;
  }
}
