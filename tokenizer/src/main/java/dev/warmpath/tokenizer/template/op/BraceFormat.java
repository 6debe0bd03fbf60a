package dev.warmpath.tokenizer.template.op;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code str.format}: replacement fields by position or name, without attributes or items.
 *
 * <p>Confined to its thread.
 */
public final class BraceFormat {
  private static final Pattern SPEC =
      Pattern.compile(
          "(?:(?<fill>.)?(?<align>[<>^=]))?(?<sign>[+\\- ])?(?<alternate>#)?(?<zero>0)?"
              + "(?<width>\\d{1,7})?(?<group>,)?(?:\\.(?<precision>\\d{1,7}))?(?<type>[a-zA-Z%])?");

  private final Budget budget;
  private final String format;
  private final CallArguments arguments;
  private final StringBuilder out = new StringBuilder();
  private int automatic;

  private BraceFormat(Budget budget, String format, CallArguments arguments) {
    this.budget = budget;
    this.format = format;
    this.arguments = arguments;
  }

  public static String apply(Budget budget, String format, CallArguments arguments) {
    return new BraceFormat(budget, format, arguments).run();
  }

  private String run() {
    budget.text(format.length());
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      boolean doubled = i + 1 < format.length() && format.charAt(i + 1) == c;
      if ((c == '{' || c == '}') && doubled) {
        out.append(c);
        i++;
      } else if (c == '{') {
        i = field(i + 1);
      } else if (c == '}') {
        throw TemplateException.raised("Single '}' encountered in format string");
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  private int field(int from) {
    int close = format.indexOf('}', from);
    if (close < 0) {
      throw TemplateException.raised("expected '}' before end of string");
    }
    String field = format.substring(from, close);
    if (field.indexOf('{') >= 0 || field.indexOf('[') >= 0) {
      throw TemplateException.unsupported("nested fields and items in str.format");
    }
    int colon = field.indexOf(':');
    String head = colon < 0 ? field : field.substring(0, colon);
    int bang = head.indexOf('!');
    Object value = value(bang < 0 ? head : head.substring(0, bang));
    if (bang >= 0) {
      value = converted(value, head.substring(bang + 1));
    }
    String text = formatted(value, colon < 0 ? "" : field.substring(colon + 1));
    budget.text(text.length());
    out.append(text);
    budget.output(out.length());
    return close;
  }

  private Object value(String name) {
    if (name.isEmpty()) {
      return positional(automatic++);
    }
    if (name.chars().allMatch(c -> c >= '0' && c <= '9') && name.length() < 8) {
      return positional(Integer.parseInt(name));
    }
    if (name.indexOf('.') >= 0) {
      throw TemplateException.unsupported("attributes in str.format");
    }
    @Nullable Object value = arguments.keywords().get(name);
    if (value == null) {
      throw TemplateException.raised("KeyError in str.format");
    }
    return value;
  }

  private Object positional(int index) {
    if (index >= arguments.size()) {
      throw TemplateException.raised("Replacement index " + index + " out of range");
    }
    return arguments.get(index);
  }

  private Object converted(Object value, String conversion) {
    return switch (conversion) {
      case "s" -> Text.of(budget, value);
      case "r" -> Text.repr(budget, value);
      default -> throw TemplateException.unsupported("conversion !" + conversion);
    };
  }

  private String formatted(Object value, String spec) {
    if (spec.isEmpty()) {
      return Text.of(budget, value);
    }
    Matcher m = SPEC.matcher(spec);
    if (!m.matches()) {
      throw TemplateException.unsupported("a format specification");
    }
    if (value instanceof String s) {
      String type = m.group("type");
      if (type != null && !type.equals("s")) {
        throw TemplateException.raised("Unknown format code '" + type + "' for str");
      }
      return spec(m, false).text(budget, s);
    }
    if (value instanceof Undefined || !Comparison.isNumber(value) || value instanceof Boolean) {
      throw TemplateException.unsupported("format specification for " + Values.typeName(value));
    }
    return spec(m, true).number(budget, value);
  }

  private static FormatSpec spec(Matcher m, boolean isNumber) {
    boolean zero = m.group("zero") != null;
    String align = m.group("align");
    String fill = m.group("fill");
    String sign = m.group("sign");
    String type = m.group("type");
    char letter = type == null || (!isNumber && type.equals("s")) ? 0 : type.charAt(0);
    return new FormatSpec(
        fill != null ? fill.codePointAt(0) : zero ? '0' : ' ',
        align != null ? align.charAt(0) : zero && isNumber ? '=' : 0,
        sign == null ? '-' : sign.charAt(0),
        m.group("alternate") != null,
        number(m.group("width"), 0),
        m.group("group") != null,
        number(m.group("precision"), -1),
        letter);
  }

  private static int number(@Nullable String digits, int otherwise) {
    return digits == null ? otherwise : Integer.parseInt(digits);
  }
}
