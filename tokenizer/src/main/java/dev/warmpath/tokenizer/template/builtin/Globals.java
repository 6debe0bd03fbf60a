package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.Namespace;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Range;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Values;
import java.math.BigInteger;
import java.time.Clock;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The functions that every template sees. */
public final class Globals {
  private static final int MAX_RANGE = 100_000;

  /** Names that stand for Jinja2's own functions, not for variables of the request. */
  public static final Set<String> OWN_NAMES =
      Set.of("range", "dict", "lipsum", "cycler", "joiner", "namespace");

  private Globals() {}

  /** The functions by name, telling the time by this clock. */
  public static Map<String, Callable> all(Clock clock) {
    Map<String, Callable> all = new LinkedHashMap<>(stock());
    all.put("raise_exception", Globals::raise);
    all.put("strftime_now", (b, a) -> timeText(b, clock, a));
    return Map.copyOf(all);
  }

  /** Those that Jinja2 brings along itself. */
  public static Map<String, Callable> stock() {
    Map<String, Callable> all = new LinkedHashMap<>();
    all.put("range", Globals::range);
    all.put("dict", Globals::dict);
    all.put("namespace", (b, a) -> new Namespace(dict(b, a)));
    for (String name : Unsupported.FUNCTION.names()) {
      all.put(
          name,
          (b, a) -> {
            throw Unsupported.FUNCTION.of(name);
          });
    }
    return Map.copyOf(all);
  }

  private static Object range(Budget budget, CallArguments a) {
    @Nullable Object[] given = a.bindRequired("range", 1, "start", "stop", "step");
    boolean single = given[1] == null;
    long start = single ? 0 : bound(given[0]);
    long stop = bound(single ? given[0] : given[1]);
    long step = given[2] == null ? 1 : bound(given[2]);
    if (step == 0) {
      throw TemplateException.raised("range() arg 3 must not be zero");
    }
    if (Range.length(start, stop, step) > MAX_RANGE) {
      throw TemplateException.raised(
          "Range too big. The sandbox blocks ranges larger than 100000.");
    }
    return new Range(start, stop, step);
  }

  private static long bound(@Nullable Object given) {
    Object value = Args.or(given, None.NONE);
    if (value instanceof BigInteger) {
      throw TemplateException.unsupported("a range bound beyond 64 bits");
    }
    return value instanceof Long n ? Range.checkedBound(n) : Values.index(value, "range");
  }

  private static Map<String, Object> dict(Budget budget, CallArguments a) {
    Map<String, Object> dict = new LinkedHashMap<>();
    if (a.size() > 1) {
      throw TemplateException.raised("dict expected at most 1 argument");
    }
    if (a.size() == 1 && a.get(0) instanceof Map<?, ?> map) {
      map.forEach((key, value) -> dict.put(stringKey(key), Values.of(value)));
    } else if (a.size() == 1) {
      pairs(budget, a.get(0), dict);
    }
    budget.elements(dict.size());
    dict.putAll(a.keywords());
    return dict;
  }

  private static void pairs(Budget budget, Object value, Map<String, Object> dict) {
    for (Object item : Iteration.toList(budget, value)) {
      List<Object> pair = Iteration.toList(budget, item);
      if (pair.size() != 2) {
        throw TemplateException.raised("dictionary update sequence element has not length 2");
      }
      dict.put(stringKey(pair.get(0)), pair.get(1));
    }
  }

  private static String stringKey(@Nullable Object key) {
    if (key instanceof String s) {
      return s;
    }
    throw TemplateException.unsupported("dict() with keys that are not text");
  }

  private static Object raise(Budget budget, CallArguments a) {
    Object message = Args.or(a.bindRequired("raise_exception", 1, "message")[0], None.NONE);
    throw TemplateException.raised(Text.of(budget, message));
  }

  private static Object timeText(Budget budget, Clock clock, CallArguments a) {
    Object format = Args.or(a.bindRequired("strftime_now", 1, "format")[0], None.NONE);
    String text = Args.text(format, "strftime() argument 1");
    return TimeText.of(budget, ZonedDateTime.now(clock), text);
  }

  /** {@code strftime} in the C locale, of the codes for days and times of day. */
  private static final class TimeText {
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
}
