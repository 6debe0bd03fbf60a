package dev.warmpath.tokenizer.template.value;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** The shortest decimal that reads back as the same double, written as Python writes it. */
public final class FloatText {
  private static final double PLAIN_INTEGERS = 1e16;
  private static final int MAX_DIGITS = 17;

  private FloatText() {}

  public static String of(double value) {
    if (Double.isNaN(value)) {
      return "nan";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    if (value == Math.rint(value) && Math.abs(value) < PLAIN_INTEGERS) {
      String sign = value == 0 && 1 / value < 0 ? "-" : "";
      return sign + (long) value + ".0";
    }
    return written(shortest(value));
  }

  private static BigDecimal shortest(double value) {
    BigDecimal exact = new BigDecimal(value);
    for (int digits = 1; digits < MAX_DIGITS; digits++) {
      BigDecimal rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
      if (rounded.doubleValue() == value) {
        return rounded;
      }
    }
    return exact.round(new MathContext(MAX_DIGITS, RoundingMode.HALF_EVEN));
  }

  private static String written(BigDecimal value) {
    BigDecimal bare = value.stripTrailingZeros();
    int exponent = bare.precision() - bare.scale() - 1;
    if (exponent >= -4 && exponent < 16) {
      String plain = bare.toPlainString();
      return plain.indexOf('.') < 0 ? plain + ".0" : plain;
    }
    String digits = bare.unscaledValue().abs().toString();
    String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
    String size = (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    return (bare.signum() < 0 ? "-" : "") + mantissa + (exponent < 0 ? "e-" : "e+") + size;
  }
}
