package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Operator;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** Python's arithmetic, on integers of 64 bits, floats and sequences. */
public final class Arithmetic {

  private Arithmetic() {}

  /** {@code left operator right}, for everything but {@code and} and {@code or}. */
  public static Object apply(Budget budget, Operator operator, Object left, Object right) {
    if (operator == Operator.ADD) {
      return add(budget, left, right);
    }
    if (operator == Operator.POWER) {
      throw Unsupported.OPERATOR.of(operator.symbol());
    }
    if (PythonComparison.isNumber(left) && PythonComparison.isNumber(right)) {
      return Values.isInteger(left) && Values.isInteger(right)
          ? integers(operator, integer(left), integer(right))
          : reals(operator, real(left), real(right));
    }
    if (operator == Operator.MODULO && left instanceof String) {
      throw Unsupported.OPERATOR.of("% on text");
    }
    if (operator == Operator.MULTIPLY && Values.isInteger(right)) {
      return repeated(budget, left, right);
    }
    if (operator == Operator.MULTIPLY && Values.isInteger(left)) {
      return repeated(budget, right, left);
    }
    throw cannot(operator.symbol(), left, right);
  }

  private static Object integers(Operator operator, long left, long right) {
    boolean divides = operator != Operator.SUBTRACT && operator != Operator.MULTIPLY;
    if (divides && right == 0) {
      throw TemplateException.raised("division by zero");
    }
    try {
      return switch (operator) {
        case SUBTRACT -> Math.subtractExact(left, right);
        case MULTIPLY -> Math.multiplyExact(left, right);
        case DIVIDE -> exact(left) / exact(right);
        case FLOOR_DIVIDE -> right == -1 ? Math.negateExact(left) : Math.floorDiv(left, right);
        case MODULO -> Math.floorMod(left, right);
        default -> throw new IllegalArgumentException("operator=" + operator);
      };
    } catch (ArithmeticException e) {
      throw beyond();
    }
  }

  private static double reals(Operator operator, double left, double right) {
    return switch (operator) {
      case SUBTRACT -> left - right;
      case MULTIPLY -> left * right;
      case DIVIDE -> {
        if (right == 0) {
          throw TemplateException.raised("division by zero");
        }
        yield left / right;
      }
      default -> throw Unsupported.OPERATOR.of(operator.symbol() + " on floats");
    };
  }

  private static double exact(long value) {
    if (Math.abs(value) > 1L << 53) {
      throw TemplateException.unsupported("true division of integers beyond 2^53");
    }
    return value;
  }

  private static TemplateException beyond() {
    return TemplateException.unsupported("arithmetic beyond 64 bits");
  }

  /** {@code left + right}. */
  public static Object add(Budget budget, Object left, Object right) {
    if (left instanceof String a && right instanceof String b) {
      budget.text((long) a.length() + b.length());
      return a.concat(b);
    }
    if (Values.isInteger(left) && Values.isInteger(right)) {
      try {
        return Math.addExact(integer(left), integer(right));
      } catch (ArithmeticException e) {
        throw beyond();
      }
    }
    if (PythonComparison.isNumber(left) && PythonComparison.isNumber(right)) {
      return real(left) + real(right);
    }
    if (left instanceof List<?> a && right instanceof List<?> b) {
      return joined(budget, a, b);
    }
    if (left instanceof Markup || right instanceof Markup) {
      return safeSum(budget, left, right);
    }
    throw cannot("+", left, right);
  }

  private static Markup safeSum(Budget budget, Object left, Object right) {
    return new Markup((String) add(budget, safe(left, right), safe(right, left)));
  }

  private static String safe(Object value, Object other) {
    if (value instanceof Markup markup) {
      return markup.text();
    }
    if (value instanceof String s) {
      return Markup.escaping(s).text();
    }
    throw value instanceof Undefined undefined
        ? undefined.failure()
        : TemplateException.raised(
            "can only add text to safe text, not "
                + Values.typeName(value)
                + " and "
                + Values.typeName(other));
  }

  private static Object joined(Budget budget, List<?> a, List<?> b) {
    if (a instanceof Range || b instanceof Range || a instanceof Tuple != b instanceof Tuple) {
      throw cannot("+", a, b);
    }
    budget.elements((long) a.size() + b.size());
    List<Object> all = new ArrayList<>(a.size() + b.size());
    all.addAll(a);
    all.addAll(b);
    return a instanceof Tuple ? Tuple.copyOf(all) : all;
  }

  private static String repeated(Budget budget, Object value, Object count) {
    if (value instanceof List && !(value instanceof Range)) {
      throw Unsupported.OPERATOR.of("* on lists");
    }
    if (!(value instanceof String s)) {
      throw cannot("*", value, count);
    }
    int times = (int) Math.max(0, Math.min(Integer.MAX_VALUE, integer(count)));
    budget.text((long) s.length() * times);
    return s.repeat(times);
  }

  /** {@code -value}. */
  public static Object negated(Object value) {
    if (value instanceof Double d) {
      return -d;
    }
    requireInteger("unary -", value);
    return integers(Operator.SUBTRACT, 0, integer(value));
  }

  /** {@code +value}. */
  public static Object positive(Object value) {
    if (value instanceof Double) {
      return value;
    }
    requireInteger("unary +", value);
    return value instanceof Boolean ? integer(value) : value;
  }

  private static void requireInteger(String operator, Object value) {
    if (!Values.isInteger(value)) {
      throw value instanceof Undefined undefined
          ? undefined.failure()
          : TemplateException.raised(
              "bad operand type for " + operator + ": '" + Values.typeName(value) + "'");
    }
  }

  /** An integer, bool or float as a double. */
  static double real(Object number) {
    if (number instanceof Boolean b) {
      return b ? 1 : 0;
    }
    if (number instanceof BigInteger) {
      throw beyond();
    }
    return ((Number) number).doubleValue();
  }

  /** An integer of 64 bits or a bool. */
  private static long integer(Object value) {
    if (value instanceof Boolean b) {
      return b ? 1 : 0;
    }
    if (value instanceof BigInteger) {
      throw beyond();
    }
    return (Long) value;
  }

  private static TemplateException cannot(String operator, Object left, Object right) {
    for (Object side : new Object[] {left, right}) {
      if (side instanceof Undefined undefined) {
        return undefined.failure();
      }
      if (side instanceof Markup || side instanceof DictView) {
        return TemplateException.unsupported(operator + " with safe text or views of dicts");
      }
    }
    return TemplateException.raised(
        "unsupported operand type(s) for %s: '%s' and '%s'"
            .formatted(operator, Values.typeName(left), Values.typeName(right)));
  }
}
