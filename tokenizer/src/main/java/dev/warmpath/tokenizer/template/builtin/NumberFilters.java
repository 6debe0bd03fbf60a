package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.method.Given;
import dev.warmpath.tokenizer.template.method.Method;
import dev.warmpath.tokenizer.template.op.Arithmetic;
import dev.warmpath.tokenizer.template.op.Whitespace;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Filters that make numbers. Immutable. */
final class NumberFilters {
  private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]{1,4000}(_[0-9]{1,4000})*+");
  private static final Pattern REAL =
      Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
  private static final int MAX_TEXT = 4000;

  private NumberFilters() {}

  static void addTo(Map<String, Method<Object>> all) {
    all.put("int", NumberFilters::integer);
    all.put("float", NumberFilters::real);
    all.put("abs", (b, v, a) -> absolute(v));
    all.put("round", NumberFilters::round);
  }

  private static Object integer(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("int", "default", "base");
    Object otherwise = Given.or(given[0], 0L);
    if (value instanceof String s) {
      Object parsed = parsed(s, Given.count(given[1], 10, "base"));
      return parsed != null ? parsed : truncated(realOf(s), otherwise);
    }
    if (value instanceof Double d) {
      return truncated(d, otherwise);
    }
    return number(value) ? Arithmetic.positive(value) : otherwise;
  }

  private static boolean number(Object value) {
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    }
    return Values.isInteger(value) || value instanceof Double;
  }

  private static @Nullable Object parsed(String s, int base) {
    if (base != 10) {
      throw TemplateException.unsupported("int filter with a base");
    }
    String bare = Whitespace.strip(s);
    if (bare.length() > MAX_TEXT || bare.chars().anyMatch(c -> c > 0x7f)) {
      throw TemplateException.unsupported("int filter on unusual text");
    }
    return INTEGER.matcher(bare).matches()
        ? Values.integer(new BigInteger(bare.replace("_", "")))
        : null;
  }

  private static Object truncated(@Nullable Double value, Object otherwise) {
    if (value == null || value.isNaN() || value.isInfinite()) {
      return otherwise;
    }
    return Values.integer(new BigDecimal(value).toBigInteger());
  }

  private static @Nullable Double realOf(String s) {
    String bare = Whitespace.strip(s).toLowerCase(Locale.ROOT);
    if (bare.length() > MAX_TEXT || bare.indexOf('_') >= 0 || bare.matches("[+-]?(inf.*|nan)")) {
      throw TemplateException.unsupported("float filter on unusual text");
    }
    return REAL.matcher(bare).matches() ? Double.parseDouble(bare) : null;
  }

  private static Object real(Budget budget, Object value, CallArguments arguments) {
    Object otherwise = Given.or(arguments.bind("float", "default")[0], 0.0);
    if (value instanceof String s) {
      Double parsed = realOf(s);
      return parsed == null ? otherwise : parsed;
    }
    return number(value) ? (Object) Arithmetic.real(value) : otherwise;
  }

  private static Object absolute(Object value) {
    if (value instanceof Double d) {
      return Math.abs(d);
    }
    if (!number(value)) {
      throw TemplateException.raised("bad operand type for abs(): " + Values.typeName(value));
    }
    return Values.integer(Arithmetic.big(value).abs());
  }

  private static Object round(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("round", "precision", "method");
    int precision = Given.count(given[0], 0, "precision");
    Object method = Given.or(given[1], "common");
    if (!number(value)) {
      throw TemplateException.raised("round needs a number, not " + Values.typeName(value));
    }
    if (Math.abs((long) precision) > 300) {
      throw TemplateException.unsupported("round to more than 300 digits");
    }
    if (method.equals("common")) {
      return common(value, precision);
    }
    if (!method.equals("ceil") && !method.equals("floor")) {
      throw TemplateException.raised("method must be common, ceil or floor");
    }
    return towards(
        method.equals("ceil") ? RoundingMode.CEILING : RoundingMode.FLOOR, value, precision);
  }

  /** As {@code math.ceil(value * 10**precision) / 10**precision}, whose ceil is an integer. */
  private static double towards(RoundingMode mode, Object value, int precision) {
    boolean exact = precision >= 0 && !(value instanceof Double);
    double scaled = exact ? 0 : Arithmetic.real(value) * Math.pow(10, precision);
    if (Double.isNaN(scaled) || Double.isInfinite(scaled)) {
      throw TemplateException.raised("cannot convert " + scaled + " to integer");
    }
    BigDecimal whole =
        exact
            ? new BigDecimal(Arithmetic.big(value)).movePointRight(precision)
            : new BigDecimal(scaled).setScale(0, mode);
    return precision >= 0
        ? whole.movePointLeft(precision).doubleValue()
        : whole.doubleValue() / Math.pow(10, precision);
  }

  private static Object common(Object value, int precision) {
    if (!(value instanceof Double d)) {
      BigDecimal exact = new BigDecimal(Arithmetic.big(value));
      return precision >= 0
          ? Arithmetic.positive(value)
          : Values.integer(exact.setScale(precision, RoundingMode.HALF_EVEN).toBigInteger());
    }
    if (d.isNaN() || d.isInfinite()) {
      return d;
    }
    double rounded = new BigDecimal(d).setScale(precision, RoundingMode.HALF_EVEN).doubleValue();
    return Math.copySign(rounded, d);
  }
}
