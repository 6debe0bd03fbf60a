package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.Strings;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The methods of Python's {@code str}. */
public final class StringMethods {
  private static final Map<String, Method<String>> ALL = all();

  private StringMethods() {}

  /** The method of this name, if there is one. */
  public static @Nullable Method<String> find(String name) {
    return ALL.get(name);
  }

  private static Map<String, Method<String>> all() {
    Map<String, Method<String>> all = new HashMap<>();
    cases(all);
    trims(all);
    searches(all);
    all.put("split", Split::apply);
    all.put("join", StringMethods::join);
    Method.addRefused(all, Unsupported.STRING_METHOD);
    return Collections.unmodifiableMap(all);
  }

  private static void cases(Map<String, Method<String>> all) {
    all.put("lower", simple("lower", PythonCase::lower));
    all.put("upper", simple("upper", s -> s.toUpperCase(Locale.ROOT)));
    all.put("capitalize", simple("capitalize", PythonCase::capitalized));
    all.put("title", simple("title", PythonCase::titled));
  }

  private static Method<String> simple(String name, UnaryOperator<String> function) {
    return (budget, self, arguments) -> {
      arguments.bind(name);
      budget.text(self.length());
      return function.apply(self);
    };
  }

  private static void trims(Map<String, Method<String>> all) {
    all.put("strip", (b, s, a) -> Trim.apply(b, s, a.bind("strip", "chars")[0], true, true));
    all.put("lstrip", (b, s, a) -> Trim.apply(b, s, a.bind("lstrip", "chars")[0], true, false));
    all.put("rstrip", (b, s, a) -> Trim.apply(b, s, a.bind("rstrip", "chars")[0], false, true));
  }

  private static void searches(Map<String, Method<String>> all) {
    all.put("startswith", (b, s, a) -> affix(b, s, a, true));
    all.put("endswith", (b, s, a) -> affix(b, s, a, false));
    all.put("find", StringMethods::search);
    all.put("replace", StringMethods::replace);
  }

  private static boolean affix(Budget budget, String self, CallArguments a, boolean atStart) {
    @Nullable Object[] given = unbounded(atStart ? "startswith" : "endswith", a);
    budget.scanned(1);
    Iterable<?> candidates =
        given[0] instanceof Tuple tuple ? tuple : List.of(Args.or(given[0], ""));
    for (Object candidate : candidates) {
      String affix = Args.text(candidate, "startswith first arg");
      if (atStart ? self.startsWith(affix) : self.endsWith(affix)) {
        return true;
      }
    }
    return false;
  }

  /** The one argument of a search, which may not be bounded. */
  private static @Nullable Object[] unbounded(String name, CallArguments arguments) {
    @Nullable Object[] given = arguments.bindRequired(name, 1, "sub", "start", "end");
    if (given[1] != null || given[2] != null) {
      throw TemplateException.unsupported("str." + name + " with bounds");
    }
    return given;
  }

  private static long search(Budget budget, String self, CallArguments a) {
    String part = Args.text(unbounded("find", a)[0], "substring");
    budget.scanned(self.length());
    int unit = Strings.indexOf(budget, self, part, 0);
    return unit < 0 ? -1 : self.codePointCount(0, unit);
  }

  private static String replace(Budget budget, String self, CallArguments a) {
    @Nullable Object[] given = a.bindRequired("replace", 2, "old", "new", "count");
    String old = Args.text(given[0], "replace() argument 1");
    String with = Args.text(given[1], "replace() argument 2");
    return replaced(budget, self, old, with, Args.count(given[2], -1, "count"));
  }

  /** {@code s.replace(old, with, count)}; a negative count replaces all. */
  public static String replaced(Budget budget, String s, String old, String with, int count) {
    budget.text(s.length());
    StringBuilder out = new StringBuilder(s.length());
    int from = 0;
    int left = count < 0 ? Integer.MAX_VALUE : count;
    int search = 0;
    while (left-- > 0) {
      int at = search > s.length() ? -1 : Strings.indexOf(budget, s, old, search);
      if (at < 0) {
        break;
      }
      budget.built(with.length());
      budget.output(out.length());
      out.append(s, from, at).append(with);
      from = at + old.length();
      search = old.isEmpty() ? nextPoint(s, at) : from;
    }
    return out.append(s, from, s.length()).toString();
  }

  private static int nextPoint(String s, int at) {
    return at >= s.length() ? at + 1 : at + Character.charCount(s.codePointAt(at));
  }

  private static String join(Budget budget, String self, CallArguments a) {
    Object items = Args.or(a.bindRequired("join", 1, "iterable")[0], "");
    StringBuilder out = new StringBuilder();
    boolean first = true;
    for (Iterator<Object> it = Iteration.over(budget, items); it.hasNext(); first = false) {
      Object item = it.next();
      if (!(item instanceof String s)) {
        throw TemplateException.raised(
            "sequence item: expected str instance, " + Values.typeName(item) + " found");
      }
      out.append(first ? "" : self).append(s);
      budget.text((long) s.length() + self.length());
      budget.output(out.length());
    }
    return out.toString();
  }

  /** {@code strip}, {@code lstrip} and {@code rstrip}, of white space or of given characters. */
  static final class Trim {

    private Trim() {}

    public static String apply(
        Budget budget, String s, @Nullable Object chars, boolean atStart, boolean atEnd) {
      budget.scanned(s.length());
      if (Args.isAbsent(chars)) {
        int from = atStart ? Whitespace.skip(s, 0) : 0;
        return s.substring(from, atEnd ? Whitespace.trimEnd(s, from) : s.length());
      }
      return of(budget, s, Args.text(chars, "strip arg"), atStart, atEnd);
    }

    private static String of(
        Budget budget, String s, String chars, boolean atStart, boolean atEnd) {
      int from = 0;
      while (atStart && from < s.length() && chars.indexOf(s.codePointAt(from)) >= 0) {
        budget.scanned(chars.length());
        from += Character.charCount(s.codePointAt(from));
      }
      int to = s.length();
      while (atEnd && to > from && chars.indexOf(s.codePointBefore(to)) >= 0) {
        budget.scanned(chars.length());
        to -= Character.charCount(s.codePointBefore(to));
      }
      return s.substring(from, to);
    }
  }
}
