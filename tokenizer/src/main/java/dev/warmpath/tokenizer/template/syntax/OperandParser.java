package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads operands: literals, names, displays, and what follows them (attributes, items, calls,
 * filters, tests).
 *
 * <p>Confined to its thread.
 */
final class OperandParser {
  private static final Set<String> NOT_AN_ARGUMENT = Set.of("else", "or", "and");

  private final TokenStream in;
  private final ExpressionParser expressions;

  OperandParser(TokenStream in, ExpressionParser expressions) {
    this.in = in;
    this.expressions = expressions;
  }

  Expression primary() {
    Token token = in.next();
    return in.noted(
        switch (token.kind()) {
          case NAME -> name(token.text());
          case STRING -> string(token.text());
          case INTEGER -> new Expression.Constant(Long.parseLong(token.text()));
          case FLOAT -> new Expression.Constant(Double.parseDouble(token.text()));
          case OPERATOR -> bracketed(token);
          default -> throw unexpected(token);
        });
  }

  private RuntimeException unexpected(Token token) {
    return in.failure("unexpected " + token.described());
  }

  private static Expression name(String name) {
    return switch (name) {
      case "true", "True" -> new Expression.Constant(true);
      case "false", "False" -> new Expression.Constant(false);
      case "none", "None" -> new Expression.Constant(null);
      default -> new Expression.Name(name);
    };
  }

  private Expression string(String first) {
    if (!in.at(Token.Kind.STRING)) {
      return new Expression.Constant(first);
    }
    StringBuilder all = new StringBuilder(first);
    while (in.at(Token.Kind.STRING)) {
      all.append(in.next().text());
    }
    return new Expression.Constant(all.toString());
  }

  private Expression bracketed(Token token) {
    return switch (token.text()) {
      case "(" -> {
        Expression inner = expressions.parenthesized();
        in.expectOperator(")");
        yield inner;
      }
      case "[" -> new Expression.Sequence(false, listItems());
      case "{" -> dict();
      default -> throw unexpected(token);
    };
  }

  private List<Expression> listItems() {
    List<Expression> items = new ArrayList<>();
    while (!in.atOperator("]")) {
      if (!items.isEmpty()) {
        in.expectOperator(",");
      }
      if (in.atOperator("]")) {
        break;
      }
      items.add(expressions.expression());
    }
    in.expectOperator("]");
    return items;
  }

  private Expression dict() {
    List<Expression> keys = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    while (!in.atOperator("}")) {
      if (!keys.isEmpty()) {
        in.expectOperator(",");
      }
      if (in.atOperator("}")) {
        break;
      }
      keys.add(expressions.expression());
      in.expectOperator(":");
      values.add(expressions.expression());
    }
    in.expectOperator("}");
    return new Expression.Dict(keys, values);
  }

  Expression postfix(Expression operand) {
    Expression result = operand;
    while (true) {
      if (in.skipOperator(".")) {
        result = in.noted(attribute(result));
      } else if (in.skipOperator("[")) {
        result = in.noted(new Expression.Item(result, index()));
      } else if (in.atOperator("(")) {
        result = in.noted(new Expression.Call(result, arguments()));
      } else {
        return result;
      }
    }
  }

  private Expression attribute(Expression target) {
    Token token = in.next();
    if (token.kind() == Token.Kind.NAME) {
      return new Expression.Attribute(target, token.text());
    }
    if (token.kind() != Token.Kind.INTEGER) {
      throw in.failure("expected name or number");
    }
    return new Expression.Item(target, new Expression.Constant(Long.parseLong(token.text())));
  }

  private Expression index() {
    List<Expression> parts = new ArrayList<>();
    while (!in.atOperator("]")) {
      if (!parts.isEmpty()) {
        in.expectOperator(",");
      }
      parts.add(sliceOrExpression());
    }
    in.expectOperator("]");
    return parts.size() == 1 ? parts.get(0) : in.noted(new Expression.Sequence(true, parts));
  }

  private Expression sliceOrExpression() {
    Expression start = in.atOperator(":") ? null : expressions.expression();
    if (start != null && !in.atOperator(":")) {
      return start;
    }
    in.expectOperator(":");
    Expression stop = sliceBound();
    Expression step = in.skipOperator(":") ? sliceBound() : null;
    return in.noted(new Expression.Slice(start, stop, step));
  }

  private @Nullable Expression sliceBound() {
    boolean none = in.atOperator(":") || in.atOperator("]") || in.atOperator(",");
    return none ? null : expressions.expression();
  }

  Expression filters(Expression operand) {
    Expression result = operand;
    while (true) {
      if (in.skipOperator("|")) {
        result = filter(result);
      } else if (in.skipName("is")) {
        result = test(result);
      } else if (in.atOperator("(")) {
        result = in.noted(new Expression.Call(result, arguments()));
      } else {
        return result;
      }
    }
  }

  /** A filter's name and arguments; the {@code |} is behind. */
  Expression.Filter filter(@Nullable Expression operand) {
    return in.noted(new Expression.Filter(operand, dottedName(), expressions.arguments()));
  }

  private String dottedName() {
    StringBuilder name = new StringBuilder(in.expect(Token.Kind.NAME, "a name").text());
    while (in.skipOperator(".")) {
      name.append('.').append(in.expect(Token.Kind.NAME, "a name").text());
    }
    return name.toString();
  }

  private Expression test(Expression operand) {
    boolean negated = in.skipName("not");
    String name = dottedName();
    Expression test = in.noted(new Expression.Test(operand, name, testArguments()));
    return negated ? in.noted(new Expression.Unary(Operator.NOT, test)) : test;
  }

  private Arguments testArguments() {
    if (in.atOperator("(")) {
      return arguments();
    }
    if (!atTestArgument()) {
      return Arguments.NONE;
    }
    if (in.atName("is")) {
      throw in.failure("You cannot chain multiple tests with is");
    }
    in.enter();
    Expression argument = postfix(primary());
    in.leave();
    return in.noted(Arguments.of(List.of(argument)));
  }

  private boolean atTestArgument() {
    return switch (in.current().kind()) {
      case NAME -> !NOT_AN_ARGUMENT.contains(in.current().text());
      case STRING, INTEGER, FLOAT -> true;
      case OPERATOR -> in.atOperator("[") || in.atOperator("{");
      default -> false;
    };
  }

  Arguments arguments() {
    in.expectOperator("(");
    List<Expression> positional = new ArrayList<>();
    List<Arguments.Keyword> keywords = new ArrayList<>();
    String star = null;
    while (!in.atOperator(")")) {
      if (in.skipOperator("**")) {
        require(!"**".equals(star));
        star = "**";
        expressions.expression();
      } else if (in.skipOperator("*")) {
        require(star == null);
        star = "*";
        expressions.expression();
      } else if (in.at(Token.Kind.NAME) && in.following().isOperator("=")) {
        require(!"**".equals(star));
        keywords.add(keyword());
      } else {
        require(star == null && keywords.isEmpty());
        positional.add(expressions.expression());
      }
      if (!in.atOperator(")")) {
        in.expectOperator(",");
      }
    }
    in.expectOperator(")");
    return in.noted(new Arguments(positional, keywords, star));
  }

  private Arguments.Keyword keyword() {
    String name = in.next().text();
    in.next();
    return new Arguments.Keyword(name, expressions.expression());
  }

  private void require(boolean holds) {
    if (!holds) {
      throw in.failure("invalid syntax for function call expression");
    }
  }
}
