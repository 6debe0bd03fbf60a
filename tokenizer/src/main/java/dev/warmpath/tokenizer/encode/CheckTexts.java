package dev.warmpath.tokenizer.encode;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Random texts that are hard on cuts: much white space of all kinds, words, digits and punctuation
 * side by side, composed and decomposed letters, emoji, and added tokens whole and in part.
 *
 * <p>Confined to one thread.
 */
final class CheckTexts {

  private static final String[] WORDS = {
    "hello", "World", "the", "a", "I", "don't", "x1", "12345", "7", "3.14", "def", "class"
  };

  private static final String[] BITS = {
    " ",
    "  ",
    "    ",
    "\t",
    "\t\t",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " \n",
    "\n ",
    "  \n",
    "\n  ",
    "/",
    "//",
    "/*",
    "</a>",
    "<a>",
    " </",
    "> </",
    "<|",
    "|>",
    "<",
    ">",
    "'s",
    "'LL",
    "'",
    "\u4e2d\u6587",
    "\u65e5\u672c\u8a9e\u3067\u3059",
    "\ud55c\uad6d\uc5b4",
    "\u00e9",
    "e\u0301",
    "\u0301",
    "\u0338",
    "\ud83d\ude00",
    "\ud83d\udc69\u200d\ud83d\udc67",
    "\u00a0",
    "\u2003",
    "\u2581",
    "\u2581\u2581",
    "\u0085",
    "\u2028",
    "\u200b",
    "\u1100",
    "\u1161",
    "\u0915\u093c",
    "\u2177",
    "\u00bd",
    "\u2014",
    "\u2026",
    "\"",
    "{\"k\": 1}",
    "def f(x):\n    return x\n",
    "_",
    "=",
    "==",
    "#",
    "##",
    "\0",
    "\u001f",
    "\ufb01",
    "\u0130",
    "\u00df",
    "\u03a9",
    "\u01c5",
    "\u0e33",
    "\ufeff",
    "\u0661",
    "a/b",
    "\n/",
    "  x",
    "\n\tx"
  };

  private final List<String> tokens;
  private final RandomGenerator random;

  /** Texts that name some of these added tokens. */
  public CheckTexts(List<AddedToken> tokens, RandomGenerator random) {
    this.tokens = tokens.stream().map(AddedToken::content).toList();
    this.random = random;
  }

  /** Another text of 5 to 64 bits. Well-formed. */
  public String next() {
    StringBuilder text = new StringBuilder();
    int bits = 5 + random.nextInt(60);
    for (int i = 0; i < bits; i++) {
      add(text, random.nextInt(100));
    }
    return text.toString();
  }

  private void add(StringBuilder text, int dice) {
    if (dice < 10 && !tokens.isEmpty()) {
      String token = tokens.get(random.nextInt(tokens.size()));
      text.append(token, 0, dice < 8 ? token.length() : wholePairs(token));
    } else if (dice < 14) {
      text.append((char) random.nextInt(Character.MIN_SURROGATE));
    } else if (dice < 40) {
      text.append(' ').append(WORDS[random.nextInt(WORDS.length)]);
    } else {
      text.append(BITS[random.nextInt(BITS.length)]);
    }
  }

  private int wholePairs(String token) {
    return token.offsetByCodePoints(0, random.nextInt(token.codePointCount(0, token.length()) + 1));
  }
}
