package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.method.Given;
import dev.warmpath.tokenizer.template.method.Members;
import dev.warmpath.tokenizer.template.method.Method;
import dev.warmpath.tokenizer.template.op.Iteration;
import dev.warmpath.tokenizer.template.op.JsonText;
import dev.warmpath.tokenizer.template.op.Text;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The filters by name: Jinja2's own, with the {@code tojson} of chat templates. Immutable. */
public final class Filters {
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
    NumberFilters.addTo(all);
    SequenceFilters.addTo(all);
    SelectionFilters.addTo(all);
    all.put("default", Filters::defaulted);
    all.put("d", Filters::defaulted);
    all.put("tojson", Filters::toJson);
    all.put("attr", Filters::attribute);
    all.put("length", (b, v, a) -> Iteration.length(b, v));
    all.put("count", (b, v, a) -> Iteration.length(b, v));
    all.put("list", (b, v, a) -> Iteration.toList(b, v));
    all.put("safe", (b, v, a) -> v instanceof Markup ? v : new Markup(Text.of(b, v)));
    all.put("escape", (b, v, a) -> v instanceof Markup ? v : escaped(b, v));
    all.put("e", (b, v, a) -> v instanceof Markup ? v : escaped(b, v));
    all.put("forceescape", (b, v, a) -> escaped(b, v));
    for (String name :
        List.of("filesizeformat", "pprint", "random", "urlize", "wordwrap", "xmlattr")) {
      all.put(
          name,
          (b, v, a) -> {
            throw TemplateException.unsupported("filter " + name);
          });
    }
    return Collections.unmodifiableMap(all);
  }

  private static Object defaulted(Budget budget, Object value, CallArguments arguments) {
    @Nullable Object[] given = arguments.bind("default", "default_value", "boolean");
    boolean replace =
        value instanceof Undefined || (Given.flag(given[1], false) && !Values.isTrue(value));
    return replace ? Given.or(given[0], "") : value;
  }

  private static Markup escaped(Budget budget, Object value) {
    String text = Text.of(budget, value);
    budget.text(text.length() * 5L);
    return Markup.escaping(text);
  }

  private static Object attribute(Budget budget, Object value, CallArguments arguments) {
    Object name = Given.or(arguments.bindRequired("attr", 1, "name")[0], None.NONE);
    Object found = Members.own(value, Text.of(budget, name));
    return found == null ? Undefined.member(value, name) : found;
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
    if (!Given.isAbsent(given[2])) {
      List<Object> pair = Iteration.toList(budget, Given.or(given[2], None.NONE));
      if (pair.size() != 2) {
        throw TemplateException.raised("separators must be two");
      }
      items = Given.text(pair.get(0), "separator");
      keys = Given.text(pair.get(1), "separator");
    }
    boolean ascii = Given.flag(given[0], false);
    boolean sorted = Given.flag(given[3], false);
    return JsonText.of(budget, value, new JsonText.Form(indent, items, keys, ascii, sorted));
  }

  private static @Nullable String indent(Budget budget, @Nullable Object given) {
    if (given == null || given == None.NONE) {
      return null;
    }
    if (given instanceof String s) {
      return s;
    }
    int count = Math.max(0, Given.count(given, 0, "indent"));
    budget.text(count);
    return " ".repeat(count);
  }
}
