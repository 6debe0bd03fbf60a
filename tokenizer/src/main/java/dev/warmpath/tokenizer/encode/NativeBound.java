package dev.warmpath.tokenizer.encode;

import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;

/**
 * How long a text one call of the native library may take: nothing interrupts such a call, so a
 * longer one would hold its thread long after nobody wants its tokens.
 */
final class NativeBound {

  /**
   * Bytes of UTF-8, which the library's time goes with: 0.5 to 1.8 µs each, measured with large
   * vocabularies and texts from prose to noise. So the longest call takes about the half second
   * that a prompt has unless the configuration says otherwise, and a second at worst.
   */
  static final int LONGEST_BYTES = 512 << 10;

  /** A character of UTF-16 has at most so many: those of four come in pairs. */
  private static final int MOST_BYTES_PER_CHAR = 3;

  private NativeBound() {}

  /**
   * Refuses {@code text} if it is too long.
   *
   * @throws InexactPromptException if it is
   */
  static void check(String text) {
    if (text.length() > LONGEST_BYTES / MOST_BYTES_PER_CHAR && bytes(text) > LONGEST_BYTES) {
      throw new InexactPromptException(
          FallbackCause.UNCUTTABLE_TEXT,
          "%d characters that cannot be cut, more than %d bytes of UTF-8"
              .formatted(text.length(), LONGEST_BYTES));
    }
  }

  private static long bytes(String text) {
    long bytes = text.length();
    for (int i = 0; i < text.length() && bytes <= LONGEST_BYTES; i++) {
      char c = text.charAt(i);
      bytes += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
    }
    return bytes;
  }
}
