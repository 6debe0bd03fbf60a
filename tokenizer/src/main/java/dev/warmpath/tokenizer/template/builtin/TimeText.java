package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import java.time.ZonedDateTime;
import java.time.format.TextStyle;
import java.time.temporal.ChronoField;
import java.util.Locale;

/** {@code strftime} in the C locale. Immutable. */
final class TimeText {

  private TimeText() {}

  static String of(Budget budget, ZonedDateTime time, String format) {
    budget.text(format.length());
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      if (c != '%' || i + 1 == format.length()) {
        out.append(c);
        continue;
      }
      boolean bare = format.charAt(i + 1) == '-' && i + 2 < format.length();
      i += bare ? 2 : 1;
      budget.step();
      budget.output(out.length());
      String field = field(budget, time, format.charAt(i));
      out.append(bare ? withoutPadding(field) : field);
    }
    return out.toString();
  }

  private static String withoutPadding(String field) {
    int i = 0;
    while (i < field.length() - 1 && (field.charAt(i) == '0' || field.charAt(i) == ' ')) {
      i++;
    }
    return field.substring(i);
  }

  private static String field(Budget budget, ZonedDateTime t, char code) {
    return switch (code) {
      case 'Y' -> String.valueOf(t.getYear());
      case 'y' -> two(t.getYear() % 100);
      case 'm' -> two(t.getMonthValue());
      case 'd' -> two(t.getDayOfMonth());
      case 'e' -> String.format("%2d", t.getDayOfMonth());
      case 'j' -> String.format("%03d", t.getDayOfYear());
      case 'B' -> t.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
      case 'b', 'h' -> t.getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH).substring(0, 3);
      case 'A' -> t.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
      case 'a' -> t.getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH).substring(0, 3);
      case 'u' -> String.valueOf(t.getDayOfWeek().getValue());
      case 'w' -> String.valueOf(t.getDayOfWeek().getValue() % 7);
      default -> timeField(budget, t, code);
    };
  }

  private static String timeField(Budget budget, ZonedDateTime t, char code) {
    return switch (code) {
      case 'H' -> two(t.getHour());
      case 'I' -> two(t.get(ChronoField.CLOCK_HOUR_OF_AMPM));
      case 'M' -> two(t.getMinute());
      case 'S' -> two(t.getSecond());
      case 'p' -> t.getHour() < 12 ? "AM" : "PM";
      case 'f' -> String.format("%06d", t.getNano() / 1000);
      case 'F' -> of(budget, t, "%Y-%m-%d");
      case 'T', 'X' -> of(budget, t, "%H:%M:%S");
      case 'R' -> of(budget, t, "%H:%M");
      case 'D', 'x' -> of(budget, t, "%m/%d/%y");
      case 'c' -> of(budget, t, "%a %b %e %H:%M:%S %Y");
      case 'z', 'Z' -> "";
      case 'n' -> "\n";
      case 't' -> "\t";
      case '%' -> "%";
      default -> throw TemplateException.unsupported("time format code %" + code);
    };
  }

  private static String two(int value) {
    return (value < 10 ? "0" : "") + value;
  }
}
