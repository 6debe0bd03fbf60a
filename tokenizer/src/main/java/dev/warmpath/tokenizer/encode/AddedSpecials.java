package dev.warmpath.tokenizer.encode;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The tokens that a file's post-processor adds before and behind every text. */
public final class AddedSpecials {

  /** Nothing is added. */
  public static final AddedSpecials NONE = new AddedSpecials(new int[0], new int[0]);

  private static final String SHORT = "a";
  private static final String LONG = "b c";

  private final int[] before;
  private final int[] after;

  /** These tokens; nobody may change them any more. */
  public AddedSpecials(int[] before, int[] after) {
    this.before = before;
    this.after = after;
  }

  /** What {@code encoder} adds to texts, seen from two of them; null if that does not show it. */
  public static @Nullable AddedSpecials of(TextEncoder encoder) {
    int[] inside = encoder.encode(SHORT, false);
    int[] all = encoder.encode(SHORT, true);
    for (int at = 0; at + inside.length <= all.length; at++) {
      AddedSpecials added =
          new AddedSpecials(
              Arrays.copyOf(all, at), Arrays.copyOfRange(all, at + inside.length, all.length));
      if (added.fits(encoder, SHORT) && added.fits(encoder, LONG) && added.fits(encoder, "")) {
        return added;
      }
    }
    return null;
  }

  private boolean fits(TextEncoder encoder, String text) {
    return Arrays.equals(addTo(encoder.encode(text, false)), encoder.encode(text, true));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof AddedSpecials tokens
        && Arrays.equals(before, tokens.before)
        && Arrays.equals(after, tokens.after);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(before) + Arrays.hashCode(after);
  }

  /** Number of tokens. */
  public int count() {
    return before.length + after.length;
  }

  /** {@code ids} with the tokens added. */
  public int[] addTo(int[] ids) {
    if (count() == 0) {
      return ids;
    }
    int[] all = new int[ids.length + count()];
    System.arraycopy(before, 0, all, 0, before.length);
    System.arraycopy(ids, 0, all, before.length, ids.length);
    System.arraycopy(after, 0, all, before.length + ids.length, after.length);
    return all;
  }
}
