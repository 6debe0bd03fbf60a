package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a template into tokens, as Jinja2 does with {@code trim_blocks} and {@code lstrip_blocks}: a
 * block tag or comment takes the line break behind it and the indentation before it along, {@code
 * -} takes all white space, {@code +} none.
 *
 * <p>Confined to its thread.
 */
final class Lexer {
  private final String source;
  private final Budget budget;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int line = 1;
  private int counted;
  private boolean lineStarting = true;

  private Lexer(String source, Budget budget) {
    this.source = source;
    this.budget = budget;
  }

  static List<Token> tokens(String template, Budget budget) {
    Lexer lexer = new Lexer(normalized(template), budget);
    lexer.run();
    return lexer.tokens;
  }

  /** Line breaks become {@code \n}, and one at the very end goes. */
  private static String normalized(String template) {
    String unix = template.replace("\r\n", "\n").replace('\r', '\n');
    return unix.endsWith("\n") ? unix.substring(0, unix.length() - 1) : unix;
  }

  private void run() {
    while (at < source.length()) {
      int open = nextTag(at);
      if (open < 0) {
        data(source.substring(at));
        at = source.length();
      } else {
        tag(open);
      }
    }
    add(Token.Kind.END, "");
  }

  private int nextTag(int from) {
    for (int i = source.indexOf('{', from);
        i >= 0 && i + 1 < source.length();
        i = source.indexOf('{', i + 1)) {
      char next = source.charAt(i + 1);
      if (next == '{' || next == '%' || next == '#') {
        return i;
      }
    }
    return -1;
  }

  private void tag(int open) {
    char kind = source.charAt(open + 1);
    char sign = signAt(open + 2);
    data(beforeTag(source.substring(at, open), sign, kind != '{'));
    int inside = open + (sign == 0 ? 2 : 3);
    if (kind == '#') {
      at = inside;
      comment();
    } else if (kind == '{') {
      moveTo(open);
      add(Token.Kind.VARIABLE_BEGIN, "{{");
      at = inside;
      new TagLexer(this, source).variable();
    } else {
      moveTo(open);
      if (source.startsWith("raw", Whitespace.skip(source, inside))) {
        throw Unsupported.TAG.of("raw").at(line);
      }
      add(Token.Kind.BLOCK_BEGIN, "{%");
      at = inside;
      new TagLexer(this, source).block();
    }
  }

  private char signAt(int i) {
    char c = i < source.length() ? source.charAt(i) : 0;
    return c == '-' || c == '+' ? c : 0;
  }

  private String beforeTag(String text, char sign, boolean takesIndentation) {
    if (sign == '-') {
      return Whitespace.stripEnd(text);
    }
    if (sign == '+' || !takesIndentation) {
      return text;
    }
    int lineStart = text.lastIndexOf('\n') + 1;
    boolean blank = Whitespace.skip(text, lineStart) == text.length();
    return (lineStart > 0 || lineStarting) && blank ? text.substring(0, lineStart) : text;
  }

  private void comment() {
    int close = source.indexOf("#}", at);
    if (at == source.length()) {
      return;
    }
    if (close < 0) {
      throw failure("Missing end of comment tag");
    }
    boolean signed = close > at;
    char sign = signed ? signAt(close - 1) : 0;
    leaveTag(close + 2, sign, true);
  }

  /** Moves behind a tag's end, over what the end takes along. */
  void leaveTag(int end, char sign, boolean takesLineBreak) {
    int behind = end;
    if (sign == '-') {
      behind = Whitespace.skip(source, end);
    } else if (sign == 0 && takesLineBreak && end < source.length() && source.charAt(end) == '\n') {
      behind = end + 1;
    }
    lineStarting = source.charAt(behind - 1) == '\n';
    at = behind;
  }

  private void data(String text) {
    if (!text.isEmpty()) {
      moveTo(at);
      add(Token.Kind.DATA, text);
    }
  }

  void add(Token.Kind kind, String text) {
    budget.built(1);
    tokens.add(new Token(kind, text, line));
  }

  @Nullable Token last() {
    return tokens.isEmpty() ? null : tokens.get(tokens.size() - 1);
  }

  int at() {
    return at;
  }

  /** Brings the line number up to the given index. */
  void moveTo(int index) {
    for (; counted < index; counted++) {
      line += source.charAt(counted) == '\n' ? 1 : 0;
    }
  }

  TemplateException refusal(String message) {
    return TemplateException.unsupported(message).at(line);
  }

  TemplateException failure(String message) {
    moveTo(at);
    return TemplateException.syntax(message, line);
  }

  /**
   * Cuts the inside of one tag into words, to the tag's end. Brackets must balance before the end
   * counts, so that <code>}}</code> may close two dicts.
   *
   * <p>Confined to its thread.
   */
  private static final class TagLexer {
    private static final String[] OPERATORS = {
      "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{",
      "}", ">", "<", "=", ".", ":", "|", ",", ";"
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
      Matcher number =
          NUMBER.matcher(source).region(at, source.length()).useTransparentBounds(true);
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
     * The escapes of Python's {@code unicode-escape} codec, which Jinja2 applies to string
     * literals. A backslash before anything else stays.
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
}
