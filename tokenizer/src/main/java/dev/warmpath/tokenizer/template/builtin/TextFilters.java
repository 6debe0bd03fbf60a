package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.Markup;
import dev.warmpath.tokenizer.template.value.None;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Undefined;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Filters that make text of what they are given. */
final class TextFilters {
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
