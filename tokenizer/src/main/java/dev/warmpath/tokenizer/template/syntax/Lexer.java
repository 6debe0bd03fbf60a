package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
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
}
