package dev.warmpath.tokenizer.template.op;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.value.Values;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * How one value is formatted by {@code %} or {@code str.format}: the parts that both share.
 *
 * <p>Immutable.
 *
 * @param fill the padding character
 * @param align {@code < > ^ =}, or 0 for the type's own
 * @param sign {@code + -} or space
 * @param isAlternate whether {@code #} was given
 * @param width least width in code points, 0 for none
 * @param isGrouped whether {@code ,} was given
 * @param precision -1 for none
 * @param type the type letter, 0 for none
 */
record FormatSpec(
    int fill,
    char align,
    char sign,
    boolean isAlternate,
    int width,
    boolean isGrouped,
    int precision,
    char type) {
  private static final int MAX_PRECISION = 400;

  FormatSpec {
    if (width < 0) {
      throw new IllegalArgumentException("width=" + width);
    }
    if (precision > MAX_PRECISION) {
      throw TemplateException.limit("precision of more than " + MAX_PRECISION);
    }
  }

  /** Text, cut to the precision and padded on its right unless said otherwise. */
  String text(Budget budget, String value) {
    boolean cut = precision >= 0 && precision < Strings.length(value);
    String shown = cut ? Strings.substring(value, 0, precision) : value;
    return padded(budget, "", shown, '<');
  }

  String number(Budget budget, Object value) {
    boolean whole = Values.isInteger(value);
    return switch (type) {
      case 'd', 'i', 'u' -> integer(budget, whole(value));
      case 'x', 'X', 'o', 'b' -> radix(budget, whole(value));
      case 'e', 'E', 'f', 'F', 'g', 'G', '%' -> real(budget, Arithmetic.real(value));
      case 0 -> whole ? integer(budget, Arithmetic.big(value)) : shortest(budget, (Double) value);
      default ->
          throw TemplateException.raised(
              "Unknown format code '" + type + "' for " + Values.typeName(value));
    };
  }

  private static BigInteger whole(Object value) {
    if (value instanceof Double d) {
      return new BigDecimal(d).toBigInteger();
    }
    return Arithmetic.big(value);
  }

  private String integer(Budget budget, BigInteger value) {
    requireNoPrecision();
    String digits = value.abs().toString();
    return padded(budget, prefix(value.signum() < 0), isGrouped ? grouped(digits) : digits, '>');
  }

  private String radix(Budget budget, BigInteger value) {
    requireNoPrecision();
    int radix = type == 'o' ? 8 : type == 'b' ? 2 : 16;
    String digits = value.abs().toString(radix);
    String mark = isAlternate ? "0" + type : "";
    String shown = type == 'X' ? digits.toUpperCase(Locale.ROOT) : digits;
    return padded(budget, prefix(value.signum() < 0) + mark, shown, '>');
  }

  private void requireNoPrecision() {
    if (precision >= 0) {
      throw TemplateException.unsupported("a precision of an integer, or without a format code");
    }
  }

  private String shortest(Budget budget, double value) {
    requireNoPrecision();
    String digits = FloatText.of(Math.abs(value));
    return padded(budget, prefix(value < 0), isGrouped ? grouped(digits) : digits, '>');
  }

  private String real(Budget budget, double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return padded(budget, prefix(value < 0), FloatText.of(Math.abs(value)), '>');
    }
    BigDecimal magnitude = new BigDecimal(value).abs();
    int digits = precision < 0 ? 6 : precision;
    String shown =
        switch (Character.toLowerCase(type)) {
          case 'f' -> fixed(magnitude, digits);
          case '%' -> fixed(magnitude.movePointRight(2), digits) + "%";
          case 'e' -> scientific(magnitude, digits);
          default -> general(magnitude, Math.max(1, digits));
        };
    String cased = Character.isUpperCase(type) ? shown.toUpperCase(Locale.ROOT) : shown;
    boolean negative = value < 0 || 1 / value < 0;
    return padded(budget, prefix(negative), isGrouped ? grouped(cased) : cased, '>');
  }

  static String fixed(BigDecimal value, int digits) {
    return value.setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
  }

  private static String scientific(BigDecimal value, int digits) {
    if (value.signum() == 0) {
      return fixed(value, digits) + "e+00";
    }
    BigDecimal rounded = value.round(new java.math.MathContext(digits + 1, RoundingMode.HALF_EVEN));
    int exponent = rounded.precision() - rounded.scale() - 1;
    String mantissa = fixed(rounded.movePointLeft(exponent), digits);
    return mantissa
        + "e"
        + (exponent < 0 ? '-' : '+')
        + (Math.abs(exponent) < 10 ? "0" : "")
        + Math.abs(exponent);
  }

  private static String general(BigDecimal value, int digits) {
    if (value.signum() == 0) {
      return "0";
    }
    BigDecimal rounded = value.round(new java.math.MathContext(digits, RoundingMode.HALF_EVEN));
    int exponent = rounded.precision() - rounded.scale() - 1;
    if (exponent < -4 || exponent >= digits) {
      int shown = rounded.stripTrailingZeros().precision() - 1;
      return scientific(rounded, shown);
    }
    BigDecimal bare = rounded.stripTrailingZeros();
    return bare.scale() < 0 ? bare.setScale(0).toPlainString() : bare.toPlainString();
  }

  private String prefix(boolean negative) {
    return negative ? "-" : sign == '+' || sign == ' ' ? String.valueOf(sign) : "";
  }

  private static String grouped(String digits) {
    int point = digits.indexOf('.');
    StringBuilder out = new StringBuilder(digits);
    for (int i = (point < 0 ? digits.length() : point) - 3; i > 0; i -= 3) {
      out.insert(i, ',');
    }
    return out.toString();
  }

  private String padded(Budget budget, String prefix, String body, char ownAlign) {
    int missing = width - Strings.length(prefix) - Strings.length(body);
    if (missing <= 0) {
      return prefix + body;
    }
    budget.text(width);
    String padding = Character.toString(fill);
    return switch (align == 0 ? ownAlign : align) {
      case '<' -> prefix + body + padding.repeat(missing);
      case '=' -> prefix + padding.repeat(missing) + body;
      case '^' ->
          padding.repeat(missing / 2) + prefix + body + padding.repeat(missing - missing / 2);
      default -> padding.repeat(missing) + prefix + body;
    };
  }
}
