package dev.warmpath.tokenizer.encode;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;

/**
 * Stands for a text: 128 bits of hash, and its length.
 *
 * @param head whether the text is begun otherwise than one that goes on
 */
record TextKey(long high, long low, int chars, boolean head) {

  /** The key of {@code text}; the hasher's seed is nobody's to know. */
  static TextKey of(Hasher128 hasher, String text, boolean head) {
    HashValue128 hash = hasher.hashCharsTo128Bits(text);
    return new TextKey(
        hash.getMostSignificantBits(), hash.getLeastSignificantBits(), text.length(), head);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(low);
  }
}
