package dev.warmpath.tokenizer.encode;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Tries a placement on random texts before it is trusted: encoded in pieces they must give the
 * tokens that they give whole.
 *
 * <p>A check cannot prove a rule, since a vocabulary may not have the token that shows the
 * difference; it guards against a proof or a file that was read wrongly.
 *
 * <p>Confined to one thread.
 */
final class SelfCheck {

  /** Encodes one piece of a text. Implementations are thread-safe. */
  @FunctionalInterface
  public interface Encoding {

    /**
     * The token ids of {@code piece}, without special tokens around it.
     *
     * @param head whether it is begun as the tokenizer begins a text; else it goes on one
     */
    int[] encode(String piece, boolean head);
  }

  /** One text in so many is cut at some of its places only. */
  private static final int SOME_CUTS_EVERY = 10;

  private final Encoding encoding;
  private final Encoding whole;
  private final CheckTexts texts;
  private final RandomGenerator random;

  /**
   * @param encoding for the pieces
   * @param whole for whole texts; always asked with {@code head}
   */
  public SelfCheck(Encoding encoding, Encoding whole, CheckTexts texts, RandomGenerator random) {
    this.encoding = encoding;
    this.whole = whole;
    this.texts = texts;
    this.random = random;
  }

  /** {@code wanted}, or as much of it as holds for {@code count} texts. */
  public CutPlan checked(CutPlan wanted, int count) {
    CutPlan placement = wanted;
    while (placement.kind() != CutPlan.Kind.WHOLE && mismatches(placement, count, 1) > 0) {
      placement =
          placement.lowered(
              "the self-check failed for " + placement.kind() + " by " + placement.reason());
    }
    return placement;
  }

  /** How many of {@code count} texts come out otherwise in pieces; stops at {@code enough}. */
  public int mismatches(CutPlan placement, int count, int enough) {
    int found = 0;
    for (int i = 0; i < count && found < enough; i++) {
      String text = texts.next();
      int[] pieces = inPieces(placement, text, i % SOME_CUTS_EVERY == 0);
      found += Arrays.equals(pieces, whole.encode(text, true)) ? 0 : 1;
    }
    return found;
  }

  private int[] inPieces(CutPlan placement, String text, boolean someCutsOnly) {
    Pieces pieces = new Pieces(placement, text, someCutsOnly);
    placement.parts(text, 0, text.length(), pieces);
    return Arrays.copyOf(pieces.ids, pieces.count);
  }

  private final class Pieces implements CutPlan.Parts {
    private final CutPlan placement;
    private final String text;
    private final boolean someCutsOnly;
    private int[] ids = new int[64];
    private int count;

    Pieces(CutPlan placement, String text, boolean someCutsOnly) {
      this.placement = placement;
      this.text = text;
      this.someCutsOnly = someCutsOnly;
    }

    @Override
    public void token(int id) {
      add(id);
    }

    @Override
    public void rest(int from, int to, boolean head, boolean solid) {
      int start = from;
      while (start < to) {
        int end = solid ? to : pieceEnd(start, to);
        add(encoding.encode(text.substring(start, end), head && start == from));
        start = end;
      }
    }

    private int pieceEnd(int start, int to) {
      int end = placement.pieceEnd(text, start, to);
      while (someCutsOnly && end < to && random.nextBoolean()) {
        end = placement.pieceEnd(text, end, to);
      }
      return end;
    }

    private void add(int... more) {
      if (count + more.length > ids.length) {
        ids = Arrays.copyOf(ids, 2 * (count + more.length));
      }
      System.arraycopy(more, 0, ids, count, more.length);
      count += more.length;
    }
  }
}
