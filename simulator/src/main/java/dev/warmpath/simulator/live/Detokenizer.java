package dev.warmpath.simulator.live;

import java.util.Arrays;
import java.util.function.Function;

/**
 * Turns the tokens of one answer into text, piece by piece; half a character waits for its rest.
 *
 * <p>Confined to its event loop.
 */
final class Detokenizer {

  /*
   * A piece is what the tokens since the last one add to the text of the tokens of that last one:
   * some decoders drop a space before the first token that they see. So the work for a token does
   * not depend on the length of the answer.
   */

  /** More tokens never wait for the rest of a character: they are no text. */
  private static final int MAX_WAITING = 16;

  private final Function<int[], String> decode;
  private int[] tokenIds = new int[64];
  private int length;
  private int contextFrom;
  private int waitingFrom;

  /**
   * @param decode the text of some tokens
   */
  Detokenizer(Function<int[], String> decode) {
    this.decode = decode;
  }

  /** Adds a token and returns the text that is complete now. */
  String add(int tokenId, boolean last) {
    if (length == tokenIds.length) {
      tokenIds = Arrays.copyOf(tokenIds, 2 * length);
    }
    tokenIds[length++] = tokenId;
    String context = text(waitingFrom);
    String text = text(length);
    boolean waits = text.endsWith("\uFFFD") && length - waitingFrom < MAX_WAITING;
    if (text.length() < context.length() || (waits && !last)) {
      return "";
    }
    contextFrom = waitingFrom;
    waitingFrom = length;
    return text.substring(context.length());
  }

  int[] tokenIds() {
    return Arrays.copyOf(tokenIds, length);
  }

  int length() {
    return length;
  }

  private String text(int to) {
    return decode.apply(Arrays.copyOfRange(tokenIds, contextFrom, to));
  }
}
