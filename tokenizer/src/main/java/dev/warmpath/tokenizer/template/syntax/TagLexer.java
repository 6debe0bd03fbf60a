package dev.warmpath.tokenizer.template.syntax;

import dev.warmpath.tokenizer.template.op.Whitespace;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

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
    int end = digits(at);
    int real = exponent(fraction(end));
    boolean afterDot = at > 0 && source.charAt(at - 1) == '.';
    if (real > end && !afterDot) {
      emitNumber(Token.Kind.FLOAT, real);
    } else {
      emitNumber(Token.Kind.INTEGER, integer(end));
    }
  }

  private int integer(int end) {
    if (source.charAt(at) != '0') {
      return end;
    }
    String prefix =
        source.substring(at, Math.min(at + 2, source.length())).toLowerCase(Locale.ROOT);
    int radix = prefix.equals("0x") ? 16 : prefix.equals("0o") ? 8 : prefix.equals("0b") ? 2 : 0;
    if (radix > 0) {
      int i = run(at + 2, radix);
      return i > at + 2 ? i : at + 1;
    }
    return run(at, 1);
  }

  private int digits(int from) {
    return run(from, 10);
  }

  /** Digits of the radix, with single underscores between; radix 1 knows only zeros. */
  private int run(int from, int radix) {
    int i = from;
    while (i < source.length()) {
      boolean underscore = source.charAt(i) == '_' && (i > from || radix != 10);
      int digit = underscore ? i + 1 : i;
      if (digit >= source.length() || !isDigit(source.charAt(digit), radix)) {
        break;
      }
      i = digit + 1;
    }
    return i;
  }

  private static boolean isDigit(char c, int radix) {
    return c < 0x80 && (radix == 1 ? c == '0' : Character.digit(c, radix) >= 0);
  }

  private int fraction(int from) {
    boolean point = from < source.length() && source.charAt(from) == '.';
    int end = point ? digits(from + 1) : from;
    return end > from + 1 ? end : from;
  }

  private int exponent(int from) {
    if (from >= source.length() || Character.toLowerCase(source.charAt(from)) != 'e') {
      return from;
    }
    boolean signed = from + 1 < source.length() && "+-".indexOf(source.charAt(from + 1)) >= 0;
    int first = from + (signed ? 2 : 1);
    int end = digits(first);
    return end > first ? end : from;
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

  private void emitNumber(Token.Kind kind, int end) {
    lexer.add(kind, source.substring(at, end).replace("_", ""));
    at = end;
  }
}
