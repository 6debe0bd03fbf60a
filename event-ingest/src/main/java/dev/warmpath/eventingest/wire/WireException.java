package dev.warmpath.eventingest.wire;

/**
 * A peer sent bytes that are not what they should be.
 *
 * <p>The message says what was expected and what came, never tokens or texts of the payload. It
 * carries no stack trace: it is about the peer's bytes, and a hostile peer can cause many.
 */
public final class WireException extends Exception {

  private final int byteOffset;

  /**
   * @param problem without the offset and without anything that the payload says
   */
  public WireException(int byteOffset, String problem) {
    super(problem + " at byte " + byteOffset, null, false, false);
    this.byteOffset = byteOffset;
  }

  /** Where in the payload the problem lies, in bytes from its beginning. */
  public int byteOffset() {
    return byteOffset;
  }
}
