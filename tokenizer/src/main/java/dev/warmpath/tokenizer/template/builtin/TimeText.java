package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** {@code strftime} in the C locale, of the codes for days and times of day. */
final class TimeText {
  private static final Map<Character, DateTimeFormatter> FIELDS = fields();

  private TimeText() {}

  private static Map<Character, DateTimeFormatter> fields() {
    Map<Character, DateTimeFormatter> fields = new TreeMap<>();
    for (String code :
        List.of(
            "Y:uuuu",
            "y:uu",
            "m:MM",
            "d:dd",
            "e:ppd",
            "j:DDD",
            "B:MMMM",
            "b:MMM",
            "A:EEEE",
            "a:EEE",
            "H:HH",
            "I:hh",
            "M:mm",
            "S:ss",
            "p:a",
            "F:uuuu-MM-dd",
            "T:HH:mm:ss")) {
      fields.put(code.charAt(0), DateTimeFormatter.ofPattern(code.substring(2), Locale.US));
    }
    return fields;
  }

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
      String field = field(time, format.charAt(i));
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

  private static String field(ZonedDateTime time, char code) {
    if (code == '%') {
      return "%";
    }
    DateTimeFormatter field = FIELDS.get(code);
    if (field == null) {
      throw TemplateException.unsupported("time format code %" + code);
    }
    return field.format(time);
  }
}
