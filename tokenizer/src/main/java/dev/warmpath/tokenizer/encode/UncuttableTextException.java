package dev.warmpath.tokenizer.encode;

/**
 * A text holds a part that nothing allows to cut, and that is too long to encode in one go.
 *
 * <p>Immutable.
 */
public final class UncuttableTextException extends IllegalArgumentException {

  private static final long serialVersionUID = 1;

  UncuttableTextException(int chars) {
    super(
        "%d characters that cannot be cut, more than %d bytes of UTF-8"
            .formatted(chars, NativeBound.LONGEST_BYTES));
  }
}
