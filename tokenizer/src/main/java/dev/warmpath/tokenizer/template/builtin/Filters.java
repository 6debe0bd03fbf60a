package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import dev.warmpath.tokenizer.template.value.Arithmetic;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.JsonText;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The filters by name: Jinja2's own, with the {@code tojson} of chat templates. */
public final class Filters {
  private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]{1,18}");

  /** Text that Python may read as a number of another form. */
  private static final Pattern MAYBE_NUMBER = Pattern.compile("[^\\x00-\\x7f]|[0-9]|(?i)inf|nan");

  private static final Map<String, Method<Object>> ALL = all();

  private Filters() {}

  /** The filter of this name, if there is one. */
  public static @Nullable Method<Object> find(String name) {
    return ALL.get(name);
  }

  /** The filter of this name, wanted while rendering. */
  static Method<Object> required(String name) {
    Method<Object> filter = ALL.get(name);
    if (filter == null) {
      throw TemplateException.raised("No filter named '" + name + "'.");
    }
    return filter;
  }

  private static Map<String, Method<Object>> all() {
    Map<String, Method<Object>> all = new HashMap<>();
    TextFilters.addTo(all);
    SequenceFilters.addTo(all);
    SelectionFilters.addTo(all);
    all.put("default", Filters::defaulted);
    all.put("d", Filters::defaulted);
    all.put("tojson", Filters::toJson);
    all.put("int", Filters::integer);
    all.put("length", (b, v, a) -> Iteration.length(b, v));
    all.put("count", (b, v, a) -> Iteration.length(b, v));
    all.put("list", (b, v, a) -> Iteration.toList(b, v));
    all.put("safe", (b, v, a) -> v instanceof Markup ? v : new Markup(Text.of(b, v)));
    Method.addRefused(all, Unsupported.FILTER);
    return Collections.unmodifiableMap(all);
  }

  private static Object defaulted(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("default", "default_value", "boolean");
    boolean replace =
        value instanceof Undefined || (Args.flag(given[1], false) && !Values.isTrue(value));
    return replace ? Args.or(given[0], "") : value;
  }

  private static Object integer(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("int", "default", "base");
    Object otherwise = Args.or(given[0], 0L);
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    }
    if (value instanceof String s && given[1] == null) {
      String bare = Whitespace.strip(s);
      if (INTEGER.matcher(bare).matches()) {
        return Long.parseLong(bare);
      }
      if (MAYBE_NUMBER.matcher(bare).find()) {
        throw TemplateException.unsupported("filter int on unusual text");
      }
      return otherwise;
    }
    if (value instanceof Double d && Math.abs(d) < 1L << 53) {
      return d.longValue();
    }
    if (value instanceof String || value instanceof Double) {
      throw TemplateException.unsupported("filter int with a base or beyond 2^53");
    }
    return Values.isInteger(value) ? Arithmetic.positive(value) : otherwise;
  }

  private static Object toJson(Budget budget, Object value, CallArguments arguments) {
    if (arguments.isEmpty()) {
      return JsonText.of(budget, value, JsonText.Form.DEFAULT);
    }
    @Nullable Object[] given =
        arguments.bind("tojson", "ensure_ascii", "indent", "separators", "sort_keys");
    String indent = indent(budget, given[1]);
    String items = indent == null ? ", " : ",";
    String keys = ": ";
    if (!Args.isAbsent(given[2])) {
      List<Object> pair = Iteration.toList(budget, Args.or(given[2], None.NONE));
      if (pair.size() != 2) {
        throw TemplateException.raised("separators must be two");
      }
      items = Args.text(pair.get(0), "separator");
      keys = Args.text(pair.get(1), "separator");
    }
    boolean ascii = Args.flag(given[0], false);
    boolean sorted = Args.flag(given[3], false);
    return JsonText.of(budget, value, new JsonText.Form(indent, items, keys, ascii, sorted));
  }

  private static @Nullable String indent(Budget budget, @Nullable Object given) {
    if (given == null || given == None.NONE) {
      return null;
    }
    if (given instanceof String s) {
      return s;
    }
    int count = Math.max(0, Args.count(given, 0, "indent"));
    budget.text(count);
    return " ".repeat(count);
  }
}
