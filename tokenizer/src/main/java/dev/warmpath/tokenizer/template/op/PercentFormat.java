package dev.warmpath.tokenizer.template.op;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.List;
import java.util.Map;

/**
 * {@code format % values}.
 *
 * <p>Confined to its thread.
 */
public final class PercentFormat {
  private final Budget budget;
  private final String format;
  private final Object values;
  private final StringBuilder out = new StringBuilder();
  private int at;
  private int used;

  private PercentFormat(Budget budget, String format, Object values) {
    this.budget = budget;
    this.format = format;
    this.values = values;
  }

  public static String apply(Budget budget, String format, Object values) {
    return new PercentFormat(budget, format, values).run();
  }

  private String run() {
    budget.text(format.length());
    while (at < format.length()) {
      char c = format.charAt(at++);
      if (c == '%') {
        conversion();
        budget.output(out.length());
      } else {
        out.append(c);
      }
    }
    if (isUnused()) {
      throw TemplateException.raised("not all arguments converted during string formatting");
    }
    return out.toString();
  }

  /** What can be indexed by name may stay unused. */
  private boolean isUnused() {
    if (values instanceof Tuple tuple) {
      return used < tuple.size();
    }
    boolean indexed =
        values instanceof Map || values instanceof List || values instanceof Undefined;
    return used == 0 && !indexed;
  }

  private char peek() {
    if (at >= format.length()) {
      throw TemplateException.raised("incomplete format");
    }
    return format.charAt(at);
  }

  private void conversion() {
    Object keyed = peek() == '(' ? keyed() : null;
    String flags = flags();
    int width = number();
    int precision = -1;
    if (peek() == '.') {
      at++;
      precision = number();
    }
    char type = peek();
    at++;
    if (type == '%') {
      out.append('%');
      return;
    }
    boolean zero = flags.indexOf('0') >= 0 && type != 's' && type != 'r';
    char align = flags.indexOf('-') >= 0 ? '<' : zero ? '=' : '>';
    char sign = flags.indexOf('+') >= 0 ? '+' : flags.indexOf(' ') >= 0 ? ' ' : '-';
    boolean alternate = flags.indexOf('#') >= 0;
    FormatSpec spec =
        new FormatSpec(
            zero && align == '=' ? '0' : ' ',
            align,
            sign,
            alternate,
            width,
            false,
            precision,
            type);
    String text = formatted(spec, keyed == null ? next() : keyed);
    budget.text(text.length());
    out.append(text);
  }

  private Object keyed() {
    int close = format.indexOf(')', at);
    if (close < 0) {
      throw TemplateException.raised("incomplete format key");
    }
    if (!(values instanceof Map<?, ?> map)) {
      throw TemplateException.raised("format requires a mapping");
    }
    String key = format.substring(at + 1, close);
    at = close + 1;
    if (!map.containsKey(key)) {
      throw TemplateException.raised("KeyError: format key");
    }
    return Values.of(map.get(key));
  }

  private String flags() {
    int from = at;
    while ("#0- +".indexOf(peek()) >= 0) {
      at++;
    }
    return format.substring(from, at);
  }

  private int number() {
    if (peek() == '*') {
      at++;
      int given = Values.index(next(), "* wants int");
      if (given < 0) {
        throw TemplateException.unsupported("a negative width or precision");
      }
      return given;
    }
    int value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = Math.min(value * 10 + (peek() - '0'), 1 << 26);
      at++;
    }
    return value;
  }

  private Object next() {
    boolean single = !(values instanceof Tuple);
    int size = values instanceof Tuple t ? t.size() : 1;
    if (used >= size) {
      throw TemplateException.raised("not enough arguments for format string");
    }
    int index = used++;
    return single ? values : ((Tuple) values).get(index);
  }

  private String formatted(FormatSpec spec, Object value) {
    if (value instanceof Undefined undefined && spec.type() != 's' && spec.type() != 'r') {
      throw undefined.failure();
    }
    return switch (spec.type()) {
      case 's' -> spec.text(budget, Text.of(budget, value));
      case 'r' -> spec.text(budget, Text.repr(budget, value));
      case 'd', 'i', 'u', 'x', 'X', 'o', 'e', 'E', 'f', 'F', 'g', 'G' -> number(spec, value);
      default -> throw TemplateException.unsupported("format character '" + spec.type() + "'");
    };
  }

  private String number(FormatSpec spec, Object value) {
    if (!Comparison.isNumber(value)) {
      throw TemplateException.raised(
          "%" + spec.type() + " format: a number is required, not " + Values.typeName(value));
    }
    if ("xXo".indexOf(spec.type()) >= 0 && value instanceof Double) {
      throw TemplateException.raised("%" + spec.type() + " format: an integer is required");
    }
    return spec.number(budget, value);
  }
}
