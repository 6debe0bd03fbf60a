package dev.warmpath.tokenizer.template.op;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.tree.Operator;
import dev.warmpath.tokenizer.template.value.DictView;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.Range;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** Python's arithmetic, on numbers of any size and on sequences. Immutable. */
public final class Arithmetic {
  private static final int MAX_BITS = 13_000;

  private Arithmetic() {}

  /** {@code left operator right}, for everything but {@code and} and {@code or}. */
  public static Object apply(Budget budget, Operator operator, Object left, Object right) {
    return switch (operator) {
      case ADD -> add(budget, left, right);
      case SUBTRACT -> subtract(left, right);
      case MULTIPLY -> multiply(budget, left, right);
      case DIVIDE -> divide(left, right);
      case FLOOR_DIVIDE -> floorDivide(left, right);
      case MODULO -> modulo(budget, left, right);
      case POWER -> power(left, right);
      default -> throw new IllegalArgumentException("operator=" + operator);
    };
  }

  public static Object add(Budget budget, Object left, Object right) {
    if (left instanceof String a && right instanceof String b) {
      budget.text((long) a.length() + b.length());
      return a.concat(b);
    }
    if (left instanceof Long a && right instanceof Long b) {
      long sum = a + b;
      return ((a ^ sum) & (b ^ sum)) < 0 ? big(a).add(big(b)) : (Object) sum;
    }
    if (areIntegers(left, right)) {
      return bounded(big(left).add(big(right)));
    }
    if (areNumbers(left, right)) {
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

  private static Object subtract(Object left, Object right) {
    if (areIntegers(left, right)) {
      return bounded(big(left).subtract(big(right)));
    }
    if (areNumbers(left, right)) {
      return real(left) - real(right);
    }
    throw cannot("-", left, right);
  }

  private static Object multiply(Budget budget, Object left, Object right) {
    if (areIntegers(left, right)) {
      return bounded(big(left).multiply(big(right)));
    }
    if (areNumbers(left, right)) {
      return real(left) * real(right);
    }
    if (Values.isInteger(right)) {
      return repeated(budget, left, right);
    }
    if (Values.isInteger(left)) {
      return repeated(budget, right, left);
    }
    throw cannot("*", left, right);
  }

  private static Object repeated(Budget budget, Object value, Object count) {
    if (count instanceof BigInteger) {
      throw TemplateException.raised("cannot fit 'int' into an index-sized integer");
    }
    int times = Math.max(0, Values.index(count, "*"));
    if (value instanceof String s) {
      budget.text((long) s.length() * times);
      return s.repeat(times);
    }
    if (!(value instanceof List<?> list) || value instanceof Range) {
      throw cannot("*", value, count);
    }
    budget.elements((long) list.size() * times);
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < times && !list.isEmpty(); i++) {
      all.addAll(list);
    }
    return value instanceof Tuple ? Tuple.copyOf(all) : all;
  }

  private static Object divide(Object left, Object right) {
    if (!areNumbers(left, right)) {
      throw cannot("/", left, right);
    }
    double divisor = nonZero(right);
    boolean huge = left instanceof BigInteger || right instanceof BigInteger;
    if (huge || isInexact(left) || isInexact(right)) {
      throw TemplateException.unsupported("true division of integers beyond 2^53");
    }
    return real(left) / divisor;
  }

  private static boolean isInexact(Object value) {
    return value instanceof Long n && Math.abs(n) > 1L << 53;
  }

  private static double nonZero(Object divisor) {
    double real = real(divisor);
    if (real == 0) {
      throw TemplateException.raised("division by zero");
    }
    return real;
  }

  private static Object floorDivide(Object left, Object right) {
    if (!areNumbers(left, right)) {
      throw cannot("//", left, right);
    }
    double divisor = nonZero(right);
    if (!areIntegers(left, right)) {
      return floorQuotient(real(left), divisor);
    }
    BigInteger[] parts = big(left).divideAndRemainder(big(right));
    boolean down = parts[1].signum() != 0 && parts[1].signum() != big(right).signum();
    return Values.integer(down ? parts[0].subtract(BigInteger.ONE) : parts[0]);
  }

  /** As CPython's {@code float.__floordiv__}. */
  private static double floorQuotient(double dividend, double divisor) {
    double quotient = (dividend - floorMod(dividend, divisor)) / divisor;
    if (quotient == 0) {
      return Math.copySign(0.0, dividend / divisor);
    }
    double floor = Math.floor(quotient);
    return quotient - floor > 0.5 ? floor + 1 : floor;
  }

  private static double floorMod(double dividend, double divisor) {
    double rest = dividend % divisor;
    return rest != 0 && (rest < 0) != (divisor < 0)
        ? rest + divisor
        : rest == 0 ? Math.copySign(0.0, divisor) : rest;
  }

  private static Object modulo(Budget budget, Object left, Object right) {
    if (left instanceof String format) {
      return PercentFormat.apply(budget, format, right);
    }
    if (!areNumbers(left, right)) {
      throw cannot("%", left, right);
    }
    double divisor = nonZero(right);
    if (!areIntegers(left, right)) {
      return floorMod(real(left), divisor);
    }
    BigInteger m = big(right);
    BigInteger rest = big(left).mod(m.abs());
    return Values.integer(m.signum() < 0 && rest.signum() != 0 ? rest.add(m) : rest);
  }

  /** {@code left ** right}. */
  public static Object power(Object left, Object right) {
    if (!areNumbers(left, right)) {
      throw cannot("**", left, right);
    }
    if (areIntegers(left, right) && big(right).signum() >= 0) {
      return integerPower(big(left), big(right));
    }
    double base = real(left);
    double exponent = real(right);
    if (base == 0 && exponent < 0) {
      throw TemplateException.raised("0.0 cannot be raised to a negative power");
    }
    double result = Math.pow(base, exponent);
    if (Double.isNaN(result) || Double.isInfinite(result)) {
      throw TemplateException.unsupported("a power that is no finite number");
    }
    return result;
  }

  private static Object integerPower(BigInteger base, BigInteger exponent) {
    if (exponent.signum() == 0) {
      return 1L;
    }
    if (base.abs().bitLength() <= 1) {
      boolean even = base.signum() < 0 && !exponent.testBit(0);
      return Values.integer(even ? base.negate() : base);
    }
    if (exponent.bitLength() > 20 || (long) base.bitLength() * exponent.intValue() > MAX_BITS) {
      throw tooLarge();
    }
    return bounded(base.pow(exponent.intValue()));
  }

  /** {@code -value}. */
  public static Object negated(Object value) {
    if (value instanceof Double d) {
      return -d;
    }
    if (Values.isInteger(value)) {
      return Values.integer(big(value).negate());
    }
    throw badOperand("unary -", value);
  }

  /** Whether the value is a number that is written with a minus. */
  public static boolean isSigned(Object value) {
    return value instanceof Double d
        ? Math.copySign(1, d) < 0
        : Values.isInteger(value) && big(value).signum() < 0;
  }

  /** {@code +value}. */
  public static Object positive(Object value) {
    if (value instanceof Double) {
      return value;
    }
    if (Values.isInteger(value)) {
      return Values.integer(big(value));
    }
    throw badOperand("unary +", value);
  }

  private static TemplateException badOperand(String operator, Object value) {
    return value instanceof Undefined undefined
        ? undefined.failure()
        : TemplateException.raised(
            "bad operand type for " + operator + ": '" + Values.typeName(value) + "'");
  }

  private static boolean areIntegers(Object left, Object right) {
    return Values.isInteger(left) && Values.isInteger(right);
  }

  private static boolean areNumbers(Object left, Object right) {
    return Comparison.isNumber(left) && Comparison.isNumber(right);
  }

  /** An integer, bool or float as a double. */
  public static double real(Object number) {
    if (number instanceof Boolean b) {
      return b ? 1 : 0;
    }
    double real = ((Number) number).doubleValue();
    if (Double.isInfinite(real) && number instanceof BigInteger) {
      throw TemplateException.raised("int too large to convert to float");
    }
    return real;
  }

  /** An integer or bool as a BigInteger. */
  public static BigInteger big(Object integer) {
    if (integer instanceof Long n) {
      return BigInteger.valueOf(n);
    }
    if (integer instanceof Boolean b) {
      return b ? BigInteger.ONE : BigInteger.ZERO;
    }
    return (BigInteger) integer;
  }

  private static Object bounded(BigInteger value) {
    if (value.bitLength() > MAX_BITS) {
      throw tooLarge();
    }
    return Values.integer(value);
  }

  private static TemplateException tooLarge() {
    return TemplateException.limit("an integer of more than " + MAX_BITS + " bits");
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
