package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts the inside of one tag into words, to the tag's end. Brackets must balance before the end
 * counts, so that <code>}}</code> may close two dicts.
 *
 * <p>Confined to its thread.
 */
final class TagLexer {
  private static final String[] OPERATORS = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}",
    ">", "<", "=", ".", ":", "|", ",", ";"
  };
  private static final int MAX_BRACKETS = 1000;

  /** A whole number in group 2, in group 1 with its fraction and exponent. */
  private static final Pattern NUMBER =
      Pattern.compile("((0|[1-9][0-9]{0,17})(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z_])");

  private final Lexer lexer;
  private final String source;
  private final Deque<Character> open = new ArrayDeque<>();
  private int at;

  TagLexer(Lexer lexer, String source) {
    this.lexer = lexer;
    this.source = source;
    this.at = lexer.at();
  }

  void variable() {
    words("}}", Token.Kind.VARIABLE_END, false);
  }

  void block() {
    words("%}", Token.Kind.BLOCK_END, true);
  }

  private void words(String end, Token.Kind endKind, boolean isBlock) {
    while (at < source.length()) {
      char c = source.charAt(at);
      boolean signed = c == '-' || (isBlock && c == '+');
      if (open.isEmpty() && source.startsWith(end, signed ? at + 1 : at)) {
        lexer.moveTo(at);
        lexer.add(endKind, end);
        lexer.leaveTag(at + (signed ? 3 : 2), signed ? c : 0, isBlock);
        return;
      }
      if (Whitespace.is(c)) {
        at++;
      } else {
        word(c);
      }
    }
    lexer.leaveTag(at, '+', false);
  }

  private void word(char c) {
    lexer.moveTo(at);
    if (c >= '0' && c <= '9') {
      number();
    } else if (c == '_' || Character.isLetterOrDigit(source.codePointAt(at))) {
      name();
    } else if (c == '\'' || c == '"') {
      string(c);
    } else {
      operator(c);
    }
  }

  private void name() {
    int end = at;
    while (end < source.length()) {
      int c = source.codePointAt(end);
      if (c != '_' && !Character.isLetterOrDigit(c)) {
        break;
      }
      end += Character.charCount(c);
    }
    if (!Character.isUnicodeIdentifierStart(source.codePointAt(at)) && source.charAt(at) != '_') {
      throw lexer.failure("Invalid character in identifier");
    }
    emit(Token.Kind.NAME, end);
  }

  private void number() {
    Matcher number = NUMBER.matcher(source).region(at, source.length()).useTransparentBounds(true);
    if (!number.lookingAt()) {
      throw lexer.refusal("a number with a prefix, underscores or more than 18 digits");
    }
    boolean afterDot = at > 0 && source.charAt(at - 1) == '.';
    boolean isFloat = number.end(1) > number.end(2) && !afterDot;
    emit(isFloat ? Token.Kind.FLOAT : Token.Kind.INTEGER, number.end(isFloat ? 1 : 2));
  }

  private void string(char quote) {
    int end = at + 1;
    while (end < source.length() && source.charAt(end) != quote) {
      end += source.charAt(end) == '\\' ? 2 : 1;
    }
    if (end >= source.length()) {
      throw lexer.failure("unexpected char '" + quote + "'");
    }
    String text = StringEscapes.resolve(source.substring(at + 1, end), lexer);
    lexer.add(Token.Kind.STRING, text);
    at = end + 1;
  }

  private void operator(char c) {
    for (String operator : OPERATORS) {
      if (source.startsWith(operator, at)) {
        balance(c);
        emit(Token.Kind.OPERATOR, at + operator.length());
        return;
      }
    }
    throw lexer.failure("unexpected char '" + c + "'");
  }

  private void balance(char c) {
    switch (c) {
      case '(' -> push(')');
      case '[' -> push(']');
      case '{' -> push('}');
      case ')', ']', '}' -> {
        Character expected = open.poll();
        if (expected == null || expected != c) {
          throw lexer.failure("unexpected '" + c + "'");
        }
      }
      default -> {}
    }
  }

  private void push(char closing) {
    if (open.size() >= MAX_BRACKETS) {
      throw lexer.failure("more than " + MAX_BRACKETS + " open brackets");
    }
    open.push(closing);
  }

  private void emit(Token.Kind kind, int end) {
    lexer.add(kind, source.substring(at, end));
    at = end;
  }

  /**
   * The escapes of Python's {@code unicode-escape} codec, which Jinja2 applies to string literals.
   * A backslash before anything else stays.
   *
   * <p>Confined to its thread.
   */
  private static final class StringEscapes {
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
}
