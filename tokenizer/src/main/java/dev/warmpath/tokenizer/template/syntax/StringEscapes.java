package dev.warmpath.tokenizer.template.syntax;

/**
 * The escapes of Python's {@code unicode-escape} codec, which Jinja2 applies to string literals. A
 * backslash before anything else stays.
 *
 * <p>Confined to its thread.
 */
final class StringEscapes {
  private static final String SIMPLE = "abfnrtv\\'\"";
  private static final String MEANING = "\u0007\b\f\n\r\t\u000b\\'\"";

  private final String raw;
  private final Lexer lexer;
  private final StringBuilder out = new StringBuilder();
  private int at;

  private StringEscapes(String raw, Lexer lexer) {
    this.raw = raw;
    this.lexer = lexer;
  }

  static String resolve(String raw, Lexer lexer) {
    return raw.indexOf('\\') < 0 ? raw : new StringEscapes(raw, lexer).run();
  }

  private String run() {
    while (at < raw.length()) {
      char c = raw.charAt(at++);
      if (c == '\\' && at < raw.length()) {
        escape(raw.charAt(at++));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  private void escape(char c) {
    int simple = SIMPLE.indexOf(c);
    if (simple >= 0) {
      out.append(MEANING.charAt(simple));
    } else if (c >= '0' && c <= '7') {
      throw lexer.refusal("an octal escape in a string");
    } else if (c == 'x' || c == 'u' || c == 'U') {
      hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N') {
      throw lexer.refusal("an escape by name in a string");
    } else if (c != '\n') {
      out.append('\\').append(c);
    }
  }

  private void hex(int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = at < raw.length() ? Character.digit(raw.charAt(at++), 16) : -1;
      if (digit < 0 || value > Character.MAX_CODE_POINT >> 4) {
        throw lexer.failure("truncated or illegal escape in a string");
      }
      value = value * 16 + digit;
    }
    if (value > Character.MAX_CODE_POINT) {
      throw lexer.failure("illegal Unicode character in a string");
    }
    out.appendCodePoint(value);
  }
}
