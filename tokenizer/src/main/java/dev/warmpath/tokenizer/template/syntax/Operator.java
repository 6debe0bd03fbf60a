package dev.warmpath.tokenizer.template.syntax;

/** The operators of expressions. */
public enum Operator {
  ADD("+"),
  SUBTRACT("-"),
  MULTIPLY("*"),
  DIVIDE("/"),
  FLOOR_DIVIDE("//"),
  MODULO("%"),
  POWER("**"),
  AND("and"),
  OR("or"),
  NOT("not"),
  EQUAL("=="),
  NOT_EQUAL("!="),
  LESS("<"),
  LESS_OR_EQUAL("<="),
  GREATER(">"),
  GREATER_OR_EQUAL(">="),
  IN("in"),
  NOT_IN("not in");

  private final String symbol;

  Operator(String symbol) {
    this.symbol = symbol;
  }

  public String symbol() {
    return symbol;
  }
}
