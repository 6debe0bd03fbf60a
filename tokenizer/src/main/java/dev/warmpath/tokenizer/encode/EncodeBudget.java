package dev.warmpath.tokenizer.encode;

/**
 * What one model may spend on not encoding texts twice.
 *
 * @param bytes memory for all that is remembered; 0 remembers nothing
 * @param checkTexts random texts that the placement of cuts is tried on at load
 */
public record EncodeBudget(long bytes, int checkTexts) {

  /** Texts that a tokenizer from outside is tried on. */
  public static final int CHECK_TEXTS = 1_000;

  private static final int HEAP_SHARE = 16;

  public EncodeBudget {
    if (bytes < 0 || checkTexts < 0) {
      throw new IllegalArgumentException("bytes=" + bytes + ", checkTexts=" + checkTexts);
    }
  }

  /** A sixteenth of the heap. */
  public static EncodeBudget defaults() {
    return new EncodeBudget(Runtime.getRuntime().maxMemory() / HEAP_SHARE, CHECK_TEXTS);
  }

  /** One of {@code count} equal parts of the bytes. */
  public EncodeBudget part(int count) {
    return new EncodeBudget(bytes / count, checkTexts);
  }

  /** What is left beside another. */
  public EncodeBudget without(EncodeBudget other) {
    return new EncodeBudget(bytes - other.bytes, checkTexts);
  }

  /** Bytes for the beginnings of texts. */
  public long prefixBytes() {
    return bytes / 10 * 6;
  }

  /** Bytes for chunks. */
  public long chunkBytes() {
    return bytes / 10 * 3;
  }

  /** Bytes for words. */
  public long wordBytes() {
    return bytes / 10;
  }
}
