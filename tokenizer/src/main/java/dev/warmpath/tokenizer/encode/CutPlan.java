package dev.warmpath.tokenizer.encode;

import org.jspecify.annotations.Nullable;

/**
 * Where the texts of one tokenizer may be cut, and why there.
 *
 * <p>Parts are looked at from three sides: a <em>chunk</em> is what is remembered as one, a
 * <em>rest</em> is what stands between two added tokens, a <em>piece</em> is what is encoded as
 * one.
 *
 * @param reason for people: what proves the cuts, or what forbids them
 * @param head which pieces the tokenizer puts a blank in front of
 */
public record CutPlan(Kind kind, String reason, AddedTokens tokens, CutRule rule, Head head) {

  /** How far texts are cut up. */
  public enum Kind {
    /** At added tokens and inside the text between them. */
    INSIDE,
    /** At added tokens. */
    BETWEEN_TOKENS,
    /** Not at all. */
    WHOLE
  }

  /** Which pieces are begun otherwise than others. */
  public enum Head {
    /** None. */
    NONE,
    /** The first of each rest. */
    REST,
    /** The first of the text. */
    TEXT
  }

  /** A proven rule, and what it rests on. */
  record Inside(CutRule rule, String reason) {}

  /** Is told the parts of a text in order. */
  public interface Parts {

    /** An added token. */
    void token(int id);

    /**
     * A rest, or the beginning or the end of one.
     *
     * @param head whether the tokenizer begins it otherwise than a text that goes on
     * @param solid whether it must be encoded as one
     */
    void rest(int from, int to, boolean head, boolean solid);
  }

  /** A chunk ends before an added token of the prompt's structure once it is this long… */
  private static final int SHORTEST_CHUNK_CHARS = 64;

  /** …and at the first cut once it is this long. */
  private static final int CHUNK_CHARS = 1024;

  static CutPlan inside(AddedTokens tokens, Inside inside, Head head) {
    return new CutPlan(Kind.INSIDE, inside.reason(), tokens, inside.rule(), head);
  }

  static CutPlan betweenTokens(AddedTokens tokens, Head head, String reason) {
    return new CutPlan(Kind.BETWEEN_TOKENS, reason, tokens, CutRule.NEVER, head);
  }

  static CutPlan whole(String reason) {
    return new CutPlan(Kind.WHOLE, reason, AddedTokens.NONE, CutRule.NEVER, Head.NONE);
  }

  /** One step more careful than this one, which failed for {@code reason}. */
  CutPlan lowered(String reason) {
    return kind == Kind.INSIDE ? betweenTokens(tokens, head, reason) : whole(reason);
  }

  /**
   * How many characters behind a place decide, at most, whether it is a cut; what is behind them
   * does not matter.
   */
  public int lookaheadChars() {
    return 2 * tokens.longestChars() + 1;
  }

  /** Whether a part that begins at {@code from} is the beginning of a text to the tokenizer. */
  public boolean isHead(int from) {
    return from == 0 && head != Head.NONE;
  }

  /**
   * The end of the chunk that begins at {@code from}, which is 0 or the end of another chunk. It
   * depends on nothing before {@code from}.
   */
  public int chunkEnd(String text, int from) {
    int at = from;
    int rest = from;
    boolean solid = false;
    while (at < text.length()) {
      AddedToken token = tokens.at(text, at, text.length());
      if (endsChunk(token, at - from)) {
        return at;
      }
      if (token != null) {
        at += token.content().length();
        rest = at;
        solid = token.flagged();
      } else if (!solid && at > rest && at - from >= CHUNK_CHARS && rule.cutsBefore(text, at)) {
        return at;
      } else {
        at++;
      }
    }
    return at;
  }

  private static boolean endsChunk(@Nullable AddedToken token, int chars) {
    return token != null
        && !token.flagged()
        && chars >= (token.special() ? SHORTEST_CHUNK_CHARS : CHUNK_CHARS);
  }

  /** Tells the parts of the chunk {@code [from, to)} of {@code text}. */
  public void parts(String text, int from, int to, Parts parts) {
    int rest = from;
    boolean solid = kind == Kind.WHOLE;
    boolean first = from == 0;
    int at = from;
    while (at < to) {
      AddedToken token = tokens.at(text, at, to);
      if (token == null) {
        at++;
      } else if (token.flagged()) {
        solid = true;
        at += token.content().length();
      } else {
        tell(parts, rest, at, first, solid);
        if (token.id() != AddedToken.NO_ID) {
          parts.token(token.id());
        }
        at += token.content().length();
        rest = at;
        solid = kind == Kind.WHOLE;
        first = head == Head.REST;
      }
    }
    tell(parts, rest, to, first, solid);
  }

  private void tell(Parts parts, int from, int to, boolean first, boolean solid) {
    if (from < to) {
      parts.rest(from, to, first && head != Head.NONE, solid);
    }
  }

  /** The first place behind {@code from} where the rest that ends at {@code to} may be cut. */
  public int pieceEnd(String text, int from, int to) {
    int at = from + 1;
    while (at < to && !rule.cutsBefore(text, at)) {
      at++;
    }
    return at;
  }
}
