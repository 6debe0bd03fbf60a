package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads expressions by Jinja2's grammar: conditional, or, and, not, comparison, {@code + -}, {@code
 * ~}, {@code * / // %}, {@code **} (binding to the left), sign, operand with what follows it.
 *
 * <p>Confined to its thread.
 */
final class ExpressionParser {
  private static final Map<String, Operator> COMPARISONS =
      Map.of(
          "==", Operator.EQUAL,
          "!=", Operator.NOT_EQUAL,
          "<", Operator.LESS,
          "<=", Operator.LESS_OR_EQUAL,
          ">", Operator.GREATER,
          ">=", Operator.GREATER_OR_EQUAL);
  private static final Map<String, Operator> SUMS =
      Map.of("+", Operator.ADD, "-", Operator.SUBTRACT);
  private static final Map<String, Operator> PRODUCTS =
      Map.of(
          "*", Operator.MULTIPLY,
          "/", Operator.DIVIDE,
          "//", Operator.FLOOR_DIVIDE,
          "%", Operator.MODULO);

  private final TokenStream in;
  private final OperandParser operands;

  ExpressionParser(TokenStream in) {
    this.in = in;
    this.operands = new OperandParser(in, this);
  }

  OperandParser operands() {
    return operands;
  }

  Expression expression() {
    in.enter();
    Expression value = disjunction();
    while (in.skipName("if")) {
      Expression test = disjunction();
      Expression otherwise = in.skipName("else") ? expression() : null;
      value = in.noted(new Expression.Conditional(test, value, otherwise));
    }
    in.leave();
    return value;
  }

  /** An expression without {@code x if y}, as after {@code in} and {@code if} tags. */
  Expression disjunction() {
    Expression left = conjunction();
    while (in.skipName("or")) {
      left = in.noted(new Expression.Binary(Operator.OR, left, conjunction()));
    }
    return left;
  }

  private Expression conjunction() {
    Expression left = negation();
    while (in.skipName("and")) {
      left = in.noted(new Expression.Binary(Operator.AND, left, negation()));
    }
    return left;
  }

  private Expression negation() {
    if (!in.skipName("not")) {
      return comparison();
    }
    in.enter();
    Expression operand = negation();
    in.leave();
    return in.noted(new Expression.Unary(Operator.NOT, operand));
  }

  private Expression comparison() {
    Expression first = sum();
    List<Operator> operators = new ArrayList<>();
    List<Expression> others = new ArrayList<>();
    for (Operator operator = comparisonOperator();
        operator != null;
        operator = comparisonOperator()) {
      operators.add(operator);
      others.add(sum());
    }
    return operators.isEmpty()
        ? first
        : in.noted(new Expression.Comparison(first, operators, others));
  }

  private @Nullable Operator comparisonOperator() {
    if (in.at(Token.Kind.OPERATOR)) {
      Operator operator = COMPARISONS.get(in.current().text());
      if (operator != null) {
        in.next();
      }
      return operator;
    }
    if (in.skipName("in")) {
      return Operator.IN;
    }
    if (in.atName("not") && in.following().isName("in")) {
      in.next();
      in.next();
      return Operator.NOT_IN;
    }
    return null;
  }

  private @Nullable Operator take(Map<String, Operator> operators) {
    Operator operator = in.at(Token.Kind.OPERATOR) ? operators.get(in.current().text()) : null;
    if (operator != null) {
      in.next();
    }
    return operator;
  }

  private Expression sum() {
    Expression left = concatenation();
    for (Operator operator = take(SUMS); operator != null; operator = take(SUMS)) {
      left = in.noted(new Expression.Binary(operator, left, concatenation()));
    }
    return left;
  }

  private Expression concatenation() {
    Expression first = product();
    if (!in.atOperator("~")) {
      return first;
    }
    List<Expression> items = new ArrayList<>(List.of(first));
    while (in.skipOperator("~")) {
      items.add(product());
    }
    return in.noted(new Expression.Concatenation(items));
  }

  private Expression product() {
    Expression left = power();
    for (Operator operator = take(PRODUCTS); operator != null; operator = take(PRODUCTS)) {
      left = in.noted(new Expression.Binary(operator, left, power()));
    }
    return left;
  }

  private Expression power() {
    Expression left = signed(true);
    while (in.skipOperator("**")) {
      left = in.noted(new Expression.Binary(Operator.POWER, left, signed(true)));
    }
    return left;
  }

  private Expression signed(boolean withFilters) {
    Operator sign = take(SUMS);
    Expression operand;
    if (sign != null) {
      in.enter();
      operand = in.noted(new Expression.Unary(sign, signed(false)));
      in.leave();
    } else {
      operand = operands.primary();
    }
    operand = operands.postfix(operand);
    return withFilters ? operands.filters(operand) : operand;
  }

  /** One expression, or several with commas between as a tuple; up to the tag's end. */
  Expression tuple() {
    return tuple(true, "");
  }

  /**
   * The same.
   *
   * @param conditional whether {@code x if y} may stand in it
   * @param endName a name that ends it
   */
  Expression tuple(boolean conditional, String endName) {
    Expression tuple = tupleOrNull(conditional, endName);
    if (tuple == null) {
      throw in.failure("Expected an expression, got " + in.current().described());
    }
    return tuple;
  }

  /** What stands between round brackets. */
  Expression parenthesized() {
    Expression tuple = tupleOrNull(true, "");
    return tuple == null ? in.noted(new Expression.Sequence(true, List.of())) : tuple;
  }

  private @Nullable Expression tupleOrNull(boolean conditional, String endName) {
    List<Expression> items = new ArrayList<>();
    boolean isTuple = false;
    while (!atTupleEnd(endName)) {
      items.add(conditional ? expression() : disjunction());
      if (!in.skipOperator(",")) {
        break;
      }
      isTuple = true;
    }
    if (isTuple) {
      return in.noted(new Expression.Sequence(true, items));
    }
    return items.isEmpty() ? null : items.get(0);
  }

  private boolean atTupleEnd(String endName) {
    return in.at(Token.Kind.VARIABLE_END)
        || in.at(Token.Kind.BLOCK_END)
        || in.atOperator(")")
        || in.atName(endName);
  }

  /** Arguments in brackets, if there are any. */
  Arguments arguments() {
    return in.atOperator("(") ? operands.arguments() : Arguments.NONE;
  }
}
