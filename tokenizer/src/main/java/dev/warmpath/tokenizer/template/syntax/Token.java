package dev.warmpath.tokenizer.template.syntax;

/**
 * A piece of template text: data, a tag's border, or a word within a tag.
 *
 * @param text the piece as written; for strings without quotes and with escapes resolved
 * @param line where it starts, counted from 1
 */
record Token(Kind kind, String text, int line) {

  enum Kind {
    DATA,
    VARIABLE_BEGIN,
    VARIABLE_END,
    BLOCK_BEGIN,
    BLOCK_END,
    NAME,
    STRING,
    INTEGER,
    FLOAT,
    OPERATOR,
    END
  }

  boolean isName(String name) {
    return kind == Kind.NAME && text.equals(name);
  }

  boolean isOperator(String operator) {
    return kind == Kind.OPERATOR && text.equals(operator);
  }

  String described() {
    return switch (kind) {
      case END -> "end of template";
      case BLOCK_END -> "end of statement block";
      case VARIABLE_END -> "end of print statement";
      case DATA -> "template data";
      default -> "'" + text + "'";
    };
  }
}
