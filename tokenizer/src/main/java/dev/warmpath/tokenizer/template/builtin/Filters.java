package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import dev.warmpath.tokenizer.template.value.Arithmetic;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.DictView;
import dev.warmpath.tokenizer.template.value.Indexing;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.JsonText;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.PyIterator;
import dev.warmpath.tokenizer.template.value.PythonComparison;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.function.Predicate;
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

  /** Filters that pick or change items lazily, one by one. */
  private static final class SelectionFilters {

    private SelectionFilters() {}

    static void addTo(Map<String, Method<Object>> all) {
      all.put("map", SelectionFilters::map);
      all.put("select", (b, v, a) -> select(b, v, a, true));
      all.put("reject", (b, v, a) -> select(b, v, a, false));
      all.put("selectattr", (b, v, a) -> selectAttribute(b, v, a, true));
      all.put("rejectattr", (b, v, a) -> selectAttribute(b, v, a, false));
    }

    private static PyIterator picked(Budget budget, Object value, Predicate<Object> test) {
      return PyIterator.generator(Iteration.picked(Iteration.over(budget, value), test));
    }

    private static Object select(Budget budget, Object value, CallArguments a, boolean wanted) {
      if (!Values.isTrue(value)) {
        return empty();
      }
      Predicate<Object> test = test(budget, a);
      return picked(budget, value, item -> test.test(item) == wanted);
    }

    private static Object selectAttribute(
        Budget budget, Object value, CallArguments a, boolean wanted) {
      if (!Values.isTrue(value)) {
        return empty();
      }
      if (a.size() == 0) {
        throw TemplateException.raised("Missing parameter for attribute name");
      }
      AttributePath path = AttributePath.of(a.get(0));
      Predicate<Object> test = test(budget, a.without(1));
      return picked(budget, value, item -> test.test(path.get(budget, item)) == wanted);
    }

    private static PyIterator empty() {
      return PyIterator.generator(Collections.emptyIterator());
    }

    private static Predicate<Object> test(Budget budget, CallArguments arguments) {
      if (arguments.size() == 0) {
        return Values::isTrue;
      }
      Method<Object> test = Tests.required(Text.of(budget, arguments.get(0)));
      CallArguments rest = arguments.without(1);
      return item -> {
        budget.step();
        return Values.isTrue(test.call(budget, item, rest));
      };
    }

    private static Object map(Budget budget, Object value, CallArguments arguments) {
      if (!Values.isTrue(value)) {
        return empty();
      }
      Function<Object, Object> change =
          arguments.size() == 0 ? attribute(budget, arguments) : filter(budget, arguments);
      Iterator<Object> items = Iteration.over(budget, value);
      return PyIterator.generator(
          new Iterator<Object>() {
            @Override
            public boolean hasNext() {
              return items.hasNext();
            }

            @Override
            public Object next() {
              budget.step();
              return change.apply(items.next());
            }
          });
    }

    private static Function<Object, Object> attribute(Budget budget, CallArguments arguments) {
      Map<String, Object> keywords = new LinkedHashMap<>(arguments.keywords());
      Object name = keywords.remove("attribute");
      Object otherwise = keywords.remove("default");
      if (name == null || !keywords.isEmpty()) {
        throw TemplateException.raised("map requires a filter argument");
      }
      AttributePath path = AttributePath.of(name);
      return item -> path.get(budget, item, otherwise);
    }

    private static Function<Object, Object> filter(Budget budget, CallArguments arguments) {
      Method<Object> filter = Filters.required(Text.of(budget, arguments.get(0)));
      CallArguments rest = arguments.without(1);
      return item -> filter.call(budget, item, rest);
    }
  }

  /** Filters that order sequences and take their ends. */
  private static final class SequenceFilters {

    private SequenceFilters() {}

    static void addTo(Map<String, Method<Object>> all) {
      all.put("first", (b, v, a) -> first(Iteration.over(b, v)));
      all.put("last", (b, v, a) -> last(b, v));
      all.put("items", (b, v, a) -> items(v));
      all.put("reverse", (b, v, a) -> reversed(b, v));
      all.put("dictsort", SequenceFilters::dictSort);
    }

    private static Object first(Iterator<Object> items) {
      return items.hasNext()
          ? items.next()
          : Undefined.because("No first item, sequence was empty.");
    }

    private static Object last(Budget budget, Object value) {
      if (value instanceof PyIterator lazy) {
        throw TemplateException.raised("'" + lazy.typeName() + "' object is not reversible");
      }
      List<Object> items = Iteration.toList(budget, value);
      return items.isEmpty()
          ? Undefined.because("No last item, sequence was empty.")
          : items.get(items.size() - 1);
    }

    private static Object items(Object value) {
      if (value instanceof Undefined) {
        return PyIterator.generator(Collections.emptyIterator());
      }
      if (value instanceof Map<?, ?> map) {
        return PyIterator.generator(new DictView(DictView.Kind.ITEMS, map).iterator());
      }
      return PyIterator.generator(
          new Iterator<Object>() {
            @Override
            public boolean hasNext() {
              throw TemplateException.raised("Can only get item pairs from a mapping.");
            }

            @Override
            public Object next() {
              throw new NoSuchElementException();
            }
          });
    }

    private static Object reversed(Budget budget, Object value) {
      if (value instanceof String s) {
        return Indexing.slice(budget, s, null, null, -1L);
      }
      List<Object> items = Iteration.toList(budget, value);
      Collections.reverse(items);
      boolean copied = value instanceof PyIterator;
      return copied ? items : new PyIterator("reversed", items.iterator());
    }

    private static List<Object> sorted(
        Budget budget, List<Object> items, List<Object> keys, boolean reverse) {
      List<Integer> order = new ArrayList<>();
      for (int i = 0; i < items.size(); i++) {
        order.add(i);
      }
      Comparator<Integer> byKey =
          (a, b) -> PythonComparison.order(budget, "<", keys.get(a), keys.get(b));
      order.sort(reverse ? byKey.reversed() : byKey);
      List<Object> result = new ArrayList<>(items.size());
      order.forEach(i -> result.add(items.get(i)));
      return result;
    }

    private static Object dictSort(Budget budget, Object value, CallArguments arguments) {
      @Nullable Object[] given = arguments.bind("dictsort", "case_sensitive", "by", "reverse");
      Object by = Args.or(given[1], "key");
      if (!by.equals("key") && !by.equals("value")) {
        throw TemplateException.raised("You can only sort by either \"key\" or \"value\"");
      }
      if (!(value instanceof Map<?, ?> map)) {
        throw value instanceof Undefined undefined
            ? undefined.failure()
            : TemplateException.raised("dictsort needs a dict");
      }
      List<Object> pairs = new DictView(DictView.Kind.ITEMS, map).toList();
      List<Object> keys = new ArrayList<>();
      for (Object pair : pairs) {
        Object key = ((Tuple) pair).get(by.equals("key") ? 0 : 1);
        boolean folds = key instanceof String && !Args.flag(given[0], false);
        keys.add(folds ? PythonCase.lower((String) key) : key);
      }
      return sorted(budget, pairs, keys, Args.flag(given[2], false));
    }
  }

  /** Filters that make text of what they are given. */
  private static final class TextFilters {
    private static final String WORD_BORDERS = "-({[<";

    private TextFilters() {}

    static void addTo(Map<String, Method<Object>> all) {
      all.put("string", (b, v, a) -> v instanceof Markup ? v : Text.of(b, v));
      all.put("lower", (b, v, a) -> PythonCase.lower(plain(b, v)));
      all.put("upper", (b, v, a) -> plain(b, v).toUpperCase(Locale.ROOT));
      all.put("capitalize", (b, v, a) -> PythonCase.capitalized(plain(b, v)));
      all.put("title", (b, v, a) -> titled(plain(b, v)));
      all.put(
          "trim",
          (b, v, a) ->
              StringMethods.Trim.apply(b, plain(b, v), a.bind("trim", "chars")[0], true, true));
      all.put("replace", TextFilters::replace);
      all.put("indent", TextFilters::indent);
      all.put("join", TextFilters::join);
    }

    private static String plain(Budget budget, Object value) {
      if (value instanceof Markup) {
        throw TemplateException.unsupported("a text filter on safe text");
      }
      String text = Text.of(budget, value);
      budget.text(text.length());
      return text;
    }

    /** Each word's first letter large and the rest small; words end at white space and brackets. */
    private static String titled(String s) {
      StringBuilder out = new StringBuilder(s.length());
      int from = 0;
      while (from < s.length()) {
        int to = from;
        boolean border = isBorder(s.charAt(from));
        while (to < s.length() && isBorder(s.charAt(to)) == border) {
          to++;
        }
        String word = s.substring(from, to);
        out.append(border ? word : upperFirst(word));
        from = to;
      }
      return out.toString();
    }

    private static boolean isBorder(char c) {
      return Whitespace.is(c) || WORD_BORDERS.indexOf(c) >= 0;
    }

    private static String upperFirst(String word) {
      int first = word.offsetByCodePoints(0, 1);
      return word.substring(0, first).toUpperCase(Locale.ROOT)
          + PythonCase.lower(word.substring(first));
    }

    private static Object replace(Budget budget, Object value, CallArguments arguments) {
      @Nullable Object[] given = arguments.bindRequired("replace", 2, "old", "new", "count");
      int count = Args.isAbsent(given[2]) ? -1 : Args.count(given[2], -1, "count");
      String old = Text.of(budget, Args.or(given[0], None.NONE));
      String with = Text.of(budget, Args.or(given[1], None.NONE));
      return StringMethods.replaced(budget, plain(budget, value), old, with, count);
    }

    private static Object indent(Budget budget, Object value, CallArguments arguments) {
      @Nullable Object[] given = arguments.bind("indent", "width", "first", "blank");
      if (value instanceof Markup) {
        throw TemplateException.unsupported("indent of safe text");
      }
      if (!(value instanceof String s)) {
        throw value instanceof Undefined undefined
            ? undefined.failure()
            : TemplateException.raised("indent needs text");
      }
      String indentation =
          given[0] instanceof String text ? text : " ".repeat(width(budget, given[0]));
      List<Object> lines = Split.lines(budget, s + "\n");
      boolean blank = Args.flag(given[2], false);
      StringBuilder out = new StringBuilder(Args.flag(given[1], false) ? indentation : "");
      for (int i = 0; i < lines.size(); i++) {
        String line = (String) lines.get(i);
        boolean indented = i > 0 && (blank || !line.isEmpty());
        budget.text((long) line.length() + indentation.length());
        budget.output(out.length());
        out.append(i > 0 ? "\n" : "").append(indented ? indentation : "").append(line);
      }
      return out.toString();
    }

    private static int width(Budget budget, @Nullable Object given) {
      int width = Math.max(0, Args.count(given, 4, "width"));
      budget.text(width);
      return width;
    }

    private static Object join(Budget budget, Object value, CallArguments arguments) {
      @Nullable Object[] given = arguments.bind("join", "d", "attribute");
      String separator = Text.of(budget, Args.or(given[0], ""));
      StringBuilder out = new StringBuilder();
      boolean first = true;
      for (Iterator<Object> items = Iteration.over(budget, value); items.hasNext(); first = false) {
        Object item = items.next();
        Object part = Args.isAbsent(given[1]) ? item : AttributePath.of(given[1]).get(budget, item);
        String text = Text.of(budget, part);
        budget.text((long) text.length() + separator.length());
        budget.output(out.length());
        out.append(first ? "" : separator).append(text);
      }
      return out.toString();
    }
  }
}
