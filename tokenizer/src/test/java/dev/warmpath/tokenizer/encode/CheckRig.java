package dev.warmpath.tokenizer.encode;

import java.util.Random;

/** A tokenizer of the real library, and the check of placements for it. */
final class CheckRig implements AutoCloseable {

  private final TextEncoder whole;
  private final TextEncoder goesOn;
  private final SelfCheck check;

  CheckRig(String json, CutPlan.Head head) {
    whole = TextEncoder.of(json);
    goesOn =
        TextEncoder.of(head == CutPlan.Head.NONE ? json : IncrementalEncoder.Continuation.of(json));
    Random random = new Random(11);
    check =
        new SelfCheck(
            (piece, first) -> (first ? whole : goesOn).encode(piece, false),
            (text, first) -> whole.encode(text, false),
            new CheckTexts(TokenizerShape.read(json).addedTokens(), random),
            random);
  }

  SelfCheck check() {
    return check;
  }

  int[] whole(String text) {
    return whole.encode(text, false);
  }

  @Override
  public void close() {
    whole.close();
    goesOn.close();
  }
}
