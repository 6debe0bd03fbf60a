package dev.warmpath.tokenizer.encode;

/**
 * Sees what the encoding of a prompt is about to do, and may refuse it where it must not take long.
 * A prompt that was refused can be encoded again elsewhere; what was remembered until then stays of
 * use.
 *
 * <p>Confined to the thread that encodes.
 */
public interface EncodeGuard {

  /** Refuses nothing. */
  EncodeGuard NONE = new EncodeGuard() {};

  /** Encoding is not to go on here. */
  final class TooMuchException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public TooMuchException() {
      super("more than may be encoded here", null, false, false);
    }
  }

  /**
   * A text of so many characters is about to be encoded, from memory or otherwise. One shorter than
   * {@link IncrementalEncoder#BEGINNING_CHARS} takes no lock that is held for long.
   *
   * @throws TooMuchException to refuse it
   */
  default void beforeText(int chars) {}

  /**
   * So many characters that no memory holds are about to be encoded by one call of the native
   * library, which nothing interrupts.
   *
   * @throws TooMuchException to refuse it
   */
  default void beforeNative(int chars) {}

  /**
   * Images are about to be decoded and hashed.
   *
   * @throws TooMuchException to refuse them
   */
  default void beforeImages() {}

  /** The call has returned. */
  default void afterNative() {}
}
