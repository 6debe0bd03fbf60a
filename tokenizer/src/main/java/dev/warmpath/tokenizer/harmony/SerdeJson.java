package dev.warmpath.tokenizer.harmony;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.template.value.FloatText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HexFormat;
import java.util.Map;

/**
 * Values as the engine's Rust library (serde_json 1.0.149) prints them, having read them from what
 * Python's {@code json.dumps} wrote.
 *
 * <p>Confined to its thread.
 */
final class SerdeJson {
  private static final BigInteger LARGEST = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
  private static final BigInteger SMALLEST = BigInteger.ONE.shiftLeft(63).negate();
  private static final int LARGEST_POWER = 308;

  private final StringBuilder out = new StringBuilder();

  private SerdeJson() {}

  /** The value in one line, without blanks. */
  static String of(JsonNode value) {
    SerdeJson json = new SerdeJson();
    json.write(value);
    return json.out.toString();
  }

  private void write(JsonNode value) {
    switch (value.getNodeType()) {
      case STRING -> string(value.textValue());
      case NUMBER -> out.append(number(value));
      case ARRAY -> array(value);
      case OBJECT -> object(value);
      default -> out.append(value.isNull() ? "null" : value.asText());
    }
  }

  private void array(JsonNode array) {
    out.append('[');
    String separator = "";
    for (JsonNode item : array) {
      out.append(separator);
      write(item);
      separator = ",";
    }
    out.append(']');
  }

  private void object(JsonNode object) {
    out.append('{');
    String separator = "";
    for (Map.Entry<String, JsonNode> entry : object.properties()) {
      out.append(separator);
      string(entry.getKey());
      out.append(':');
      write(entry.getValue());
      separator = ",";
    }
    out.append('}');
  }

  private void string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      character(text.charAt(i));
    }
    out.append('"');
  }

  private void character(char c) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      case '\f' -> out.append("\\f");
      case '\b' -> out.append("\\b");
      default -> {
        if (c < ' ') {
          out.append("\\u").append(HexFormat.of().toHexDigits(c));
        } else {
          out.append(c);
        }
      }
    }
  }

  private static String number(JsonNode number) {
    if (number.isIntegralNumber()) {
      BigInteger value = number.bigIntegerValue();
      boolean fits = value.compareTo(LARGEST) <= 0 && value.compareTo(SMALLEST) >= 0;
      return fits ? value.toString() : printed(readBack(value));
    }
    double value = number.doubleValue();
    if (Double.isInfinite(value) || Double.isNaN(value)) {
      throw InexactPromptException.invalid("a number that is not finite");
    }
    return value == 0 ? FloatText.of(value) : printed(readBack(value));
  }

  /** Digits beyond 64 bits are not read, only counted. */
  private static double readBack(BigInteger value) {
    BigInteger digits = value.abs();
    int exponent = 0;
    while (digits.compareTo(LARGEST) > 0) {
      digits = digits.divide(BigInteger.TEN);
      exponent++;
    }
    double read = fromParts(digits.doubleValue(), exponent);
    return value.signum() < 0 ? -read : read;
  }

  /** The library reads quickly, which now and then is a last digit off. */
  private static double readBack(double value) {
    BigDecimal shortest = new BigDecimal(FloatText.of(Math.abs(value)));
    int exponent = -shortest.scale();
    double read = fromParts(shortest.unscaledValue().doubleValue(), exponent);
    return value < 0 ? -read : read;
  }

  private static double fromParts(double digits, int exponent) {
    double value = digits;
    int left = exponent;
    while (left < -LARGEST_POWER) {
      value /= power(LARGEST_POWER);
      left += LARGEST_POWER;
    }
    if (left > LARGEST_POWER) {
      throw InexactPromptException.invalid("a number that is too large");
    }
    double read = left < 0 ? value / power(-left) : value * power(left);
    if (Double.isInfinite(read)) {
      throw InexactPromptException.invalid("a number that is too large");
    }
    return read;
  }

  private static double power(int ofTen) {
    return Double.parseDouble("1e" + ofTen);
  }

  /** Python's digits in the places where Rust writes them. */
  private static String printed(double value) {
    if (value == 0) {
      return FloatText.of(value);
    }
    BigDecimal bare = new BigDecimal(FloatText.of(Math.abs(value))).stripTrailingZeros();
    int point = bare.precision() - bare.scale();
    String sign = value < 0 ? "-" : "";
    if (point > -5 && point <= 16) {
      String plain = bare.toPlainString();
      return sign + (plain.indexOf('.') < 0 ? plain + ".0" : plain);
    }
    String digits = bare.unscaledValue().toString();
    String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
    return sign + mantissa + (point > 0 ? "e+" : "e") + (point - 1);
  }
}
