package dev.warmpath.tokenizer.template.method;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.op.BraceFormat;
import dev.warmpath.tokenizer.template.op.Indexing;
import dev.warmpath.tokenizer.template.op.Iteration;
import dev.warmpath.tokenizer.template.op.Strings;
import dev.warmpath.tokenizer.template.value.CallArguments;
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

/** The methods of Python's {@code str}. Immutable. */
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
    splits(all);
    StringTests.addTo(all);
    all.put("join", StringMethods::join);
    all.put("format", (b, s, a) -> BraceFormat.apply(b, s, a));
    all.put("center", (b, s, a) -> pad(b, s, a, Side.BOTH));
    all.put("ljust", (b, s, a) -> pad(b, s, a, Side.RIGHT));
    all.put("rjust", (b, s, a) -> pad(b, s, a, Side.LEFT));
    all.put("zfill", StringMethods::zeroFilled);
    for (String name : List.of("encode", "translate", "maketrans", "format_map", "expandtabs")) {
      all.put(
          name,
          (b, s, a) -> {
            throw TemplateException.unsupported("str." + name);
          });
    }
    return Collections.unmodifiableMap(all);
  }

  private static void cases(Map<String, Method<String>> all) {
    all.put("lower", simple("lower", s -> s.toLowerCase(Locale.ROOT)));
    all.put("upper", simple("upper", s -> s.toUpperCase(Locale.ROOT)));
    all.put("casefold", simple("casefold", StringMethods::caseFolded));
    all.put("capitalize", simple("capitalize", StringMethods::capitalized));
    all.put("title", simple("title", StringMethods::titled));
    all.put("swapcase", simple("swapcase", StringMethods::swapped));
  }

  private static Method<String> simple(String name, UnaryOperator<String> function) {
    return (budget, self, arguments) -> {
      arguments.bind(name);
      budget.text(self.length());
      return function.apply(self);
    };
  }

  static String caseFolded(String s) {
    if (s.chars().anyMatch(c -> c > 0x7f)) {
      throw TemplateException.unsupported("case folding beyond ASCII");
    }
    return s.toLowerCase(Locale.ROOT);
  }

  public static String capitalized(String s) {
    if (s.isEmpty()) {
      return s;
    }
    int first = s.offsetByCodePoints(0, 1);
    return titleCase(s.substring(0, first)) + s.substring(first).toLowerCase(Locale.ROOT);
  }

  private static String titleCase(String letter) {
    int c = letter.codePointAt(0);
    String upper = letter.toUpperCase(Locale.ROOT);
    return upper.length() > letter.length()
        ? capitalOf(upper)
        : Character.toString(Character.toTitleCase(c));
  }

  private static String capitalOf(String upper) {
    return upper.charAt(0) + upper.substring(1).toLowerCase(Locale.ROOT);
  }

  private static String titled(String s) {
    StringBuilder out = new StringBuilder(s.length());
    boolean afterCased = false;
    for (int i = 0; i < s.length(); ) {
      int c = s.codePointAt(i);
      String letter = Character.toString(c);
      out.append(afterCased ? letter.toLowerCase(Locale.ROOT) : titleCase(letter));
      afterCased = StringTests.isCased(c);
      i += Character.charCount(c);
    }
    return out.toString();
  }

  private static String swapped(String s) {
    StringBuilder out = new StringBuilder(s.length());
    s.codePoints()
        .forEach(c -> {
          String letter = Character.toString(c);
          boolean upper = Character.isUpperCase(c);
          out.append(upper ? letter.toLowerCase(Locale.ROOT) : letter.toUpperCase(Locale.ROOT));
        });
    return out.toString();
  }

  private static void trims(Map<String, Method<String>> all) {
    all.put("strip", (b, s, a) -> Trim.apply(b, s, a.bind("strip", "chars")[0], true, true));
    all.put("lstrip", (b, s, a) -> Trim.apply(b, s, a.bind("lstrip", "chars")[0], true, false));
    all.put("rstrip", (b, s, a) -> Trim.apply(b, s, a.bind("rstrip", "chars")[0], false, true));
    all.put(
        "removeprefix",
        (b, s, a) -> {
          String prefix = Given.text(a.bindRequired("removeprefix", 1, "prefix")[0], "prefix");
          return s.startsWith(prefix) ? s.substring(prefix.length()) : s;
        });
    all.put(
        "removesuffix",
        (b, s, a) -> {
          String suffix = Given.text(a.bindRequired("removesuffix", 1, "suffix")[0], "suffix");
          return s.endsWith(suffix) ? s.substring(0, s.length() - suffix.length()) : s;
        });
  }

  private static void searches(Map<String, Method<String>> all) {
    all.put("startswith", (b, s, a) -> affix(b, s, a, true));
    all.put("endswith", (b, s, a) -> affix(b, s, a, false));
    all.put("find", (b, s, a) -> search("find", b, s, a));
    all.put("rfind", (b, s, a) -> search("rfind", b, s, a));
    all.put("index", (b, s, a) -> found(search("find", b, s, a)));
    all.put("rindex", (b, s, a) -> found(search("rfind", b, s, a)));
    all.put("count", StringMethods::count);
    all.put("replace", StringMethods::replace);
  }

  private static boolean affix(Budget budget, String self, CallArguments a, boolean atStart) {
    @Nullable Object[] given = a.bindRequired("startswith", 1, "prefix", "start", "end");
    String within = window(budget, self, given[1], given[2]);
    Iterable<?> candidates =
        given[0] instanceof Tuple tuple ? tuple : List.of(Given.or(given[0], ""));
    for (Object candidate : candidates) {
      String affix = Given.text(candidate, "startswith first arg");
      if (atStart ? within.startsWith(affix) : within.endsWith(affix)) {
        return true;
      }
    }
    return false;
  }

  private static String window(
      Budget budget, String self, @Nullable Object start, @Nullable Object end) {
    return start == null && end == null
        ? self
        : (String) Indexing.slice(budget, self, start, end, null);
  }

  private static long search(String name, Budget budget, String self, CallArguments a) {
    @Nullable Object[] given = a.bindRequired(name, 1, "sub", "start", "end");
    String part = Given.text(given[0], "substring");
    budget.scanned(self.length());
    if (given[1] != null || given[2] != null) {
      throw TemplateException.unsupported("str." + name + " with bounds");
    }
    int unit =
        name.equals("find")
            ? Strings.indexOf(budget, self, part, 0)
            : Strings.lastIndexOf(budget, self, part, self.length());
    return unit < 0 ? -1 : self.codePointCount(0, unit);
  }

  private static long found(long index) {
    if (index < 0) {
      throw TemplateException.raised("substring not found");
    }
    return index;
  }

  private static long count(Budget budget, String self, CallArguments a) {
    @Nullable Object[] given = a.bindRequired("count", 1, "sub", "start", "end");
    String part = Given.text(given[0], "substring");
    String within = window(budget, self, given[1], given[2]);
    budget.scanned(self.length());
    if (part.isEmpty()) {
      return Strings.length(within) + 1L;
    }
    long count = 0;
    int at = Strings.indexOf(budget, within, part, 0);
    while (at >= 0) {
      count++;
      at = Strings.indexOf(budget, within, part, at + part.length());
    }
    return count;
  }

  private static String replace(Budget budget, String self, CallArguments a) {
    @Nullable Object[] given = a.bindRequired("replace", 2, "old", "new", "count");
    String old = Given.text(given[0], "replace() argument 1");
    String with = Given.text(given[1], "replace() argument 2");
    return replaced(budget, self, old, with, Given.count(given[2], -1, "count"));
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

  private static void splits(Map<String, Method<String>> all) {
    all.put("split", (b, s, a) -> Split.apply(b, s, a, "split"));
    all.put("rsplit", (b, s, a) -> Split.apply(b, s, a, "rsplit"));
    all.put(
        "splitlines",
        (b, s, a) -> {
          @Nullable Object[] given = a.bind("splitlines", "keepends");
          return Split.lines(b, s, Given.flag(given[0], false));
        });
    all.put("partition", (b, s, a) -> partition(b, s, a, true));
    all.put("rpartition", (b, s, a) -> partition(b, s, a, false));
  }

  private static Tuple partition(Budget budget, String self, CallArguments a, boolean first) {
    String by = Given.text(a.bindRequired("partition", 1, "sep")[0], "separator");
    if (by.isEmpty()) {
      throw TemplateException.raised("empty separator");
    }
    budget.text(self.length());
    int at =
        first
            ? Strings.indexOf(budget, self, by, 0)
            : Strings.lastIndexOf(budget, self, by, self.length());
    if (at < 0) {
      return first ? Tuple.of(self, "", "") : Tuple.of("", "", self);
    }
    return Tuple.of(self.substring(0, at), by, self.substring(at + by.length()));
  }

  private static String join(Budget budget, String self, CallArguments a) {
    Object items = Given.or(a.bindRequired("join", 1, "iterable")[0], "");
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

  private enum Side {
    LEFT,
    RIGHT,
    BOTH
  }

  private static String pad(Budget budget, String self, CallArguments a, Side side) {
    @Nullable Object[] given = a.bindRequired("center", 1, "width", "fillchar");
    String fill = given[1] == null ? " " : Given.text(given[1], "fillchar");
    if (Strings.length(fill) != 1) {
      throw TemplateException.raised("The fill character must be exactly one character long");
    }
    int width = Given.count(given[0], 0, "width");
    int missing = missing(width, self);
    budget.text(self.length() + (long) missing * fill.length());
    int left =
        switch (side) {
          case LEFT -> missing;
          case RIGHT -> 0;
          case BOTH -> missing / 2 + (missing & width & 1);
        };
    return fill.repeat(left) + self + fill.repeat(missing - left);
  }

  /** How many characters a text lacks to be of a width, which may be negative. */
  private static int missing(int width, String text) {
    return Math.max(0, Math.max(0, width) - Strings.length(text));
  }

  private static String zeroFilled(Budget budget, String self, CallArguments a) {
    int width = Given.count(a.bindRequired("zfill", 1, "width")[0], 0, "width");
    int missing = missing(width, self);
    budget.text((long) self.length() + missing);
    boolean signed = self.startsWith("-") || self.startsWith("+");
    int at = signed ? 1 : 0;
    return self.substring(0, at) + "0".repeat(missing) + self.substring(at);
  }
}
