package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Something that has a value, or (names, tuples, attributes) can be assigned one. */
public sealed interface Expression extends Node {

  @Override
  default List<? extends Node> children() {
    return List.of();
  }

  /** A variable. */
  record Name(String name) implements Expression {}

  /** A literal: String, Long, BigInteger, Double, Boolean, or null for None. */
  record Constant(@Nullable Object value) implements Expression {}

  /** A list or tuple display. */
  record Sequence(boolean isTuple, List<Expression> items) implements Expression {
    public Sequence {
      items = List.copyOf(items);
    }

    @Override
    public List<Expression> children() {
      return items;
    }
  }

  /** A dict display; keys and values by index. */
  record Dict(List<Expression> keys, List<Expression> values) implements Expression {
    public Dict {
      keys = List.copyOf(keys);
      values = List.copyOf(values);
    }

    @Override
    public List<Expression> children() {
      return Stream.concat(keys.stream(), values.stream()).toList();
    }
  }

  /** {@code not x}, {@code -x} or {@code +x}. */
  record Unary(Operator operator, Expression operand) implements Expression {
    @Override
    public List<Expression> children() {
      return List.of(operand);
    }
  }

  /** Arithmetic, {@code and}, {@code or}. */
  record Binary(Operator operator, Expression left, Expression right) implements Expression {
    @Override
    public List<Expression> children() {
      return List.of(left, right);
    }
  }

  /** {@code a ~ b ~ c}. */
  record Concatenation(List<Expression> items) implements Expression {
    public Concatenation {
      items = List.copyOf(items);
    }

    @Override
    public List<Expression> children() {
      return items;
    }
  }

  /** {@code first op operand op operand …}, chained as in Python. */
  record Comparison(Expression first, List<Operator> operators, List<Expression> operands)
      implements Expression {
    public Comparison {
      operators = List.copyOf(operators);
      operands = List.copyOf(operands);
    }

    @Override
    public List<Expression> children() {
      List<Expression> all = new ArrayList<>(operands.size() + 1);
      all.add(first);
      all.addAll(operands);
      return all;
    }
  }

  /** {@code value if test else otherwise}. */
  record Conditional(Expression test, Expression value, @Nullable Expression otherwise)
      implements Expression {
    @Override
    public List<Expression> children() {
      return otherwise == null ? List.of(test, value) : List.of(test, value, otherwise);
    }
  }

  /** {@code target.name}. */
  record Attribute(Expression target, String name) implements Expression {
    @Override
    public List<Expression> children() {
      return List.of(target);
    }
  }

  /** {@code target[index]}. */
  record Item(Expression target, Expression index) implements Expression {
    @Override
    public List<Expression> children() {
      return List.of(target, index);
    }
  }

  /** {@code start:stop:step} between brackets. */
  record Slice(@Nullable Expression start, @Nullable Expression stop, @Nullable Expression step)
      implements Expression {
    @Override
    public List<Expression> children() {
      return Stream.of(start, stop, step).filter(Objects::nonNull).toList();
    }
  }

  /** {@code callee(…)}. */
  record Call(Expression callee, Arguments arguments) implements Expression {
    @Override
    public List<Node> children() {
      return List.of(callee, arguments);
    }
  }

  /** {@code operand|name(…)}; without operand in filter blocks, where the body is the operand. */
  record Filter(@Nullable Expression operand, String name, Arguments arguments)
      implements Expression {
    @Override
    public List<Node> children() {
      return operand == null ? List.of(arguments) : List.of(operand, arguments);
    }
  }

  /** {@code operand is name(…)}. */
  record Test(Expression operand, String name, Arguments arguments) implements Expression {
    @Override
    public List<Node> children() {
      return List.of(operand, arguments);
    }
  }

  /** {@code namespace.attribute} as the target of an assignment. */
  record NamespaceTarget(String namespace, String attribute) implements Expression {}
}
